"""A model with all that is needed to label a table: the recipe of its rows, and the source classifier."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.columns.recipe import Recipe
from adrem.exceptions import UnreadableModelError
from adrem.persistence.checks import is_numbers
from adrem.persistence.content import DO_NOT_FIT
from adrem.persistence.models import Extra, read_model, write_model


@dataclass(frozen=True)
class Bundle:
    """A model, the classifier of the source alone, and the recipe that makes rows from a table.

    `recipe` is None for files of numbers, whose rows are divided by `scales`. `about` is the origin of the model.
    """

    model: Any
    source_coef: NDArray[Any]
    source_intercept: NDArray[Any]
    recipe: Recipe | None
    scales: NDArray[np.float64]
    about: dict[str, Any]


def save_bundle(bundle: Bundle, path: str | os.PathLike[str]) -> None:
    """Write a bundle to a file, from which `adrem.load` reads the model alone."""
    recipe = bundle.recipe
    values = {"recipe": None if recipe is None else recipe.to_dict(), "about": bundle.about}
    arrays = {
        "source_coef": bundle.source_coef,
        "source_intercept": bundle.source_intercept,
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
        return _make_bundle(model, **extra.values, **extra.arrays)

    return read_model(path, make, trusted_modules=trusted_modules)


def _make_bundle(
    model: Any,
    recipe: Any,
    about: Any,
    source_coef: NDArray[Any],
    source_intercept: NDArray[Any],
    scales: NDArray[Any],
    centres: NDArray[Any],
) -> Bundle:
    n_features = model.n_features_in_
    made = None if recipe is None else Recipe.from_dict(recipe, scales, centres)
    fits = (
        is_numbers(source_coef, (model.coef_.shape[1], n_features))
        and is_numbers(source_intercept, (len(source_coef),))
        and is_numbers(scales, (n_features,))
        and is_numbers(centres, (None,))
        and bool(np.all(scales > 0))
        and (made is None or made.is_for(n_features))
    )
    if not fits:
        raise UnreadableModelError(DO_NOT_FIT)
    return Bundle(model, source_coef, source_intercept, made, scales, dict(about))
