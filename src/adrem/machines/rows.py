"""The machine on the rows, dense or CSR: problems whose weights are contiguous share a visit to a row."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.machines.budget import KERNEL_BUDGET
from adrem.machines.compiled.common import GIVEN_UP
from adrem.machines.compiled.csr import split_entries
from adrem.machines.compiled.rows import descend_rows, move_rows, score_rows
from adrem.machines.compiled.simd import LANES
from adrem.machines.forecast import double_precision_memory, members_at_once, newton_memory, weights_memory
from adrem.machines.host import HostMachine
from adrem.machines.loss import Optimum
from adrem.machines.machine import Training
from adrem.machines.problems import Solution, Work, one_vs_rest
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import Outline
from adrem.types import FloatArray, Matrix

# Tables with more rows than MAX_SINGLE_ROWS are visited in runs of this many neighbours.
MAX_SINGLE_ROWS, RUN = 5000, 64


class Entries(NamedTuple):
    """The entries of features that several rows share, as arrays for the kernels.

    `values` is two-dimensional for dense rows, and holds the entries of a CSR matrix otherwise; `indices` and
    `indptr` are empty for dense rows. `unshared` is the part of a row's squared norm from features that occur in this
    row alone. `features` are the columns of the table, in the order of their numbers here.
    """

    values: FloatArray
    indices: NDArray[np.integer[Any]]
    indptr: NDArray[np.int64]
    unshared: NDArray[np.float64]
    features: NDArray[np.intp]

    @property
    def n_features(self) -> int:
        """Number of features that several rows share."""
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
    indptr, unshared = np.empty(table.shape[0] + 1, np.int64), np.zeros(table.shape[0])
    split_entries(table.data, table.indices, table.indptr, numbers, n_shared, values, indices, indptr, unshared)
    return Entries(values, indices, indptr, unshared, by_frequency[:n_shared].copy())


def row_memory(table: Outline, work: Work) -> int:
    """Forecast the bytes that a `RowMachine` takes besides its table."""
    at_once = members_at_once(LANES, work)
    # Each thread rounds its problems up to whole groups of lanes, and so does the classifier of the source.
    n_lanes, n_source = (-(-n // LANES) * LANES for n in (at_once * work.n_problems, work.n_problems))
    n_lanes += LANES * (work.n_jobs - 1)
    # Entries are copied; before that, their column indices are counted as 64-bit integers.
    copied = max(table.n_bytes, 8 * table.n_entries) + 40 * table.n_features if table.is_sparse else 0
    # Dual variables and scores, by lanes and by problems; signs and multiples; labels and boxes.
    training = table.n_rows * (32 * n_lanes + 8 * n_source + at_once * (32 * work.n_problems + 64))
    weights = weights_memory(table.n_features, table.dtype.itemsize, at_once, work) + double_precision_memory(table)
    return copied + training + newton_memory(table) + 8 * table.n_features * (n_lanes + n_source) + weights


class RowMachine(HostMachine):
    """A machine on the rows. Labels and boxes are rows x members; dual variables and weights, groups x ... x lanes."""

    width: ClassVar[int] = LANES

    def __init__(self, table: Matrix, n_classes: int, settings: MachineSettings, path: str = "") -> None:
        super().__init__(table, n_classes, settings, path)
        self._entries = shared_entries(self.table)

    def zero_solution(self, n_members: int) -> Solution:
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
        copies = self.zero_solution(n_members)
        copies.n_failed[:], copies.n_slow[:] = solution.n_failed, solution.n_slow
        copies.labels[:], copies.box[:] = solution.labels, solution.box
        for p in range(n_members * self.n_problems):
            to, origin = divmod(p, LANES), divmod(p % self.n_problems, LANES)
            copies.dual[to[0], :, to[1]] = solution.dual[origin[0], :, origin[1]]
            copies.primal[to[0], :, to[1]] = solution.primal[origin[0], :, origin[1]]
        return copies

    def _n_lanes(self, group: int, solution: Solution) -> int:
        """Return how many lanes of a group hold a problem."""
        return min(LANES, len(solution.n_failed) * self.n_problems - group * LANES)

    def _transfer(self, solution: Solution, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        new_labels, new_box = np.ascontiguousarray(labels.T, dtype=np.int32), np.ascontiguousarray(box.T)
        for group, (dual, primal) in enumerate(zip(solution.dual, solution.primal, strict=True)):
            move_rows(
                self.loss.compiled, self.n_problems, group * LANES, self._n_lanes(group, solution),
                *self._entries[:3], solution.labels, new_labels, solution.box, new_box, dual, primal,
            )  # fmt: skip
        solution.labels, solution.box = new_labels, new_box

    def _descend(self, solution: Solution, training: Training) -> NDArray[np.bool_]:
        return np.concatenate([self._descend_group(group, solution, training) for group in range(len(solution.dual))])

    def _descend_group(self, group: int, solution: Solution, training: Training) -> NDArray[np.bool_]:
        n_lanes = self._n_lanes(group, solution)
        members = (group * LANES + np.arange(n_lanes)) // self.n_problems
        active = np.zeros((self.n_rows, LANES), np.bool_)
        active[:, :n_lanes] = solution.box[:, members] > 0
        n_used = np.count_nonzero(active[:, :n_lanes], axis=0)
        window = np.zeros((4, LANES))
        window[2], window[3] = -np.inf, np.inf
        is_retry = solution.n_slow[members] > 0
        budgets = zip(n_used.tolist(), is_retry.tolist(), strict=True)
        visits = np.array([self._visit_budget(*own, training.give_up_factor) for own in budgets], dtype=np.int64)
        status = np.zeros(n_lanes, np.int64)
        cursor = np.array([-1, training.seed])
        # Rows that exceed the caches are visited in runs of neighbours, so that the next one is prefetched.
        run = 1 if self.n_rows <= MAX_SINGLE_ROWS else RUN
        order = np.arange(-(-self.n_rows // run))
        n_active = np.count_nonzero(active, axis=1)
        while descend_rows(
            self.loss.compiled, self.n_problems, group * LANES, *self._entries[:4], self._norms, solution.labels,
            solution.box, solution.dual[group], solution.primal[group], self.tol, active, n_active, status, window,
            visits, run, order, cursor, KERNEL_BUDGET,
        ):  # fmt: skip
            training.heartbeat()
        given_up: NDArray[np.bool_] = status == GIVEN_UP
        return given_up

    def _restart(self, solution: Solution, factors: NDArray[np.float64], dual: NDArray[np.float64]) -> None:
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

    def _boxes(self, solution: Solution) -> NDArray[np.float64]:
        return solution.box.T

    def _lanes_apart(self, array: NDArray[np.float64], n_members: int) -> NDArray[np.float64]:
        """Reshape groups x rows x lanes to members x problems x rows."""
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
        return np.swapaxes(apart + self.multiples(solution) * self._entries.unshared, 1, 2)
