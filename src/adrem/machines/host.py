"""Machines on the CPU: coordinate descent, and Newton's method for problems of small tables that do not converge."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.machines import newton
from adrem.machines.budget import RETRY_FACTOR
from adrem.machines.loss import Heartbeat, Optimum
from adrem.machines.machine import Machine
from adrem.machines.problems import Solution, one_vs_rest


class HostMachine(Machine):
    """A machine that solves problems by Newton's method if coordinate descent is too slow and the table is small."""

    @property
    def _is_small(self) -> bool:
        """Whether the table is small enough for Newton's method."""
        return newton.is_small(*self.table.shape)

    def _visit_budget(self, n_rows: int, is_retry: bool, give_up_factor: float) -> int:
        if not self._is_small:
            return super()._visit_budget(n_rows, is_retry, give_up_factor)
        return newton.visit_budget(n_rows, self.table.shape[1]) // (RETRY_FACTOR if is_retry else 1)

    def _rescue(
        self,
        solution: Solution,
        given_up: NDArray[np.bool_],
        labels: NDArray[np.intp],
        box: NDArray[np.float64],
        heartbeat: Heartbeat,
    ) -> NDArray[np.bool_]:
        if not self._is_small:
            return given_up
        failed = given_up.copy()
        for p in np.flatnonzero(given_up).tolist():
            m, problem = divmod(p, self.n_problems)
            used = np.flatnonzero(box[m] > 0)
            rows = self._dense(used) * one_vs_rest(labels[m, used], self.n_classes)[problem, :, None]
            before = self.loss.judge(rows, self._dual_of(solution, p)[used], box[m, used])
            found = self.loss.minimize(rows, box[m, used], self.tol, heartbeat)
            if found.width < before.width:
                self._put(solution, p, used, found)
                failed[p] = found.width > self.tol
        return failed

    def _dense(self, used: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return some rows as a dense table in double precision."""
        rows = self.table[used]
        return np.asarray(rows.toarray() if sp.issparse(rows) else rows, np.float64)

    @abstractmethod
    def _dual_of(self, solution: Solution, p: int) -> NDArray[np.float64]:
        """Return the dual variables of all rows in one problem."""

    @abstractmethod
    def _put(self, solution: Solution, p: int, used: NDArray[np.intp], found: Optimum) -> None:
        """Set the dual variables of some rows in one problem, and its weights or scores."""
