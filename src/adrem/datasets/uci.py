"""Data sets of the UCI repository: mushrooms, phishing websites, heart disease and gas sensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder

from adrem.exceptions import DamagedDataError
from adrem.files.labelled_rows import Table, check_table, guarded
from adrem.files.packed import decompress
from adrem.files.svmlight import read_svmlight

MUSHROOM_COLUMNS = (
    *("cap-shape", "cap-surface", "cap-color", "bruises", "odor", "gill-attachment", "gill-spacing", "gill-size"),
    *("gill-color", "stalk-shape", "stalk-root", "stalk-surface-above-ring", "stalk-surface-below-ring"),
    *("stalk-color-above-ring", "stalk-color-below-ring", "veil-type", "veil-color", "ring-number", "ring-type"),
    *("spore-print-color", "population", "habitat"),
)
SHAPES = {"enlarging": "e", "tapering": "t"}
ADDRESSES = {"ip-address": 1, "no-ip-address": -1}
HEART_COLUMNS = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"),
)
HEART_CODES = ("cp", "restecg", "slope", "thal")
MISSING = ("?", "-9", "-9.0")
N_SENSOR_VALUES = 128


def read_mushrooms(content: bytes, name: str) -> dict[str, Table]:
    """Read the mushrooms: a domain for each shape of the stalk, a column for each value of the 22 attributes."""
    cells = _read_cells(content, name, 1 + len(MUSHROOM_COLUMNS))
    cells = cells[1:] if cells[0, 0] == "edibility" else cells  # some copies have a header
    labels, codes = cells[:, 0], cells[:, 1:]
    shapes = codes[:, MUSHROOM_COLUMNS.index("stalk-shape")]
    _check_values(labels, ("e", "p"), f"{name}, column 1")
    _check_values(shapes, tuple(SHAPES.values()), f"{name}, column 11")
    encoder = OneHotEncoder(sparse_output=False).set_output(transform="default").fit(codes)
    X, y = encoder.transform(codes), (labels == "p").astype(np.int64)
    names = encoder.get_feature_names_out(MUSHROOM_COLUMNS).tolist()
    return _split(X, y, {domain: shapes == code for domain, code in SHAPES.items()}, name, names)


def read_phishing(content: bytes, name: str) -> dict[str, Table]:
    """Read the websites: a domain for those whose address is a number, and one for the others."""
    cells = _read_cells(content, name, 31)
    _check_values(cells, ("-1", "0", "1"), name)
    numbers = cells.astype(np.float64)
    X, y = numbers[:, :-1], (numbers[:, -1] > 0).astype(np.int64)
    return _split(X, y, {domain: X[:, 0] == code for domain, code in ADDRESSES.items()}, name)


def heart_reader(names: dict[str, str]) -> Callable[[dict[str, bytes]], dict[str, Table]]:
    """Return a reader of one file per hospital; `names` maps hospitals to files.

    A missing number becomes the median of its column over all hospitals. A code becomes a column for each value, which
    are all zero where it is missing.
    """

    def read(files: dict[str, bytes]) -> dict[str, Table]:
        read_files = {hospital: _read_numbers(files[file], file) for hospital, file in names.items()}
        numbers = np.concatenate(list(read_files.values()))
        X, columns = _encode_heart(numbers[:, :-1])
        ends = np.cumsum([0] + [len(part) for part in read_files.values()])
        tables = {}
        for (hospital, part), begin, end in zip(read_files.items(), ends, ends[1:], strict=False):
            y = (part[:, -1] > 0).astype(np.int64)
            tables[hospital] = check_table(Table(X[begin:end], y, columns), names[hospital])
        return tables

    return read


def _encode_heart(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    columns: dict[str, NDArray[Any]] = {}
    for name, values in zip(HEART_COLUMNS, numbers.T, strict=True):
        known = values[~np.isnan(values)]
        if name in HEART_CODES:
            columns |= {f"{name}_{code:g}": values == code for code in np.unique(known)}
        else:
            columns[name] = np.where(np.isnan(values), np.median(known) if len(known) else 0.0, values)
    return np.column_stack(list(columns.values())).astype(np.float64), list(columns)


def read_sensors(content: bytes, name: str) -> Table:
    """Read a batch of the gas sensors: a gzipped svmlight file of dense rows."""
    table = read_svmlight(decompress(content, name), name)
    n_columns = table.X.shape[1] - 1  # columns count from 1
    if n_columns != N_SENSOR_VALUES:
        raise DamagedDataError(f"{name} has {n_columns} columns, but it should have {N_SENSOR_VALUES}.")
    return table._replace(X=table.X[:, 1:].toarray())


def _read_numbers(content: bytes, name: str) -> NDArray[np.float64]:
    cells = _read_cells(content, name, 1 + len(HEART_COLUMNS))
    numbers: NDArray[np.float64] = guarded(
        name, "a table of numbers", lambda: np.where(np.isin(cells, MISSING), "nan", cells).astype(np.float64)
    )
    if np.isnan(numbers[:, -1]).any():
        raise DamagedDataError(f"{name} has rows without a label.")
    return numbers


def _read_cells(content: bytes, name: str, width: int) -> NDArray[np.str_]:
    """Read text with commas between the cells, without the declarations and comments of an ARFF file."""

    def read() -> NDArray[np.str_]:
        lines = [line.strip() for line in content.decode("ascii").splitlines()]
        rows = [line.split(",") for line in lines if line and line[0] not in "@%"]
        if not rows or any(len(row) != width for row in rows):
            raise DamagedDataError(f"{name}: lines of {width} cells are expected")
        return np.char.strip(np.array(rows))

    cells: NDArray[np.str_] = guarded(name, "a table of text", read)
    return cells


def _check_values(cells: NDArray[np.str_], known: tuple[str, ...], place: str) -> None:
    unknown = np.setdiff1d(cells, known)
    if len(unknown):
        raise DamagedDataError(f"{place}: {str(unknown[0])!r} is not one of {', '.join(known)}.")


def _split(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    domains: dict[str, NDArray[np.bool_]],
    name: str,
    names: list[str] | None = None,
) -> dict[str, Table]:
    return {domain: check_table(Table(X[rows], y[rows], names), name) for domain, rows in domains.items()}
