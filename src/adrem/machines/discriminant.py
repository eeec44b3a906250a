"""The discriminant: directions in which classes differ most for the scatter within them, and cosines to class means.

It takes the place of the linear classifier in Algorithm 1. A direction in which the domains differ within a class has a
large scatter, so it counts little.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, solve_triangular

from adrem.base.scoring import by_class
from adrem.machines.kernel import Kernel
from adrem.machines.loss import Heartbeat
from adrem.machines.problems import decide
from adrem.types import FloatArray, Matrix

# Added to the scatter within the classes, for rows of unit length.
RIDGE = 1.0
# A direction in which the classes differ by less than this part of the largest difference is left out: the class means
# are linearly dependent, for example if the rows have mean zero, and rounding errors would choose the direction.
NULL = 1e-4
GROUP_SIZE = 4
TINY = 1e-12


@dataclass
class Discriminants:
    """The discriminants of some members.

    `directions` (members x features x directions) map rows, `center` (members x directions) is the mean of all mapped
    rows, and `means` (members x classes x directions) are the class means, of unit length.
    """

    directions: FloatArray
    center: FloatArray
    means: FloatArray
    n_failed: NDArray[np.intp]
    n_slow: NDArray[np.intp]


def discriminate(
    rows: FloatArray, labels: NDArray[np.intp], weights: NDArray[np.float64], n_classes: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the directions, the center and the class means of rows with labels and weights.

    With total scatter T and scatter W within the classes, the directions maximize d'Td over d'(W + ridge)d. T - W has
    at most as many directions as there are classes, so these follow from a small singular value decomposition. Fewer
    directions than classes are followed by zeros.
    """
    used = np.flatnonzero(weights)
    part, own = rows[used], weights[used].astype(rows.dtype)
    memberships = np.zeros((len(used), n_classes), rows.dtype)
    memberships[np.arange(len(used)), labels[used]] = own
    sizes = np.maximum(memberships.sum(axis=0), TINY)
    sums = memberships.T @ part
    part *= np.sqrt(own)[:, None]  # of a matrix and its own transpose, half of the product is computed
    within = part.T @ part - (sums / sizes[:, None]).T @ sums
    within[np.diag_indices_from(within)] += RIDGE
    factor = np.tril(cho_factor(within, lower=True, overwrite_a=True, check_finite=False)[0])
    between = solve_triangular(factor, (sums / np.sqrt(sizes)[:, None]).T, lower=True, check_finite=False)
    basis, differences, _ = np.linalg.svd(between, full_matrices=False)
    basis[:, differences <= NULL * differences[0]] = 0.0
    directions = solve_triangular(factor, basis, lower=True, trans="T", check_finite=False)
    mapped = rows @ directions
    center = mapped.mean(axis=0)
    return directions, center, unit_rows(memberships.T @ unit_rows(mapped[used] - center) / sizes[:, None])


def cosines(rows: Matrix, directions: FloatArray, center: FloatArray, means: FloatArray) -> FloatArray:
    """Return the cosines of mapped rows with the class means (rows x problems; the difference of two classes)."""
    found: FloatArray = unit_rows(rows @ directions - center) @ means.T
    return found if found.shape[1] > 2 else found[:, 1:] - found[:, :1]


def unit_rows(rows: FloatArray) -> FloatArray:
    """Return rows of unit length; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: FloatArray = rows / np.maximum(lengths, TINY)
    return scaled


class DiscriminantMachine:
    """Train discriminants again and again on the same rows, as `MachineLike` says."""

    travels: ClassVar[bool] = True
    group_size: int = GROUP_SIZE
    kernel: Kernel | None = None

    def __init__(self, table: FloatArray, n_classes: int) -> None:
        self.table = table
        self.n_rows = len(table)
        self.n_classes = n_classes
        self.n_problems = 1 if n_classes == 2 else n_classes
        self.path = f"discriminant: {table.shape[0]} rows of {table.shape[1]} components"

    def jobs(self, n_jobs: int) -> int:
        """Return how many of these threads may train at the same time."""
        return n_jobs

    def guard(self) -> AbstractContextManager[None]:
        """Return a context for training."""
        return nullcontext()

    def solve(
        self,
        labels: NDArray[np.intp],
        weights: NDArray[np.float64],
        C: float = 1.0,  # noqa: ARG002 - the interface of all machines
        *,
        heartbeat: Heartbeat = lambda: None,
        **ignored: Any,
    ) -> Discriminants:
        """Train a discriminant for the labels and weights of each member (members x rows); it needs no start."""
        del ignored
        labels, weights = np.broadcast_arrays(np.atleast_2d(labels), np.atleast_2d(weights))
        found = []
        for own, weight in zip(labels, weights, strict=True):
            found.append(discriminate(self.table, own, weight, self.n_classes))
            heartbeat()
        nothing = np.zeros(len(labels), np.intp)
        directions, center, means = (np.stack(arrays) for arrays in zip(*found, strict=True))
        return Discriminants(directions, center, means, nothing, nothing.copy())

    def copies(self, solution: Discriminants, n_members: int) -> Discriminants:
        """Return a copy of a solution of one member, repeated for each member."""
        times = n_members // len(solution.n_failed)
        return Discriminants(*(np.repeat(array, times, axis=0) for array in vars(solution).values()))

    def scores(self, solution: Discriminants) -> NDArray[np.float64]:
        """Return the scores of all rows, of shape (n_members, n_rows, n_problems)."""
        found = [cosines(self.table, *own) for own in zip(*self.weights(solution), strict=True)]
        return np.stack(found).astype(np.float64)

    def on_host(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores as an array."""
        return scores

    def relabel(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the predicted class numbers, of shape (n_members, n_rows)."""
        return decide(scores)

    def weights(self, solution: Discriminants) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the directions, centers and class means of the members."""
        return solution.directions, solution.center, solution.means

    def squared_norms(self, solution: Discriminants, scores: Any) -> NDArray[np.float64]:  # noqa: ARG002
        """Return zeros: the objective has no such term."""
        return np.zeros(len(solution.n_failed))

    def row_losses(self, scores: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return one minus the score for the label of each row, of shape (n_members, n_rows)."""
        per_class = np.stack([by_class(own) for own in scores])
        return np.asarray(1.0 - np.take_along_axis(per_class, labels[..., None], axis=2)[..., 0])

    def rounding(self, solution: Discriminants, scores: Any) -> NDArray[np.float64]:  # noqa: ARG002
        """Return zeros: scores are cosines, and their rounding errors are small."""
        return np.zeros(len(solution.n_failed))
