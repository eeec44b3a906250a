"""Scores turned into class probabilities by rows whose labels are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from adrem.algorithm.smooth import minimize_smooth

Array = NDArray[np.float64]
TOLERANCE = 1e-6
# A little weight decay, for scores that separate all classes.
DECAY = 1e-6


class Calibration(NamedTuple):
    """One factor for all scores, and a constant for each class."""

    factor: float
    constants: Array

    def __call__(self, scores: Array) -> Array:
        return self.factor * scores + self.constants


def calibrate(scores: Array, labels: NDArray[np.intp], weights: Array) -> Calibration:
    """Return the factor and the constants for which softmax makes the known labels most likely."""
    shares = weights / weights.sum()
    hits = np.eye(scores.shape[1])[labels]

    def loss(params: Array) -> tuple[float, Array]:
        chances = softmax(params[0] * scores + params[1:], axis=1)
        errors = shares[:, None] * (chances - hits)
        value = -float(shares @ np.log(np.maximum(chances[np.arange(len(labels)), labels], np.finfo(float).tiny)))
        gradient = np.concatenate([[np.sum(errors * scores)], errors.sum(axis=0)])
        return value + 0.5 * DECAY * float(params @ params), gradient + DECAY * params

    params, _ = minimize_smooth(loss, np.zeros(1 + scores.shape[1]), TOLERANCE)
    return Calibration(float(params[0]), params[1:])
