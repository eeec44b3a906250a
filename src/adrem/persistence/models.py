"""Model files: a zip of plain arrays and one JSON header. Never pickle, so a file can't run code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from adrem.base.classifier import DomainClassifier
from adrem.exceptions import FileTooLargeError, InvalidDataError, InvalidTypeError, NoFolderError, UnreadableModelError
from adrem.files.archives import read_arrays, write_arrays
from adrem.files.atomic import written_whole
from adrem.files.budget import Budget
from adrem.persistence.checks import MOST_LETTERS, check_arrays
from adrem.persistence.content import Arrays, Header, pack, rebuild
from adrem.persistence.header import parse_header
from adrem.persistence.pipelines import STEPS, pack_steps, restore_steps
from adrem.runtime.memory import available_memory, is_lack_of_memory

HEADER = "header"
MAX_BYTES = 2**32
EXTRA = "bundle"  # key of the header, and prefix of the arrays, that hold what is saved beside a model

T = TypeVar("T")


class Extra(NamedTuple):
    """What a file holds beside a model: plain values for its header, and arrays."""

    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def save(model: DomainClassifier | Pipeline, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file. An existing file is replaced only once all is written.

    Parameters
    ----------
    model : AdREM, a baseline, or another subclass of `adrem.base.DomainClassifier`, or a pipeline that ends with one
        A fitted model. Baselines that keep rows of the source (``form="similarity"``, ``"nearest"``) can't be saved.
        A class of another package names the fitted attributes that it adds to those of its bases in a class attribute,
        ``saved_attributes = ("shift_",)``. They may be arrays of numbers or strings, numbers, strings, and lists and
        dicts of these.
    path : path-like
        The file; the name is used as it is.

    Raises
    ------
    InvalidTypeError
        If the model can't be saved. The message says why.
    NoFolderError
        If the folder does not exist.

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
    if isinstance(model, Pipeline):
        values, arrays = pack_steps(model)
        write_model(model.steps[-1][1], path, Extra({STEPS: values}, arrays))
    else:
        write_model(model, path)


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, trusted_modules: Collection[str] = ()) -> Any:
    """Read a model that `save` wrote.

    A hostile file can't run code, nor take more memory than it may.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, default=2**32
        Most memory that its arrays may take; they may never take more than is free.
    trusted_modules : collection of str, default=()
        Modules to import for models of other packages. The model's own module has to be named exactly: a parent
        package does not stand for its modules. Importing a module runs its code, so name only those that you trust.

    Returns
    -------
    AdREM, a baseline, a model of a trusted module, or a pipeline that ends with one
        The fitted model, with the parameters it was made with.

    Raises
    ------
    UnreadableModelError
        If the file is damaged, no model, of a version that this one can't read, or of a module that is not trusted.

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

    def make(model: Any, extra: Extra | None) -> Any:
        if extra is None or STEPS not in extra.values:
            return model
        return restore_steps(extra.values[STEPS], extra.arrays, model)

    return read_model(path, make, max_bytes=max_bytes, trusted_modules=trusted_modules)


def write_model(model: DomainClassifier, path: str | os.PathLike[str], extra: Extra | None = None) -> None:
    """Write a model, and what is saved beside it. `load` reads the model alone."""
    header, arrays = pack(model)
    if extra is not None:
        header[EXTRA] = extra.values
        arrays |= {f"{EXTRA}_{name}": array for name, array in extra.arrays.items()}
    _write(Path(path), header, arrays)


def read_model(
    path: str | os.PathLike[str],
    make: Callable[[Any, Extra | None], T],
    *,
    max_bytes: int = MAX_BYTES,
    trusted_modules: Collection[str] = (),
) -> T:
    """Return what is made of the model in a file and of what was saved beside it; all errors name the file."""
    if isinstance(trusted_modules, str):
        raise InvalidTypeError(f"trusted_modules must be a list of names: [{trusted_modules!r}].")
    name = os.fspath(path)
    with Path(path).open("rb") as file:
        try:
            budget = Budget(min(max_bytes, available_memory()), n_letters=MOST_LETTERS)
            arrays = read_arrays(file, budget)
            check_arrays(arrays, budget)
            header = parse_header(arrays.pop(HEADER), budget)
            extra = _take_extra(header, arrays)
            return make(rebuild(header, arrays, trusted_modules), extra)
        except UnreadableModelError:
            raise
        except FileTooLargeError as error:
            raise UnreadableModelError(
                f"{name} was not read: {error}. If that is for lack of memory, and you know where it comes from, give "
                "load a larger max_bytes, or a machine with more memory."
            ) from error
        except Exception as error:  # whatever hostile bytes may provoke in zip, zlib, numpy and JSON
            if is_lack_of_memory(error):
                raise UnreadableModelError(f"{name} takes more memory than is free.") from error
            raise UnreadableModelError(f"{name} is not a model file of adrem, or it is damaged.") from error


def _take_extra(header: Header, arrays: Arrays) -> Extra | None:
    """Take what is saved beside a model out of the header and the arrays."""
    if EXTRA not in header:
        return None
    prefix = f"{EXTRA}_"
    names = [name for name in arrays if name.startswith(prefix)]
    return Extra(header.pop(EXTRA), {name.removeprefix(prefix): arrays.pop(name) for name in names})


def _write(path: Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    if not path.parent.is_dir():
        raise NoFolderError(f"Can't write {path}: there is no folder {path.parent}.")
    try:
        text = json.dumps(header, allow_nan=False).encode()
    except ValueError:
        raise InvalidDataError(
            f"{path} was not written: the model holds numbers that are not finite. Look at its history_."
        ) from None
    try:
        Budget(MAX_BYTES).draw_json(text)
    except FileTooLargeError as error:
        raise InvalidDataError(
            f"{path} was not written: {error}. Its features have names; fit it to rows without, or to fewer features."
        ) from error
    contents: dict[str, Any] = {HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    with written_whole(path) as file:
        write_arrays(file, contents, compressed=True)
