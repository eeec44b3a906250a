"""What both machines share: rows owned once, one-vs-rest problems, warm starts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from adrem._types import FloatArray, Matrix
from adrem.machines._rows import add_bias, arrange, squared_norms


def one_vs_rest(labels: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Signs of the binary problems, one row a problem: a single problem for two classes, one a class otherwise."""
    positives = np.arange(1, 2) if n_classes == 2 else np.arange(n_classes)
    return np.where(labels == positives[:, None], 1.0, -1.0)


def decide(scores: FloatArray) -> NDArray[np.intp]:
    """Label of every row of scores, given one column for two classes and one a class otherwise."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    winners: NDArray[np.intp] = scores.argmax(axis=1)
    return winners


@dataclass(frozen=True)
class Solution:
    """A trained classifier inside a machine, and all that the next training needs to start from it.

    `n_failed` counts its one-vs-rest problems that were given up before they reached the tolerance.
    """

    signs: NDArray[np.float64]
    box: NDArray[np.float64]
    dual: NDArray[np.float64]
    primal: NDArray[np.float64]
    n_failed: int


def patience(n_rows: int, tol: float) -> int:
    """Looks at a row after which a training is given up and counted as failed.

    A thousand for each row, as liblinear's sweeps, where the tolerance is its 0.1, and more for a tighter one. A
    sweep over rows that have been narrowed down costs what it is worth. Few rows get a million in all.
    """
    return max(1_000_000, int(1000 * n_rows * max(1.0, np.sqrt(0.1 / tol))))


class Machine(ABC):
    """Trains linear one-vs-rest classifiers again and again on the same rows.

    Minimizes, for every one-vs-rest problem, ``weight_i * C * loss_i`` summed over the rows plus half the squared norm
    of the weight vector. A row drawn several times is one row with a larger weight, a row left out has weight zero.

    Parameters
    ----------
    table : array or CSR of shape (n_rows, n_features)
        The rows. The machine keeps a reference and never writes into it.
    n_classes : int
    fit_intercept : bool
        Whether to append a constant feature, regularized like the others.
    tol : float
        When to stop, in the sense of liblinear.
    """

    _move: ClassVar[Callable[..., None]]
    _solve: ClassVar[Callable[..., bool]]
    _solve_gram: ClassVar[Callable[..., bool]]
    _empty_dual: ClassVar[float]

    def __init__(self, table: Matrix, n_classes: int, *, fit_intercept: bool = False, tol: float = 0.1) -> None:
        self.n_classes = n_classes
        self.fit_intercept = fit_intercept
        self.tol = tol
        self._table = add_bias(table) if fit_intercept else table
        self._norms = squared_norms(self._table)
        if not np.all(self._norms <= np.finfo(self._table.dtype).max):
            raise ValueError("The squared norm of a row is too large for its type. Scale the features.")
        self._rows = arrange(self._table)

    @staticmethod
    @abstractmethod
    def losses(margins: FloatArray) -> FloatArray:
        """Loss at every margin (the score times the sign of the label)."""

    @staticmethod
    @abstractmethod
    def _coefficients(solution: Solution) -> NDArray[np.float64]:
        """Multiple of every row in the weight vectors, without its sign."""

    @staticmethod
    @abstractmethod
    def _rescaled_dual(solution: Solution, factor: float) -> NDArray[np.float64]:
        """Dual variables whose multiples of the rows are those of the solution times a factor."""

    def rescale(self, solution: Solution, factor: float) -> Solution:
        """A start for the same problem with C multiplied by a factor."""
        return replace(
            solution,
            box=solution.box * factor,
            dual=self._rescaled_dual(solution, factor),
            primal=solution.primal * factor,
        )

    @staticmethod
    @abstractmethod
    def grows(solution: Solution) -> bool:
        """Whether a larger C would change this solution."""

    def solve(
        self,
        labels: NDArray[np.intp],
        weights: NDArray[np.float64],
        C: float,
        *,
        start: Solution | None = None,
        seed: int = 1,
    ) -> Solution:
        """Train on the rows with these labels and weights, from `start` where one is given.

        The start is not changed. It decides where the search begins and never which optimum it aims at; the seed
        orders the rows.
        """
        signs = one_vs_rest(labels, self.n_classes)
        box = C * weights
        solution = self._nothing(signs) if start is None else start
        looks = patience(int(np.count_nonzero(box)), self.tol)
        dual, primal = solution.dual.copy(), solution.primal.copy()
        solve = type(self)._solve_gram if self._rows.is_gram else type(self)._solve
        n_failed = 0
        for c in range(len(signs)):
            type(self)._move(*self._rows, solution.signs[c], signs[c], solution.box, box, dual[c], primal[c])
            converged = solve(
                *self._rows, self._norms, signs[c], box, dual[c], primal[c], self.tol, looks, np.uint64(seed)
            )
            n_failed += not converged
        return Solution(signs, box, dual, primal, n_failed)

    def _nothing(self, signs: NDArray[np.float64]) -> Solution:
        """The solution for rows that all have weight zero."""
        width = self._table.shape[0 if self._rows.is_gram else 1]
        empty = np.full(signs.shape, self._empty_dual)
        return Solution(signs, np.zeros(signs.shape[1]), empty, np.zeros((len(signs), width)), 0)

    def scores(self, solution: Solution) -> FloatArray:
        """Scores of all rows: one column for two classes, one a class otherwise."""
        if self._rows.is_gram:
            return solution.primal.T
        scores: FloatArray = self._table @ solution.primal.T.astype(self._table.dtype)
        return scores

    def weights(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        """Coefficients (problems x features) and intercepts (problems), in the type of the rows."""
        vectors: FloatArray = solution.primal
        if self._rows.is_gram:
            multiples = self._coefficients(solution) * solution.signs
            vectors = multiples.astype(self._table.dtype) @ self._table
        vectors = vectors.astype(self._table.dtype)
        if self.fit_intercept:
            return vectors[:, :-1], vectors[:, -1]
        return vectors, np.zeros(len(vectors), dtype=vectors.dtype)

    def squared_norm(self, solution: Solution) -> float:
        """Squared norm of the weight vectors, summed over the one-vs-rest problems."""
        if self._rows.is_gram:
            return float(np.sum(self._coefficients(solution) * solution.signs * solution.primal))
        return float(np.sum(solution.primal**2))

    def row_losses(self, scores: FloatArray, labels: NDArray[np.intp]) -> FloatArray:
        """Loss of every row under scores and labels, summed over the one-vs-rest problems."""
        total: FloatArray = self.losses(one_vs_rest(labels, self.n_classes) * scores.T).sum(axis=0)
        return total
