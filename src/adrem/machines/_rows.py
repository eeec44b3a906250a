"""Rows as they are, dense or CSR: the weights of many problems side by side share what a visit to a row fetches."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import FloatArray, Matrix
from adrem.machines._host import HostMachine
from adrem.machines._kernels import GIVEN_UP, LANES, descend_rows, move_rows, part_entries, score_rows
from adrem.machines._losses import Loss
from adrem.machines._machine import BUDGET
from adrem.machines._newton import Optimum
from adrem.machines._problems import Solution, Work, one_vs_rest
from adrem.machines._tables import Outline

# Tables of more rows are visited in runs of so many neighbours.
FEW_ROWS, RUN = 5000, 64


class Entries(NamedTuple):
    """The features that several rows share, as plain arrays for the kernels, and what is left of each row.

    `values` is two-dimensional for dense rows, and holds the entries of a CSR matrix otherwise; only then do `indices`
    and `indptr` hold anything. `lonely` is what the features that occur in one row alone add to its squared norm.
    `features` are the features of the table, in the order of their numbers here.
    """

    values: FloatArray
    indices: NDArray[np.integer[Any]]
    indptr: NDArray[np.int64]
    lonely: NDArray[np.float64]
    features: NDArray[np.intp]

    @property
    def n_features(self) -> int:
        """How many features several rows share."""
        return len(self.features)


def shared_entries(table: Matrix) -> Entries:
    """Leave out features that occur in one row alone, half of all entries in some texts.

    The weight of such a feature is the row's multiple times its value, and no other row ever reads it. The others are
    numbered by how often they occur, so that those in use stay close together.
    """
    if not sp.issparse(table):
        rows = np.ascontiguousarray(table)
        everything = np.arange(rows.shape[1])
        return Entries(rows, np.empty(0, np.int32), np.empty(0, np.int64), np.zeros(len(rows)), everything)
    occurrences = np.bincount(table.indices, minlength=table.shape[1])
    n_shared = int(np.count_nonzero(occurrences > 1))
    numbers = np.empty(table.shape[1], np.int32 if table.shape[1] <= np.iinfo(np.int32).max else np.int64)
    by_frequency = np.argsort(-occurrences, kind="stable")
    numbers[by_frequency] = np.arange(table.shape[1], dtype=numbers.dtype)
    n_entries = int(occurrences[occurrences > 1].sum())
    values = np.empty(n_entries, table.dtype)
    indices = np.empty_like(numbers, shape=n_entries)
    indptr, lonely = np.empty(table.shape[0] + 1, np.int64), np.zeros(table.shape[0])
    part_entries(table.data, table.indices, table.indptr, numbers, n_shared, values, indices, indptr, lonely)
    return Entries(values, indices, indptr, lonely, by_frequency[:n_shared].copy())


class RowMachine(HostMachine):
    """Machine on the rows. Labels and boxes are rows x members; dual variables and weights, groups of lanes apart."""

    width: ClassVar[int] = LANES

    def __init__(self, table: Matrix, n_classes: int, loss: Loss, **params: Any) -> None:
        super().__init__(table, n_classes, loss, **params)
        self._entries = shared_entries(self._table)

    @classmethod
    def memory(cls, table: Outline, work: Work) -> int:
        at_once = cls._at_once(work)
        # Each thread rounds its problems up to whole groups of lanes, and so does the classifier of the source.
        n_lanes, n_source = (-(-n // LANES) * LANES for n in (at_once * work.n_problems, work.n_problems))
        n_lanes += LANES * (work.n_jobs - 1)
        # Entries are copied; or, before that, the numbers of their columns are counted as long integers.
        copied = max(table.n_bytes, 8 * table.n_entries) + 40 * table.n_features if table.is_sparse else 0
        # Dual variables and scores, as they are and apart by lanes; signs and multiples; labels and boxes.
        training = table.n_rows * (32 * n_lanes + 8 * n_source + at_once * (32 * work.n_problems + 64))
        weights = cls._memory_of_weights(table.n_features, table.dtype.itemsize, work) + cls._memory_on_the_way(table)
        training += cls._memory_of_newton(table)
        return copied + training + 8 * table.n_features * (n_lanes + n_source) + weights

    def nothing(self, n_members: int) -> Solution:
        n_groups = -(-n_members * self.n_problems // LANES)
        return Solution(
            np.zeros((self.n_rows, n_members), np.int32),
            np.zeros((self.n_rows, n_members)),
            np.full((n_groups, self.n_rows, LANES), self.loss.empty_dual),
            np.zeros((n_groups, self._entries.n_features, LANES)),
            *np.zeros((2, n_members), np.intp),
        )

    def copies(self, solution: Solution, n_members: int) -> Solution:
        if len(solution.n_failed) == n_members:
            return deepcopy(solution)
        copies = self.nothing(n_members)
        copies.n_failed[:], copies.n_slow[:] = solution.n_failed, solution.n_slow
        copies.labels[:], copies.box[:] = solution.labels, solution.box
        for p in range(n_members * self.n_problems):
            to, origin = divmod(p, LANES), divmod(p % self.n_problems, LANES)
            copies.dual[to[0], :, to[1]] = solution.dual[origin[0], :, origin[1]]
            copies.primal[to[0], :, to[1]] = solution.primal[origin[0], :, origin[1]]
        return copies

    def _n_lanes(self, group: int, solution: Solution) -> int:
        """Lanes of a group that hold a problem."""
        return min(LANES, len(solution.n_failed) * self.n_problems - group * LANES)

    def _move(self, solution: Solution, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        new_labels, new_box = np.ascontiguousarray(labels.T, dtype=np.int32), np.ascontiguousarray(box.T)
        for group, (dual, primal) in enumerate(zip(solution.dual, solution.primal, strict=True)):
            move_rows(
                self.loss.is_logistic, self.n_problems, group * LANES, self._n_lanes(group, solution),
                *self._entries[:3], solution.labels, new_labels, solution.box, new_box, dual, primal,
            )  # fmt: skip
        solution.labels, solution.box = new_labels, new_box

    def _descend(
        self,
        solution: Solution,
        seed: int,
        among: NDArray[np.intp] | None,  # noqa: ARG002 - a row of weight zero is never visited
        pulse: Callable[[], None],
    ) -> NDArray[np.bool_]:
        failed = [self._descend_group(group, solution, seed, pulse) for group in range(len(solution.dual))]
        return np.concatenate(failed)

    def _descend_group(self, group: int, solution: Solution, seed: int, pulse: Callable[[], None]) -> NDArray[np.bool_]:
        n_lanes = self._n_lanes(group, solution)
        members = (group * LANES + np.arange(n_lanes)) // self.n_problems
        awake = np.zeros((self.n_rows, LANES), np.bool_)
        awake[:, :n_lanes] = solution.box[:, members] > 0
        n_used = np.count_nonzero(awake[:, :n_lanes], axis=0)
        window = np.zeros((4, LANES))
        window[2], window[3] = -np.inf, np.inf
        tired = solution.n_slow[members] > 0
        looks = np.array([self._patience(int(n), bool(t)) for n, t in zip(n_used, tired, strict=True)], dtype=np.int64)
        status = np.zeros(n_lanes, np.int64)
        cursor = np.array([-1, seed])
        # Rows beyond the caches are visited in runs of neighbours, so that the next one is on its way already.
        run = 1 if self.n_rows <= FEW_ROWS else RUN
        order = np.arange(-(-self.n_rows // run))
        n_awake = np.count_nonzero(awake, axis=1)
        while descend_rows(
            self.loss.is_logistic, self.n_problems, group * LANES, *self._entries[:4], self._norms, solution.labels,
            solution.box, solution.dual[group], solution.primal[group], self.tol, awake, n_awake, status, window, looks,
            run, order, cursor, BUDGET,
        ):  # fmt: skip
            pulse()
        given_up: NDArray[np.bool_] = status == GIVEN_UP
        return given_up

    def _replace(
        self, solution: Solution, factor: float, factors: NDArray[np.float64], dual: NDArray[np.float64]
    ) -> None:
        solution.box *= factor
        for p, (own_factor, own_dual) in enumerate(zip(factors.ravel(), dual.reshape(-1, self.n_rows), strict=True)):
            group, lane = divmod(p, LANES)
            solution.primal[group, :, lane] *= own_factor
            solution.dual[group, :, lane] = own_dual

    def _dual_of(self, solution: Solution, p: int) -> NDArray[np.float64]:
        group, lane = divmod(p, LANES)
        return np.asarray(solution.dual[group, :, lane])

    def _put(self, solution: Solution, p: int, used: NDArray[np.intp], found: Optimum) -> None:
        group, lane = divmod(p, LANES)
        solution.dual[group, used, lane] = found.dual
        solution.primal[group, :, lane] = found.weights[self._entries.features]

    def _box(self, solution: Solution) -> NDArray[np.float64]:
        return solution.box.T

    def _lanes_apart(self, array: NDArray[np.float64], n_members: int) -> NDArray[np.float64]:
        """Shape (members, problems, rows) from groups x rows x lanes."""
        problems = np.swapaxes(array, 1, 2).reshape(-1, array.shape[1])
        return problems[: n_members * self.n_problems].reshape(n_members, self.n_problems, -1)

    def multiples(self, solution: Solution) -> NDArray[np.float64]:
        dual = self._lanes_apart(solution.dual, len(solution.n_failed))
        signs = one_vs_rest(solution.labels.T, self.n_classes)
        return self.loss.multiples(dual, solution.box.T[:, None, :]) * signs

    def scores(self, solution: Solution) -> NDArray[np.float64]:
        scores = np.empty((len(solution.dual), self.n_rows, LANES))
        for primal, lanes in zip(solution.primal, scores, strict=True):
            score_rows(*self._entries[:3], primal, lanes)
        apart = self._lanes_apart(scores, len(solution.n_failed))
        return np.swapaxes(apart + self.multiples(solution) * self._entries.lonely, 1, 2)
