"""Explain a saved model by the names of its columns and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.scoring import by_class
from adrem.columns.bundle import Bundle
from adrem.columns.recipe import CONSTANT, WEIGHT_BESIDE_TEXT
from adrem.diagnostics.contributions import class_features


@dataclass(frozen=True)
class ColumnEffect:
    """How a column of numbers counts for a class, in its own units.

    Parameters
    ----------
    column : str
        The name of the column.
    deviation : float
        Its standard deviation over both files.
    per_deviation, per_unit : float
        What a value larger by one standard deviation, or by one, adds to the score of the class.
    """

    column: str
    deviation: float
    per_deviation: float
    per_unit: float


@dataclass(frozen=True)
class ClassExplanation:
    """What counts for a class.

    Parameters
    ----------
    label : object
        The class.
    source, adapted, gained : list of str
        As in `ClassFeatures`.
    columns : list of ColumnEffect
        The columns of numbers, the largest effect first.
    """

    label: Any
    source: list[str]
    adapted: list[str]
    gained: list[str]
    columns: list[ColumnEffect]


def explain(bundle: Bundle, n: int = 10) -> list[ClassExplanation]:
    """Return the n features with the largest weights for each class, before and after adapting, and n columns."""
    model, names = bundle.model, np.array(feature_names(bundle), dtype=object)
    kept = np.flatnonzero(~np.isin(names, [CONSTANT, *_encoded_names(bundle)]))
    before, after = bundle.baseline.coef_[0][:, kept], model.coef_[..., kept]
    rows = _rows_with(bundle)
    found = class_features(
        model.classes_.tolist(), names[kept].tolist(), before, after, n, None if rows is None else rows[kept]
    )
    weights = by_class(model.coef_.mean(axis=0).T).T
    return [
        ClassExplanation(**vars(own), columns=_effects(bundle, w, n)) for own, w in zip(found, weights, strict=True)
    ]


def _encoded_names(bundle: Bundle) -> list[str]:
    """Return the features of encoders, which tell a person nothing."""
    return [] if bundle.recipe is None else bundle.recipe.encoded_names


def _effects(bundle: Bundle, weights: NDArray[np.float64], n: int) -> list[ColumnEffect]:
    """Return the effects of the columns of numbers, which are the first features."""
    if bundle.recipe is None:
        return []
    effects = [
        ColumnEffect(name, float(scale), float(weight), float(weight / scale))
        for name, weight, scale in zip(bundle.recipe.numbers, weights, bundle.scales, strict=False)
    ]
    return sorted(effects, key=lambda effect: -abs(effect.per_deviation))[:n]


def _rows_with(bundle: Bundle) -> NDArray[np.float64] | None:
    """Return about how many rows of both files have each word, by its variance; None without text."""
    if bundle.recipe is None or not bundle.recipe.terms:
        return None
    n_rows = sum(bundle.about[side]["rows"] for side in ("source", "target") if side in bundle.about)
    scales = bundle.scales.copy()
    scales[: bundle.recipe.n_beside_text] *= WEIGHT_BESIDE_TEXT
    share = np.minimum(scales**2, 1.0)
    return np.asarray(share * n_rows) if n_rows else None


def feature_names(bundle: Bundle) -> list[str]:
    """Return a name for every feature of the model."""
    if bundle.recipe is not None:
        return bundle.recipe.feature_names
    return [f"feature {k}" for k in range(bundle.model.n_features_in_)]
