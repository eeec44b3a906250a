"""Which machine is the fastest for a table: a cost model."""

from __future__ import annotations

from typing import Any, NamedTuple

import scipy.sparse as sp

from adrem._types import Matrix
from adrem.machines._gram import GramMachine
from adrem.machines._kernel import Kernel, KernelMachine
from adrem.machines._losses import LOSSES
from adrem.machines._machine import Machine
from adrem.machines._memory import available_memory
from adrem.machines._rows import RowMachine

# Bytes that a Gram matrix may take. A fixed figure, so that the same call takes the same path everywhere.
MEMORY_LIMIT = 2**30
# In Gram space a change costs as much as there are rows and a look nothing; on the rows either costs as much as a row
# has entries, and some more whatever it has. Where rows outnumber entries by this factor, both take the same time: most
# rows are only looked at with the hinge loss, and most are changed with the log loss. Measured by benchmarks/paths.py.
BREAK_EVEN = {"hinge": 12, "log_loss": 4}
FIXED_ENTRIES = 100
# With the hinge loss a visit to a dense row costs some more, and most where two classes leave lanes empty.
FIXED_DENSE_ENTRIES = {"two": 300, "more": 200}
# A sparse row's entries count half: its lonely ones cost nothing there, and the Gram matrix takes its time here.
SPARSE = 0.5


class Path(NamedTuple):
    """The path a machine takes, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def most_rows(loss: str, entries: float, is_sparse: bool, n_classes: int) -> float:
    """How many rows of so many entries a Gram matrix pays up to."""
    if is_sparse:
        return BREAK_EVEN[loss] * (SPARSE * entries + FIXED_ENTRIES)
    if loss == "log_loss":
        return BREAK_EVEN[loss] * (entries + FIXED_ENTRIES)
    return BREAK_EVEN[loss] * (entries + FIXED_DENSE_ENTRIES["two" if n_classes == 2 else "more"])


def choose_path(table: Matrix, n_classes: int, loss: str, path: str = "auto", memory_limit: int = MEMORY_LIMIT) -> Path:
    """The path for a table, from its shape, its density, the classes, the loss and the memory limit alone."""
    n_rows, n_features = table.shape
    n_bytes = n_rows**2 * table.dtype.itemsize
    entries = table.nnz / n_rows if sp.issparse(table) else n_features
    most = most_rows(loss, entries, sp.issparse(table), n_classes)
    shape = f"{n_rows} rows of {entries:.0f} entries"
    if path == "gram":
        if n_bytes > memory_limit:
            raise ValueError(
                f"The Gram matrix of {n_rows} rows takes {_size(n_bytes)}, more than memory_limit "
                f"({_size(memory_limit)}). Raise memory_limit, or leave the choice to machine='auto'."
            )
        return Path("gram", f"asked for; {shape}, Gram matrix {_size(n_bytes)}")
    if path == "rows":
        return Path("rows", f"asked for; {shape}")
    if n_rows > most:
        return Path("rows", f"{shape}; a Gram matrix pays up to {most:.0f} rows")
    if n_bytes > memory_limit:
        return Path(
            "rows", f"{shape}; a Gram matrix would take {_size(n_bytes)}, memory_limit is {_size(memory_limit)}"
        )
    return Path("gram", f"{shape}, Gram matrix {_size(n_bytes)}; it pays up to {most:.0f} rows")


def make_machine(
    table: Matrix,
    n_classes: int,
    loss: str,
    *,
    path: str = "auto",
    memory_limit: int = MEMORY_LIMIT,
    fit_intercept: bool = False,
    tol: float = 0.1,
    kernel: Kernel | None = None,
) -> Machine:
    """The machine for a table and a loss, by the named path or the fastest; on similarities where a kernel is given."""
    chosen = choose_path(table, n_classes, loss, "gram" if kernel is not None else path, memory_limit)
    machine: Any = {"gram": GramMachine, "rows": RowMachine}[chosen.name]
    more: dict[str, Any] = {}
    if kernel is not None:
        machine, more = KernelMachine, {"kernel": kernel}
        chosen = Path(
            "gram", f"similarities of {table.shape[0]} rows, {_size(table.shape[0] ** 2 * table.dtype.itemsize)}"
        )
    bias = (table.nnz * 12 if sp.issparse(table) else table.nbytes) if fit_intercept else 0
    needed, free = machine.memory(table, n_classes) + bias, available_memory()
    if needed > free:
        way_out = (
            "set machine='rows'"
            if chosen.name == "gram" and kernel is None
            else "give fewer rows, or float32 instead of float64"
        )
        raise MemoryError(
            f"Training takes about {_size(needed)} besides the data, and {_size(free)} are free: {way_out}. "
            f"The machine would be {chosen}."
        )
    made: Machine = machine(
        table, n_classes, LOSSES[loss], path=str(chosen), fit_intercept=fit_intercept, tol=tol, **more
    )
    return made


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"
