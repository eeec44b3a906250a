"""Tables of rows, dense or CSR."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import Matrix
from adrem.machines._kernels import sum_squares


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


def squared_norms(table: Matrix) -> NDArray[np.float64]:
    """Squared Euclidean norm of every row, accumulated in double precision."""
    if sp.issparse(table):
        sums = np.empty(table.shape[0])
        sum_squares(table.data, table.indptr, sums)
        return sums
    norms: NDArray[np.float64] = np.einsum("ij,ij->i", table, table, dtype=np.float64)
    return norms
