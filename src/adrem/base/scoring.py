"""Scores of trained classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, softmax

from adrem.runtime.memory import by_blocks
from adrem.types import FloatArray, Matrix

# A similarity, its product with the coefficients, and a copy.
BYTES_PER_SIMILARITY = 24


def member_scores(
    rows: Matrix,
    coefs: FloatArray,
    intercepts: FloatArray,
    kernel: Callable[[Matrix, Matrix], FloatArray] | None = None,
    fitted: Matrix = None,
) -> Iterator[FloatArray]:
    """Yield the scores (rows x problems) of every member; with a kernel, by the similarities with the fitted rows."""
    if kernel is None:
        yield from (rows @ coef.T + intercept for coef, intercept in zip(coefs, intercepts, strict=True))
        return

    def score(part: Matrix) -> FloatArray:
        similarities = kernel(part, fitted)
        return np.stack([similarities @ coef.T + b for coef, b in zip(coefs, intercepts, strict=True)], axis=1)

    scores = by_blocks(score, rows, BYTES_PER_SIMILARITY * fitted.shape[0])
    yield from (scores[:, m] for m in range(scores.shape[1]))


def by_class(scores: FloatArray) -> NDArray[np.float64]:
    """Return a score for every class; for two classes the one score counts for the second and against the first."""
    double: NDArray[np.float64] = scores.astype(np.float64, copy=False)
    return np.concatenate([-double, double], axis=-1) if double.shape[-1] == 1 else double


def without_classes(scores: FloatArray, absent: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return a score for every class, and minus infinity for the absent ones."""
    return np.where(absent, -np.inf, by_class(scores))


def normalized_shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logistic function of the scores, normalized over the classes."""
    return np.asarray(softmax(log_expit(by_class(scores)), axis=1))
