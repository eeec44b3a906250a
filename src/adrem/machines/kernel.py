"""Beyond the paper: kernels, that is, similarities in place of inner products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import pairwise_kernels

from adrem.exceptions import InvalidDataError, ParameterError
from adrem.machines.forecast import members_at_once, weights_memory
from adrem.machines.gram import WIDTH, GramMachine, training_memory
from adrem.machines.losses import Loss
from adrem.machines.problems import Solution, Work
from adrem.machines.tables import Outline
from adrem.types import FloatArray, Matrix

PRECOMPUTED = "precomputed"
BLOCK = 256  # rows of similarities that are checked at a time


@dataclass(frozen=True)
class Kernel:
    """A kernel: one of scikit-learn's by name, a function of two tables, or precomputed similarities.

    Parameters
    ----------
    function : str or callable
        A name as for `AdREM`, or a function of two tables that returns their similarities.
    gamma : float, default=1.0
        Parameter of the kernels that have it.
    degree : float, default=3.0
        Parameter of the kernel "poly".
    coef0 : float, default=0.0
        Parameter of the kernels "poly" and "sigmoid".
    """

    function: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0

    def __call__(self, rows: Matrix, others: Matrix) -> FloatArray:
        """Return the similarities of rows with others; precomputed ones are those with all rows of the fit."""
        if self.function == PRECOMPUTED:
            return np.asarray(rows.toarray() if sp.issparse(rows) else rows)
        if callable(self.function):
            found = np.asarray(self.function(rows, others))
            wanted = (rows.shape[0], others.shape[0])
            if found.shape != wanted or found.dtype.kind not in "fiu":
                raise ParameterError(
                    f"The kernel returned {found.dtype} of shape {found.shape} for tables of {wanted[0]} and "
                    f"{wanted[1]} rows; it has to return numbers of shape {wanted}.",
                    "kernel",
                )
            similarities: FloatArray = found.astype(rows.dtype, copy=False)
            return similarities
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return np.asarray(pairwise_kernels(rows, others, metric=self.function, filter_params=True, **params))


def scale_of(gamma: str | float, rows: Matrix) -> float:
    """Return the value of gamma: as given, or as scikit-learn's support vector machines define "scale" and "auto"."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / int(rows.shape[1])
    mean = float(rows.mean())
    square = float(rows.multiply(rows).mean()) if sp.issparse(rows) else float(np.mean(np.square(rows, dtype=float)))
    variance = square - mean**2
    return 1.0 / (int(rows.shape[1]) * variance) if variance > 0 else 1.0


def kernel_memory(table: Outline, work: Work) -> int:
    """Forecast the bytes that a `KernelMachine` takes besides its table."""
    # Similarities as they are computed, with the constant, and in the type of the rows. Products of sparse rows are
    # sparse at first, with their column indices.
    matrix = table.n_rows**2 * (16 + 2 * table.dtype.itemsize * table.is_sparse) + 2 * table.n_bytes
    weights = weights_memory(table.n_rows, table.dtype.itemsize, members_at_once(WIDTH, work), work)
    return matrix + training_memory(table.n_rows, work) + weights


class KernelMachine(GramMachine):
    """A machine on a matrix of similarities. Its weights are the multiples of the rows, not of features.

    An intercept is a constant that is added to every similarity.
    """

    def __init__(self, table: Matrix, n_classes: int, loss: Loss, *, kernel: Kernel, **params: Any) -> None:
        self.kernel = kernel
        self._constant = 1.0 if params.pop("fit_intercept") else 0.0
        super().__init__(table, n_classes, loss, **params)

    @property
    def _is_small(self) -> bool:
        """Newton's method needs features."""
        return False

    def _make_gram(self) -> FloatArray:
        if self.kernel.function == PRECOMPUTED:
            given = self.kernel(self.table, self.table)
            gram: FloatArray = given[np.ix_(self._order, self._order)]
        else:
            shuffled = self.table[self._order]
            gram = self.kernel(shuffled, shuffled)
        if not _finite_and_symmetric(gram):
            raise InvalidDataError("The matrix of similarities has to be finite and symmetric.")
        if np.diag(gram).min() < 0:
            raise InvalidDataError("The similarity of a row with itself is negative: this is not a kernel.")
        gram = np.ascontiguousarray(gram + self._constant, dtype=self.table.dtype)
        self._shuffled_norms = np.diag(gram).astype(np.float64)
        return gram

    def _exact_scores(self, solution: Solution, sample: NDArray[np.intp]) -> NDArray[np.float64]:
        place = np.empty_like(self._order)
        place[self._order] = np.arange(self.n_rows)
        similarities = self._gram[place[sample]].astype(np.float64)
        return np.stack([member[:, self._order] @ similarities.T for member in self.multiples(solution)])

    def weights(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        multiples: NDArray[np.float64] = self.multiples(solution)
        return multiples, self._constant * multiples.sum(axis=-1)


def _finite_and_symmetric(gram: FloatArray) -> bool:
    blocks = [slice(first, first + BLOCK) for first in range(0, len(gram), BLOCK)]
    if not all(np.isfinite(gram[block]).all() for block in blocks):
        return False
    atol = 1e-6 * max(gram.max(), -gram.min())
    return all(np.allclose(gram[block], gram[:, block].T, rtol=1e-4, atol=atol) for block in blocks)
