"""The steps of a scikit-learn pipeline before a model, as plain values and arrays, and back.

Only transformers that are named here can be saved: a file never names a class to import.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from adrem.exceptions import InvalidDataError, InvalidTypeError
from adrem.persistence.header import as_scalar

Arrays = dict[str, NDArray[Any]]
STEPS = "steps"
PASSTHROUGH = "passthrough"
COMMON = ("n_features_in_", "feature_names_in_")
# Parameters for one machine only: a file must not say where to write.
LOCAL = ("cache",)
# The fitted attributes of each transformer, in the order in which they are set.
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "adrem.preprocessing:JointStdScaler": ("scale_",),
    "adrem.preprocessing:DomainStandardScaler": (
        "domains_", "mean_", "scale_", "target_mean_", "target_scale_",
    ),
    "adrem.preprocessing:RowSumScaler": (),
    "adrem.preprocessing:Rectifier": (),
    # The network is found by its name, and compared by its checksum.
    "adrem.features:TextEncoder": ("checksum_", "n_features_out_"),
    "adrem.features:ImageEncoder": ("checksum_", "n_features_out_"),
    "sklearn.preprocessing:StandardScaler": ("mean_", "var_", "scale_", "n_samples_seen_"),
    "sklearn.preprocessing:MinMaxScaler": ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    "sklearn.preprocessing:MaxAbsScaler": ("max_abs_", "scale_"),
    "sklearn.preprocessing:RobustScaler": ("center_", "scale_"),
    "sklearn.preprocessing:Normalizer": (),
    "sklearn.decomposition:PCA": (
        "components_", "mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "n_components_",
        "noise_variance_", "n_samples_",
    ),
    "sklearn.decomposition:TruncatedSVD": (
        "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_",
    ),
    "sklearn.feature_extraction.text:CountVectorizer": ("vocabulary_", "fixed_vocabulary_"),
    "sklearn.feature_extraction.text:TfidfTransformer": ("idf_",),
    "sklearn.feature_extraction.text:TfidfVectorizer": ("vocabulary_", "fixed_vocabulary_", "idf_"),
}  # fmt: skip


def pack_steps(pipeline: Pipeline) -> tuple[list[dict[str, Any]], Arrays]:
    """Return the steps of a pipeline but the last as values that JSON can hold, and arrays by name."""
    values, arrays = [], {}
    for k, (name, step) in enumerate(pipeline.steps[:-1]):
        if step is None or step == PASSTHROUGH:
            values.append({"name": name, "class": PASSTHROUGH})
            continue
        path = _path_of(step)
        own: dict[str, Any] = {}
        for attribute in (*ATTRIBUTES[path], *COMMON):
            value = getattr(step, attribute, None)
            if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
                arrays[f"{k}_{attribute}"] = value
            elif value is not None:
                own[attribute] = _plain(value)
        params = {param: _param(step, param, value) for param, value in _given(step, path).items()}
        values.append({"name": name, "class": path, "params": params, "values": own})
    values.append({"name": pipeline.steps[-1][0], "class": None})
    return values, arrays


def restore_steps(values: list[dict[str, Any]], arrays: Arrays, model: Any) -> Pipeline:
    """Return the pipeline that ends with a model; the steps before it come from a file that may be hostile."""
    steps: list[tuple[str, Any]] = []
    for k, own in enumerate(values[:-1]):
        if own["class"] == PASSTHROUGH:
            steps.append((str(own["name"]), PASSTHROUGH))
            continue
        known = ATTRIBUTES.get(own["class"])
        if known is None:
            raise InvalidDataError("A step of the pipeline is of an unknown class.")
        module, _, name = own["class"].partition(":")
        params = {param: _param_from(value) for param, value in own["params"].items() if param not in LOCAL}
        step = getattr(importlib.import_module(module), name)(**params)
        for attribute in (*known, *COMMON):
            value = arrays.get(f"{k}_{attribute}", own["values"].get(attribute))
            if value is not None:
                setattr(step, attribute, np.array(value, object) if attribute == "feature_names_in_" else value)
            elif attribute in known:
                setattr(step, attribute, None)
        steps.append((str(own["name"]), step))
    return Pipeline([*steps, (str(values[-1]["name"]), model)])


def _given(step: Any, path: str) -> dict[str, Any]:
    """Return the parameters of a step that are not of this machine only."""
    given = {param: value for param, value in step.get_params(deep=False).items() if param not in LOCAL}
    if path.startswith("adrem.features:") and not isinstance(given["model"], str):
        given["model"] = step.model_name  # a path or a module
    return given


def _path_of(step: Any) -> str:
    for path in ATTRIBUTES:
        module, _, name = path.partition(":")
        if type(step).__name__ == name and getattr(importlib.import_module(module), name) is type(step):
            return path
    known = ", ".join(path.partition(":")[2] for path in ATTRIBUTES)
    raise InvalidTypeError(
        f"The step {type(step).__name__} of the pipeline can't be saved; these can: {known}. Or save the last step."
    )


def _plain(value: Any) -> Any:
    """Return a fitted attribute as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): int(place) for key, place in value.items()}
    return as_scalar(value)


def _param(step: Any, name: str, value: Any) -> Any:
    """Return a parameter as JSON has it."""
    value = as_scalar(value)
    if isinstance(value, tuple):
        return {"tuple": list(value)}
    if isinstance(value, type) and value in (np.float32, np.float64, np.int32, np.int64):
        return {"dtype": np.dtype(value).name}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return {"list": value}
    raise InvalidTypeError(f"The step {type(step).__name__} can't be saved with {name}={value!r}.")


def _param_from(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(value["tuple"])
    return np.dtype(value["dtype"]).type if "dtype" in value else value["list"]
