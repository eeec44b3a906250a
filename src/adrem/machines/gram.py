"""The machine on the Gram matrix: scores of all rows are kept up to date; an update adds a row of the matrix to them.

Rows are shuffled once, so that each block of the kernels is a random sample of them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.exceptions import InvalidDataError
from adrem.machines.budget import KERNEL_BUDGET
from adrem.machines.compiled.common import GIVEN_UP
from adrem.machines.compiled.gram import BLOCK, descend_gram, move_gram
from adrem.machines.forecast import double_precision_memory, members_at_once, newton_memory, weights_memory
from adrem.machines.host import HostMachine
from adrem.machines.loss import Optimum
from adrem.machines.machine import Training
from adrem.machines.problems import Solution, Work, one_vs_rest
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import Outline
from adrem.types import FloatArray, Matrix

# Problems that are trained together: they share the blocks of the Gram matrix in the cache.
WIDTH = 64


def gram_matrix(table: Matrix) -> FloatArray:
    """Return the inner products of all rows, in their type."""
    if not sp.issparse(table):
        gram: FloatArray = table @ table.T
        return gram
    gram = np.empty((table.shape[0], table.shape[0]), table.dtype)
    transposed = sp.csr_array(table.T)
    for first in range(0, table.shape[0], 256):  # a sparse product of all rows would store indices too
        gram[first : first + 256] = (table[first : first + 256] @ transposed).toarray()
    return gram


def refuse_tiny(norms: NDArray[np.float64], dtype: np.dtype[Any]) -> None:
    """Raise an error if the products of the rows underflow."""
    if 0 < norms.max() < np.finfo(dtype).tiny / np.finfo(dtype).eps:
        raise InvalidDataError("The squared norms of all rows are too small for their type. Scale the features.")


def gram_memory(table: Outline, work: Work) -> int:
    """Forecast the bytes that a `GramMachine` takes besides its table."""
    # The matrix, the half of it that training on the source alone uses, and the shuffled rows.
    matrix = table.n_rows**2 * table.dtype.itemsize * 3 // 2 + (2 if table.is_sparse else 1) * table.n_bytes
    at_once = members_at_once(WIDTH, work)
    weights = weights_memory(table.n_features, table.dtype.itemsize, at_once, work) + double_precision_memory(table)
    return matrix + training_memory(table.n_rows, work) + newton_memory(table) + weights


def training_memory(n_rows: int, work: Work) -> int:
    """Forecast the bytes of dual variables, scores, labels and boxes, with temporary arrays."""
    return n_rows * members_at_once(WIDTH, work) * (72 * work.n_problems + 64)


class GramMachine(HostMachine):
    """A machine on the Gram matrix. Labels, boxes, dual variables and scores are (members or problems) x rows."""

    width: ClassVar[int] = WIDTH

    def __init__(self, table: Matrix, n_classes: int, settings: MachineSettings, path: str = "") -> None:
        super().__init__(table, n_classes, settings, path)
        self._order = np.random.default_rng(0).permutation(self.n_rows)
        self._shuffled_norms = self._norms[self._order]
        refuse_tiny(self._norms, table.dtype)
        self._gram = self._make_gram()

    def _make_gram(self) -> FloatArray:
        """Return the Gram matrix of the rows in their shuffled order."""
        return gram_matrix(self.table[self._order])

    def zero_solution(self, n_members: int) -> Solution:
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

    def _transfer(self, solution: Solution, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        new_labels = np.ascontiguousarray(labels[:, self._order], dtype=np.int32)
        new_box = np.ascontiguousarray(box[:, self._order])
        move_gram(
            self.loss.compiled, self.n_problems, self._gram, solution.labels, new_labels, solution.box, new_box,
            solution.dual, solution.primal,
        )  # fmt: skip
        solution.labels, solution.box = new_labels, new_box

    def _descend(self, solution: Solution, training: Training) -> NDArray[np.bool_]:
        if training.among is None or 2 * len(training.among) > self.n_rows:
            return self._sweep(self._gram, self._shuffled_norms, solution, training)
        takes_part = np.zeros(self.n_rows, dtype=bool)
        takes_part[training.among] = True
        return self._descend_among(np.flatnonzero(takes_part[self._order]), solution, training)

    def _descend_among(self, used: NDArray[np.intp], solution: Solution, training: Training) -> NDArray[np.bool_]:
        """Solve on the Gram matrix of the rows that take part, then update all scores: faster where these are few."""
        before = self._multiples(solution)[:, used]
        part = Solution(
            np.ascontiguousarray(solution.labels[:, used]),
            np.ascontiguousarray(solution.box[:, used]),
            np.ascontiguousarray(solution.dual[:, used]),
            np.ascontiguousarray(solution.primal[:, used]),
            solution.n_failed,
            solution.n_slow,
        )
        failed = self._sweep(self._gram[np.ix_(used, used)], self._shuffled_norms[used], part, training)
        solution.dual[:, used] = part.dual
        change = self._multiples(part) - before
        solution.primal += change.astype(self._gram.dtype) @ self._gram[used]
        return failed

    def _sweep(
        self, gram: FloatArray, norms: NDArray[np.float64], solution: Solution, training: Training
    ) -> NDArray[np.bool_]:
        n_rows = len(gram)
        order = np.arange(-(-n_rows // BLOCK))
        status = np.zeros(len(solution.dual), np.int64)
        thresholds = np.zeros(len(solution.dual))
        n_above = np.zeros((len(solution.dual), len(order)), np.int64)
        budgets = [self._visit_budget(n_rows, bool(n_slow), training.give_up_factor) for n_slow in solution.n_slow]
        updates = np.repeat(budgets, self.n_problems)
        cursor = np.array([len(order), training.seed, 0])
        while descend_gram(
            self.loss.compiled, self.n_problems, gram, norms, solution.labels, solution.box, solution.dual,
            solution.primal, self.tol, status, thresholds, n_above, updates, order, cursor, KERNEL_BUDGET,
        ):  # fmt: skip
            training.heartbeat()
        given_up: NDArray[np.bool_] = status == GIVEN_UP
        return given_up

    def _multiples(self, solution: Solution) -> NDArray[np.float64]:
        """Return the signed multiples of the rows, in their shuffled order."""
        signs = one_vs_rest(solution.labels, self.n_classes).reshape(solution.dual.shape)
        return self.loss.multiples(solution.dual, np.repeat(solution.box, self.n_problems, axis=0)) * signs

    def _in_order(self, array: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return an array, whose last axis is the rows, in the order of the table."""
        ordered = np.empty_like(array)
        ordered[..., self._order] = array
        return ordered

    def _restart(
        self,
        solution: Solution,
        factors: NDArray[np.float64],  # noqa: ARG002 - the dual variables include them
        dual: NDArray[np.float64],
    ) -> None:
        solution.dual[:] = dual.reshape(-1, self.n_rows)[:, self._order]
        # Recomputed, not multiplied: that would multiply the rounding errors too.
        solution.primal[:] = self._multiples(solution).astype(self._gram.dtype) @ self._gram

    def _dual_of(self, solution: Solution, p: int) -> NDArray[np.float64]:
        return self._in_order(solution.dual[p])

    def _put(self, solution: Solution, p: int, used: NDArray[np.intp], found: Optimum) -> None:
        dual = self._dual_of(solution, p)
        dual[used] = found.dual
        solution.dual[p] = dual[self._order]
        solution.primal[p] = (self.table @ found.weights)[self._order]

    def _boxes(self, solution: Solution) -> NDArray[np.float64]:
        return self._in_order(solution.box)

    def multiples(self, solution: Solution) -> NDArray[np.float64]:
        return self._in_order(self._multiples(solution)).reshape(-1, self.n_problems, self.n_rows)

    def scores(self, solution: Solution) -> NDArray[np.float64]:
        return self._in_order(solution.primal).reshape(-1, self.n_problems, self.n_rows).swapaxes(1, 2)
