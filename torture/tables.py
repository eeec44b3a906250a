"""Tables, labels and weights of every kind, good and bad."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from numpy.random import RandomState
from numpy.typing import NDArray

Array = NDArray[Any]
N_SOURCE, N_TARGET, N_NEW, N_FEATURES, N_CLASSES = 48, 30, 7, 6, 3


def rows(n_rows: int, seed: int) -> Array:
    """Rows of three classes, in turn, some of their entries zero."""
    rng = RandomState(seed)
    means = 3.0 * RandomState(0).standard_normal((N_CLASSES, N_FEATURES))
    X = means[np.arange(n_rows) % N_CLASSES] + rng.standard_normal((n_rows, N_FEATURES)) + 0.1 * seed
    X[np.abs(X) < 0.3] = 0.0
    return X


def _set(value: float) -> Callable[[Array], Array]:
    def change(X: Array) -> Array:
        X[len(X) // 2, 1] = value
        return X

    return change


def _row(value: float) -> Callable[[Array], Array]:
    def change(X: Array) -> Array:
        X[len(X) // 3] *= value
        return X

    return change


# What stands in a table.
CONTENTS: dict[str, Callable[[Array], Array]] = {
    "as it is": lambda X: X,
    "NaN": _set(np.nan),
    "infinity": _set(np.inf),
    "minus infinity": _set(-np.inf),
    "all NaN": lambda X: np.full_like(X, np.nan),
    "a denormal": _set(5e-324),
    "denormals": lambda X: X * 1e-310,
    "the largest number": _set(np.finfo(np.float64).max),
    "numbers of 1e200": lambda X: X * 1e200,
    "numbers of 1e150": lambda X: X * 1e150,
    "numbers of 1e30": lambda X: X * 1e30,
    "numbers of 1e12": lambda X: X * 1e12,
    "numbers of 1e-12": lambda X: X * 1e-12,
    "numbers of 1e-150": lambda X: X * 1e-150,
    "numbers of 1e-200": lambda X: X * 1e-200,
    "an outlier of 1e6": _set(1e6),
    "an outlier of 1e100": _set(1e100),
    "a row a million times as long": _row(1e6),
    "a row of zeros": _row(0.0),
    "zeros": lambda X: X * 0.0,
    "negative zeros": lambda X: X * -0.0,
    "ones": np.ones_like,
    "constant columns": lambda X: np.hstack([X[:, :3], np.full((len(X), 3), 7.5)]),
    "equal columns": lambda X: np.repeat(X[:, :1], X.shape[1], axis=1),
    "equal rows": lambda X: np.repeat(X[:1], len(X), axis=0),
    "a column of 1e9": lambda X: X * np.array([1e9, 1, 1, 1, 1, 1]),
    "a column far from zero": lambda X: X + np.array([1e8, 0, 0, 0, 0, 0]),
}


# Rows that nothing tells apart: whichever class they get, they all get it.
TIED = ("equal rows", "ones", "zeros", "negative zeros")


def _wide_indices(X: Array) -> Any:
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def _unsorted(X: Array) -> Any:
    matrix = sp.csr_array(X)
    for begin, end in zip(matrix.indptr, matrix.indptr[1:], strict=False):
        matrix.indices[begin:end] = matrix.indices[begin:end][::-1].copy()
        matrix.data[begin:end] = matrix.data[begin:end][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def _in_parts(X: Array) -> Any:
    """Every entry stored as two halves."""
    half = sp.csr_array(X / 2)
    places = np.repeat(half.indices, 2), np.append(2 * half.indptr[:-1], 2 * half.indptr[-1])
    return sp.csr_array((np.repeat(half.data, 2), *places), shape=X.shape)


def _with_zeros(X: Array) -> Any:
    n_rows, n_columns = X.shape
    indptr = np.arange(0, X.size + 1, n_columns)
    return sp.csr_array((X.ravel(), np.tile(np.arange(n_columns), n_rows), indptr), shape=X.shape)


def _damaged(part: str, value: int, form: str = "csr") -> Callable[[Array], Any]:
    def make(X: Array) -> Any:
        matrix = sp.csr_array(X).asformat(form)
        if not matrix.nnz:
            raise UnfitError
        getattr(matrix, part)[1] = value
        return matrix

    return make


def _lil_outside(X: Array) -> Any:
    matrix = sp.lil_array(X)
    matrix.rows[0] = [10**8 for _ in matrix.rows[0]]
    if not matrix.rows[0]:
        raise UnfitError
    return matrix


def _lil_longer(X: Array) -> Any:
    matrix = sp.lil_array(X)
    matrix.data[0] = [1.0] * 10**7
    return matrix


def _dia_longer(X: Array) -> Any:
    matrix = sp.dia_array(sp.csr_array(X))
    matrix.offsets = np.zeros(10**7, np.int32)
    return matrix


def _memmap(X: Array) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, X)
        return np.load(path, mmap_mode="r")


def _read_only(X: Array) -> Array:
    X = X.copy()
    X.flags.writeable = False
    return X


def _read_only_csr(X: Array) -> Any:
    matrix = sp.csr_array(X)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


def _names() -> list[str]:
    return list("abcdef")


def _nullable(X: Array) -> Any:
    return pd.DataFrame(X, columns=_names()).convert_dtypes(convert_integer=False)


class UnfitError(Exception):
    """A content that can't be put in a form."""


# In what it is handed over, with the same numbers in it, or nearly.
FORMS: dict[str, Callable[[Array], Any]] = {
    "float64": lambda X: X.copy(),
    "column by column": np.asfortranarray,
    "backwards": lambda X: X[::-1].copy()[::-1],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "other byte order": lambda X: X.astype(">f8"),
    "read-only": _read_only,
    "memory-mapped": _memmap,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "a numpy matrix": lambda X: np.asmatrix(X),
    "pandas": lambda X: pd.DataFrame(X, columns=_names()),
    "pandas, nullable": _nullable,
    "pandas, arrow": lambda X: pd.DataFrame(X, columns=_names()).astype("float64[pyarrow]"),
    "pandas, sparse": lambda X: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X), columns=_names()),
    "polars": lambda X: pl.DataFrame(X, schema=_names()),
    "CSR": lambda X: sp.csr_array(X),
    "CSR matrix": lambda X: sp.csr_matrix(X),
    "CSC": lambda X: sp.csc_array(X),
    "COO": lambda X: sp.coo_array(X),
    "BSR": lambda X: sp.bsr_array(sp.csr_array(X)),
    "DIA": lambda X: sp.dia_array(sp.csr_array(X)),
    "DOK": lambda X: sp.dok_array(sp.csr_array(X)),
    "LIL": lambda X: sp.lil_array(sp.csr_array(X)),
    "CSR, 64-bit indices": _wide_indices,
    "CSR, unsorted": _unsorted,
    "CSR, entries in parts": _in_parts,
    "CSR, zeros stored": _with_zeros,
    "CSR, read-only": _read_only_csr,
    "CSR, float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "CSR, index beyond": _damaged("indices", 10**8),
    "CSR, index negative": _damaged("indices", -(10**8)),
    "CSR, indptr beyond": _damaged("indptr", 10**8),
    "CSR, indptr negative": _damaged("indptr", -5),
    "CSC, index beyond": _damaged("indices", 10**8, "csc"),
    "COO, row beyond": _damaged("row", 10**8, "coo"),
    "COO, column negative": _damaged("col", -(10**8), "coo"),
    "LIL, column beyond": _lil_outside,
    "LIL, values without places": _lil_longer,
    "DIA, offsets without diagonals": _dia_longer,
    "complex": lambda X: X + 1j,
    "strings": lambda X: X.astype(str),
    "words": lambda X: np.full(X.shape, "word"),
    "bytes": lambda X: X.astype("S8"),
    "dates": lambda X: np.zeros(X.shape, dtype="datetime64[s]"),
    "durations": lambda X: np.zeros(X.shape, dtype="timedelta64[s]"),
    "records": lambda X: np.zeros(len(X), dtype=[("a", "f8"), ("b", "f8")]),
    "masked": lambda X: np.ma.masked_less(X, 0.0),
    "one number": lambda _: 3.0,
    "a word": lambda _: "rows",
    "None": lambda _: None,
    "a dictionary": lambda X: {"a": X},
    "a generator": lambda X: (row for row in X),
    "one dimension": lambda X: X.ravel(),
    "three dimensions": lambda X: X[None],
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "one row": lambda X: X[:1],
    "two rows": lambda X: X[:2],
    "one column": lambda X: X[:, :1],
    "one column less": lambda X: X[:, :-1],
    "one row less": lambda X: X[:-1],
    "ragged": lambda X: [list(row)[: k % 5 + 1] for k, row in enumerate(X)],
    "pandas, columns turned round": lambda X: pd.DataFrame(X, columns=_names())[_names()[::-1]],
    "pandas, other columns": lambda X: pd.DataFrame(X, columns=list("uvwxyz")),
    "pandas, twice the same column": lambda X: pd.DataFrame(X, columns=list("aabcde")),
    "pandas, names of many kinds": lambda X: pd.DataFrame(X, columns=["a", 1, 2.5, None, "b", "c"]),
    "pandas, a column of words": lambda X: pd.DataFrame(X, columns=_names()).assign(a="word"),
    "pandas, dates": lambda X: pd.DataFrame(X, columns=_names()).assign(a=pd.Timestamp("2020-01-01")),
    "pandas, missing": lambda X: _nullable(X).mask(np.abs(X) > 4, pd.NA),
    "polars, missing": lambda X: pl.DataFrame(X, schema=_names()).with_columns(a=pl.lit(None, dtype=pl.Float64)),
}

# Hold the very numbers of the table in double precision: the answer has to be the same.
FAITHFUL = (
    "column by column", "backwards", "every other column", "other byte order", "read-only", "memory-mapped",
    "longdouble", "objects", "lists", "pandas", "pandas, nullable", "pandas, arrow", "polars", "CSR", "CSR matrix",
    "CSC", "COO", "BSR", "DIA", "DOK", "LIL", "CSR, 64-bit indices", "CSR, unsorted", "CSR, entries in parts",
    "CSR, zeros stored", "CSR, read-only",
)  # fmt: skip


class Colour(Enum):
    """Labels that are neither numbers nor strings."""

    RED = 0
    GREEN = 1
    BLUE = 2


def _words(y: Array) -> Array:
    return np.array(["ant", "bee", "cow"])[y]


LABELS: dict[str, Callable[[Array], Any]] = {
    "whole numbers": lambda y: y.copy(),
    "a list": lambda y: y.tolist(),
    "a column": lambda y: y[:, None],
    "a row": lambda y: y[None],
    "small unsigned": lambda y: y.astype(np.uint8),
    "huge unsigned": lambda y: y.astype(np.uint64) + np.uint64(2**63),
    "huge": lambda y: y * (2**61),
    "negative": lambda y: -y - 2,
    "minus one among them": lambda y: y - 1,
    "plus and minus one": lambda y: np.where(y == 0, -1, 1),
    "all minus one": lambda y: np.full(len(y), -1),
    "truth values": lambda y: y == 0,
    "whole floats": lambda y: y.astype(np.float64),
    "floats": lambda y: y + 0.5,
    "float32": lambda y: y.astype(np.float32),
    "NaN among them": lambda y: np.where(y == 0, np.nan, y),
    "infinity among them": lambda y: np.where(y == 0, np.inf, y),
    "strings": _words,
    "strings as objects": lambda y: _words(y).astype(object),
    "bytes": lambda y: _words(y).astype("S"),
    "numbers as objects": lambda y: y.astype(object),
    "empty strings": lambda y: np.where(y == 0, "", _words(y)),
    "long strings": lambda y: np.char.multiply(_words(y), 20_000),
    "odd strings": lambda y: np.array(["\n\r\t", "\N{PILE OF POO}\0x", "<script>"])[y],
    "None among them": lambda y: np.array([None if k == 0 else k for k in y]),
    "strings and numbers": lambda y: np.where(y == 0, "ant", y.astype(object)),
    "strings and minus one": lambda y: np.where(y == 0, -1, _words(y).astype(object)),
    "a Series": lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    "a Series of strings": lambda y: pd.Series(_words(y)),
    "categories": lambda y: pd.Series(pd.Categorical(_words(y))),
    "nullable": lambda y: pd.Series(y, dtype="Int64"),
    "nullable, missing": lambda y: pd.Series(y, dtype="Int64").mask(y == 0, pd.NA),
    "polars": lambda y: pl.Series("y", y),
    "polars, strings": lambda y: pl.Series("y", _words(y)),
    "a frame": lambda y: pd.DataFrame({"y": y}),
    "two columns": lambda y: np.stack([y, y], axis=1),
    "one-hot": lambda y: np.eye(N_CLASSES, dtype=int)[y],
    "dates": lambda y: y.astype("datetime64[D]"),
    "complex": lambda y: y + 1j,
    "enumeration": lambda y: np.array([Colour(k) for k in y]),
    "tuples": lambda y: [(k, k) for k in y],
    "sets": lambda y: np.array([{k} for k in y], dtype=object),
    "dictionaries": lambda y: np.array([{"k": k} for k in y], dtype=object),
    "objects that won't compare": lambda y: np.array([_Sour() for _ in y], dtype=object),
    "sparse": lambda y: sp.csr_array(y[:, None]),
    "one class": lambda y: np.zeros_like(y),
    "a class a row": lambda y: np.arange(len(y)),
    "one row of a class": lambda y: np.where(np.arange(len(y)) == 0, 9, y),
    "one too few": lambda y: y[:-1],
    "one too many": lambda y: np.append(y, 0),
    "none": lambda _: None,
    "empty": lambda y: y[:0],
    "one number": lambda _: 1,
    "a word": lambda _: "labels",
    "a generator": lambda y: (k for k in y),
}


class _Sour:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = object.__hash__


WEIGHTS: dict[str, Callable[[int], Any]] = {
    "ones": np.ones,
    "whole numbers": lambda n: np.arange(n) % 3 + 1,
    "a number": lambda _: 2.0,
    "zeros": np.zeros,
    "one zero": lambda n: np.arange(n) > 0,
    "one negative": lambda n: np.where(np.arange(n) == 0, -1.0, 1.0),
    "NaN": lambda n: np.full(n, np.nan),
    "infinity": lambda n: np.where(np.arange(n) == 0, np.inf, 1.0),
    "tiny": lambda n: np.full(n, 1e-300),
    "huge": lambda n: np.full(n, 1e300),
    "of all sizes": lambda n: np.logspace(-200, 200, n),
    "strings": lambda n: ["much"] * n,
    "too few": lambda n: np.ones(n - 1),
    "two columns": lambda n: np.ones((n, 2)),
    "complex": lambda n: np.ones(n) * 1j,
    "a Series": lambda n: pd.Series(np.ones(n)),
    "None inside": lambda n: [None] * n,
    "empty": lambda _: [],
}

DOMAINS: dict[str, Callable[[int, int], Any]] = {
    "skada's": lambda n, m: np.repeat([1, -2], [n, m]),
    "mixed order": lambda n, m: np.where(np.arange(n + m) % 3 == 2, -1, 1),
    "three sources": lambda n, m: np.append(np.arange(n) % 3 + 1, np.full(m, -4)),
    "a source for each row": lambda n, m: np.append(np.arange(n), np.full(m, -1)),
    "floats": lambda n, m: np.repeat([1.0, -2.0], [n, m]),
    "all source": lambda n, m: np.ones(n + m),
    "all target": lambda n, m: -np.ones(n + m),
    "NaN": lambda n, m: np.full(n + m, np.nan),
    "infinity": lambda n, m: np.repeat([np.inf, -1.0], [n, m]),
    "truth values": lambda n, m: np.repeat([True, False], [n, m]),
    "strings": lambda n, m: np.repeat(["source", "target"], [n, m]),
    "too few": lambda n, _: np.ones(n),
    "two columns": lambda n, m: np.ones((n + m, 2)),
    "None inside": lambda n, m: [None] * (n + m),
    "a Series": lambda n, m: pd.Series(np.repeat([1, -2], [n, m])),
    "huge": lambda n, m: np.repeat([2**62, -(2**62)], [n, m]),
}
