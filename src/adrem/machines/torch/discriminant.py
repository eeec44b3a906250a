"""The discriminant on a device: all members are one batch."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from adrem.machines.devices import MEMORY_MARGIN, find_device, free_memory
from adrem.machines.discriminant import NULL, RIDGE, TINY, DiscriminantMachine, Discriminants
from adrem.machines.forecast import DeviceMemory
from adrem.machines.loss import Heartbeat
from adrem.machines.problems import Work
from adrem.machines.tables import Outline
from adrem.machines.torch.machine import WORKSPACE, decide, exact_products, guarded, on_host
from adrem.runtime.memory import size_of
from adrem.types import FloatArray


def discriminant_memory(table: Outline, n_classes: int) -> DeviceMemory:
    """Forecast the bytes that a `TorchDiscriminantMachine` takes on its device."""
    n_rows, n_features, itemsize = table.n_rows, table.n_features, table.dtype.itemsize
    # Weighted rows; the scatter, its factor and copies of it; memberships, mapped rows, scores and temporary arrays.
    member = n_rows * n_features + 4 * n_features**2 + 8 * n_classes * (n_rows + n_features)
    return DeviceMemory(table.n_bytes + WORKSPACE, itemsize * member)


def make_machine(table: FloatArray, work: Work, device: str) -> TorchDiscriminantMachine:
    """Make the machine for as many members at a time as the memory of the device holds."""
    there = find_device(device)
    memory = discriminant_memory(Outline.of(table), work.n_classes)
    group_size = memory.members_that_fit(work, MEMORY_MARGIN * free_memory(there))
    return TorchDiscriminantMachine(table, work.n_classes, device=there, group_size=group_size)


def discriminate(rows: Any, labels: Any, weights: Any, n_classes: int) -> tuple[Any, Any, Any]:
    """Return the directions, the centers and the class means of members, as on the CPU.

    Signs of the directions may differ from those on the CPU; cosines do not depend on them.
    """
    memberships = torch.nn.functional.one_hot(labels, n_classes).to(rows.dtype) * weights[..., None]
    sizes = memberships.sum(1).clamp(min=TINY)[..., None]
    sums = memberships.mT @ rows
    within = (rows * weights[..., None]).mT @ rows
    within -= (sums / sizes).mT @ sums
    within.diagonal(dim1=-2, dim2=-1).add_(RIDGE)
    factor = torch.linalg.cholesky(within)
    between = torch.linalg.solve_triangular(factor, (sums / sizes.sqrt()).mT, upper=False)
    directions = torch.linalg.solve_triangular(factor.mT, basis_of(between), upper=True)
    mapped = rows @ directions
    center = mapped.mean(1)
    means = memberships.mT @ unit_rows(mapped - center[:, None])
    return directions, center, unit_rows(means / sizes)


def basis_of(columns: Any) -> Any:
    """Return the left singular vectors of matrices with few columns; zeros for those that belong to no difference."""
    double = columns.double()
    squares, vectors = torch.linalg.eigh(double.mT @ double)
    differences = squares.clamp(min=0.0).sqrt()
    there = differences > NULL * differences[..., -1:]
    basis = double @ (vectors * torch.where(there, 1.0 / differences, 0.0)[..., None, :])
    return basis[..., -min(columns.shape[-2:]) :].to(columns.dtype)


def unit_rows(rows: Any) -> Any:
    """Return rows of unit length; rows of zeros stay."""
    return rows / torch.linalg.vector_norm(rows, dim=-1, keepdim=True).clamp(min=TINY)


class TorchDiscriminantMachine(DiscriminantMachine):
    """Train discriminants on a device. Solutions and scores are tensors there.

    Parameters
    ----------
    device : torch.device
    group_size : int
        Number of members that are trained as one batch.
    """

    travels: ClassVar[bool] = False

    def __init__(self, table: FloatArray, n_classes: int, *, device: Any, group_size: int) -> None:
        super().__init__(table, n_classes)
        self.device = device
        self.group_size = group_size
        taken = size_of(discriminant_memory(Outline.of(table), n_classes).of(Work(n_classes, group_size)))
        self.path = f"{self.path}; on {device}, {group_size} member(s) at a time, about {taken}"
        with self.guard():
            self._rows = torch.from_numpy(np.ascontiguousarray(table)).to(device)

    def jobs(self, n_jobs: int) -> int:  # noqa: ARG002 - one batch occupies the device
        return 1

    def guard(self) -> AbstractContextManager[None]:
        return guarded()

    def solve(
        self,
        labels: NDArray[np.intp],
        weights: NDArray[np.float64],
        C: float = 1.0,  # noqa: ARG002 - the interface of all machines
        *,
        heartbeat: Heartbeat = lambda: None,
        **ignored: Any,
    ) -> Discriminants:
        del ignored
        labels, weights = np.broadcast_arrays(np.atleast_2d(labels), np.atleast_2d(weights))
        on_device = torch.from_numpy(weights.copy()).to(self.device, self._rows.dtype)
        heartbeat()
        with exact_products():
            found = discriminate(self._rows, self._labels_there(labels), on_device, self.n_classes)
        return Discriminants(*found, *np.zeros((2, len(labels)), np.intp))

    def _labels_there(self, labels: NDArray[np.intp]) -> Any:
        return torch.from_numpy(labels.astype(np.int64)).to(self.device)

    def copies(self, solution: Discriminants, n_members: int) -> Discriminants:
        times = n_members // len(solution.n_failed)
        tensors: Any = self._tensors(solution)
        counts = (solution.n_failed, solution.n_slow)
        return Discriminants(
            *(own.repeat_interleave(times, 0) for own in tensors), *(np.repeat(own, times) for own in counts)
        )

    def scores(self, solution: Discriminants) -> Any:
        directions, center, means = self._tensors(solution)
        with exact_products():
            found = unit_rows(self._rows @ directions - center[:, None]) @ means.mT
        return found if self.n_classes > 2 else found[..., 1:] - found[..., :1]

    def on_host(self, scores: Any) -> NDArray[np.float64]:
        return on_host(scores)

    def relabel(self, scores: Any) -> NDArray[np.intp]:
        return decide(scores)

    def weights(self, solution: Discriminants) -> tuple[FloatArray, FloatArray, FloatArray]:
        directions, center, means = (own.cpu().numpy() for own in self._tensors(solution))
        return directions, center, means

    def row_losses(self, scores: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        per_class = torch.cat([-scores, scores], -1) if self.n_problems == 1 else scores
        own = per_class.gather(2, self._labels_there(labels)[..., None])[..., 0]
        return np.asarray(1.0 - self.on_host(own))

    @staticmethod
    def _tensors(solution: Discriminants) -> tuple[Any, Any, Any]:
        return solution.directions, solution.center, solution.means
