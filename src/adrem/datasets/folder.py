"""Any folder of the user's, one file a domain."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from adrem._archives import TooLargeError
from adrem._memory import available_memory, size_of
from adrem.datasets._dataset import DataSet, Domain, Provenance
from adrem.datasets._load import as_float
from adrem.datasets._readers import Table, check_table, guarded, read_mat, read_npz
from adrem.exceptions import DamagedDataError, DataNotFoundError

FORMS = (".csv", ".parquet", ".npz", ".mat", ".svmlight", ".libsvm", ".svm")


def load_folder(folder: str | os.PathLike[str], *, label: str = "label", preprocessing: Any = None) -> DataSet:
    """Read a folder that holds one file a domain.

    Parameters
    ----------
    folder : path-like
        Its files with the endings csv, parquet, npz, mat, svmlight, libsvm or svm are the domains, named by their
        files; others are left alone. csv and parquet need polars (``pip install 'adrem[cli]'``). npz and mat files hold
        rows as ``x`` or ``fts`` and labels as ``y`` or ``labels``; npz also a CSR matrix as scipy saves it.
    label : str, default="label"
        The column of a csv or parquet file that holds the labels. A domain without it has no labels: it can be a
        target.
    preprocessing : transformer, default=None
        What is done to both domains of a pair; see `adrem.preprocessing`.

    Returns
    -------
    DataSet
        As from `load`. Columns of csv and parquet files are matched by name.

    Raises
    ------
    DataNotFoundError
        If there is no such folder, or fewer than two domains in it.
    DamagedDataError
        If a file can't be read, or its columns are not those of the others.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from adrem.datasets import load_folder
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "books.npz", x=[[1.0, 0.0], [0.0, 1.0]], y=["good", "bad"])
    ...     np.savez(Path(folder) / "kitchen.npz", x=[[2.0, 0.0], [0.0, 2.0], [3.0, 0.0]])  # not labelled yet
    ...     data = load_folder(folder)
    >>> data.pair("books", "kitchen")
    <DomainPair of a source and a target: 2 x 2 and 3 x 2>
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise DataNotFoundError(f"There is no folder {folder}.")
    paths = sorted(path for path in folder.glob("*") if path.suffix.lower() in FORMS and path.is_file())
    if len(paths) < 2:
        raise DataNotFoundError(
            f"{folder} holds {len(paths)} file(s) with the endings {', '.join(FORMS)}; one file a domain, and two at "
            "least, are needed."
        )
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{folder} has several files named {twice!r}: a domain is one file.")
    contents = {path.stem: path.read_bytes() for path in paths}
    svmlight = [path.stem for path in paths if _READERS[path.suffix.lower()] is _read_svmlight]
    tables = {p.stem: _READERS[p.suffix.lower()](contents[p.stem], p.name, label) for p in paths}
    if label != "label" and all(table.y is None for table in tables.values()):
        raise ValueError(f"No file in {folder} has a column {label!r} with the labels.")
    tables |= _aligned({name: tables[name] for name in svmlight})
    tables = _same_columns(tables, folder)
    domains = {name: Domain(name, as_float(table.X), table.y) for name, table in tables.items()}
    files = {path.name: hashlib.sha256(contents[path.stem]).hexdigest() for path in paths}
    feature_names = next(iter(tables.values())).feature_names
    return DataSet(
        folder.name, str(folder), domains, preprocessing, Provenance(f"{folder}", files=files), feature_names
    )


def _same_columns(tables: dict[str, Table], folder: Path) -> dict[str, Table]:
    """All domains with the columns of the first, in its order."""
    first_name, first = next(iter(tables.items()))
    result = {}
    for name, table in tables.items():
        if first.feature_names is not None and table.feature_names is not None:
            result[name] = _reorder(table, first.feature_names, f"{folder.name}: {name}", first_name)
        elif table.X.shape[1] != first.X.shape[1]:
            raise DamagedDataError(
                f"{folder}: {name} has {table.X.shape[1]} columns, {first_name} has {first.X.shape[1]}; all domains "
                "need the same."
            )
        else:
            result[name] = table
    return result


def _aligned(tables: dict[str, Table]) -> dict[str, Table]:
    """Tables of svmlight files with the same columns in the same places.

    A file says neither how many columns there are beyond its last non-zero, nor whether they are counted from 0 or 1.
    They are taken to be counted from 1 if no file has a column 0.
    """
    width = max((table.X.shape[1] for table in tables.values()), default=0)
    first = 0 if any(np.any(table.X.indices == 0) for table in tables.values()) else 1
    aligned = {}
    for name, table in tables.items():
        X = table.X.copy()
        X.resize(X.shape[0], width)
        aligned[name] = table._replace(X=X[:, first:])
    return aligned


def _reorder(table: Table, wanted: list[str], name: str, first: str) -> Table:
    names = table.feature_names or []
    missing, unseen = sorted(set(wanted) - set(names)), sorted(set(names) - set(wanted))
    if missing or unseen:
        raise DamagedDataError(
            f"{name} has other columns than {first}: missing {missing[:5]}, not there {unseen[:5]}. All domains need "
            "the same."
        )
    order = [names.index(column) for column in wanted]
    return table._replace(X=table.X[:, order], feature_names=wanted)


def _read_frame(content: bytes, name: str, label: str, read: Callable[[Any], Any]) -> Table:
    frame = guarded(name, f"a {Path(name).suffix[1:]} file", lambda: read(content))
    y = frame[label].to_numpy() if label in frame.columns else None
    columns = frame.drop(label) if y is not None else frame
    text = [column for column, kind in columns.schema.items() if not (kind.is_numeric() or str(kind) == "Boolean")]
    if text:
        raise ValueError(
            f"{name}: columns {text[:5]} do not hold numbers. Turn them into numbers, or name the labels by label=..."
        )
    holes = [column.name for column in columns if column.null_count()]
    if holes:
        raise DamagedDataError(f"{name}: columns {holes[:5]} have missing values: fill them, or leave these rows out.")
    X = columns.to_numpy().astype(np.float64)
    return check_table(Table(X, y, columns.columns), name)


def _read_csv(content: bytes) -> Any:
    return _polars().read_csv(content, infer_schema_length=None)  # a column's type may show in its last row only


def read_parquet(content: bytes, name: str) -> Any:
    """A frame, once the size that the file gives was found to fit: few bytes may stand for many rows."""
    file = io.BytesIO(content)
    polars = _polars()
    try:
        n_values = (
            len(polars.read_parquet_schema(file)) * polars.scan_parquet(file).select(polars.len()).collect().item()
        )
    except ValueError:  # older versions look into files by their names only
        n_values = 0
    needed, free = 8 * n_values, available_memory()
    if needed > free:
        raise TooLargeError(f"{name} holds {n_values} values, which take {size_of(needed)}; {size_of(free)} are free.")
    return polars.read_parquet(io.BytesIO(content))


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError("csv and parquet files are read by polars: pip install 'adrem[cli]'.") from error
    return polars


def _read_svmlight(content: bytes, name: str, _label: str) -> Table:
    X, y = guarded(name, "an svmlight file", lambda: load_svmlight_file(io.BytesIO(content), zero_based=True))
    whole = np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53)
    return check_table(Table(sp.csr_array(X), y.astype(np.int64) if whole else y), name)


_READERS: dict[str, Callable[[bytes, str, str], Table]] = {
    ".csv": lambda content, name, label: _read_frame(content, name, label, _read_csv),
    ".parquet": lambda content, name, label: _read_frame(content, name, label, lambda c: read_parquet(c, name)),
    ".npz": lambda content, name, _: read_npz(content, name),
    ".mat": lambda content, name, _: read_mat(content, name),
    ".svmlight": _read_svmlight,
    ".libsvm": _read_svmlight,
    ".svm": _read_svmlight,
}
