"""Coordinates of rows in their span: no more columns than there are rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from adrem.runtime.memory import check_room
from adrem.types import Matrix

REDUCE_DATA = "use fewer rows or fewer features (adrem.preprocessing.TopFeatures)"


class RowSpace:
    """An orthonormal basis of the span of some rows, and the coordinates of rows in it.

    Coordinates preserve the inner products of the rows with each other and with any other row, so a method that is
    invariant to rotations gives the same result on them. The component of another row outside the span is dropped: it
    is orthogonal to everything learnt.

    With no more features than rows, the coordinates are the features. Otherwise the basis comes from a pivoted
    Cholesky factorization of the Gram matrix, which ends when the remaining rows add nothing beyond rounding.
    """

    def __init__(self, rows: Matrix) -> None:
        n_rows, n_features = rows.shape
        check_room(memory_of_span(n_rows, n_features), f"The coordinate table of {n_rows} rows", REDUCE_DATA)
        if n_features <= n_rows:
            self._basis_rows: Matrix | None = None
            self.coordinates = dense(rows)
            return
        gram = dense(rows @ rows.T)
        factor, pivots, rank, _ = dpstrf(gram, lower=1, overwrite_a=True)
        order = pivots - 1
        factor = np.tril(factor)[:, :rank]
        self.coordinates = np.empty_like(factor)
        self.coordinates[order] = factor
        self._basis_rows = rows[order[:rank]]
        self._factor = factor[:rank]

    def map(self, rows: Matrix) -> NDArray[np.float64]:
        """Return the coordinates of any rows."""
        if self._basis_rows is None:
            return dense(rows)
        products = dense(rows @ self._basis_rows.T)
        return np.ascontiguousarray(solve_triangular(self._factor, products.T, lower=True).T)

    def lift(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the feature weights equivalent to coordinate weights (problems x coordinates)."""
        if self._basis_rows is None:
            return weights
        combined = solve_triangular(self._factor, weights.T, lower=True, trans="T")
        return np.ascontiguousarray(dense(self._basis_rows.T @ combined).T)


def memory_of_span(n_rows: int, n_features: int) -> int:
    """Return the bytes of three tables of coordinates and three square matrices."""
    n_coordinates = min(n_rows, n_features)
    return 8 * n_coordinates * (3 * n_rows + 3 * n_coordinates)


def dense(table: Any) -> NDArray[np.float64]:
    """Return a dense or sparse table as a dense one in double precision."""
    array = table.toarray() if sp.issparse(table) else np.asarray(table)
    return np.asarray(array, dtype=np.float64)
