"""The machine on the Gram matrix, on a device: one matrix product per block updates the scores of all rows."""

from __future__ import annotations

from typing import Any, ClassVar

import scipy.sparse as sp
import torch

from adrem.machines.gram import refuse_tiny
from adrem.machines.tables import Outline
from adrem.machines.torch.machine import TEMPORARIES, WORKSPACE, TorchMachine
from adrem.machines.torch.newton import Vectors
from adrem.machines.torch.search import Search
from adrem.machines.torch.sparse import csr_tensor
from adrem.machines.torch.steps import Blocks, blocks_of

# Bytes of sparse rows that are converted to dense at a time, to compute the Gram matrix.
DENSE = 2**28


class TorchGramMachine(TorchMachine):
    """A machine on the Gram matrix. `primal` holds the scores of all rows.

    With the log loss, `dual` holds the signed multiples of the rows.
    """

    block: ClassVar[int] = 64

    def _arrange(self) -> None:
        refuse_tiny(self._norms, self.table.dtype)
        self._gram = self._sparse_products() if sp.issparse(self.table) else self._rows @ self._rows.T

    def _make_blocks(self) -> Blocks:
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

    def _vectors_in(self, solution: Any) -> Vectors:
        return Vectors(solution.dual, solution.primal)

    def _finish(self, solution: Any) -> None:
        self._start(solution)

    def _signed_multiples(self, solution: Any) -> Any:
        return solution.dual if self.loss.is_smooth else super()._signed_multiples(solution)

    @property
    def _n_primal(self) -> int:
        return self.n_padded

    def _make_search(self, solution: Any) -> Search:
        return Search.on(solution.primal[None], self._n_blocks, self._size, captured=self._is_compiled)

    def _start(self, solution: Any) -> None:
        torch.mm(self._signed_multiples(solution), self._gram, out=solution.primal)

    def _pass(self, solution: Any) -> None:
        for turn in range(self._n_blocks):
            self._steps.settle(self.n_problems, self._blocks, turn, solution)
            self._steps.spread(self._by_block, turn, solution, self._blocks.grams)

    def _all_scores(self, solution: Any) -> Any:
        return solution.primal

    def squared_norms(self, solution: Any, scores: Any) -> Any:  # noqa: ARG002 - the solution holds them
        products = self._signed_multiples(solution).double() * solution.primal.double()
        return self.on_host(products.reshape(len(solution.n_failed), -1).sum(1))

    @classmethod
    def fixed_memory(cls, table: Outline) -> int:
        n_padded = -(-table.n_rows // cls.block) * cls.block
        rows = 2 * DENSE + 3 * table.n_bytes if table.is_sparse else cls.memory_of_rows(table)
        return n_padded * (n_padded + cls.block) * table.dtype.itemsize + rows + WORKSPACE

    @classmethod
    def memory_of_member(cls, table: Outline, n_problems: int) -> int:
        n_padded = -(-table.n_rows // cls.block) * cls.block
        state = n_padded * (2 * n_problems + 1) * table.dtype.itemsize + 4 * n_padded
        sums = 8 * table.n_features * n_problems
        temporaries = TEMPORARIES + 4  # the coordinates of Newton's vectors
        return state + n_padded * n_problems * temporaries * table.dtype.itemsize + sums
