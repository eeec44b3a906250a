"""Checks of what a model file holds: shapes, finite numbers, and labels that are classes.

Nothing is allocated here whose size a file could choose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.registry import ARRAYS, Array

Shape = tuple[int | None, ...]


def fits_together(model: Any) -> bool:
    """Return whether the fitted attributes of a model agree with each other."""
    return (
        _has_classes(model)
        and _are_names(getattr(model, "feature_names_in_", None), model.n_features_in_)
        and _has_arrays(model)
    )


def is_numbers(array: Any, shape: Shape) -> bool:
    """Return whether an array holds finite floats and has a shape, in which None stands for any length."""
    if not isinstance(array, np.ndarray):
        return False
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    return fits and array.dtype.kind == "f" and bool(np.isfinite(array).all())


def _has_classes(model: Any) -> bool:
    classes = model.classes_
    return (
        isinstance(classes, np.ndarray)
        and classes.ndim == 1
        and len(classes) > 1
        and (classes.dtype.kind in "Sbiuf" or _are_names(classes, len(classes)))
        and bool(np.array_equal(classes, np.unique(classes)))  # NaN differs from itself
    )


def _has_arrays(model: Any) -> bool:
    coef = getattr(model, "coef_", None)
    if coef is not None and not len(coef):
        return False
    lengths = lengths_of(model)
    return all(
        _is_as_declared(getattr(model, name), declared, lengths, model)
        for name, declared in ARRAYS.items()
        if hasattr(model, name)
    )


def _is_as_declared(array: Any, declared: Array, lengths: dict[str, int | None], model: Any) -> bool:
    if declared.holds == "labels":
        return isinstance(array, np.ndarray) and array.ndim == 1 and bool(np.isin(array, model.classes_).all())
    if declared.holds == "positions":
        return _are_positions(array, model.n_features_in_)
    if declared.holds == "rows":
        return _are_positions(array, len(getattr(model, "transduction_", ())))
    return is_numbers(array, tuple(lengths[n] if isinstance(n, str) else n for n in declared.shape))


def lengths_of(model: Any) -> dict[str, int | None]:
    """Return the lengths that the shapes of arrays name; None is any length."""
    n_classes = len(model.classes_)
    return {
        "classes": n_classes,
        "problems": 1 if n_classes == 2 else n_classes,
        "features": model.n_features_in_,
        "members": len(getattr(model, "coef_", (None,))),
        "steps": model.coef_path_.shape[1] if hasattr(model, "coef_path_") else None,
        "target": len(getattr(model, "transduction_", ())),
        "principal": len(getattr(model, "principal_offset_", ())),
        "projected": len(getattr(model, "projected_mean_", ())),
        "kinds": len(getattr(model, "kinds_", ())),
    }


def _are_positions(array: Any, n: int) -> bool:
    inside = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"
    return inside and (not array.size or bool(0 <= array.min() <= array.max() < n))


def _are_names(array: NDArray[Any] | None, n_names: int) -> bool:
    return array is None or (len(array) == n_names and all(isinstance(name, str) for name in array.tolist()))
