"""The network that learns: an encoder, a narrow layer, and the scores of the classes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, NamedTuple

import torch
from torch import nn

from adrem.deep.images import Views
from adrem.deep.resnet import ResNet50
from adrem.exceptions import InvalidDataError, InvalidTypeError

BATCH = 256  # rows that are labelled at a time
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
Tensor = Any
Precision = Literal["auto", "bfloat16", "float32"]


class Outputs(NamedTuple):
    """What the network makes of a batch: features of the narrow layer, and scores of the classes."""

    features: Tensor
    scores: Tensor

    def half(self, first: bool, n: int) -> Outputs:
        """Return the outputs of the first n rows, or of the others."""
        rows = slice(None, n) if first else slice(n, None)
        return Outputs(self.features[rows], self.scores[rows])


class Network(nn.Module):
    """An encoder, a narrow layer, and a linear classifier."""

    def __init__(self, encoder: Any, n_features: int, width: int, n_classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.narrow = nn.Sequential(nn.Linear(n_features, width), nn.BatchNorm1d(width), nn.ReLU())
        self.classifier = nn.Linear(width, n_classes)

    def forward(self, rows: Tensor) -> Outputs:
        features = self.narrow(encoded(self.encoder, rows))
        return Outputs(features, self.classifier(features))

    def learn(self, *, frozen_norm: bool) -> None:
        """Prepare for training, with the means and scales of the encoder's normalization as they are if frozen."""
        self.train()
        if frozen_norm:
            for module in self.encoder.modules():
                if isinstance(module, NORMS):
                    module.eval()


class Labelled(NamedTuple):
    """What a network says of rows: features of its encoder, and probabilities of the classes."""

    features: Tensor
    shares: Tensor


def encoded(encoder: Any, rows: Tensor) -> Tensor:
    """Return the features of a batch; those of a map are averaged over it."""
    out = encoder(rows)
    return out.mean(dim=tuple(range(2, out.ndim))) if out.ndim > 2 else out


def own_encoder(encoder: Any) -> Any:
    """Return a copy of the encoder that may change, or a known one by its name."""
    if isinstance(encoder, nn.Module):
        return copy.deepcopy(encoder)
    if encoder == "resnet50":
        return ResNet50.load_known()
    raise InvalidTypeError(f"encoder must be 'resnet50' or a torch.nn.Module that gives features; got {encoder!r}.")


def make_network(encoder: Any, views: Views, row: Tensor, width: int, n_classes: int) -> Network:
    """Return a network for rows like this one."""
    encoder.eval()
    with torch.no_grad():
        try:
            out = encoded(encoder, views.labelling(row)[0])
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            raise InvalidDataError(
                f"The encoder can't take a row of shape {tuple(row.shape[1:])}: {error}. Images are arrays of bytes of "
                "shape (n, height, width, 3), or paths; other arrays go to it as they are, as float32."
            ) from error
    if not isinstance(out, torch.Tensor) or out.ndim != 2:
        raise InvalidDataError("The encoder must return one tensor with a row of features for each row.")
    return Network(encoder, out.shape[1], width, n_classes)


def label(network: Network, views: Views, rows: Tensor, precision: Precision) -> Labelled:
    """Return features and probabilities of rows, which may be on another device, on the CPU as float32."""
    network.eval()
    found: list[Labelled] = []
    device = next(network.parameters()).device
    with torch.no_grad(), repeatable(device), mixed_precision(device, precision):
        for batch in rows.split(BATCH):
            made = [encoded(network.encoder, placed(x, device)).float() for x in views.labelling(batch.to(device))]
            features = torch.stack(made).mean(dim=0)
            shares = network.classifier(network.narrow(features)).float().softmax(dim=1)
            found.append(Labelled(features.cpu(), shares.cpu()))
    return Labelled(torch.cat([own.features for own in found]), torch.cat([own.shares for own in found]))


def placed(batch: Tensor, device: Any) -> Tensor:
    """Return a batch in the memory layout that a GPU's convolutions are fast on."""
    is_images = batch.ndim == 4 and device.type == "cuda"
    return batch.contiguous(memory_format=torch.channels_last) if is_images else batch


@contextmanager
def repeatable(device: Any) -> Iterator[None]:
    """Take algorithms on a GPU that give the same numbers each time."""
    with ExitStack() as stack:
        if device.type == "cuda":
            stack.enter_context(torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True))
        yield


def mixed_precision(device: Any, wanted: Precision) -> Any:
    """Return a context in which products are in 16 bits: by default on a GPU.

    It keeps 16-bit copies of the weights until it ends, so that it must not outlast a step of the training.
    """
    is_short = wanted == "bfloat16" or (wanted == "auto" and device.type == "cuda")
    return torch.autocast(device.type, torch.bfloat16, enabled=is_short)
