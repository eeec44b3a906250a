"""Convert PyTorch tensors to arrays, without importing PyTorch."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp


def as_array(given: Any) -> Any:
    """Return a tensor on any device as an array or a CSR matrix, and anything else unchanged."""
    if not type(given).__module__.startswith("torch") or not hasattr(given, "detach"):
        return given
    tensor = given.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy has no such type
        tensor = tensor.float()
    if str(tensor.layout) == "torch.sparse_csr":
        parts = (tensor.values(), tensor.col_indices(), tensor.crow_indices())
        return sp.csr_array(tuple(part.numpy() for part in parts), shape=tuple(tensor.shape))
    if str(tensor.layout) == "torch.sparse_coo":
        tensor = tensor.coalesce()
        entries = (tensor.values().numpy(), tuple(tensor.indices().numpy()))
        return sp.coo_array(entries, shape=tuple(tensor.shape)).tocsr()
    return tensor.numpy()
