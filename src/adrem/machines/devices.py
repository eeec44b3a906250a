"""Devices by name: which one is used, and how much memory is free there. PyTorch is imported only when needed."""

from __future__ import annotations

import importlib.util
from typing import Any

from adrem.exceptions import MissingImportError, ParameterError
from adrem.runtime.memory import available_memory

CPU = "cpu"
# PyTorch's own CPU device, which runs the same code as a GPU: for tests.
TORCH_CPU = "torch-cpu"
# Products of a training from which on "auto" takes a GPU: entries of all rows, or of the matrix of similarities, times
# members and classes. Half as many took 3.8 s on a core and 0.4 s on an H200; but the first fit of a process waits some
# seconds for PyTorch, the device and the compiler.
MIN_GPU_WORK = 1e9
# Part of the free memory that a machine may take.
MEMORY_MARGIN = 0.9


def resolve_device(wanted: str, n_products: float) -> str:
    """Return the device to use: "auto" is a GPU if there is one and the products of a training are enough for it."""
    if wanted != "auto":
        return wanted
    return "cuda" if n_products >= MIN_GPU_WORK and _has_gpu() else CPU


def _has_gpu() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def find_device(name: str) -> Any:
    """Return PyTorch's device of this name, or raise an error that says what is missing."""
    try:
        import torch
    except ImportError as error:
        raise MissingImportError(
            f"device={name!r} needs PyTorch: pip install \"adrem[gpu]\", or set device='cpu'."
        ) from error
    if name == TORCH_CPU:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise ParameterError(f"device={name!r}: PyTorch finds no GPU here. Set device='cpu', or 'auto'.", "device")
    return torch.device("cuda", torch.cuda.current_device())


def check_device(wanted: str) -> None:
    """Raise an error, before any work, if the device is missing."""
    if wanted not in (CPU, "auto"):
        find_device(wanted)


def free_memory(device: Any) -> float:
    """Return the bytes that this process can still allocate on a device of PyTorch."""
    if device.type == "cpu":
        return available_memory()
    import torch

    free, total = torch.cuda.mem_get_info(device)
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    share = torch.cuda.get_per_process_memory_fraction(device)  # the user may have set it
    return float(min(free + kept, share * total - torch.cuda.memory_allocated(device)))
