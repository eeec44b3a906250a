"""A model with all that is needed to label a table: the recipe of its rows, and the source classifier."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.known import classes_of_source
from adrem.baselines import SourceOnly
from adrem.columns.recipe import Recipe
from adrem.exceptions import UnreadableModelError
from adrem.persistence.checks import is_numbers
from adrem.persistence.content import DO_NOT_FIT, Arrays, pack, rebuild
from adrem.persistence.models import Extra, read_model, write_model

BASELINE = "baseline"  # prefix of the arrays of the classifier of the source


@dataclass(frozen=True)
class Bundle:
    """A model, the classifier of the source alone, and the recipe that makes rows from a table.

    The model labels rows. It is the `baseline` itself where adapting seems to have made the labels worse. `recipe` is
    None for files of numbers, whose rows are divided by `scales`. `about` is the origin of the model.
    """

    model: Any
    baseline: Any
    recipe: Recipe | None
    scales: NDArray[np.float64]
    about: dict[str, Any]


def save_bundle(bundle: Bundle, path: str | os.PathLike[str]) -> None:
    """Write a bundle to a file, from which `adrem.load` reads the model alone."""
    recipe = bundle.recipe
    header, own = (None, {}) if bundle.baseline is bundle.model else pack(bundle.baseline)
    values = {"recipe": None if recipe is None else recipe.to_dict(), "about": bundle.about, "baseline": header}
    arrays = {
        **{f"{BASELINE}_{name}": array for name, array in own.items()},
        "scales": bundle.scales,
        "centres": np.zeros(0) if recipe is None else recipe.centres,
    }
    write_model(bundle.model, path, Extra(values, arrays))


def load_bundle(path: str | os.PathLike[str], *, trusted_modules: Collection[str] = ()) -> Bundle:
    """Read a file that `save_bundle` wrote."""

    def make(model: Any, extra: Extra | None) -> Bundle:
        if extra is None:
            raise UnreadableModelError(
                f"{os.fspath(path)} holds a model without columns, as adrem.save writes it: read it with adrem.load, "
                "or write it with its columns, by save_bundle."
            )
        values, arrays = dict(extra.values), dict(extra.arrays)
        baseline = _take_baseline(model, values, arrays)
        return _make_bundle(model, baseline, **values, **arrays)

    return read_model(path, make, trusted_modules=trusted_modules)


def _take_baseline(model: Any, values: dict[str, Any], arrays: Arrays) -> Any:
    """Take the classifier of the source out of what a file holds."""
    if "baseline" not in values:
        return _linear_baseline(model, arrays.pop("source_coef"), arrays.pop("source_intercept"))
    header, prefix = values.pop("baseline"), f"{BASELINE}_"
    own = {name.removeprefix(prefix): arrays.pop(name) for name in list(arrays) if name.startswith(prefix)}
    return model if header is None and not own else rebuild(header, own, ())


def _linear_baseline(model: Any, coef: NDArray[Any], intercept: NDArray[Any]) -> SourceOnly:
    """Return the classifier of the source in a file of an earlier version."""
    n_features = model.n_features_in_
    if not (is_numbers(coef, (model.coef_.shape[1], n_features)) and is_numbers(intercept, (len(coef),))):
        raise UnreadableModelError(DO_NOT_FIT)
    baseline = SourceOnly()
    baseline.classes_, baseline.n_features_in_ = model.classes_, n_features
    baseline.coef_, baseline.intercept_ = coef[None], intercept[None]
    return baseline


def _make_bundle(
    model: Any, baseline: Any, recipe: Any, about: Any, scales: NDArray[Any], centres: NDArray[Any]
) -> Bundle:
    n_features = model.n_features_in_
    made = None if recipe is None else Recipe.from_dict(recipe, scales, centres)
    fits = (
        baseline.n_features_in_ == n_features
        and np.array_equal(baseline.classes_, classes_of_source(model))
        and is_numbers(scales, (n_features,))
        and is_numbers(centres, (None,))
        and bool(np.all(scales > 0))
        and (made is None or made.is_for(n_features))
    )
    if not fits:
        raise UnreadableModelError(DO_NOT_FIT)
    return Bundle(model, baseline, made, scales, dict(about))
