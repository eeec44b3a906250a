"""Devices by name: which one is used, what is free on it, and which machine stands there. PyTorch is imported late."""

from __future__ import annotations

import importlib.util
from typing import Any

from adrem._memory import available_memory, size_of
from adrem._types import Matrix
from adrem.machines._choice import Path
from adrem.machines._losses import LOSSES
from adrem.machines._machine import Machine
from adrem.machines._problems import Work
from adrem.machines._tables import Outline

CPU = "cpu"
# PyTorch's own CPU device, where the same code runs: for tests.
TORCH_CPU = "torch-cpu"
DEVICES = (CPU, "cuda", "auto", TORCH_CPU)
# Numbers of all rows, times members and classes, from which on "auto" takes a GPU. Half as many took 3.8 s on a core
# and 0.4 s on an H200; but the first fit of a process waits some seconds for PyTorch, the device and the compiler.
WORTH = 1e9
# A Gram matrix pays up to so many rows for each feature, and some more. On an H200 a pass over more rows than these
# takes 1.3 times as long as one over the rows as they are, whose blocks are larger and need so many times more passes.
GRAM_PAYS, GRAM_ALWAYS = 2, 1000
# Of sparse rows of 80 entries, 4 000 took 0.7 s by their Gram matrix and 0.9 s as they are, 20 000 both ways 3.5 s.
GRAM_PAYS_SPARSE = 10_000
# Part of the free memory that is counted on.
SAFE = 0.9


def choose_device(wanted: str, table: Outline, work: Work) -> str:
    """The device that is meant: "auto" is a GPU where there is one, PyTorch with it, and work enough."""
    if wanted != "auto":
        return wanted
    is_large = table.n_rows * table.entries * work.n_problems * work.n_members >= WORTH
    return "cuda" if is_large and _has_gpu() else CPU


def _has_gpu() -> bool:
    """Whether there is a GPU, and PyTorch to use it."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def find_device(name: str) -> Any:
    """The device of a name, or a word on what is missing."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"device={name!r} needs PyTorch: pip install \"adrem[gpu]\", or set device='cpu'.") from error
    if name == TORCH_CPU:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise ValueError(f"device={name!r}: PyTorch finds no GPU here. Set device='cpu', or 'auto'.")
    return torch.device("cuda", torch.cuda.current_device())


def check_device(wanted: str, has_kernel: bool) -> None:
    """Refuse, before any work, a device that is not there or can't do what is asked."""
    if wanted in (CPU, "auto"):
        return
    find_device(wanted)
    if has_kernel:
        raise ValueError(f"A kernel runs on the CPU only: set device='cpu' in place of device={wanted!r}.")


def free_memory(device: Any) -> float:
    """Bytes that can still be taken on a device, of what this process may take of it."""
    if device.type == "cpu":
        return available_memory()
    import torch

    free, total = torch.cuda.mem_get_info(device)
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    share = torch.cuda.get_per_process_memory_fraction(device)  # which the user may have set
    return float(min(free + kept, share * total - torch.cuda.memory_allocated(device)))


def choose_device_path(table: Outline, path: str, memory_limit: int) -> Path:
    """The path on a device, from the shape of a table and the memory limit alone."""
    n_bytes = table.n_rows**2 * table.dtype.itemsize
    shape = f"{table.n_rows} rows of {table.entries:.0f} entries"
    fits = n_bytes <= memory_limit
    if path == "gram" and not fits:
        raise ValueError(
            f"The Gram matrix of {table.n_rows} rows takes {size_of(n_bytes)}, more than memory_limit "
            f"({size_of(memory_limit)}). Raise memory_limit, or set machine='auto'."
        )
    most = GRAM_PAYS_SPARSE if table.is_sparse else GRAM_PAYS * table.n_features + GRAM_ALWAYS
    if path == "gram" or (path == "auto" and fits and table.n_rows <= most):
        return Path("gram", f"{shape}, Gram matrix {size_of(n_bytes)}")
    return Path("rows", shape)


def machine_class(path: Path, table: Outline) -> Any:
    from adrem.machines.torch import TorchGramMachine, TorchRowMachine, TorchSparseRowMachine

    on_rows = TorchSparseRowMachine if table.is_sparse else TorchRowMachine
    return {"gram": TorchGramMachine, "rows": on_rows}[path.name]


def make_device_machine(
    table: Matrix,
    n_classes: int,
    loss: str,
    *,
    device: str,
    path: str,
    memory_limit: int,
    fit_intercept: bool,
    tol: float,
    work: Work,
) -> Machine:
    """The machine for a table on a device, for as many members at a time as its memory holds."""
    where = find_device(device)
    outline = Outline.of(table)
    chosen = choose_device_path(outline, path, memory_limit)
    machine = machine_class(chosen, outline)
    group_size = machine.members_that_fit(outline, work, SAFE * free_memory(where))
    taken = machine.memory(outline, work._replace(n_members=group_size))
    told = f"{chosen}; on {device}, {group_size} member(s) at a time, about {size_of(taken)}"
    made: Machine = machine(
        table,
        n_classes,
        LOSSES[loss],
        path=told,
        fit_intercept=fit_intercept,
        tol=tol,
        device=where,
        group_size=group_size,
    )
    return made
