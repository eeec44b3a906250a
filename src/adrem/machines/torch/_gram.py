"""Rows in Gram space on a device: the scores of all rows are kept, and a block's moves are told by one product."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch

from adrem.machines._gram import refuse_tiny
from adrem.machines._tables import Outline
from adrem.machines.torch._machine import ON_THE_WAY, WORKSPACE, TorchMachine
from adrem.machines.torch._search import Search
from adrem.machines.torch._steps import Blocks, blocks_of

# Bytes of sparse rows that are made dense at a time, for their products with all others.
DENSE = 2**28


def _sparse(table: Any, device: Any) -> Any:
    """A CSR matrix on a device."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse", UserWarning)  # it tells that it is in beta
        parts = (torch.from_numpy(part.astype(np.int64)) for part in (table.indptr, table.indices))
        return torch.sparse_csr_tensor(*parts, torch.from_numpy(table.data), size=table.shape, device=device)


class TorchGramMachine(TorchMachine):
    """Machine in Gram space. The primal of a solution is the scores of all rows."""

    block: ClassVar[int] = 64

    def _make_blocks(self) -> Blocks:
        refuse_tiny(self._norms, self._table.dtype)
        if sp.issparse(self._table):
            self._gram = self._sparse_products()
        else:
            self._gram = self._rows @ self._rows.T
        self._by_block = self._gram.view(self._n_blocks, self._size, self.n_padded)
        size, width = self._size, self.n_padded
        diagonal = self._gram.as_strided((self._n_blocks, size, size), (size * (width + 1), width, 1))
        return blocks_of(diagonal.contiguous(), self._on_device(self._norms, self.dtype))

    def _sparse_products(self) -> Any:
        """Inner products of sparse rows with all others, of which some are dense at a time."""
        shuffled = self._table[self._order]
        gram = torch.zeros((self.n_padded, self.n_padded), dtype=self.dtype, device=self.device)
        everything = _sparse(shuffled, self.device)
        step = max(1, DENSE // (shuffled.shape[1] * shuffled.dtype.itemsize))
        for first in range(0, self.n_rows, step):
            last = min(first + step, self.n_rows)
            some = _sparse(shuffled[first:last], self.device).to_dense()
            gram[first:last, : self.n_rows] = (everything @ some.T).T
        return gram

    @property
    def _n_primal(self) -> int:
        return self.n_padded

    def _make_search(self, solution: Any) -> Search:
        return Search.on(solution.primal[None], self._n_blocks, self._size, recorded=self._is_compiled)

    def _start(self, solution: Any) -> None:
        torch.mm(self._signed_multiples(solution), self._gram, out=solution.primal)

    def _pass(self, solution: Any) -> None:
        for turn in range(self._n_blocks):
            self._steps.settle(self.loss.is_logistic, self.n_problems, self._blocks, turn, solution)
            self._steps.spread(self._by_block, turn, solution, self._blocks.grams)

    def _all_scores(self, solution: Any) -> Any:
        return solution.primal

    def squared_norms(self, solution: Any, scores: Any) -> Any:  # noqa: ARG002 - they are in the solution
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
        return state + n_padded * n_problems * ON_THE_WAY + sums
