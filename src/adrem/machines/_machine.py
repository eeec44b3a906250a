"""What the machines share: rows owned once, one-vs-rest problems, warm starts, members side by side.

One class, and most of the file is what its methods are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._memory import ON_THE_WAY, blocks_of
from adrem._types import FloatArray, Matrix
from adrem.machines._losses import Loss
from adrem.machines._problems import Solution, Work, decide, one_vs_rest
from adrem.machines._tables import Outline, add_bias, squared_norms

# What a kernel may spend, in multiplications, before it comes back to Python: a fraction of a second.
BUDGET = 200_000_000
# A training that goes on from one that was given up is given up so many times sooner: it had its chance.
TIRED = 20
# Rows by which rounding errors are measured.
SAMPLED = 256
# Dense rows that are made double precision at a time.
CHUNK = 1024
# What an entry of sparse rows takes where they are cut out and made double precision.
BYTES_AN_ENTRY = 16


class DeviceMemoryError(MemoryError):
    """The memory of a device is spent; fewer members at a time may fit."""


class Machine(ABC):
    """Trains linear one-vs-rest classifiers again and again on the same rows, for several members at once.

    Minimizes, for every one-vs-rest problem, ``weight_i * C * loss_i`` summed over the rows plus half the squared norm
    of the weight vector. A row drawn several times is one row with a larger weight, a row left out has weight zero.
    `make_machine` chooses one.

    Parameters
    ----------
    table : {ndarray, CSR array} of shape (n_rows, n_features)
        The rows. The machine keeps a reference and never writes into it.
    n_classes : int
        How many classes there are; labels are their numbers, from 0.
    loss : Loss
        The loss of the classifiers.
    path : str, default=""
        How the machine works and why it was chosen, in one line.
    fit_intercept : bool, default=False
        Whether to append a constant feature, regularized like the others.
    tol : float, default=0.1
        When to stop, in the sense of liblinear.

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

    def __init__(
        self,
        table: Matrix,
        n_classes: int,
        loss: Loss,
        *,
        path: str = "",
        fit_intercept: bool = False,
        tol: float = 0.1,
    ) -> None:
        self.path = path
        self.n_classes = n_classes
        self.n_problems = 1 if n_classes == 2 else n_classes
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self._table = add_bias(table) if fit_intercept else table
        self.n_rows = self._table.shape[0]
        self._norms = self._norms_of_rows()
        self._hurry = 1.0
        if not np.all(self._norms <= np.finfo(self._table.dtype).max):
            raise ValueError("The squared norm of a row is too large for its type. Scale the features.")

    @property
    def table(self) -> Matrix:
        """The rows, and the constant feature if there is one.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> make_machine(np.array([[2.0], [-1.0]]), 2, "hinge", fit_intercept=True).table.tolist()
        [[2.0, 1.0], [-1.0, 1.0]]
        """
        return self._table

    def _norms_of_rows(self) -> NDArray[np.float64]:
        return squared_norms(self._table)

    # Problems that it pays to train side by side.
    width: ClassVar[int]
    # Whether it may be sent to other processes.
    travels: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def memory(cls, table: Outline, work: Work) -> int:
        """Tell at most about how many bytes the machine will take for a table, and for all work on it.

        Parameters
        ----------
        table : Outline
            What is known of the table.
        work : Work
            All that it will be asked for.

        Returns
        -------
        int
            A number of bytes.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import Work, make_machine
        >>> from adrem.machines._tables import Outline
        >>> rows = np.array([[1.0], [2.0], [-1.0]])
        >>> machine, outline = make_machine(rows, 2, "hinge"), Outline.of(rows)
        >>> machine.memory(outline, Work(2)) < machine.memory(outline, Work(2, n_members=11))
        True
        """

    @classmethod
    def _at_once(cls, work: Work) -> int:
        """Members that are trained at the same time, in all threads."""
        group = max(1, cls.width // work.n_problems)
        return max(work.n_folds, min(work.n_members, work.n_jobs * group))

    @classmethod
    def _memory_of_weights(cls, n_weights: int, itemsize: int, work: Work) -> int:
        """Bytes of classifiers that have so many weights: made in double precision, kept, and put in one array."""
        return n_weights * work.n_problems * (16 * cls._at_once(work) + 2 * itemsize * work.n_kept)

    @staticmethod
    def _memory_on_the_way(table: Outline) -> int:
        """Bytes of the rows that are in double precision at a time."""
        if table.is_sparse:
            return min(ON_THE_WAY, BYTES_AN_ENTRY * table.n_entries)
        return 8 * min(CHUNK, table.n_rows) * table.n_features

    def _patience(self, n_rows: int, tired: bool) -> int:
        """Looks at a row after which a training is given up and counted as failed.

        A thousand for each row, as liblinear's sweeps, where the tolerance is its 0.1, and more for a tighter one. A
        sweep over rows that have been narrowed down costs what it is worth. Few rows get a million in all.
        """
        looks = max(1_000_000, 1000 * n_rows * min(max(1.0, np.sqrt(0.1 / self.tol)), 1000.0))
        return int(looks / self._hurry / (TIRED if tired else 1))

    @contextmanager
    def hurried(self, factor: float) -> Iterator[None]:
        """Give trainings up so many times sooner for a while.

        Parameters
        ----------
        factor : float
            How many times sooner.

        Yields
        ------
        None
            While the block runs, trainings are given up sooner.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> with machine.hurried(10.0):
        ...     solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        """
        self._hurry = factor
        try:
            yield
        finally:
            self._hurry = 1.0

    @property
    def group_size(self) -> int:
        """How many members it pays to train side by side.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge").group_size > 1
        True
        """
        return max(1, self.width // self.n_problems)

    def jobs(self, n_jobs: int) -> int:
        """Tell how many threads may train at the same time, where there could be so many.

        Parameters
        ----------
        n_jobs : int
            How many threads there could be.

        Returns
        -------
        int
            As many, or one where a device is busy with one batch.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> machine.jobs(2)
        2
        """
        return n_jobs

    def guard(self) -> AbstractContextManager[None]:
        """Have it told where memory runs out inside, if it is not the host's: by a ``DeviceMemoryError``.

        Returns
        -------
        context manager
            To be entered around the work.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> with machine.guard():
        ...     solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        """
        return nullcontext()

    @abstractmethod
    def nothing(self, n_members: int) -> Solution:
        """Make the solution for rows that all have weight zero.

        Parameters
        ----------
        n_members : int
            How many members it has.

        Returns
        -------
        Solution
            A start from nothing.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [-1.0]]), 2, "hinge")
        >>> machine.scores(machine.nothing(n_members=1)).tolist()
        [[[0.0], [0.0]]]
        """

    @abstractmethod
    def copies(self, solution: Solution, n_members: int) -> Solution:
        """Copy a solution; of one member, as many times as there shall be members.

        Parameters
        ----------
        solution : Solution
            A solution of one member, or of as many as there shall be.
        n_members : int
            How many members the copy has.

        Returns
        -------
        Solution
            A copy that may be overwritten.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        >>> machine.scores(machine.copies(solution, n_members=11)).shape
        (11, 3, 1)
        """

    @abstractmethod
    def _move(self, solution: Solution, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        """Carry the solution over to new labels and boxes, both of shape (n_members, n_rows)."""

    @abstractmethod
    def _descend(
        self, solution: Solution, seed: int, among: NDArray[np.intp] | None, pulse: Callable[[], None]
    ) -> NDArray[np.bool_]:
        """Mend the solution until it is one; returns which problems were given up."""

    def _take_over(
        self,
        solution: Solution,  # noqa: ARG002
        given_up: NDArray[np.bool_],
        labels: NDArray[np.intp],  # noqa: ARG002
        box: NDArray[np.float64],  # noqa: ARG002
        pulse: Callable[[], None],  # noqa: ARG002
    ) -> NDArray[np.bool_]:
        """Solve problems that were given up in another way, if there is one; returns which ones are left."""
        return given_up

    @abstractmethod
    def scores(self, solution: Solution) -> Any:
        """Score all rows, where the machine has them: here, or on its device.

        Parameters
        ----------
        solution : Solution
            What ``solve`` gave.

        Returns
        -------
        {ndarray, tensor} of shape (n_members, n_rows, n_problems)
            The scores.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        >>> machine.scores(solution).round(2).tolist()
        [[[1.0], [2.0], [-1.0]]]
        """

    def on_host(self, scores: Any) -> NDArray[np.float64]:
        """Bring scores here.

        Parameters
        ----------
        scores : {ndarray, tensor}
            What ``scores`` gave, or a part of it.

        Returns
        -------
        ndarray
            The same numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        >>> type(machine.on_host(machine.scores(solution))).__name__
        'ndarray'
        """
        here: NDArray[np.float64] = scores
        return here

    def relabel(self, scores: Any) -> NDArray[np.intp]:
        """Label rows by their scores.

        Parameters
        ----------
        scores : {ndarray, tensor} of shape (n_members, n_rows, n_problems)
            What ``scores`` gave, or some of its rows.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Numbers of classes.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        >>> machine.relabel(machine.scores(solution)).tolist()
        [[1, 1, 0]]
        """
        return decide(scores)

    @abstractmethod
    def multiples(self, solution: Solution) -> NDArray[np.float64]:
        """Give the multiple of every row in the weight vectors.

        Parameters
        ----------
        solution : Solution
            What ``solve`` gave.

        Returns
        -------
        ndarray of shape (n_members, n_problems, n_rows)
            The multiples, with the signs of the labels.

        Examples
        --------
        The weight vector is the sum of the rows times their multiples:

        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> rows = np.array([[1.0], [2.0], [-1.0]])
        >>> machine = make_machine(rows, 2, "hinge")
        >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        >>> (machine.multiples(solution) @ rows).round(2).tolist()
        [[[1.0]]]
        """

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
        pulse: Callable[[], None] = lambda: None,
    ) -> Solution:
        """Train on the rows with these labels and weights.

        Parameters
        ----------
        labels : ndarray of shape (n_members, n_rows) or (n_rows,)
            Numbers of classes, for every member or one for all.
        weights : ndarray of shape (n_members, n_rows) or (n_rows,)
            What each row counts, for every member or one for all.
        C : float
            Weight of the losses.
        start : Solution, default=None
            Where the search begins, of these members or one for all. It never decides which optimum is aimed at.
        overwrite : bool, default=False
            Whether the start may be changed.
        among : ndarray of int, default=None
            The rows that may have a weight: the others may be left out of the work.
        seed : int, default=1
            Orders the rows.
        pulse : callable, default=nothing
            Called several times a second, and may raise.

        Returns
        -------
        Solution
            The classifiers, inside the machine.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import decide, make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> first = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        >>> then = machine.solve(np.array([0, 0, 1]), np.ones(3), C=1.0, start=first)  # the labels have changed
        >>> decide(machine.scores(then)).tolist()
        [[0, 0, 1]]
        """
        labels, weights = np.broadcast_arrays(np.atleast_2d(labels), np.atleast_2d(weights))
        n_members = len(labels)
        if start is None:
            solution = self.nothing(n_members)
        elif overwrite and len(start.n_failed) == n_members:
            solution = start
        else:
            solution = self.copies(start, n_members)
        self._move(solution, labels, C * weights)
        given_up = self._descend(solution, seed, among, pulse)
        failed = self._take_over(solution, given_up, labels, C * weights, pulse) if given_up.any() else given_up
        counts = (which.reshape(n_members, self.n_problems).sum(axis=1) for which in (failed, given_up))
        solution.n_failed, solution.n_slow = counts
        return solution

    def rescale(self, solution: Solution, factor: float) -> None:
        """Make of a solution a start for the same problem with a larger C: the best multiple of its weight vectors.

        Parameters
        ----------
        solution : Solution
            What ``solve`` gave; it is changed.
        factor : float
            How many times larger C will be.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> labels, weights = np.array([1, 1, 0]), np.ones(3)
        >>> solution = machine.solve(labels, weights, C=0.1)
        >>> machine.rescale(solution, 10.0)
        >>> solution = machine.solve(labels, weights, C=1.0, start=solution, overwrite=True)
        """
        multiples, box = self.multiples(solution), factor * self._box(solution)[:, None, :]
        margins = np.sign(multiples) * np.swapaxes(self.on_host(self.scores(solution)), 1, 2)
        multiples = np.abs(multiples)
        factors = self.loss.best_factor(multiples, margins, box, factor)
        self._replace(solution, factor, factors, self.loss.dual(factors[..., None] * multiples, box))

    @abstractmethod
    def _replace(
        self, solution: Solution, factor: float, factors: NDArray[np.float64], dual: NDArray[np.float64]
    ) -> None:
        """Enlarge boxes by a factor, each problem's weights by its own, and set the dual variables."""

    def grows(self, solution: Solution) -> bool:
        """Tell whether a larger C would change this solution.

        Parameters
        ----------
        solution : Solution
            What ``solve`` gave.

        Returns
        -------
        bool
            Whether it would.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> labels, weights = np.array([1, 1, 0]), np.ones(3)
        >>> [machine.grows(machine.solve(labels, weights, C)) for C in (0.01, 100.0)]
        [True, False]
        """
        return self.loss.grows(self.multiples(solution), self._box(solution))

    @abstractmethod
    def _box(self, solution: Solution) -> NDArray[np.float64]:
        """Boxes of shape (n_members, n_rows)."""

    def weights(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        """Give the weight vectors, in the type of the rows.

        Parameters
        ----------
        solution : Solution
            What ``solve`` gave.

        Returns
        -------
        coef : ndarray of shape (n_members, n_problems, n_features)
            The coefficients.
        intercept : ndarray of shape (n_members, n_problems)
            The intercepts, zero where there are none.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> coef, intercept = machine.weights(machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0))
        >>> coef.round(2).tolist(), intercept.tolist()
        ([[[1.0]]], [[0.0]])
        """
        dtype = self._table.dtype
        vectors = self._vectors(solution).astype(dtype)
        if self.fit_intercept:
            return vectors[..., :-1], vectors[..., -1]
        return vectors, np.zeros(vectors.shape[:2], dtype=dtype)

    def _vectors(self, solution: Solution) -> NDArray[np.float64]:
        """Weights (members x problems x features), a constant feature's included, in double precision."""
        return self._weighted_sums(self.multiples(solution))

    def _weighted_sums(self, multiples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of the rows times their multiples, in double precision whatever the type of the rows.

        One member at a time: a product rounds by the shape of its factors.
        """
        sums = np.zeros((*multiples.shape[:2], self._table.shape[1]))
        first = 0
        for rows in self._double_precision():
            last = first + rows.shape[0]
            for m, member in enumerate(multiples):
                sums[m] += member[:, first:last] @ rows
            first = last
        return sums

    def _double_precision(self) -> Iterator[Matrix]:
        """The rows, so many at a time, in double precision; sparse ones as they are, since products copy them."""
        if sp.issparse(self._table):
            yield from blocks_of(self._table, 1 + BYTES_AN_ENTRY * self._table.nnz // self.n_rows)
        else:
            for first in range(0, self.n_rows, CHUNK):
                yield self._table[first : first + CHUNK].astype(np.float64, copy=False)

    def rounding(self, solution: Solution, scores: Any) -> NDArray[np.float64]:
        """Tell how far scores, kept up in many small steps, are from those made anew in double precision.

        Parameters
        ----------
        solution : Solution
            What ``solve`` gave.
        scores : ndarray of shape (n_members, n_rows, n_problems)
            Its scores.

        Returns
        -------
        ndarray of shape (n_members,)
            The largest difference among some of the rows, in units of the score where that is above 1.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        >>> bool(machine.rounding(solution, machine.scores(solution))[0] < 1e-9)
        True
        """
        sample = np.unique(np.linspace(0, self.n_rows - 1, SAMPLED).astype(np.intp))
        anew = np.swapaxes(self._scored_anew(solution, sample), 1, 2)
        difference = np.abs(self.on_host(scores[:, sample]) - anew) / np.maximum(1.0, np.abs(anew))
        return np.asarray(difference.max(axis=(1, 2)))

    def _scored_anew(self, solution: Solution, sample: NDArray[np.intp]) -> NDArray[np.float64]:
        """Scores (members x problems x rows) of some rows by the weights that the multiples of all rows make."""
        rows = self._table[sample].astype(np.float64)
        return np.stack([np.asarray((rows @ vectors.T).T) for vectors in self._vectors(solution)])

    def squared_norms(self, solution: Solution, scores: Any) -> NDArray[np.float64]:
        """Give the squared norm of the weight vectors of each member, summed over its problems.

        Parameters
        ----------
        solution : Solution
            What ``solve`` gave.
        scores : ndarray of shape (n_members, n_rows, n_problems)
            Its scores.

        Returns
        -------
        ndarray of shape (n_members,)
            The squared norms.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
        >>> machine.squared_norms(solution, machine.scores(solution)).round(2).tolist()
        [1.0]
        """
        products = self.multiples(solution) * np.swapaxes(scores, 1, 2)
        return np.array([member.sum() for member in products])

    def row_losses(self, scores: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Give the loss of every row under each member's scores and labels, summed over the one-vs-rest problems.

        Parameters
        ----------
        scores : {ndarray, tensor} of shape (n_members, n_rows, n_problems)
            What ``scores`` gave.
        labels : ndarray of shape (n_members, n_rows)
            Numbers of classes.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            The losses.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.machines import make_machine
        >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
        >>> machine.row_losses(np.array([[[0.5], [2.0], [0.5]]]), np.array([[1, 1, 0]])).tolist()
        [[0.5, 0.0, 1.5]]
        """
        return np.stack([self._losses_of(*own) for own in zip(scores, labels, strict=True)])

    def _losses_of(self, scores: Any, labels: Any) -> NDArray[np.float64]:
        """Loss of every row under one member's scores and labels."""
        total: NDArray[np.float64] = self.loss.losses(one_vs_rest(labels, self.n_classes) * scores.T).sum(axis=0)
        return total
