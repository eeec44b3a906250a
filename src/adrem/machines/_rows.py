"""The rows a machine trains on, in the form that makes its coordinate steps cheapest.

A dual coordinate step needs two things of a row: its score (a dot product with the primal vector) and a way to add it
to the primal vector. Three forms offer both:

* dense and CSR rows: the primal vector is the weight vector, one entry a feature;
* the Gram matrix: the primal vector holds the scores of all rows, so reading a score is free and adding a row adds a
  row of the matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import FloatArray, Matrix

# A fixed figure, never the free memory, so that the same call takes the same path everywhere.
GRAM_MEMORY = 2**30
# Most coordinates are looked at and left alone. A look costs the features on the rows and nothing in Gram space; a
# change costs the features or the rows. About eight looks go with one change.
LOOKS_PER_CHANGE = 8


class Rows(NamedTuple):
    """Rows in one of the three forms, as plain arrays for the kernels.

    `values` is two-dimensional for dense rows and for the Gram matrix, and holds the entries of a CSR matrix without
    duplicates otherwise; only then do `indices` and `indptr` hold anything.
    """

    values: FloatArray
    indices: NDArray[np.integer[Any]]
    indptr: NDArray[np.int64]
    is_gram: bool

    @property
    def form(self) -> str:
        if self.values.ndim == 1:
            return "csr"
        return "gram" if self.is_gram else "dense"


def stack(tables: list[Matrix]) -> Matrix:
    """Put tables of rows below each other in a fresh table that the caller may change."""
    if any(sp.issparse(table) for table in tables):
        stacked = sp.csr_array(sp.vstack(tables, format="csr"))
        stacked.sum_duplicates()
        return stacked
    return np.concatenate(tables, axis=0).astype(np.result_type(*tables), order="C", copy=False)


def add_bias(table: Matrix) -> Matrix:
    """Append the constant feature that stands for the intercept, as liblinear's `-B 1` does."""
    ones = np.ones((table.shape[0], 1), dtype=table.dtype)
    if sp.issparse(table):
        return sp.csr_array(sp.hstack([table, sp.csr_array(ones)], format="csr"))
    return np.concatenate([table, ones], axis=1)


def arrange(table: Matrix) -> Rows:
    """Choose the form of the rows from their shape alone."""
    if sp.issparse(table):
        # 32 bits wherever these are enough: fewer types to compile for, and less to read.
        narrow = np.int32 if table.shape[1] <= np.iinfo(np.int32).max else np.int64
        indices, indptr = table.indices.astype(narrow, copy=False), table.indptr.astype(np.int64, copy=False)
        return Rows(table.data, indices, indptr, False)
    n_rows, n_features = table.shape
    is_gram = n_rows**2 * table.dtype.itemsize <= GRAM_MEMORY and n_rows <= LOOKS_PER_CHANGE * n_features
    return Rows(table @ table.T if is_gram else table, np.empty(0, np.int32), np.empty(0, np.int64), is_gram)


def squared_norms(table: Matrix) -> NDArray[np.float64]:
    """Squared Euclidean norm of every row, accumulated in double precision."""
    if sp.issparse(table):
        squares = sp.csr_array((table.data.astype(np.float64) ** 2, table.indices, table.indptr), shape=table.shape)
        return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
    norms: NDArray[np.float64] = np.einsum("ij,ij->i", table, table, dtype=np.float64)
    return norms
