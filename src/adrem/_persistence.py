"""Model files: a zip of plain arrays and one JSON header. Never pickle, so a file can't run code."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem._adrem import AdREM
from adrem.exceptions import UnreadableModelError

FORMAT = "adrem-model"
FORMAT_VERSION = 1
HEADER = "header"

_ARRAYS = ("classes_", "coef_", "intercept_", "transduction_", "vote_share_")
_PATH_ARRAYS = ("coef_path_", "intercept_path_")
_MODELS = {"AdREM": AdREM}


def save(model: AdREM, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, replacing what stands there only once all is written.

    Parameters
    ----------
    model : AdREM
        A fitted model.
    path : path-like
        Where to; the name is used as it is.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if type(model).__name__ not in _MODELS:
        raise TypeError(f"{type(model).__name__} can't be saved; these can: {', '.join(_MODELS)}.")
    names = [name for name in (*_ARRAYS, *_PATH_ARRAYS) if hasattr(model, name)]
    arrays = {name: _plain(getattr(model, name)) for name in names}
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "adrem_version": version("adrem"),
        "model": type(model).__name__,
        "params": {name: _param_to_json(name, value) for name, value in model.get_params().items()},
        "objects": [name for name in names if getattr(model, name).dtype == object],
        "C_": model.C_,
        "n_features_in_": model.n_features_in_,
        "feature_names_in_": list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None,
        "history_": model.history_,
    }
    _write(Path(path), {HEADER: np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays})


def load(path: str | os.PathLike[str]) -> AdREM:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    AdREM
        The fitted model, with the parameters it was made with.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            header = _read_header(archive)
            arrays = {name: archive[name] for name in archive.files if name != HEADER}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, AttributeError) as error:
        if isinstance(error, UnreadableModelError):
            raise
        raise UnreadableModelError(f"{os.fspath(path)} is not a model file of adrem, or it is damaged.") from error
    return _rebuild(header, arrays)


def _read_header(archive: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    header = json.loads(bytes(archive[HEADER]))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UnreadableModelError("The file is not a model file of adrem.")
    found = header.get("format_version")
    if found != FORMAT_VERSION:
        raise UnreadableModelError(
            f"The model file has format {found!r} (written by adrem {header.get('adrem_version')}), this version reads "
            f"format {FORMAT_VERSION}: install the version of adrem that wrote it, or a newer one."
        )
    if header.get("model") not in _MODELS:
        raise UnreadableModelError(f"The model file holds a {header.get('model')!r}, unknown to this version of adrem.")
    return header


def _rebuild(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> AdREM:
    allowed = {*_ARRAYS, *_PATH_ARRAYS}
    if not set(_ARRAYS) <= set(arrays) <= allowed:
        raise UnreadableModelError(f"The model file holds the arrays {sorted(arrays)}, expected {sorted(allowed)}.")
    try:
        params = {name: _param_from_json(value) for name, value in header["params"].items()}
        model = _MODELS[header["model"]](**params)
        for name, array in arrays.items():
            setattr(model, name, array.astype(object) if name in header["objects"] else array)
        model.C_ = float(header["C_"])
        model.n_features_in_ = int(header["n_features_in_"])
        model.history_ = list(header["history_"])
        if header["feature_names_in_"] is not None:
            model.feature_names_in_ = np.array(header["feature_names_in_"], dtype=object)
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableModelError(f"The model file's header is not of this version of adrem: {error!r}.") from error
    _check_shapes(model)
    return model


def _check_shapes(model: AdREM) -> None:
    n_classes = len(model.classes_)
    n_problems = 1 if n_classes == 2 else n_classes
    expected = (*model.intercept_.shape[:1], n_problems, model.n_features_in_)
    if (
        model.coef_.shape != expected
        or model.intercept_.shape != expected[:2]
        or model.vote_share_.shape != (len(model.transduction_), n_classes)
        or not np.all(np.isfinite(model.coef_))
        or not np.all(np.isfinite(model.intercept_))
    ):
        raise UnreadableModelError("The model file's arrays do not fit together: it is damaged.")


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype != object:
        return array
    if not all(isinstance(label, str) for label in array.tolist()):
        raise TypeError("Only labels that are numbers or strings can be saved: convert y before fit.")
    return array.astype(str)


def _param_to_json(name: str, value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        raise TypeError("A model whose random_state is a RandomState can't be saved: pass an integer, or None.")
    if isinstance(value, Mapping):
        return {"mapping": [[_scalar(key), float(share)] for key, share in value.items()]}
    if isinstance(value, (np.ndarray, list, tuple)):
        return {"list": np.asarray(value).tolist()}
    value = _scalar(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"The parameter {name}={value!r} can't be saved.")


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _param_from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value["mapping"]) if "mapping" in value else value["list"]
    return value


def _write(path: Path, arrays: dict[str, Any]) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
