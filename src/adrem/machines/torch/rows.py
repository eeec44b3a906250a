"""The machine on dense rows, on a device: one product gives the scores, another updates the weights.

With the hinge loss these are products with a block of rows, with the log loss with all rows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from adrem.machines.forecast import DeviceMemory
from adrem.machines.tables import Outline
from adrem.machines.torch.machine import TEMPORARIES, WORKSPACE, TorchMachine, memory_of_rows, n_padded_rows
from adrem.machines.torch.newton import Vectors, multiples_of
from adrem.machines.torch.search import Search
from adrem.machines.torch.steps import Blocks, blocks_of

# Parts in which a block's scores are summed in parallel: a single small product would leave most of a GPU idle.
SPLITS = (8, 4, 2, 1)
# Minimum number of features of a part.
NARROW = 128
BLOCK = 256


def row_memory(table: Outline, n_problems: int) -> DeviceMemory:
    """Forecast the bytes that a `TorchRowMachine` takes on its device."""
    n_padded = n_padded_rows(table, BLOCK)
    fixed = memory_of_rows(table, n_padded) + n_padded * BLOCK * table.dtype.itemsize + WORKSPACE
    return DeviceMemory(fixed, memory_of_member(table, n_padded, n_problems))


def memory_of_member(table: Outline, n_padded: int, n_problems: int) -> int:
    """Return the bytes of a member on rows, dense or sparse."""
    state = n_padded * (n_problems + 1) * table.dtype.itemsize + 4 * n_padded
    weights = (8 + 6 * table.dtype.itemsize) * table.n_features * n_problems
    return state + n_padded * n_problems * TEMPORARIES * table.dtype.itemsize + weights


class OnRows(TorchMachine):
    """A machine on the rows. `primal` holds the weights.

    With the log loss, `dual` is empty.
    """

    def inner(self, one: Vectors, other: Vectors) -> Any:
        return (one.coordinates * other.coordinates).sum(1)

    def vectors_in(self, solution: Any) -> Vectors:
        return Vectors(solution.primal, self.scores_by(solution.primal))

    @property
    def _n_dual(self) -> int:
        return super()._n_dual if self.solver.has_dual else 0

    def multiples_in(self, solution: Any, weights: Any) -> Any:
        return multiples_of(weights, self.all_scores(solution))

    def _vectors(self, solution: Any) -> NDArray[np.float64]:
        if self.solver.has_dual:
            return super()._vectors(solution)
        weights = solution.primal[:, : self.table.shape[1]]
        return self.on_host(weights).reshape(-1, self.n_problems, weights.shape[1])


class TorchRowMachine(OnRows):
    """A machine on dense rows."""

    block: ClassVar[int] = BLOCK

    def make_blocks(self) -> Blocks:
        self._by_block = self._rows.view(self._n_blocks, self._size, -1)
        width = self._rows.shape[1]
        self._n_splits = next(n for n in SPLITS if n == 1 or (width % n == 0 and width // n >= NARROW))
        grams = torch.bmm(self._by_block, self._by_block.transpose(1, 2))
        return blocks_of(grams, self._on_device(self._norms, self.dtype))

    def coordinates(self, multiples: Any) -> Any:
        return multiples @ self._rows

    def scores_by(self, coordinates: Any) -> Any:
        return coordinates @ self._rows.T

    @property
    def _n_primal(self) -> int:
        return int(self._rows.shape[1])

    def make_search(self, solution: Any) -> Search:
        scores = solution.primal.new_zeros((self._n_splits, len(solution.primal), self._size))
        return Search.on(scores, self._n_blocks, self._size, captured=self.is_compiled)

    def start(self, solution: Any) -> None:
        torch.mm(self.solver.multiples(self, solution), self._rows, out=solution.primal)

    def sweep(self, solution: Any, blocks: Blocks) -> None:
        for turn in range(self._n_blocks):
            self.steps.score(self._by_block, turn, solution, blocks.grams)
            self.steps.settle(self.n_problems, blocks, turn, solution)
            self.steps.spread(self._by_block, turn, solution, self._by_block)

    def all_scores(self, solution: Any) -> Any:
        return self.scores_by(solution.primal)

    def squared_norms(self, solution: Any, scores: Any) -> Any:  # noqa: ARG002 - the weights suffice
        weights = solution.primal.double()
        return self.on_host(weights.square().reshape(len(solution.n_failed), -1).sum(1))
