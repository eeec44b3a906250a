"""Model files: a zip of plain arrays and one JSON header. Never pickle, so a file can't run code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem import baselines
from adrem._adrem import AdREM
from adrem._archives import TooLargeError, read_arrays, write_arrays
from adrem._classifier import DomainClassifier
from adrem._files import written_whole
from adrem._memory import size_of
from adrem.columns.recipe import Recipe
from adrem.exceptions import UnreadableModelError

FORMAT = "adrem-model"
FORMAT_VERSION = 2
HEADER = "header"
MAX_BYTES = 2**32
HEADER_PART = 32  # of the most that a file may take, what its header may: as Python's objects it takes so much more
OBJECTS = ("classes_", "transduction_")  # labels of strings, which may have been objects
BUNDLE = "bundle"
_BUNDLE_ARRAYS = ("bundle_source_coef", "bundle_source_intercept", "bundle_scales", "bundle_centres")

_LINEAR = ("classes_", "coef_", "intercept_", "transduction_")
_COMMON_KEYS = {
    "format", "format_version", "adrem_version", "model", "params", "objects", "n_features_in_", "feature_names_in_",
}  # fmt: skip


def _history(entries: Any) -> list[dict[str, Any]]:
    return [dict(entry) for entry in entries]


class _Saved(NamedTuple):
    """A kind of model: the arrays that a file of it holds, some of them only at times, and what is in its header.

    What was `added` to the header is not in files of earlier versions.
    """

    make: type[DomainClassifier]
    arrays: tuple[str, ...] = _LINEAR
    optional: tuple[str, ...] = ()
    values: tuple[str, ...] = ("C_",)
    added: tuple[str, ...] = ()


_READ: dict[str, Any] = {
    "C_": float,
    "neighbors_": int,
    "machine_": str,
    "history_": _history,
    "n_iter_": int,
    "termination_": lambda reasons: [str(reason) for reason in reasons],
    "termination_condition_": str,
    "n_components_": int,
    "domain_C_": float,
}
# class_prior_ is always there, but not in files of earlier versions.
_SOMETIMES = (
    "coef_path_", "intercept_path_", "class_prior_", "class_prior_interval_", "class_prior_check_", "sources_",
)  # fmt: skip
_ADDED = ("termination_", "neighbors_")
_ITERATIVE = ("C_", "history_", "n_iter_", "termination_condition_")
_MODELS = {
    saved.make.__name__: saved
    for saved in (
        _Saved(AdREM, (*_LINEAR, "vote_share_"), _SOMETIMES, ("C_", "machine_", "history_"), _ADDED),
        _Saved(baselines.SourceOnly),
        _Saved(baselines.HardEM, values=_ITERATIVE),
        _Saved(baselines.SoftEM, values=_ITERATIVE),
        _Saved(baselines.CORAL),
        _Saved(baselines.SubspaceAlignment, values=("C_", "n_components_")),
        _Saved(baselines.GFK, values=("C_", "n_components_")),
        _Saved(baselines.TCA, values=("C_", "n_components_")),
        _Saved(baselines.FLDA, (*_LINEAR, "dropout_")),
        _Saved(baselines.DASVM, values=_ITERATIVE),
        _Saved(baselines.SCL, optional=("pivots_",)),
        _Saved(baselines.ImportanceWeighting, (*_LINEAR, "source_weight_"), values=("C_", "domain_C_")),
        _Saved(baselines.KMM, (*_LINEAR, "source_weight_")),
    )
}


@dataclass(frozen=True)
class Bundle:
    """A model with all that it takes to label a table by it: how rows are made, and the classifier of the source alone.

    `recipe` is None for files of numbers, whose rows are divided by `scales`. `about` tells where it comes from.
    """

    model: Any
    source_coef: NDArray[Any]
    source_intercept: NDArray[Any]
    recipe: Recipe | None
    scales: NDArray[np.float64]
    about: dict[str, Any]


def save(model: DomainClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, replacing what stands there only once all is written.

    Parameters
    ----------
    model : AdREM or a baseline
        A fitted model. Baselines that keep rows of the source (``form="similarity"``, ``"nearest"``) can't be saved.
    path : path-like
        Where to; the name is used as it is.

    Raises
    ------
    TypeError
        If the model is of a kind that can't be saved. The message says which can.
    FileNotFoundError
        If the folder is not there.

    See Also
    --------
    load : Read the file again.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from adrem import AdREM, load, save
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
    >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "arcs.adrem")
    ...     again = load(Path(folder) / "arcs.adrem")
    >>> bool((again.predict(X_target) == model.predict(X_target)).all())
    True
    """
    _write(Path(path), *_pack(model))


def _pack(model: DomainClassifier) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file that holds a model."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if type(model) not in [saved.make for saved in _MODELS.values()]:
        hint = " Save its best_estimator_, for rows as its preprocessing_ makes them."
        raise TypeError(
            f"{type(model).__name__} can't be saved; these can: {', '.join(_MODELS)}."
            f"{hint if hasattr(model, 'best_estimator_') else ''}"
        )
    if not hasattr(model, "coef_"):
        which, other = ("form", "mapping") if hasattr(model, "form") else ("kernel", "linear")
        raise TypeError(
            f"{type(model).__name__}({which}={getattr(model, which)!r}) keeps the rows that it was fitted to, and "
            f"can't be saved; {which}={other!r} can."
        )
    model._validate_params()
    saved = _MODELS[type(model).__name__]
    names = [name for name in (*saved.arrays, *saved.optional) if hasattr(model, name)]
    arrays = {name: _plain(getattr(model, name)) for name in names}
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "adrem_version": version("adrem"),
        "model": type(model).__name__,
        "params": {name: _param_to_json(name, value) for name, value in model.get_params().items()},
        "objects": [name for name in names if getattr(model, name).dtype == object],
        "n_features_in_": model.n_features_in_,
        "feature_names_in_": list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None,
        **{name: _scalar(getattr(model, name, None)) for name in (*saved.values, *saved.added)},
    }
    return header, arrays


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that `save` wrote.

    A file from a stranger can't run code, nor take more memory than it may.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, default=2**32
        The most that its arrays may take in memory; more than is free they may never take.

    Returns
    -------
    AdREM or a baseline
        The fitted model, with the parameters it was made with.

    Raises
    ------
    UnreadableModelError
        If the file is damaged, no model, or of a version that this one can't read.

    See Also
    --------
    save : Write such a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from adrem import load, save
    >>> from adrem.baselines import SourceOnly
    >>> model = SourceOnly(C=1.0).fit([[1.0], [2.0], [-1.0]], ["warm", "warm", "cold"])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "weather.adrem")
    ...     again = load(Path(folder) / "weather.adrem")
    >>> again.predict([[3.0], [-3.0]]).tolist()
    ['warm', 'cold']
    """
    return _read(path, max_bytes, lambda header, arrays: _rebuild(*_without_bundle(header, arrays)))


def save_bundle(bundle: Bundle, path: str | os.PathLike[str]) -> None:
    """Write a model with all that it takes to label a table by it. `load` reads the model alone."""
    header, arrays = _pack(bundle.model)
    recipe = None if bundle.recipe is None else bundle.recipe.to_dict()
    header[BUNDLE] = {"recipe": recipe, "about": bundle.about}
    centres = np.zeros(0) if bundle.recipe is None else bundle.recipe.centres
    own = (bundle.source_coef, bundle.source_intercept, bundle.scales, centres)
    _write(Path(path), header, {**arrays, **dict(zip(_BUNDLE_ARRAYS, own, strict=True))})


def load_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Read what `save_bundle` wrote."""

    def rebuild(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Bundle:
        if BUNDLE not in header:
            raise UnreadableModelError(
                f"{os.fspath(path)} holds a model without the columns it was learnt from: `adrem adapt --save` writes "
                "both."
            )
        parts = header[BUNDLE]
        coef, intercept, scales, centres = (arrays[name] for name in _BUNDLE_ARRAYS)
        recipe = None if parts["recipe"] is None else Recipe.from_dict(parts["recipe"], scales, centres)
        model = _rebuild(*_without_bundle(header, arrays))
        n_features = model.n_features_in_
        fits = (
            _is_numbers(coef, (model.coef_.shape[1], n_features))
            and _is_numbers(intercept, (len(coef),))
            and _is_numbers(scales, (n_features,))
            and _is_numbers(centres, (None,))
            and bool(np.all(scales > 0))
            and (recipe is None or recipe.is_for(n_features))
        )
        if not fits:
            raise UnreadableModelError("The model file's arrays do not fit together: it is damaged.")
        return Bundle(model, coef, intercept, recipe, scales, dict(parts["about"]))

    bundle: Bundle = _read(path, MAX_BYTES, rebuild)
    return bundle


def _without_bundle(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if BUNDLE not in header:
        return header, arrays
    return (
        {name: value for name, value in header.items() if name != BUNDLE},
        {name: array for name, array in arrays.items() if name not in _BUNDLE_ARRAYS},
    )


def _read(
    path: str | os.PathLike[str],
    max_bytes: int,
    rebuild: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Any],
) -> Any:
    name = os.fspath(path)
    with Path(path).open("rb") as file:
        try:
            arrays = read_arrays(file, max_bytes)
            if arrays[HEADER].nbytes > max_bytes // HEADER_PART:
                raise TooLargeError(f"its header takes {size_of(arrays[HEADER].nbytes)}")
            header = _read_header(arrays.pop(HEADER))
            return rebuild(header, arrays)
        except UnreadableModelError:
            raise
        except TooLargeError as error:
            raise UnreadableModelError(
                f"{name} was not read: {error}. If you know where it comes from, give load a larger max_bytes, or a "
                "machine with more memory."
            ) from error
        except MemoryError as error:
            raise UnreadableModelError(f"{name} takes more memory than is free.") from error
        except Exception as error:  # whatever a stranger's bytes may provoke in zip, zlib, numpy and JSON
            raise UnreadableModelError(f"{name} is not a model file of adrem, or it is damaged.") from error


def _read_header(content: NDArray[Any]) -> dict[str, Any]:
    header = json.loads(content.tobytes(), parse_constant=_refuse)
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
    if header.get("model") not in _MODELS:
        raise UnreadableModelError(f"The model file holds a {header.get('model')!r}, unknown to this version of adrem.")
    return header


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number that a model has")


def _rebuild(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    saved = _MODELS[header["model"]]
    allowed = {*saved.arrays, *saved.optional}
    if not set(saved.arrays) <= set(arrays) <= allowed:
        raise UnreadableModelError(f"The model file holds the arrays {sorted(arrays)}, expected {sorted(allowed)}.")
    if set(header) - set(saved.added) != _COMMON_KEYS | set(saved.values):
        raise UnreadableModelError(f"The model file's header has the keys {sorted(header)}, not those of its format.")
    params = {name: _param_from_json(value) for name, value in header["params"].items()}
    model: Any = saved.make(**params)
    model._validate_params()
    for name, array in arrays.items():
        was_object = name in OBJECTS and name in header["objects"] and array.dtype.kind == "U"
        setattr(model, name, array.astype(object) if was_object else array)
    for name in (*saved.values, *saved.added):
        if header.get(name) is not None:  # the source alone has fewer
            setattr(model, name, _READ[name](header[name]))
    model.n_features_in_ = int(header["n_features_in_"])
    if header["feature_names_in_"] is not None:
        model.feature_names_in_ = np.array(header["feature_names_in_"], dtype=object)
    keeps_rows = getattr(model, "form", "mapping") != "mapping" or (saved.make is AdREM and model.kernel != "linear")
    if keeps_rows or not 0 < model.C_ < np.inf or not _fits_together(model):
        raise UnreadableModelError("The model file's arrays do not fit together: it is damaged.")
    return model


def _fits_together(model: Any) -> bool:
    """Whether the arrays have the shapes of a model, finite numbers, and labels that are classes.

    Nothing is made here whose size a file could choose.
    """
    classes, labels = model.classes_, model.transduction_
    n_classes, n_features = len(classes), model.n_features_in_
    n_problems = 1 if n_classes == 2 else n_classes
    n_members, n_kept = len(model.coef_), getattr(model, "coef_path_", model.coef_).shape[1]
    shapes: dict[str, tuple[int | None, ...]] = {
        "coef_": (n_members, n_problems, n_features),
        "intercept_": (n_members, n_problems),
        "coef_path_": (n_members, n_kept, n_problems, n_features),
        "intercept_path_": (n_members, n_kept, n_problems),
        "vote_share_": (len(labels), n_classes),
        "dropout_": (n_features,),
        "source_weight_": (None,),
        "sources_": (None,),
        "class_prior_": (n_classes,),
        "class_prior_check_": (n_classes,),
        "class_prior_interval_": (2, n_classes),
    }
    return (
        n_members > 0
        and n_classes > 1
        and classes.ndim == labels.ndim == 1
        and all(_is_numbers(getattr(model, name), shape) for name, shape in shapes.items() if hasattr(model, name))
        and _are_places(getattr(model, "pivots_", np.zeros(0, np.intp)), n_features)
        and _are_names(getattr(model, "feature_names_in_", None), n_features)
        and (classes.dtype.kind in "Sbiuf" or _are_names(classes, n_classes))
        and bool(np.array_equal(classes, np.unique(classes)))  # NaN differs from itself
        and bool(np.isin(labels, classes).all())
    )


def _is_numbers(array: NDArray[Any], shape: tuple[int | None, ...]) -> bool:
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    return fits and array.dtype.kind == "f" and bool(np.isfinite(array).all())


def _are_places(array: NDArray[Any], n_features: int) -> bool:
    inside = array.ndim == 1 and array.dtype.kind in "iu"
    return inside and (not array.size or bool(0 <= array.min() <= array.max() < n_features))


def _are_names(array: NDArray[Any] | None, n_names: int) -> bool:
    return array is None or (len(array) == n_names and all(isinstance(name, str) for name in array.tolist()))


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind in "biufUS":
        return array
    plain = array.astype(str)
    if not all(isinstance(label, str) for label in array.tolist()) or plain.tolist() != array.tolist():
        raise TypeError("Only labels that are numbers or strings can be saved: convert y before fit.")
    return plain


def _param_to_json(name: str, value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        raise TypeError("A model whose random_state is a RandomState can't be saved: pass an integer, or None.")
    if name in ("class_prior", "source_weight") and hasattr(value, "items"):
        return {"mapping": [[_scalar(key), float(share)] for key, share in value.items()]}
    value = _scalar(value)
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return {"list": np.asarray(value).tolist()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"The parameter {name}={value!r} can't be saved.")


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _param_from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value["mapping"]) if "mapping" in value else value["list"]
    return value


def _write(path: Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    if not path.parent.is_dir():
        raise FileNotFoundError(f"Can't write {path}: there is no folder {path.parent}.")
    try:
        text = json.dumps(header, allow_nan=False).encode()
    except ValueError:
        raise ValueError(
            f"{path} was not written: the model holds numbers that are not finite. Look at its history_."
        ) from None
    if len(text) > MAX_BYTES // HEADER_PART:
        raise ValueError(f"{path} was not written: the names of its features and classes take {size_of(len(text))}.")
    contents: dict[str, Any] = {HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    with written_whole(path) as file:
        write_arrays(file, contents, compressed=True)
