"""What a machine computes from its classifiers: scores, labels, losses, weights and rounding errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.machines.loss import Loss
from adrem.machines.precision import relative_error, rows_to_check, weighted_sums
from adrem.machines.problems import Solution, decide, one_vs_rest
from adrem.types import FloatArray, Matrix


class Scoring(ABC):
    """The classifiers of a solution."""

    table: Matrix
    n_rows: int
    n_classes: int
    loss: Loss
    fit_intercept: bool

    @abstractmethod
    def scores(self, solution: Solution) -> Any:
        """Return the decision scores of all rows, of shape (n_members, n_rows, n_problems); a tensor on a GPU."""

    def on_host(self, scores: Any) -> NDArray[np.float64]:
        """Return scores, or a part of them, as an array."""
        array: NDArray[np.float64] = scores
        return array

    def relabel(self, scores: Any) -> NDArray[np.intp]:
        """Return the predicted class numbers, of shape (n_members, n_rows)."""
        return decide(scores)

    @abstractmethod
    def multiples(self, solution: Solution) -> NDArray[np.float64]:
        """Return the signed multiples of the rows that sum to the weights, of shape (n_members, n_problems, n_rows)."""

    def weights(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        """Return coefficients and intercepts in the type of the rows; intercepts are zero without `fit_intercept`."""
        dtype = self.table.dtype
        vectors = self._vectors(solution).astype(dtype)
        if self.fit_intercept:
            return vectors[..., :-1], vectors[..., -1]
        return vectors, np.zeros(vectors.shape[:2], dtype=dtype)

    def _vectors(self, solution: Solution) -> NDArray[np.float64]:
        """Return the weights (members x problems x features), with the constant feature's, in double precision."""
        return weighted_sums(self.table, self.multiples(solution))

    def rounding(self, solution: Solution, scores: Any) -> NDArray[np.float64]:
        """Return each member's largest rounding error over some rows, relative to scores above 1."""
        sample = rows_to_check(self.n_rows)
        exact = np.swapaxes(self._exact_scores(solution, sample), 1, 2)
        return relative_error(self.on_host(scores[:, sample]), exact)

    def _exact_scores(self, solution: Solution, sample: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return scores (members x problems x rows) of some rows, computed in double precision."""
        rows = self.table[sample].astype(np.float64)
        return np.stack([np.asarray((rows @ vectors.T).T) for vectors in self._vectors(solution)])

    def squared_norms(self, solution: Solution, scores: Any) -> NDArray[np.float64]:
        """Return the squared norm of each member's weight vectors, summed over its problems."""
        products = self.multiples(solution) * np.swapaxes(scores, 1, 2)
        return np.array([member.sum() for member in products])

    def row_losses(self, scores: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the loss of each row, summed over the one-vs-rest problems, of shape (n_members, n_rows)."""
        signs = (one_vs_rest(own, self.n_classes) for own in labels)
        return np.stack([self.loss.losses(s * own.T).sum(axis=0) for s, own in zip(signs, scores, strict=True)])
