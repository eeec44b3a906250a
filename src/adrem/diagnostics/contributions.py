"""The features with the largest weights for each class, before and after adapting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.scoring import by_class

# The weight of a feature that this many rows have is halved.
DAMPING = 10.0


@dataclass(frozen=True)
class ClassFeatures:
    """The features with the largest weights for a class, the largest first.

    Parameters
    ----------
    label : object
        The class.
    source : list of str
        Features of the classifier of the source alone.
    adapted : list of str
        Features of the adapted model.
    gained : list of str
        Features of this class whose weight grew most by adapting.
    """

    label: Any
    source: list[str]
    adapted: list[str]
    gained: list[str]


def class_features(
    classes: Sequence[Any],
    names: Sequence[str],
    before: NDArray[Any],
    after: NDArray[Any],
    n: int = 10,
    n_rows: NDArray[Any] | None = None,
) -> list[ClassFeatures]:
    """Return the n features with the largest weights for each class.

    A feature is gained by the class for which its adapted weight is largest, and only if that weight is positive.

    Parameters
    ----------
    classes : sequence
        The classes.
    names : sequence of str
        A name for every feature.
    before : ndarray of shape (n_problems, n_features)
        Weights of the classifier of the source alone.
    after : ndarray of shape (n_members, n_problems, n_features)
        Weights of the adapted members. Their mean, and the weights of the source alone, are normalized to be compared.
    n : int, default=10
        Number of features.
    n_rows : ndarray of shape (n_features,), default=None
        Number of rows that have the feature. Weights of rare features are damped, because they are mostly noise.

    Returns
    -------
    list of ClassFeatures
        One for each class.
    """
    damping = 1.0 if n_rows is None else n_rows / (n_rows + DAMPING)
    old, new = (_by_class(weights) * damping for weights in (before, after.mean(axis=0)))
    gains = np.where((new > 0) & (new == new.max(axis=0)), new - old, 0.0)
    return [
        ClassFeatures(label, _strongest(own, names, n), _strongest(now, names, n), _strongest(gain, names, n))
        for label, own, now, gain in zip(classes, old, new, gains, strict=True)
    ]


def _by_class(coef: NDArray[Any]) -> NDArray[np.float64]:
    """Return normalized weights for every class (classes x features)."""
    weights = by_class(coef.T).T
    return np.asarray(weights / max(float(np.linalg.norm(weights)), np.finfo(float).tiny))


def _strongest(weights: NDArray[np.float64], names: Sequence[str], n: int) -> list[str]:
    order = np.argsort(-weights, kind="stable")[:n]
    return [names[k] for k in order if weights[k] > 0]
