"""Machines of the CPU: coordinate descent, and Newton's method for what it gives up where the table is small."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.machines import _newton as newton
from adrem.machines._machine import TIRED, Machine
from adrem.machines._problems import Solution, one_vs_rest
from adrem.machines._tables import Outline


class HostMachine(Machine):
    """Machine whose descent may be taken over by Newton's method."""

    @property
    def _is_small(self) -> bool:
        """Whether the table is small enough for it."""
        return newton.is_small(*self._table.shape)

    @staticmethod
    def _memory_of_newton(table: Outline) -> int:
        """Bytes that Newton's method takes for one problem, where it may take over."""
        shape = table.n_rows, table.n_features
        return newton.memory(*shape) if newton.is_small(*shape) else 0

    def _patience(self, n_rows: int, tired: bool) -> int:
        if not self._is_small:
            return super()._patience(n_rows, tired)
        return newton.patience(n_rows, self._table.shape[1]) // (TIRED if tired else 1)

    def _take_over(
        self,
        solution: Solution,
        given_up: NDArray[np.bool_],
        labels: NDArray[np.intp],
        box: NDArray[np.float64],
        pulse: Callable[[], None],
    ) -> NDArray[np.bool_]:
        if not self._is_small:
            return given_up
        failed = given_up.copy()
        for p in np.flatnonzero(given_up).tolist():
            m, problem = divmod(p, self.n_problems)
            used = np.flatnonzero(box[m] > 0)
            rows = self._dense(used) * one_vs_rest(labels[m, used], self.n_classes)[problem, :, None]
            before = newton.judge(self.loss, rows, self._dual_of(solution, p)[used], box[m, used])
            found = newton.minimize(self.loss, rows, box[m, used], self.tol, pulse)
            if found.width < before.width:
                self._put(solution, p, used, found)
                failed[p] = found.width > self.tol
        return failed

    def _dense(self, used: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some rows as a dense table in double precision."""
        rows = self._table[used]
        return np.asarray(rows.toarray() if sp.issparse(rows) else rows, np.float64)

    @abstractmethod
    def _dual_of(self, solution: Solution, p: int) -> NDArray[np.float64]:
        """Dual variables of all rows in one problem."""

    @abstractmethod
    def _put(self, solution: Solution, p: int, used: NDArray[np.intp], found: newton.Optimum) -> None:
        """Set the dual variables of some rows, and what the machine keeps up with them, in one problem."""
