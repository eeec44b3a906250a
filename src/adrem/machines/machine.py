"""The interface of all machines: rows are given once, and classifiers are trained on them again and again."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import InvalidDataError
from adrem.machines.budget import visit_budget
from adrem.machines.kernel import Kernel
from adrem.machines.loss import Heartbeat
from adrem.machines.losses import find_loss
from adrem.machines.problems import Solution
from adrem.machines.scoring import Scoring
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import add_bias, squared_norms
from adrem.types import Matrix


class Training(NamedTuple):
    """How a solution is trained, as for `Machine.solve`."""

    seed: int
    among: NDArray[np.intp] | None
    give_up_factor: float
    heartbeat: Heartbeat


class Machine(Scoring):
    """Train linear one-vs-rest classifiers again and again on the same rows, for several members at once.

    For every one-vs-rest problem it minimizes the sum of ``weight_i * C * loss_i`` over the rows plus half the squared
    norm of the weight vector. A row that is drawn several times is one row with a larger weight, and a row that is left
    out has weight zero. `make_machine` chooses a machine.

    Parameters
    ----------
    table : {ndarray, CSR array} of shape (n_rows, n_features)
        The rows. The machine keeps a reference and never writes into it.
    n_classes : int
        Number of classes; labels are integers from 0.
    settings : MachineSettings
        The loss, the tolerance, and whether to append a constant feature.
    path : str, default=""
        How the machine works and why it was chosen, in one line.

    Examples
    --------
    Two members at once, the second of which leaves a row out:

    >>> import numpy as np
    >>> from adrem.machines import decide, make_machine
    >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
    >>> solution = machine.solve(np.array([1, 1, 0]), np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]), C=1.0)
    >>> decide(machine.scores(solution)).tolist()
    [[1, 1, 0], [1, 1, 0]]
    """

    # Number of problems that are trained together most efficiently.
    width: ClassVar[int]
    # What takes the place of the inner product, if anything does.
    kernel: Kernel | None = None
    # Whether the machine can be sent to other processes.
    travels: ClassVar[bool] = True

    def __init__(self, table: Matrix, n_classes: int, settings: MachineSettings, path: str = "") -> None:
        self.path = path
        self.n_classes = n_classes
        self.n_problems = 1 if n_classes == 2 else n_classes
        self.loss = find_loss(settings.loss)
        self.fit_intercept = settings.fit_intercept
        self.tol = settings.tol
        self.table = add_bias(table) if self.fit_intercept else table  # with the constant feature if there is one
        self.n_rows = self.table.shape[0]
        self._norms = self._norms_of_rows()
        if not np.all(self._norms <= np.finfo(self.table.dtype).max):
            raise InvalidDataError("The squared norm of a row is too large for its type. Scale the features.")

    def _norms_of_rows(self) -> NDArray[np.float64]:
        return squared_norms(self.table)

    @property
    def group_size(self) -> int:
        """The number of members that are trained together most efficiently."""
        return max(1, self.width // self.n_problems)

    def jobs(self, n_jobs: int) -> int:
        """Return how many of these threads may train at the same time."""
        return n_jobs

    def guard(self) -> AbstractContextManager[None]:
        """Return a context that raises `DeviceMemoryError` if a device runs out of memory."""
        return nullcontext()

    @abstractmethod
    def zero_solution(self, n_members: int) -> Solution:
        """Return the solution for rows that all have weight zero, which is a cold start."""

    @abstractmethod
    def copies(self, solution: Solution, n_members: int) -> Solution:
        """Return a copy of a solution of one member, repeated for each member, or of as many members."""

    def solve(
        self,
        labels: NDArray[np.intp],
        weights: NDArray[np.float64],
        C: float,
        *,
        start: Solution | None = None,
        overwrite: bool = False,
        among: NDArray[np.intp] | None = None,
        seed: int = 1,
        give_up_factor: float = 1.0,
        heartbeat: Heartbeat = lambda: None,
    ) -> Solution:
        """Train on the rows with these labels and weights.

        Parameters
        ----------
        labels : ndarray of shape (n_members, n_rows) or (n_rows,)
            Class numbers, for every member or for all.
        weights : ndarray of shape (n_members, n_rows) or (n_rows,)
            Weights of the rows, for every member or for all.
        C : float
            Weight of the losses.
        start : Solution, default=None
            Warm start, of these members or of one. It does not change the problem that is solved.
        overwrite : bool, default=False
            Whether the start may be changed.
        among : ndarray of int, default=None
            The rows that may have a weight; other rows may be ignored during training.
        seed : int, default=1
            Seed of the order in which rows are visited.
        give_up_factor : float, default=1.0
            Give a problem up this many times sooner.
        heartbeat : callable, default=do nothing
            Called several times a second; it may raise an exception.

        Returns
        -------
        Solution
            The classifiers, inside the machine.
        """
        labels, weights = np.broadcast_arrays(np.atleast_2d(labels), np.atleast_2d(weights))
        n_members = len(labels)
        if start is None:
            solution = self.zero_solution(n_members)
        elif overwrite and len(start.n_failed) == n_members:
            solution = start
        else:
            solution = self.copies(start, n_members)
        self._transfer(solution, labels, C * weights)
        given_up = self._descend(solution, Training(seed, among, give_up_factor, heartbeat))
        failed = self._rescue(solution, given_up, labels, C * weights, heartbeat) if given_up.any() else given_up
        counts = (which.reshape(n_members, self.n_problems).sum(axis=1) for which in (failed, given_up))
        solution.n_failed, solution.n_slow = counts
        return solution

    @abstractmethod
    def _transfer(self, solution: Solution, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        """Transfer the solution to new labels and boxes, both of shape (n_members, n_rows)."""

    @abstractmethod
    def _descend(self, solution: Solution, training: Training) -> NDArray[np.bool_]:
        """Improve the solution until it is optimal; returns which problems were given up."""

    def _rescue(
        self,
        solution: Solution,  # noqa: ARG002
        given_up: NDArray[np.bool_],
        labels: NDArray[np.intp],  # noqa: ARG002
        box: NDArray[np.float64],  # noqa: ARG002
        heartbeat: Heartbeat,  # noqa: ARG002
    ) -> NDArray[np.bool_]:
        """Solve problems that were given up by another method, if there is one; returns which ones are left."""
        return given_up

    def _visit_budget(self, n_rows: int, is_retry: bool, give_up_factor: float) -> int:
        """Return the visits to a row after which a problem is given up."""
        return visit_budget(n_rows, self.tol, give_up_factor, is_retry)

    def rescale(self, solution: Solution, factor: float) -> None:
        """Turn a solution into a warm start for `factor` times the C, with the best scale of its weights."""
        multiples, box = self.multiples(solution), factor * self._boxes(solution)[:, None, :]
        margins = np.sign(multiples) * np.swapaxes(self.on_host(self.scores(solution)), 1, 2)
        multiples = np.abs(multiples)
        factors = self.loss.best_factor(multiples, margins, box, factor)
        solution.box *= factor
        self._restart(solution, factors, self.loss.dual(factors[..., None] * multiples, box))

    def grows(self, solution: Solution) -> bool:
        """Return whether a larger C would change this solution."""
        return self.loss.grows(self.multiples(solution), self._boxes(solution))

    @abstractmethod
    def _boxes(self, solution: Solution) -> NDArray[np.float64]:
        """Return the boxes (members x rows), in the order of the table."""

    @abstractmethod
    def _restart(self, solution: Solution, factors: NDArray[np.float64], dual: NDArray[np.float64]) -> None:
        """Set the dual variables (members x problems x rows); multiply the weights by these factors or compute them."""
