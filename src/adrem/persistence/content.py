"""What a model file holds, from a model and back: a JSON header and plain arrays."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import InvalidTypeError, UnreadableModelError
from adrem.persistence.checks import check_labels, fits_together
from adrem.persistence.classes import check_attributes, check_class, class_of, packs_parts, saved_of
from adrem.persistence.header import COMMON_KEYS, as_scalar, common_header, params_from_header
from adrem.registry import ARRAYS, VALUES, Saved, find_estimator

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

PARTS = "parts"  # key of the header, and prefix of arrays, of what a model holds besides attributes
DO_NOT_FIT = "The model file's arrays do not fit together: it is damaged."


def pack(model: Any) -> tuple[Header, Arrays]:
    """Return the header and the arrays of a fitted model."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    check_class(model)
    check_labels(model.classes_)
    saved = saved_of(type(model))
    check_attributes(model, saved)
    _check_rows(model)
    model.validate_params()
    arrays = {
        name: _plain_array(name, value)
        for name in (*saved.arrays, *saved.optional)
        if isinstance(value := getattr(model, name, None), np.ndarray)
    }
    is_declared = find_estimator(type(model)) is not None
    if not is_declared and not fits_together(model):
        raise InvalidTypeError(
            f"{type(model).__name__} can't be saved: its arrays don't have the shapes that AdREM's have."
        )
    _check_complete(model, arrays, saved)
    header = common_header(model, [name for name in arrays if getattr(model, name).dtype == object])
    if is_declared:
        header |= {name: as_scalar(getattr(model, name, None)) for name in saved.header}
    else:
        header |= {"module": type(model).__module__, "attributes": _attributes_of(model, saved, arrays)}
    return _with_parts(model, header, arrays) if packs_parts(type(model)) else (header, arrays)


def _with_parts(model: Any, header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    values, own = model.pack_parts()
    return {**header, PARTS: values}, arrays | {f"{PARTS}_{name}": array for name, array in own.items()}


def _take_parts(header: Header, arrays: Arrays) -> tuple[Any, Arrays]:
    """Take what a model holds besides attributes out of the header and the arrays."""
    prefix = f"{PARTS}_"
    names = [name for name in arrays if name.startswith(prefix)]
    return header.pop(PARTS, None), {name.removeprefix(prefix): arrays.pop(name) for name in names}


def _attributes_of(model: Any, saved: Saved, arrays: Arrays) -> dict[str, Any]:
    """Return the fitted attributes that are not arrays, for a class that is not declared in the registry."""
    names = [name for name in saved.optional if hasattr(model, name) and name not in arrays]
    return {name: _plain_value(name, getattr(model, name)) for name in names}


def rebuild(header: Header, arrays: Arrays, trusted_modules: Collection[str]) -> Any:
    """Return the model of a header and arrays, checked in every way that does not need its rows."""
    cls = class_of(header, trusted_modules)
    saved = saved_of(cls)
    parts = _take_parts(header, arrays) if packs_parts(cls) else None
    _check_content(header, arrays, saved)
    model: Any = cls(**params_from_header(header))
    model.validate_params()
    _set_attributes(model, header, arrays, saved)
    model.n_features_in_ = int(header["n_features_in_"])
    if header["feature_names_in_"] is not None:
        model.feature_names_in_ = np.array(header["feature_names_in_"], dtype=object)
    if model.without_rows() or not 0 < getattr(model, "C_", 1.0) < np.inf or not fits_together(model):
        raise UnreadableModelError(DO_NOT_FIT)
    if parts is not None:
        model.restore_parts(*parts)
    return model


def _set_attributes(model: Any, header: Header, arrays: Arrays, saved: Saved) -> None:
    for name, array in arrays.items():
        was_object = _is_labels(name) and name in header["objects"] and array.dtype.kind == "U"
        setattr(model, name, array.astype(object) if was_object else array)
    for name in saved.header:
        if header.get(name) is not None:  # the source alone has fewer
            setattr(model, name, VALUES[name](header[name]))
    for name, value in header.get("attributes", {}).items():
        setattr(model, name, value)


def _check_content(header: Header, arrays: Arrays, saved: Saved) -> None:
    """Refuse arrays and keys of the header that a model of the class does not have."""
    allowed = {*saved.arrays, *saved.optional}
    if not set(saved.arrays) <= set(arrays) <= allowed:
        raise UnreadableModelError(f"The model file holds the arrays {sorted(arrays)}, expected {sorted(allowed)}.")
    own = {"module", "attributes"} if "module" in header else set(saved.values)
    keys = set(header) - set(saved.added)
    if keys != COMMON_KEYS | own or not set(header.get("attributes", ())) <= allowed - set(arrays):
        raise UnreadableModelError(f"The model file's header has the keys {sorted(header)}, not those of its format.")


def _check_rows(model: Any) -> None:
    """Refuse a model that labels rows by the rows that it was fitted to."""
    instead = model.without_rows()
    if instead:
        params = model.get_params()
        kept = ", ".join(f"{name}={params[name]!r}" for name in instead)
        wanted = ", ".join(f"{name}={value!r}" for name, value in instead.items())
        raise InvalidTypeError(
            f"{type(model).__name__}({kept}) keeps the rows that it was fitted to, and can't be saved; {wanted} can."
        )


def _check_complete(model: Any, arrays: Arrays, saved: Saved) -> None:
    """Refuse a model without the arrays that `rebuild` needs, as after a change of its parameters."""
    missing = [name for name in saved.arrays if name not in arrays]
    if missing:
        raise InvalidTypeError(f"{type(model).__name__} can't be saved without {', '.join(missing)}: fit it again.")


def _is_labels(name: str) -> bool:
    """Return whether an array holds labels: those that are strings may have been objects."""
    return name in ARRAYS and ARRAYS[name].holds == "labels"


def _plain_array(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind in "biufUS":
        return array
    if not _is_labels(name):
        raise _can_not_be_saved(name, array)
    plain = array.astype(str)
    if not all(isinstance(label, str) for label in array.tolist()) or plain.tolist() != array.tolist():
        raise InvalidTypeError("Only labels that are numbers or strings can be saved: convert y before fit.")
    return plain


def _plain_value(name: str, value: Any) -> Any:
    """Return a value that JSON gives back as it was."""
    value = as_scalar(value)
    try:
        comes_back = json.loads(json.dumps(value)) == value
    except (TypeError, ValueError):
        comes_back = False
    if not comes_back:
        raise _can_not_be_saved(name, value)
    return value


def _can_not_be_saved(name: str, value: Any) -> TypeError:
    return InvalidTypeError(
        f"{name} can't be saved: it is a {type(value).__name__}. Arrays of numbers or strings, finite numbers, strings "
        "and lists and dicts of them can."
    )
