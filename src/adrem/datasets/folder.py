"""Load a folder with one file per domain."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from adrem.datasets.dataset import DataSet, Domain, Provenance
from adrem.datasets.loading import as_float
from adrem.exceptions import DamagedDataError, DataNotFoundError, InvalidDataError, ParameterError
from adrem.files.frames import read_csv
from adrem.files.labelled_rows import Table, check_table
from adrem.files.mat import read_mat
from adrem.files.npz import read_npz
from adrem.files.parquet import read_parquet
from adrem.files.svmlight import align_columns, read_svmlight

Reader = Callable[[bytes, str], Any]
FRAME_READERS: dict[str, Reader] = {".csv": read_csv, ".parquet": read_parquet}
TABLE_READERS: dict[str, Reader] = {
    ".npz": read_npz,
    ".mat": read_mat,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
    ".svm": read_svmlight,
}
SUFFIXES = (*FRAME_READERS, *TABLE_READERS)


def load_folder(folder: str | os.PathLike[str], *, label: str = "label", preprocessing: Any = None) -> DataSet:
    """Load a folder with one file per domain.

    Parameters
    ----------
    folder : path-like
        Its csv, parquet, npz, mat, svmlight, libsvm and svm files are the domains, named after the files; others are
        ignored. csv and parquet need polars (``pip install 'adrem[cli]'``). npz and mat files hold rows as ``x`` or
        ``fts`` and labels as ``y`` or ``labels``; npz files may hold a CSR matrix as scipy saves it.
    label : str, default="label"
        The column of a csv or parquet file that holds the labels. A domain without it can only be a
        target.
    preprocessing : transformer, default=None
        Applied to both domains of a pair; see `adrem.preprocessing`.

    Returns
    -------
    DataSet
        As from `load`. Columns of csv and parquet files are matched by name.

    Raises
    ------
    DataNotFoundError
        If there is no such folder, or it has fewer than two domains.
    DamagedDataError
        If a file can't be read, or its columns differ from those of the others.

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
    paths = _find_files(folder)
    contents = {path: path.read_bytes() for path in paths}
    tables = {path.stem: _read_table(contents[path], path.name, label) for path in paths}
    if label != "label" and all(table.y is None for table in tables.values()):
        raise ParameterError(f"No file in {folder} has a column {label!r}.", "label")
    svmlight = [path.stem for path in paths if TABLE_READERS.get(path.suffix.lower()) is read_svmlight]
    tables |= align_columns({name: tables[name] for name in svmlight})
    tables = _same_columns(tables, folder)
    domains = {name: Domain(name, as_float(table.X), table.y) for name, table in tables.items()}
    files = {path.name: hashlib.sha256(contents[path]).hexdigest() for path in paths}
    feature_names = next(iter(tables.values())).feature_names
    return DataSet(
        folder.name, str(folder), domains, preprocessing, Provenance(f"{folder}", files=files), feature_names
    )


def _find_files(folder: Path) -> list[Path]:
    """Return the sorted files of the domains."""
    if not folder.is_dir():
        raise DataNotFoundError(f"There is no folder {folder}.")
    paths = sorted(path for path in folder.glob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if len(paths) < 2:
        raise DataNotFoundError(
            f"{folder} has {len(paths)} file(s) with the suffixes {', '.join(SUFFIXES)}; at least two are needed, one "
            "per domain."
        )
    names = [path.stem for path in paths]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidDataError(f"{folder} has several files named {twice!r}: each domain needs exactly one.")
    return paths


def _same_columns(tables: dict[str, Table], folder: Path) -> dict[str, Table]:
    """Give all domains the columns of the first, in its order."""
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


def _reorder(table: Table, wanted: list[str], name: str, first: str) -> Table:
    names = table.feature_names or []
    missing, unseen = sorted(set(wanted) - set(names)), sorted(set(names) - set(wanted))
    if missing or unseen:
        raise DamagedDataError(
            f"{name} has other columns than {first}: missing {missing[:5]}, not in {first} {unseen[:5]}. All domains "
            "need the same."
        )
    order = [names.index(column) for column in wanted]
    return table._replace(X=table.X[:, order], feature_names=wanted)


def _read_table(content: bytes, name: str, label: str) -> Table:
    suffix = Path(name).suffix.lower()
    if suffix in FRAME_READERS:
        return _split_label(FRAME_READERS[suffix](content, name), name, label)
    table: Table = TABLE_READERS[suffix](content, name)
    return table


def _split_label(frame: Any, name: str, label: str) -> Table:
    """Split a frame into rows of numbers and labels."""
    y = frame[label].to_numpy() if label in frame.columns else None
    columns = frame.drop(label) if y is not None else frame
    text = [column for column, kind in columns.schema.items() if not (kind.is_numeric() or str(kind) == "Boolean")]
    if text:
        raise ParameterError(
            f"{name}: columns {text[:5]} do not hold numbers. Convert them, or set label to the column of labels.",
            "label",
        )
    holes = [column.name for column in columns if column.null_count()]
    if holes:
        raise DamagedDataError(f"{name}: columns {holes[:5]} have missing values: fill them, or drop these rows.")
    X = columns.to_numpy().astype(np.float64)
    return check_table(Table(X, y, columns.columns), name)
