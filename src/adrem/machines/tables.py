"""Tables of rows, dense or CSR."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.machines.compiled.csr import sum_squares
from adrem.runtime.memory import bytes_of, check_room
from adrem.types import Matrix

# A column whose standard deviation is below this part of its largest value is constant.
CONSTANT = 1e-9


class Outline(NamedTuple):
    """Shape, type and size of a table, which may be a stack of others that is not made yet."""

    n_rows: int
    n_features: int
    n_entries: int
    dtype: np.dtype[Any]
    is_sparse: bool
    n_bytes: int

    @classmethod
    def of(cls, *tables: Matrix) -> Outline:
        dtype = np.result_type(*(table.dtype for table in tables))
        n_rows = sum(table.shape[0] for table in tables)
        n_entries = sum(int(table.nnz if sp.issparse(table) else table.size) for table in tables)
        is_sparse = any(sp.issparse(table) for table in tables)
        n_bytes = n_entries * dtype.itemsize
        if is_sparse:  # column indices too
            n_bytes = max(n_bytes + 4 * n_entries, sum(bytes_of(table) for table in tables))
        return cls(n_rows, int(tables[0].shape[1]), n_entries, dtype, is_sparse, n_bytes)

    @property
    def entries(self) -> float:
        """Mean number of entries of a row."""
        return self.n_entries / self.n_rows if self.is_sparse else self.n_features


def stack(tables: list[Matrix]) -> Matrix:
    """Stack tables vertically in a new table that the caller may change."""
    check_room(Outline.of(*tables).n_bytes, "A copy of the rows", "give fewer rows, or float32 instead of float64")
    if any(sp.issparse(table) for table in tables):
        stacked = sp.csr_array(sp.vstack(tables, format="csr"))
        stacked.sum_duplicates()
        return stacked
    return np.concatenate(tables, axis=0).astype(np.result_type(*tables), order="C", copy=False)


def mean_squared_norm(rows: Matrix) -> float:
    """Return the mean squared norm of rows, 1 if they are all zero: C is set relative to it."""
    return float(np.mean(squared_norms(rows))) or 1.0


def add_bias(table: Matrix) -> Matrix:
    """Append the constant feature that stands for the intercept, as liblinear's `-B 1` does."""
    n_rows, n_features = table.shape
    if not sp.issparse(table):
        return np.concatenate([table, np.ones((n_rows, 1), dtype=table.dtype)], axis=1)
    ends = table.indptr[1:]  # scipy's hstack takes several times the memory of the table
    data, indices = np.insert(table.data, ends, 1), np.insert(table.indices, ends, n_features)
    indptr = table.indptr + np.arange(n_rows + 1, dtype=np.int64)
    if len(data) <= np.iinfo(indices.dtype).max:
        indptr = indptr.astype(indices.dtype)
    return sp.csr_array((data, indices, indptr), shape=(n_rows, n_features + 1))


def squared_norms(table: Matrix) -> NDArray[np.float64]:
    """Return the squared Euclidean norm of every row, accumulated in double precision."""
    if sp.issparse(table):
        sums = np.empty(table.shape[0])
        sum_squares(table.data, table.indptr, sums)
        return sums
    norms: NDArray[np.float64] = np.einsum("ij,ij->i", table, table, dtype=np.float64)
    return norms


def mean_and_deviation(table: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and the standard deviation of every column, zero for constant ones."""
    if not sp.issparse(table):
        mean, deviation = table.mean(axis=0, dtype=np.float64), table.std(axis=0, dtype=np.float64)
        largest = np.maximum(table.max(axis=0), -table.min(axis=0))
        return mean, np.where(deviation > CONSTANT * largest, deviation, 0.0)
    mean = np.asarray(table.mean(axis=0, dtype=np.float64)).ravel()
    squares = np.asarray(table.multiply(table).mean(axis=0, dtype=np.float64)).ravel()
    return mean, np.sqrt(np.maximum(squares - mean**2, 0.0))


def n_rows_with(table: Matrix) -> NDArray[np.intp]:
    """Return in how many rows of a CSR table each feature is not zero."""
    return np.bincount(table.indices[table.data != 0], minlength=table.shape[1])


def inverse_frequencies(table: Matrix) -> NDArray[np.float64]:
    """Return the inverse document frequency of each feature of a CSR table, as scikit-learn smooths it."""
    return np.asarray(np.log((1.0 + table.shape[0]) / (1.0 + n_rows_with(table))) + 1.0)
