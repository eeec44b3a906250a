"""What a model has learnt: the features that speak most for each class, before and after adapting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem._persistence import Bundle
from adrem._voting import by_class


@dataclass(frozen=True)
class Voice:
    """The features that speak for a class, the strongest first: by the source alone, adapted, and what is new."""

    label: Any
    source: list[str]
    adapted: list[str]
    taught: list[str]


def explain(bundle: Bundle, n: int = 10) -> list[Voice]:
    """The n features that speak most for each class.

    The weights of the members are averaged, and those of either classifier divided by their norm, so that they can be
    compared; what the new domain taught is where they have grown the most.
    """
    names = feature_names(bundle)
    before = _by_class(bundle.source_coef)
    after = _by_class(bundle.model.coef_.mean(axis=0))
    return [
        Voice(label, _strongest(own, names, n), _strongest(new, names, n), _strongest(new - own, names, n))
        for label, own, new in zip(bundle.model.classes_.tolist(), before, after, strict=True)
    ]


def feature_names(bundle: Bundle) -> list[str]:
    """A name for every feature of the model."""
    if bundle.recipe is not None:
        return bundle.recipe.feature_names
    return [f"feature {k}" for k in range(bundle.model.n_features_in_)]


def _by_class(coef: NDArray[Any]) -> NDArray[np.float64]:
    """Weights for every class (classes x features), of norm one."""
    weights = by_class(coef.T).T
    return np.asarray(weights / max(float(np.linalg.norm(weights)), np.finfo(float).tiny))


def _strongest(weights: NDArray[np.float64], names: list[str], n: int) -> list[str]:
    order = np.argsort(-weights, kind="stable")[:n]
    return [names[k] for k in order if weights[k] > 0]
