"""Rows in Gram space: the scores of all rows are kept, so a look at a row is free, and a move adds a row of the matrix.

Rows stand in an order shuffled once, so that the blocks that the kernels work on are a fair sample of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import FloatArray, Matrix
from adrem.machines._host import HostMachine
from adrem.machines._kernels import BLOCK, GIVEN_UP, descend_gram, move_gram
from adrem.machines._losses import Loss
from adrem.machines._machine import BUDGET
from adrem.machines._newton import Optimum
from adrem.machines._problems import Solution, Work, one_vs_rest
from adrem.machines._tables import Outline


def gram_matrix(table: Matrix) -> FloatArray:
    """Inner products of all rows, in the type of the rows."""
    if not sp.issparse(table):
        gram: FloatArray = table @ table.T
        return gram
    gram = np.empty((table.shape[0], table.shape[0]), table.dtype)
    transposed = sp.csr_array(table.T)
    for first in range(0, table.shape[0], 256):  # the sparse product would hold row and column numbers as well
        gram[first : first + 256] = (table[first : first + 256] @ transposed).toarray()
    return gram


def refuse_tiny(norms: NDArray[np.float64], dtype: np.dtype[Any]) -> None:
    """Refuse rows whose products would be lost in their type."""
    if 0 < norms.max() < np.finfo(dtype).tiny / np.finfo(dtype).eps:
        raise ValueError("The squared norms of all rows are too small for their type. Scale the features.")


class GramMachine(HostMachine):
    """Machine in Gram space. Labels, boxes, dual variables and scores are (members or problems) x rows."""

    # Problems share what a block brings into the cache.
    width: ClassVar[int] = 64

    def __init__(self, table: Matrix, n_classes: int, loss: Loss, **params: Any) -> None:
        super().__init__(table, n_classes, loss, **params)
        self._order = np.random.default_rng(0).permutation(self.n_rows)
        self._shuffled_norms = self._norms[self._order]
        refuse_tiny(self._norms, table.dtype)
        self._gram = self._make_gram()

    def _make_gram(self) -> FloatArray:
        """The matrix, of the rows in their shuffled order."""
        return gram_matrix(self._table[self._order])

    @classmethod
    def memory(cls, table: Outline, work: Work) -> int:
        weights = cls._memory_of_weights(table.n_features, table.dtype.itemsize, work) + cls._memory_on_the_way(table)
        training = cls._memory_of_training(table.n_rows, work) + cls._memory_of_newton(table)
        return cls._memory_of_matrix(table) + training + weights

    @classmethod
    def _memory_of_matrix(cls, table: Outline) -> int:
        """Bytes of the matrix, of the half that training on the source alone looks at, and of the shuffled rows."""
        shuffled = (2 if table.is_sparse else 1) * table.n_bytes
        return table.n_rows**2 * table.dtype.itemsize * 3 // 2 + shuffled

    @classmethod
    def _memory_of_training(cls, n_rows: int, work: Work) -> int:
        """Bytes of dual variables and scores, with what is made on the way, and of labels and boxes."""
        return n_rows * cls._at_once(work) * (72 * work.n_problems + 64)

    def nothing(self, n_members: int) -> Solution:
        shape = (n_members * self.n_problems, self.n_rows)
        return Solution(
            np.zeros((n_members, self.n_rows), np.int32),
            np.zeros((n_members, self.n_rows)),
            np.full(shape, self.loss.empty_dual),
            np.zeros(shape),
            *np.zeros((2, n_members), np.intp),
        )

    def copies(self, solution: Solution, n_members: int) -> Solution:
        times = n_members // len(solution.n_failed)
        return Solution(
            np.tile(solution.labels, (times, 1)),
            np.tile(solution.box, (times, 1)),
            np.tile(solution.dual, (times, 1)),
            np.tile(solution.primal, (times, 1)),
            np.tile(solution.n_failed, times),
            np.tile(solution.n_slow, times),
        )

    def _move(self, solution: Solution, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        new_labels = np.ascontiguousarray(labels[:, self._order], dtype=np.int32)
        new_box = np.ascontiguousarray(box[:, self._order])
        move_gram(
            self.loss.is_logistic, self.n_problems, self._gram, solution.labels, new_labels, solution.box, new_box,
            solution.dual, solution.primal,
        )  # fmt: skip
        solution.labels, solution.box = new_labels, new_box

    def _descend(
        self, solution: Solution, seed: int, among: NDArray[np.intp] | None, pulse: Callable[[], None]
    ) -> NDArray[np.bool_]:
        if among is None or 2 * len(among) > self.n_rows:
            return self._sweep(self._gram, self._shuffled_norms, solution, seed, pulse)
        takes_part = np.zeros(self.n_rows, dtype=bool)
        takes_part[among] = True
        return self._descend_among(np.flatnonzero(takes_part[self._order]), solution, seed, pulse)

    def _descend_among(
        self, used: NDArray[np.intp], solution: Solution, seed: int, pulse: Callable[[], None]
    ) -> NDArray[np.bool_]:
        """Solve in the Gram matrix of the rows that take part, then tell the others: cheaper where these are few."""
        before = self._multiples(solution)[:, used]
        part = Solution(
            np.ascontiguousarray(solution.labels[:, used]),
            np.ascontiguousarray(solution.box[:, used]),
            np.ascontiguousarray(solution.dual[:, used]),
            np.ascontiguousarray(solution.primal[:, used]),
            solution.n_failed,
            solution.n_slow,
        )
        failed = self._sweep(self._gram[np.ix_(used, used)], self._shuffled_norms[used], part, seed, pulse)
        solution.dual[:, used] = part.dual
        change = self._multiples(part) - before
        solution.primal += change.astype(self._gram.dtype) @ self._gram[used]
        return failed

    def _sweep(
        self,
        gram: FloatArray,
        norms: NDArray[np.float64],
        solution: Solution,
        seed: int,
        pulse: Callable[[], None],
    ) -> NDArray[np.bool_]:
        n_rows = len(gram)
        order = np.arange(-(-n_rows // BLOCK))
        status = np.zeros(len(solution.dual), np.int64)
        bars = np.zeros(len(solution.dual))
        n_above = np.zeros((len(solution.dual), len(order)), np.int64)
        patience = [self._patience(n_rows, bool(n_slow)) for n_slow in solution.n_slow]
        moves = np.repeat(patience, self.n_problems)
        cursor = np.array([len(order), seed, 0])
        while descend_gram(
            self.loss.is_logistic, self.n_problems, gram, norms, solution.labels, solution.box, solution.dual,
            solution.primal, self.tol, status, bars, n_above, moves, order, cursor, BUDGET,
        ):  # fmt: skip
            pulse()
        given_up: NDArray[np.bool_] = status == GIVEN_UP
        return given_up

    def _multiples(self, solution: Solution) -> NDArray[np.float64]:
        """Signed multiples of the rows, in the order of the solution."""
        signs = one_vs_rest(solution.labels, self.n_classes).reshape(solution.dual.shape)
        return self.loss.multiples(solution.dual, np.repeat(solution.box, self.n_problems, axis=0)) * signs

    def _in_order(self, array: NDArray[np.float64]) -> NDArray[np.float64]:
        """An array with the rows as its last axis, back in the order of the table."""
        ordered = np.empty_like(array)
        ordered[..., self._order] = array
        return ordered

    def _replace(
        self,
        solution: Solution,
        factor: float,
        factors: NDArray[np.float64],  # noqa: ARG002 - they are in the dual variables
        dual: NDArray[np.float64],
    ) -> None:
        solution.box *= factor
        solution.dual[:] = dual.reshape(-1, self.n_rows)[:, self._order]
        # Made anew rather than multiplied, or the rounding errors of all smaller C would be multiplied with them.
        solution.primal[:] = self._multiples(solution).astype(self._gram.dtype) @ self._gram

    def _dual_of(self, solution: Solution, p: int) -> NDArray[np.float64]:
        return self._in_order(solution.dual[p])

    def _put(self, solution: Solution, p: int, used: NDArray[np.intp], found: Optimum) -> None:
        dual = self._dual_of(solution, p)
        dual[used] = found.dual
        solution.dual[p] = dual[self._order]
        solution.primal[p] = (self._table @ found.weights)[self._order]

    def _box(self, solution: Solution) -> NDArray[np.float64]:
        return self._in_order(solution.box)

    def multiples(self, solution: Solution) -> NDArray[np.float64]:
        return self._in_order(self._multiples(solution)).reshape(-1, self.n_problems, self.n_rows)

    def scores(self, solution: Solution) -> NDArray[np.float64]:
        return self._in_order(solution.primal).reshape(-1, self.n_problems, self.n_rows).swapaxes(1, 2)
