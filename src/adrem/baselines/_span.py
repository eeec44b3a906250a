"""Rows in the coordinates of the space that they span: any number of features becomes at most the number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from adrem._memory import check_room
from adrem._types import Matrix

FEWER = "give fewer rows, or fewer features (adrem.preprocessing.TopFeatures)"


class RowSpace:
    """An orthonormal basis of the span of some rows, and the coordinates of rows in it.

    Inner products between the rows, and of any other row with them, are those of the coordinates, so that a method
    that does not care how the feature space is rotated gives the same result on either. The part of another row that
    lies outside the span is left out: it is orthogonal to everything that was learnt.

    With fewer features than rows the basis is that of the features themselves. Else it comes from a Cholesky
    factorization with pivots of the Gram matrix: rows are made orthonormal one after another, the one that adds the
    most first, until none adds anything beyond rounding.
    """

    def __init__(self, rows: Matrix) -> None:
        n_rows, n_features = rows.shape
        check_room(memory_of_span(n_rows, n_features), f"The space of {n_rows} rows, as dense coordinates,", FEWER)
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
        """Coordinates of any rows."""
        if self._basis_rows is None:
            return dense(rows)
        products = dense(rows @ self._basis_rows.T)
        return np.ascontiguousarray(solve_triangular(self._factor, products.T, lower=True).T)

    def lift(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights of the features that score rows as weights of the coordinates (problems x coordinates) do."""
        if self._basis_rows is None:
            return weights
        combined = solve_triangular(self._factor, weights.T, lower=True, trans="T")
        return np.ascontiguousarray(dense(self._basis_rows.T @ combined).T)


def memory_of_span(n_rows: int, n_features: int) -> int:
    """Bytes of coordinates, of two further tables like them, and of some matrices of as many rows as columns."""
    n_coordinates = min(n_rows, n_features)
    return 8 * n_coordinates * (3 * n_rows + 3 * n_coordinates)


def dense(table: Any) -> NDArray[np.float64]:
    """A table, dense or sparse, as a dense one in double precision."""
    array = table.toarray() if sp.issparse(table) else np.asarray(table)
    return np.asarray(array, dtype=np.float64)
