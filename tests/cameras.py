"""A small network, and digits through a poor camera to adapt it to; as a program it is killed within a fit."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.pipeline import make_pipeline
from torch import nn

from adrem import AdREM
from adrem.datasets import DomainPair, load_digits_shift
from adrem.deep import DeepAdREM, DeepPeer
from adrem.preprocessing import JointStdScaler

STEPS, ROUNDS = 100, 3


def digits() -> DomainPair:
    """Digits as images of one channel."""
    data = load_digits_shift(shear=0.5, noise=3.0)
    source, target = (X.reshape(-1, 1, 8, 8).astype(np.float32) for X in (data.X_source, data.X_target))
    return data._replace(X_source=source, X_target=target)


def small_network() -> Any:
    """Two convolutions with normalization."""
    layers: list[Any] = []
    for n_inputs, n_outputs, stride in ((1, 16, 1), (16, 32, 2), (32, 64, 1)):
        layers += [nn.Conv2d(n_inputs, n_outputs, 3, stride, 1), nn.BatchNorm2d(n_outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten())


def trained_encoder(data: DomainPair) -> Any:
    """The network, trained on the source."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = small_network()
    model = DeepPeer(network, None, steps=100, lr=0.02, encoder_lr=1.0, device="cpu", random_state=0)
    return model.fit(data.X_source, data.y_source, X_target=data.X_target).network_.encoder


class Moved:
    """Moves each batch by up to a pixel, and counts batches; the process is killed at one of them."""

    def __init__(self, deadly: int = -1) -> None:
        self.n_batches, self._deadly = 0, deadly

    def __call__(self, rows: Any) -> Any:
        self.n_batches += 1
        if self.n_batches == self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        down, right = torch.randint(-1, 2, (2,)).tolist()
        return torch.roll(rows, (down, right), (2, 3))


def make(encoder: Any, **params: Any) -> DeepAdREM:
    head = make_pipeline(JointStdScaler(), AdREM(n_estimators=3, n_iter=8))
    own: dict[str, Any] = {
        "augment": Moved(),
        "rounds": ROUNDS,
        "steps": STEPS,
        "tol": 0.0,
        "lr": 0.02,
        "encoder_lr": 1.0,
        "random_state": 0,
    }
    return DeepAdREM(encoder, head, **{**own, "device": "cpu", "checkpoint_every": 40, **params})


if __name__ == "__main__":
    given = digits()
    model = make(trained_encoder(given), checkpoint=Path(sys.argv[1]), augment=Moved(int(sys.argv[2])))
    model.fit(given.X_source, given.y_source, X_target=given.X_target)
