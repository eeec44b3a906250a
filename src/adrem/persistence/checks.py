"""Checks of what a model file holds: shapes, finite numbers, and labels that are classes.

Nothing is allocated here whose size a file could choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.known import classes_of_source
from adrem.exceptions import InvalidDataError, UnreadableModelError
from adrem.files.budget import Budget
from adrem.registry import ARRAYS, Array

# Scores are sums of products of two numbers: they stay finite for coefficients and features up to this.
LARGEST = 1e150
MOST_COMPONENTS = 2**31
MOST_LETTERS = 1000  # of the name of a class
STRING_COPIES = 4  # of an array of strings, while it is compared with the classes and becomes objects
Shape = tuple[int | None, ...]


def fits_together(model: Any) -> bool:
    """Return whether the fitted attributes of a model agree with each other."""
    return (
        _has_classes(model)
        and _are_names(getattr(model, "feature_names_in_", None), model.n_features_in_)
        and _has_arrays(model)
        and _has_course(model)
    )


def check_arrays(arrays: Mapping[str, NDArray[Any]], budget: Budget) -> None:
    """Raise an error for numbers whose products overflow, for long labels, and for strings that take too much memory.

    No label is longer than the longest class, so that a table of labels is no longer than the rows that it labels.
    """
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not bool(
            (np.abs(array) <= min(LARGEST, float(np.finfo(array.dtype).max))).all()
        ):
            raise UnreadableModelError(
                f"The model file's {name} has numbers that are not finite or beyond {LARGEST:g}."
            )
        if array.dtype.kind in "SU":
            if _n_letters(array) > _most_letters(name, arrays):
                raise UnreadableModelError(f"The model file's {name} has labels longer than its classes may be.")
            budget.draw(STRING_COPIES * array.nbytes, f"copies of {name}")


def _are_bounded(array: NDArray[Any]) -> bool:
    largest = min(LARGEST, float(np.finfo(array.dtype).max))  # in the type of the array, which is not converted
    return bool((np.abs(array) <= largest).all())


def check_labels(classes: NDArray[Any]) -> None:
    """Refuse to save classes with names that `load` would refuse."""
    longest = max((len(own) for own in classes.tolist() if isinstance(own, (str, bytes))), default=0)
    if longest > MOST_LETTERS:
        raise InvalidDataError(f"A class has a name of {longest} characters: shorten it to {MOST_LETTERS} before fit.")


def _n_letters(array: NDArray[Any]) -> int:
    return array.dtype.itemsize // (4 if array.dtype.kind == "U" else 1)


def _most_letters(name: str, arrays: Mapping[str, NDArray[Any]]) -> int:
    """Return how long the strings of an array may be: labels of a model as its classes."""
    own = arrays.get(f"{name.removesuffix('transduction_')}classes_")
    is_longer = own is None or name.endswith("classes_") or own.dtype.kind not in "SU"
    return MOST_LETTERS if is_longer or own is None else min(MOST_LETTERS, _n_letters(own))


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
        and _are_in_order(model, classes)
    )


def _are_in_order(model: Any, classes: NDArray[Any]) -> bool:
    """Return whether classes are in order, and none is there twice; the label of unknown rows is the last."""
    own = classes_of_source(model)
    is_sorted = bool(np.array_equal(own, np.unique(own)))  # NaN differs from itself
    return is_sorted and len(np.unique(classes)) == len(classes)


def _has_course(model: Any) -> bool:
    """Return whether the history and the counts are as small as the model that they are told of."""
    history = getattr(model, "history_", [])
    counts = [entry.get(name, 0) for entry in history for name in ("iteration", "member")]
    numbers = [own for entry in history for own in entry.values() if isinstance(own, (int, float))]
    bounds = (("n_components_", MOST_COMPONENTS), ("n_iter_", max(len(history), 1)), ("neighbors_", MOST_COMPONENTS))
    return (
        all(isinstance(count, int) and 0 <= count <= len(history) for count in counts)
        and all(-LARGEST <= number <= LARGEST for number in numbers)
        and all(0 <= getattr(model, name, 0) <= most for name, most in bounds)
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
