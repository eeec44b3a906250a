"""The machine on a matrix of similarities, on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from adrem.exceptions import InvalidDataError
from adrem.machines.forecast import DeviceMemory
from adrem.machines.kernel import Kernel
from adrem.machines.problems import Solution
from adrem.machines.settings import MachineSettings
from adrem.machines.similarities import NOT_SYMMETRIC, similarities_of
from adrem.machines.tables import Outline, squared_norms
from adrem.machines.torch.gram import TorchGramMachine, gram_memory
from adrem.machines.torch.machine import CHUNK
from adrem.runtime.memory import check_room
from adrem.types import FloatArray, Matrix


def kernel_memory(table: Outline, n_problems: int) -> DeviceMemory:
    """Forecast the bytes that a `TorchKernelMachine` takes on its device."""
    by_products = gram_memory(table, n_problems)
    side = min(CHUNK, table.n_rows)
    columns = 0 if table.is_sparse else table.n_features
    # Two chunks of rows in double precision, and a block of products, distances, their exponentials and a temporary.
    blocks = 8 * side * (2 * columns + 4 * side)
    return DeviceMemory(by_products.fixed + blocks, by_products.member + 16 * table.n_rows * n_problems)


class TorchKernelMachine(TorchGramMachine):
    """A machine on a matrix of similarities, as `KernelMachine` on the CPU.

    The RBF kernel of dense rows is computed on the device, other kernels on the host.
    """

    kernel: Kernel

    def __init__(self, table: Matrix, n_classes: int, settings: MachineSettings, path: str, **placed: Any) -> None:
        self.kernel = cast("Kernel", settings.kernel)
        self._constant = 1.0 if settings.fit_intercept else 0.0
        super().__init__(table, n_classes, replace(settings, fit_intercept=False), path, **placed)

    @property
    def _is_radial(self) -> bool:
        return self.kernel.function == "rbf" and not sp.issparse(self.table)

    def _norms_of_rows(self) -> NDArray[np.float64]:
        return super()._norms_of_rows() if self._is_radial else squared_norms(self.table)

    def _arrange(self) -> None:
        self._gram = torch.zeros((self.n_padded, self.n_padded), dtype=self.dtype, device=self.device)
        inside = self._gram[: self.n_rows, : self.n_rows]
        if self._is_radial:
            self._fill_radially(inside)
            del self._rows
        else:
            inside.copy_(torch.from_numpy(self._similarities_on_host()))
        inside += self._constant
        self._norms = self.on_host(self._in_order(self._gram.diagonal()))

    def _fill_radially(self, inside: Any) -> None:
        """Compute the RBF kernel of all rows, block by block in double precision."""
        starts = range(0, self.n_rows, CHUNK)
        for first in starts:
            rows = self._rows[first : min(first + CHUNK, self.n_rows)].double()
            for start in starts:
                others = self._rows[start : min(start + CHUNK, self.n_rows)].double()
                distances = rows.square().sum(1)[:, None] + others.square().sum(1) - 2.0 * (rows @ others.T)
                if start == first:
                    distances.fill_diagonal_(0.0)
                block = torch.exp(-self.kernel.gamma * distances.clamp(min=0.0))
                inside[first : first + CHUNK, start : start + CHUNK] = block
        if not bool(inside.isfinite().all()):
            raise InvalidDataError(NOT_SYMMETRIC)

    def _similarities_on_host(self) -> FloatArray:
        check_room(self.n_rows**2 * 8 * (2 + sp.issparse(self.table)), "The matrix of similarities", "give fewer rows")
        return np.ascontiguousarray(similarities_of(self.kernel, self.table, self._order), dtype=self.table.dtype)

    def _exact_scores(self, solution: Solution, sample: NDArray[np.intp]) -> NDArray[np.float64]:
        places = self._place[torch.from_numpy(sample).to(self.device)]
        similarities = self.on_host(self._in_order(self._gram[places]))
        return np.stack([member @ similarities.T for member in self.multiples(solution)])

    def weights(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        multiples: NDArray[np.float64] = self.multiples(solution)
        return multiples, self._constant * multiples.sum(axis=-1)
