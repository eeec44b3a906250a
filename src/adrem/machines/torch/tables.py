"""What is computed of whole tables on a device: nearest rows, and principal components."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from adrem.machines.devices import find_device
from adrem.machines.torch.machine import CHUNK, exact_products, guarded
from adrem.types import FloatArray

# Random directions beside the wanted components, and rounds of subspace iteration.
N_MORE, N_ROUNDS = 10, 3


def nearest_rows(rows: FloatArray, k: int, device: str) -> NDArray[np.intp]:
    """Return the k nearest other rows of every row, by the cosine between centred rows in double precision."""
    there = find_device(device)
    with guarded():
        table = torch.from_numpy(np.ascontiguousarray(rows)).to(there).double()
        table -= table.mean(0)
        lengths = torch.linalg.vector_norm(table, dim=1, keepdim=True)
        unit = torch.where(lengths > 0, table / lengths, 0.0)
        found = []
        for first in range(0, len(table), CHUNK):
            cosines = table[first : first + CHUNK] @ unit.T
            cosines.diagonal(first).fill_(-torch.inf)
            found.append(cosines.topk(k, 1).indices)
        near: NDArray[np.intp] = torch.cat(found).cpu().numpy().astype(np.intp)
    return near


def principal_components(rows: FloatArray, n_components: int, seed: int, device: str) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates of rows in their principal components, and the components as columns.

    Subspace iteration from random directions (Halko, Martinsson and Tropp, 2011).
    """
    there = find_device(device)
    n_directions = min(n_components + N_MORE, rows.shape[1])
    start = np.random.RandomState(seed).normal(size=(rows.shape[1], n_directions)).astype(rows.dtype)
    with guarded(), exact_products():
        table = torch.from_numpy(np.ascontiguousarray(rows)).to(there)
        centered = table - table.mean(0)
        span = torch.from_numpy(start).to(there)
        for _ in range(N_ROUNDS):
            span = torch.linalg.qr(centered.T @ (centered @ span))[0]
        within = (centered @ span).double()
        largest = torch.linalg.eigh(within.T @ within)[1][:, -n_components:].flip(1)
        basis = span @ largest.to(span.dtype)
        coordinates, components = ((own.cpu().numpy()) for own in (table @ basis, basis))
    return coordinates, components
