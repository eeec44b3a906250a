"""What the machines share: rows owned once, one-vs-rest problems, warm starts, members side by side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import FloatArray, Matrix
from adrem.machines._losses import Loss
from adrem.machines._tables import Outline, add_bias, squared_norms

# What a kernel may spend, in multiplications, before it comes back to Python: a fraction of a second.
BUDGET = 200_000_000
# A training that goes on from one that was given up is given up so many times sooner: it had its chance.
TIRED = 20
# Rows by which rounding errors are measured.
SAMPLED = 256
# Rows of a table that are made double precision at a time.
CHUNK = 1024


def one_vs_rest(labels: NDArray[np.integer[Any]], n_classes: int) -> NDArray[np.float64]:
    """Signs of the binary problems, one row a problem: a single problem for two classes, one a class otherwise."""
    positives = np.arange(1, 2) if n_classes == 2 else np.arange(n_classes)
    return np.where(labels[..., None, :] == positives[:, None], 1.0, -1.0)


def decide(scores: FloatArray) -> NDArray[np.intp]:
    """Label of every row of scores, given one column for two classes and one a class otherwise."""
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.intp)
    winners: NDArray[np.intp] = scores.argmax(axis=-1)
    return winners


class DeviceMemoryError(MemoryError):
    """The memory of a device is spent; fewer members at a time may fit."""


class Work(NamedTuple):
    """What a machine will be asked for: how many classes, members, in how many threads, folds, classifiers to keep."""

    n_classes: int
    n_members: int = 1
    n_jobs: int = 1
    n_folds: int = 1
    n_kept: int = 1

    @property
    def n_problems(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes


@dataclass
class Solution:
    """Trained classifiers of some members inside a machine, and all that the next training needs to start from them.

    How the arrays are laid out is the machine's affair. `n_failed` counts, for every member, the one-vs-rest problems
    that were given up before they reached the tolerance.
    """

    labels: NDArray[np.int32]
    box: NDArray[np.float64]
    dual: NDArray[np.float64]
    primal: NDArray[np.float64]
    n_failed: NDArray[np.intp]


class Machine(ABC):
    """Trains linear one-vs-rest classifiers again and again on the same rows, for several members at once.

    Minimizes, for every one-vs-rest problem, ``weight_i * C * loss_i`` summed over the rows plus half the squared norm
    of the weight vector. A row drawn several times is one row with a larger weight, a row left out has weight zero.

    Parameters
    ----------
    table : array or CSR of shape (n_rows, n_features)
        The rows. The machine keeps a reference and never writes into it.
    n_classes : int
    loss : Loss
    path : str
        How the machine works and why it was chosen, in one line.
    fit_intercept : bool
        Whether to append a constant feature, regularized like the others.
    tol : float
        When to stop, in the sense of liblinear.
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
        """The rows, and the constant feature if there is one."""
        return self._table

    def _norms_of_rows(self) -> NDArray[np.float64]:
        return squared_norms(self._table)

    # Problems that it pays to train side by side.
    width: ClassVar[int]

    @classmethod
    @abstractmethod
    def memory(cls, table: Outline, work: Work) -> int:
        """At most about how many bytes the machine will take for a table, and for all work on it."""

    @classmethod
    def _at_once(cls, work: Work) -> int:
        """Members that are trained at the same time, in all threads."""
        group = max(1, cls.width // work.n_problems)
        return max(work.n_folds, min(work.n_members, work.n_jobs * group))

    @classmethod
    def _memory_of_weights(cls, n_weights: int, itemsize: int, work: Work) -> int:
        """Bytes of classifiers that have so many weights: made in double precision, kept, and put in one array."""
        return n_weights * work.n_problems * (16 * cls._at_once(work) + 2 * itemsize * work.n_kept)

    def _patience(self, n_rows: int, tired: bool) -> int:
        """Looks at a row after which a training is given up and counted as failed.

        A thousand for each row, as liblinear's sweeps, where the tolerance is its 0.1, and more for a tighter one. A
        sweep over rows that have been narrowed down costs what it is worth. Few rows get a million in all.
        """
        looks = max(1_000_000, 1000 * n_rows * min(max(1.0, np.sqrt(0.1 / self.tol)), 1000.0))
        return int(looks / self._hurry / (TIRED if tired else 1))

    @contextmanager
    def hurried(self, factor: float) -> Iterator[None]:
        """Give trainings up so many times sooner for a while."""
        self._hurry = factor
        try:
            yield
        finally:
            self._hurry = 1.0

    @property
    def group_size(self) -> int:
        """How many members it pays to train side by side."""
        return max(1, self.width // self.n_problems)

    def jobs(self, n_jobs: int) -> int:
        """How many threads may train at the same time, where there could be so many."""
        return n_jobs

    def guard(self) -> AbstractContextManager[None]:
        """Where memory runs out inside, a `DeviceMemoryError` tells if it is not the host's."""
        return nullcontext()

    @abstractmethod
    def nothing(self, n_members: int) -> Solution:
        """The solution for rows that all have weight zero."""

    @abstractmethod
    def copies(self, solution: Solution, n_members: int) -> Solution:
        """A copy of a solution; of one member, as many copies as there shall be members."""

    @abstractmethod
    def _move(self, solution: Solution, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        """Carry the solution over to new labels and boxes, both of shape (n_members, n_rows)."""

    @abstractmethod
    def _descend(
        self, solution: Solution, seed: int, among: NDArray[np.intp] | None, pulse: Callable[[], None]
    ) -> NDArray[np.bool_]:
        """Mend the solution until it is one; returns which problems were given up."""

    @abstractmethod
    def scores(self, solution: Solution) -> Any:
        """Scores of shape (n_members, n_rows, n_problems), where the machine has them: here, or on its device."""

    def on_host(self, scores: Any) -> NDArray[np.float64]:
        """Scores as an array."""
        here: NDArray[np.float64] = scores
        return here

    def relabel(self, scores: Any) -> NDArray[np.intp]:
        """Labels by scores of some rows."""
        return decide(scores)

    @abstractmethod
    def multiples(self, solution: Solution) -> NDArray[np.float64]:
        """Multiple of every row in the weight vectors, of shape (n_members, n_problems, n_rows)."""

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
        """Train on the rows with these labels and weights, each of shape (n_members, n_rows), or one for all members.

        The start, of these members or one for all, is changed only with `overwrite`. It decides where the search begins
        and never which optimum it aims at; the seed orders the rows. Where `among` lists the rows that may have a
        weight, the others may be left out of the work. `pulse` is called several times a second, and may raise.
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
        failed = self._descend(solution, seed, among, pulse)
        solution.n_failed = failed.reshape(n_members, self.n_problems).sum(axis=1)
        return solution

    def rescale(self, solution: Solution, factor: float) -> None:
        """Make of a solution a start for the same problem with a larger C: the best multiple of its weight vectors."""
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
        """Whether a larger C would change this solution."""
        return self.loss.grows(self.multiples(solution), self._box(solution))

    @abstractmethod
    def _box(self, solution: Solution) -> NDArray[np.float64]:
        """Boxes of shape (n_members, n_rows)."""

    def weights(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        """Coefficients (members x problems x features) and intercepts (members x problems), in the type of the rows."""
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
        if sp.issparse(self._table):
            return np.stack([member @ self._table for member in multiples])
        sums = np.zeros((*multiples.shape[:2], self._table.shape[1]))
        for first in range(0, self.n_rows, CHUNK):
            rows = self._table[first : first + CHUNK].astype(np.float64, copy=False)
            for m, member in enumerate(multiples):
                sums[m] += member[:, first : first + CHUNK] @ rows
        return sums

    def rounding(self, solution: Solution, scores: Any) -> NDArray[np.float64]:
        """How far scores, kept up in many small steps, are from those made anew in double precision, for each member.

        The largest difference among some of the rows, in units of the score where that is above 1.
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
        """Squared norm of the weight vectors of each member, summed over its problems, given its scores."""
        products = self.multiples(solution) * np.swapaxes(scores, 1, 2)
        return np.array([member.sum() for member in products])

    def row_losses(self, scores: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Loss of every row under each member's scores and labels, summed over the one-vs-rest problems."""
        return np.stack([self._losses_of(*own) for own in zip(scores, labels, strict=True)])

    def _losses_of(self, scores: Any, labels: Any) -> NDArray[np.float64]:
        """Loss of every row under one member's scores and labels."""
        total: NDArray[np.float64] = self.loss.losses(one_vs_rest(labels, self.n_classes) * scores.T).sum(axis=0)
        return total
