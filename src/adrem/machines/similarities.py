"""The machine on a matrix of similarities."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import InvalidDataError
from adrem.machines.forecast import members_at_once, weights_memory
from adrem.machines.gram import WIDTH, GramMachine, training_memory
from adrem.machines.kernel import PRECOMPUTED, Kernel
from adrem.machines.problems import Solution, Work
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import Outline
from adrem.types import FloatArray, Matrix

BLOCK = 256  # rows of similarities that are checked at a time
NOT_SYMMETRIC = "The matrix of similarities has to be finite and symmetric."


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

    kernel: Kernel

    def __init__(self, table: Matrix, n_classes: int, settings: MachineSettings, path: str = "") -> None:
        self.kernel = cast("Kernel", settings.kernel)
        self._constant = 1.0 if settings.fit_intercept else 0.0
        super().__init__(table, n_classes, replace(settings, fit_intercept=False), path)

    @property
    def _is_small(self) -> bool:
        """Newton's method needs features."""
        return False

    def _make_gram(self) -> FloatArray:
        gram = similarities_of(self.kernel, self.table, self._order)
        gram = np.ascontiguousarray(gram + self._constant if self._constant else gram, dtype=self.table.dtype)
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


def similarities_of(kernel: Kernel, table: Matrix, order: NDArray[np.intp]) -> FloatArray:
    """Return the similarities of all rows in an order; raise an error if they are not those of a kernel."""
    if kernel.function == PRECOMPUTED:
        given = kernel(table, table)
        gram: FloatArray = given[np.ix_(order, order)]
    else:
        shuffled = table[order]
        gram = kernel(shuffled, shuffled)
    is_known = isinstance(kernel.function, str) and kernel.function != PRECOMPUTED  # then it is symmetric
    if not (_is_finite(gram) and (is_known or _is_symmetric(gram))):
        raise InvalidDataError(NOT_SYMMETRIC)
    if np.diag(gram).min() < 0:
        raise InvalidDataError("The similarity of a row with itself is negative: this is not a kernel.")
    return gram


def _is_finite(gram: FloatArray) -> bool:
    return all(np.isfinite(gram[block]).all() for block in _blocks(gram))


def _is_symmetric(gram: FloatArray) -> bool:
    atol = 1e-6 * max(gram.max(), -gram.min())
    return all(np.allclose(gram[block], gram[:, block].T, rtol=1e-4, atol=atol) for block in _blocks(gram))


def _blocks(gram: FloatArray) -> list[slice]:
    return [slice(first, first + BLOCK) for first in range(0, len(gram), BLOCK)]
