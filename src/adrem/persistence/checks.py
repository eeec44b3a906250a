"""Checks of what a model file holds: shapes, finite numbers, and labels that are classes.

Nothing is allocated here whose size a file could choose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int | None, ...]


def fits_together(model: Any) -> bool:
    """Return whether the fitted attributes of a model agree with each other."""
    return _has_classes(model) and _has_names(model) and _has_shapes(model)


def is_numbers(array: Any, shape: Shape) -> bool:
    """Return whether an array holds finite floats and has a shape, in which None stands for any length."""
    if not isinstance(array, np.ndarray):
        return False
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    return fits and array.dtype.kind == "f" and bool(np.isfinite(array).all())


def _has_classes(model: Any) -> bool:
    classes, labels = model.classes_, getattr(model, "transduction_", np.zeros(0))
    return (
        classes.ndim == labels.ndim == 1
        and len(classes) > 1
        and (classes.dtype.kind in "Sbiuf" or _are_names(classes, len(classes)))
        and bool(np.array_equal(classes, np.unique(classes)))  # NaN differs from itself
        and bool(np.isin(labels, classes).all())
    )


def _has_names(model: Any) -> bool:
    n_features = model.n_features_in_
    return _are_positions(getattr(model, "pivots_", np.zeros(0, np.intp)), n_features) and _are_names(
        getattr(model, "feature_names_in_", None), n_features
    )


def _has_shapes(model: Any) -> bool:
    coef = getattr(model, "coef_", None)
    if coef is not None and not len(coef):
        return False
    shapes = _shapes(model, 1 if coef is None else len(coef))
    return all(is_numbers(getattr(model, name), shape) for name, shape in shapes.items() if hasattr(model, name))


def _shapes(model: Any, n_members: int) -> dict[str, Shape]:
    n_classes, n_features = len(model.classes_), model.n_features_in_
    n_problems = 1 if n_classes == 2 else n_classes
    n_kept = model.coef_path_.shape[1] if hasattr(model, "coef_path_") else None
    return {
        "coef_": (n_members, n_problems, n_features),
        "intercept_": (n_members, n_problems),
        "coef_path_": (n_members, n_kept, n_problems, n_features),
        "intercept_path_": (n_members, n_kept, n_problems),
        "vote_share_": (len(getattr(model, "transduction_", ())), n_classes),
        "dropout_": (n_features,),
        "source_weight_": (None,),
        "sources_": (None,),
        "class_prior_": (n_classes,),
        "class_prior_check_": (n_classes,),
        "class_prior_interval_": (2, n_classes),
    }


def _are_positions(array: Any, n_features: int) -> bool:
    inside = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"
    return inside and (not array.size or bool(0 <= array.min() <= array.max() < n_features))


def _are_names(array: NDArray[Any] | None, n_names: int) -> bool:
    return array is None or (len(array) == n_names and all(isinstance(name, str) for name in array.tolist()))
