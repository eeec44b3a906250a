"""What Algorithm 1 needs of a machine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adrem.machines.kernel import Kernel
from adrem.machines.loss import Heartbeat
from adrem.types import FloatArray, Matrix


class MachineLike(Protocol):
    """Trains classifiers on rows that it owns, again and again, and scores and relabels these rows.

    Only the machine knows what a solution is. It holds the classifiers of all members that are trained together. Scores
    have the shape (n_members, n_rows, n_problems), and stay on the device of the machine.
    """

    table: Matrix
    path: str
    n_rows: int
    n_problems: int
    kernel: Kernel | None

    @property
    def travels(self) -> bool:
        """Whether the machine can be sent to other processes."""

    @property
    def group_size(self) -> int:
        """The number of members that are trained together."""

    def jobs(self, n_jobs: int) -> int:
        """Return how many of these threads may train at the same time."""

    def guard(self) -> AbstractContextManager[None]:
        """Return a context that raises `DeviceMemoryError` if a device runs out of memory."""

    def solve(
        self,
        labels: NDArray[np.intp],
        weights: NDArray[np.float64],
        C: float,
        *,
        start: Any = None,
        overwrite: bool = False,
        among: NDArray[np.intp] | None = None,
        seed: int = 1,
        heartbeat: Heartbeat = lambda: None,
    ) -> Any:
        """Train on the rows with these labels and weights, and return the solution."""

    def copies(self, solution: Any, n_members: int) -> Any:
        """Return a copy of a solution of one member, repeated for each member."""

    def scores(self, solution: Any) -> Any:
        """Return the scores of all rows."""

    def on_host(self, scores: Any) -> NDArray[np.float64]:
        """Return scores, or a part of them, as an array."""

    def relabel(self, scores: Any) -> NDArray[np.intp]:
        """Return the predicted class numbers, of shape (n_members, n_rows)."""

    def squared_norms(self, solution: Any, scores: Any) -> NDArray[np.float64]:
        """Return the part of the objective of each member that is not a loss, times two."""

    def row_losses(self, scores: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the loss of each row, of shape (n_members, n_rows)."""

    def weights(self, solution: Any) -> tuple[FloatArray, ...]:
        """Return the arrays of the classifiers, with the members as their first axis."""

    def rounding(self, solution: Any, scores: Any) -> NDArray[np.float64]:
        """Return the largest rounding error of the scores of each member."""
