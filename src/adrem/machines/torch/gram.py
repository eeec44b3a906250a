"""The machine on the Gram matrix, on a device: one matrix product per block updates the scores of all rows."""

from __future__ import annotations

from typing import Any, ClassVar

import scipy.sparse as sp
import torch

from adrem.machines.forecast import DeviceMemory
from adrem.machines.gram import refuse_tiny
from adrem.machines.tables import Outline
from adrem.machines.torch.machine import TEMPORARIES, WORKSPACE, TorchMachine, memory_of_rows, n_padded_rows
from adrem.machines.torch.newton import Vectors
from adrem.machines.torch.search import Search
from adrem.machines.torch.sparse import csr_tensor
from adrem.machines.torch.steps import Blocks, blocks_of

# Bytes of sparse rows that are converted to dense at a time, to compute the Gram matrix.
DENSE = 2**28
BLOCK = 64


def gram_memory(table: Outline, n_problems: int) -> DeviceMemory:
    """Forecast the bytes that a `TorchGramMachine` takes on its device."""
    n_padded, itemsize = n_padded_rows(table, BLOCK), table.dtype.itemsize
    rows = 2 * DENSE + 3 * table.n_bytes if table.is_sparse else memory_of_rows(table, n_padded)
    state = n_padded * (2 * n_problems + 1) * itemsize + 4 * n_padded
    temporaries = TEMPORARIES + 4  # the coordinates of Newton's vectors
    member = state + n_padded * n_problems * temporaries * itemsize + 8 * table.n_features * n_problems
    return DeviceMemory(n_padded * (n_padded + BLOCK) * itemsize + rows + WORKSPACE, member)


class TorchGramMachine(TorchMachine):
    """A machine on the Gram matrix. `primal` holds the scores of all rows.

    With the log loss, `dual` holds the signed multiples of the rows.
    """

    block: ClassVar[int] = BLOCK

    def _arrange(self) -> None:
        refuse_tiny(self._norms, self.table.dtype)
        self._gram = self._sparse_products() if sp.issparse(self.table) else self._rows @ self._rows.T

    def make_blocks(self) -> Blocks:
        self._by_block = self._gram.view(self._n_blocks, self._size, self.n_padded)
        size, width = self._size, self.n_padded
        diagonal = self._gram.as_strided((self._n_blocks, size, size), (size * (width + 1), width, 1))
        return blocks_of(diagonal.contiguous(), self._on_device(self._norms, self.dtype))

    def _sparse_products(self) -> Any:
        """Return the Gram matrix of sparse rows, computed in dense chunks."""
        shuffled = self.table[self._order]
        gram = torch.zeros((self.n_padded, self.n_padded), dtype=self.dtype, device=self.device)
        everything = csr_tensor(shuffled, self.device)
        step = max(1, DENSE // (shuffled.shape[1] * shuffled.dtype.itemsize))
        for first in range(0, self.n_rows, step):
            last = min(first + step, self.n_rows)
            some = csr_tensor(shuffled[first:last], self.device).to_dense()
            gram[first:last, : self.n_rows] = (everything @ some.T).T
        return gram

    def coordinates(self, multiples: Any) -> Any:
        return multiples

    def scores_by(self, coordinates: Any) -> Any:
        return coordinates @ self._gram

    def inner(self, one: Vectors, other: Vectors) -> Any:
        return (one.coordinates * other.scores).sum(1)

    def vectors_in(self, solution: Any) -> Vectors:
        return Vectors(solution.dual, solution.primal)

    def finish(self, solution: Any) -> None:
        self.start(solution)

    def multiples_in(self, solution: Any, weights: Any) -> Any:  # noqa: ARG002 - the solution holds them
        return solution.dual

    @property
    def _n_primal(self) -> int:
        return self.n_padded

    def make_search(self, solution: Any) -> Search:
        return Search.on(solution.primal[None], self._n_blocks, self._size, captured=self.is_compiled)

    def start(self, solution: Any) -> None:
        torch.mm(self.solver.multiples(self, solution), self._gram, out=solution.primal)

    def sweep(self, solution: Any, blocks: Blocks) -> None:
        for turn in range(self._n_blocks):
            self.steps.settle(self.n_problems, blocks, turn, solution)
            self.steps.spread(self._by_block, turn, solution, blocks.grams)

    def all_scores(self, solution: Any) -> Any:
        return solution.primal

    def squared_norms(self, solution: Any, scores: Any) -> Any:  # noqa: ARG002 - the solution holds them
        products = self.solver.multiples(self, solution).double() * solution.primal.double()
        return self.on_host(products.reshape(len(solution.n_failed), -1).sum(1))
