"""The machine on CSR rows, on a device: scores are summed over the entries of a row, updates over those of a feature.

With the hinge loss this is done for a block of rows, with the log loss for all rows.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from adrem.machines.forecast import DeviceMemory
from adrem.machines.problems import Solution
from adrem.machines.tables import Outline
from adrem.machines.torch.machine import WORKSPACE, n_padded_rows
from adrem.machines.torch.rows import OnRows, memory_of_member
from adrem.machines.torch.search import Search
from adrem.machines.torch.steps import Blocks, blocks_of

# Bytes of a block's rows that are converted to dense at a time, to compute its Gram matrix.
DENSE = 2**26
# Entries that are sorted by feature at a time, and bytes that each takes meanwhile.
ORDERED, BYTES_TO_ORDER = 2**21, 64
# A feature with more entries in a block than this is frequent there.
RARE = 4
BLOCK = 128


def sparse_row_memory(table: Outline, n_problems: int) -> DeviceMemory:
    """Forecast the bytes that a `TorchSparseRowMachine` takes on its device."""
    n_padded, itemsize = n_padded_rows(table, BLOCK), table.dtype.itemsize
    entries = table.n_entries * (itemsize + 4)
    by_feature = table.n_entries * (itemsize + 12)  # in parts, and concatenated
    ends = 8 * (table.n_entries + n_padded)
    temporaries = BYTES_TO_ORDER * min(ORDERED, table.n_entries) + 2 * DENSE
    fixed = entries + 2 * by_feature + ends + n_padded * BLOCK * itemsize + temporaries + WORKSPACE
    return DeviceMemory(fixed, memory_of_member(table, n_padded, n_problems))


class Entries(NamedTuple):
    """Entries of all rows, by row, and again by block and feature, the frequent features of a block first.

    `ends`, `feature_ends` and `block_ends` are index pointers, as `indptr` of a CSR matrix: to the entries of a row, to
    the entries of a feature in a block, and to the features of a block.
    """

    values: Any
    columns: Any
    ends: Any
    values_by_feature: Any
    rows_by_feature: Any
    features: Any
    feature_ends: Any
    block_ends: Any
    n_frequent: Any
    most_frequent: int
    most_rare: int


def csr_tensor(table: Any, device: Any) -> Any:
    """Copy a CSR matrix to a device."""
    whole = np.int32 if max(table.nnz, *table.shape) < 2**31 else np.int64
    parts = (torch.from_numpy(part.astype(whole, copy=False)) for part in (table.indptr, table.indices))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse", UserWarning)  # that it is in beta
        return torch.sparse_csr_tensor(*parts, torch.from_numpy(table.data), size=table.shape, device=device)


class TorchSparseRowMachine(OnRows):
    """A machine on CSR rows. The weights of a feature are contiguous."""

    block: ClassVar[int] = BLOCK

    def prepare_products(self) -> None:
        shuffled = self.table[self._order]
        shuffled.resize(self.n_padded, shuffled.shape[1])
        self._by_row = csr_tensor(shuffled, self.device)
        self._by_feature = csr_tensor(shuffled.T.tocsr(), self.device)

    def coordinates(self, multiples: Any) -> Any:
        return (self._by_feature @ multiples.T.contiguous()).T

    def scores_by(self, coordinates: Any) -> Any:
        return (self._by_row @ coordinates.T).T.contiguous()

    def make_blocks(self) -> Blocks:
        self._in_turn = torch.arange(self._n_blocks, device=self.device)
        grams = torch.zeros((self._n_blocks, self._size, self._size), dtype=self.dtype, device=self.device)
        self._entries = self._arranged(grams)
        return blocks_of(grams, self._on_device(self._norms, self.dtype))

    def _arranged(self, grams: Any) -> Entries:
        """Copy the entries to the device, and compute the Gram matrix of every block."""
        shuffled = self.table[self._order]
        ends = np.append(shuffled.indptr, np.full(self.n_padded - self.n_rows, shuffled.indptr[-1])).astype(np.int64)
        values, columns = (torch.from_numpy(own).to(self.device) for own in (shuffled.data, shuffled.indices))
        parts: list[ByFeature] = []
        last = 0
        for some in grams.split(max(1, ORDERED * self._n_blocks // max(1, shuffled.nnz))):
            first, last = last, last + len(some)
            own = ends[first * self._size : last * self._size + 1]
            among = slice(own[0], own[-1])
            rows = torch.from_numpy(np.repeat(np.arange(len(own) - 1), np.diff(own))).to(self.device)
            parts.append(_by_feature(values[among], columns[among], rows, self._n_primal, *some.shape[:2]))
            _add_products(parts[-1], some)
        by_feature = ByFeature(*(torch.cat(own) for own in zip(*parts, strict=True)))
        return Entries(
            values,
            columns.int(),
            torch.from_numpy(ends).to(self.device),
            by_feature.values,
            by_feature.rows,
            by_feature.features,
            _ends(by_feature.counts),
            _ends(by_feature.n_features),
            by_feature.n_frequent,
            int(by_feature.n_frequent.max()),
            int((by_feature.n_features - by_feature.n_frequent).max()),
        )

    @property
    def _n_primal(self) -> int:
        return int(self.table.shape[1])

    def zero_solution(self, n_members: int) -> Solution:
        made = super().zero_solution(n_members)
        made.primal = _side_by_side(made.primal)
        return made

    def copies(self, solution: Any, n_members: int) -> Solution:
        made = super().copies(solution, n_members)
        made.primal = _side_by_side(made.primal)
        return made

    def make_search(self, solution: Any) -> Search:
        scores = solution.dual.new_zeros((1, len(solution.dual), self._size))
        return Search.on(scores, self._n_blocks, self._size, captured=self.is_compiled)

    def start(self, solution: Any) -> None:
        self._sum_rows(self.solver.multiples(self, solution), solution.primal)

    def _sum_rows(self, multiples: Any, sums: Any) -> None:
        """Compute the sums of the rows times their multiples (problems x rows), block by block."""
        sums.zero_()
        for number, own in enumerate(multiples.split(self._size, 1)):
            self.steps.spread_entries(self._entries, self._in_turn, number, own, sums)

    def sweep(self, solution: Any, blocks: Blocks) -> None:
        search = solution.search
        for turn in range(self._n_blocks):
            self.steps.score_entries(self._entries, search.order, turn, solution.primal, search.scores[0])
            self.steps.settle(self.n_problems, blocks, turn, solution)
            self.steps.spread_entries(self._entries, search.order, turn, search.steps, solution.primal)

    def all_scores(self, solution: Any) -> Any:
        if not self.solver.has_dual:
            return self.scores_by(solution.primal)
        scores = torch.empty_like(solution.dual)
        self.steps.score_entries(self._entries, self._in_turn, 0, solution.primal, scores)
        return scores

    def squared_norms(self, solution: Any, scores: Any) -> Any:  # noqa: ARG002 - the weights suffice
        norms = torch.linalg.vector_norm(solution.primal, dim=1, dtype=torch.float64).square()
        return self.on_host(norms.reshape(len(solution.n_failed), -1).sum(1))

    def _vectors(self, solution: Any) -> NDArray[np.float64]:
        if not self.solver.has_dual:
            return super()._vectors(solution)
        sums = torch.zeros_like(solution.primal, dtype=torch.float64)
        self._sum_rows(self.solver.multiples(self, solution).double(), sums)
        return self.on_host(sums).reshape(-1, self.n_problems, self._n_primal)


def _side_by_side(weights: Any) -> Any:
    """Return weights with those of a feature contiguous, because they are read together."""
    return weights.T.contiguous().T


def _ends(counts: Any) -> Any:
    """Return the index pointers for groups of these sizes."""
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


class ByFeature(NamedTuple):
    """Entries of some blocks by block and feature, with the entries of each feature and the features of each block.

    Rows are numbered within their block.
    """

    values: Any
    rows: Any
    features: Any
    counts: Any
    n_features: Any
    n_frequent: Any


def _by_feature(values: Any, columns: Any, rows: Any, n_columns: int, n_blocks: int, size: int) -> ByFeature:
    """Sort the entries of some blocks by block, by the frequency of their feature there, and by feature."""
    ordered, order = torch.sort(rows // size * n_columns + columns)
    found, which, counts = torch.unique_consecutive(ordered, return_inverse=True, return_counts=True)
    block = found // n_columns
    by_count = torch.argsort(block * (size + 1) - counts, stable=True)
    place = torch.empty_like(by_count)
    place[by_count] = torch.arange(len(by_count), device=by_count.device)
    order = order[torch.argsort(place[which], stable=True)]
    return ByFeature(
        values[order],
        (rows % size)[order].int(),
        (found % n_columns)[by_count].int(),
        counts[by_count].int(),
        torch.bincount(block, minlength=n_blocks),
        torch.bincount(block[counts > RARE], minlength=n_blocks),
    )


def _add_products(entries: ByFeature, grams: Any) -> None:
    """Add the inner products of the rows of every block to its Gram matrix, some features at a time."""
    size, device = grams.shape[1], grams.device
    width = max(1, DENSE // (size * grams.element_size()))
    feature_ends, last = _ends(entries.counts), 0
    for gram, n_features in zip(grams, entries.n_features.tolist(), strict=True):
        begin, last = last, last + n_features
        for first in range(begin, last, width):
            counts = entries.counts[first : min(first + width, last)]
            among = slice(*feature_ends[[first, first + len(counts)]].tolist())
            place = torch.repeat_interleave(torch.arange(len(counts), device=device), counts)
            dense = gram.new_zeros((size, len(counts)))
            dense[entries.rows[among], place] = entries.values[among]
            gram.addmm_(dense, dense.T)
