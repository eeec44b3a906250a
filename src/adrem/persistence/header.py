"""The JSON header of a model file: its format, and parameters as plain values."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import InvalidDataError, InvalidTypeError, UnreadableModelError
from adrem.files.budget import Budget

FORMAT = "adrem-model"
FORMAT_VERSION = 2
COMMON_KEYS = {
    "format", "format_version", "adrem_version", "model", "params", "objects", "n_features_in_", "feature_names_in_",
}  # fmt: skip


def common_header(model: Any, objects: list[str]) -> dict[str, Any]:
    """Return the part of the header that every model has."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "adrem_version": version("adrem"),
        "model": type(model).__name__,
        "params": {name: _param_to_json(name, value) for name, value in model.saved_params().items()},
        "objects": objects,
        "n_features_in_": model.n_features_in_,
        "feature_names_in_": list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None,
    }


def parse_header(content: NDArray[Any], budget: Budget) -> dict[str, Any]:
    """Parse the header of a file, and refuse formats that this version can't read."""
    text = content.tobytes()
    budget.draw_json(text)
    header = json.loads(text, parse_constant=_refuse)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UnreadableModelError("The file is not a model file of adrem.")
    found = header.get("format_version")
    if type(found) is int and found == 1:
        header["machine_"] = "not recorded by format 1"
    elif found != FORMAT_VERSION:
        raise UnreadableModelError(
            f"The model file has format {str(found)[:20]} (written by adrem {str(header.get('adrem_version'))[:20]!r}) "
            f"and this version reads formats up to {FORMAT_VERSION}: install the version that wrote it, or a newer one."
        )
    return header


def params_from_header(header: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator."""
    return {name: _param_from_json(value) for name, value in header["params"].items()}


def as_scalar(value: Any) -> Any:
    """Return a number of numpy as Python's, other values as they are."""
    return value.item() if isinstance(value, np.generic) else value


def _refuse(constant: str) -> None:
    raise InvalidDataError(f"{constant} is not a finite number")


def _param_to_json(name: str, value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        raise InvalidTypeError("A model whose random_state is a RandomState can't be saved: pass an integer, or None.")
    if name in ("class_prior", "source_weight") and hasattr(value, "items"):
        return {"mapping": [[as_scalar(key), float(share)] for key, share in value.items()]}
    value = as_scalar(value)
    if isinstance(value, tuple) and not value:  # the default of parameters that name classes
        return {"tuple": []}
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return {"list": np.asarray(value).tolist()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InvalidTypeError(f"The parameter {name}={value!r} can't be saved.")


def _param_from_json(value: Any) -> Any:
    if isinstance(value, dict):
        if "tuple" in value:
            return ()
        return dict(value["mapping"]) if "mapping" in value else value["list"]
    return value
