"""What a model has learnt: the features that speak most for each class, before and after adapting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem._voting import by_class


@dataclass(frozen=True)
class Voice:
    """The features that speak for a class, the strongest first: by the source alone, adapted, and what is new.

    Parameters
    ----------
    label : object
        The class.
    source : list of str
        What speaks for it by the source alone.
    adapted : list of str
        What speaks for it after adapting.
    taught : list of str
        What has grown the most by adapting: what the new domain taught.

    Examples
    --------
    >>> from adrem.diagnostics import Voice
    >>> voice = Voice("good", source=["gripping", "good"], adapted=["good", "sharp"], taught=["sharp"])
    >>> set(voice.adapted) - set(voice.source)
    {'sharp'}
    """

    label: Any
    source: list[str]
    adapted: list[str]
    taught: list[str]


def voices(
    classes: Sequence[Any], names: Sequence[str], before: NDArray[Any], after: NDArray[Any], n: int = 10
) -> list[Voice]:
    """The n features that speak most for each class.

    Parameters
    ----------
    classes : sequence
        The classes.
    names : sequence of str
        A name for every feature.
    before : ndarray of shape (n_problems, n_features)
        Weights of the classifier of the source alone.
    after : ndarray of shape (n_members, n_problems, n_features)
        Weights of the adapted members. They are averaged, and those of either classifier divided by their norm, so that
        they can be compared; what the new domain taught is where they have grown the most.
    n : int, default=10
        How many features.

    Returns
    -------
    list of Voice
        One for each class.
    """
    old, new = _by_class(before), _by_class(after.mean(axis=0))
    return [
        Voice(label, _strongest(own, names, n), _strongest(now, names, n), _strongest(now - own, names, n))
        for label, own, now in zip(classes, old, new, strict=True)
    ]


def _by_class(coef: NDArray[Any]) -> NDArray[np.float64]:
    """Weights for every class (classes x features), of norm one."""
    weights = by_class(coef.T).T
    return np.asarray(weights / max(float(np.linalg.norm(weights)), np.finfo(float).tiny))


def _strongest(weights: NDArray[np.float64], names: Sequence[str], n: int) -> list[str]:
    order = np.argsort(-weights, kind="stable")[:n]
    return [names[k] for k in order if weights[k] > 0]
