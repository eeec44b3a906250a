"""The cost model: whether the Gram matrix or the rows themselves are faster for a table."""

from __future__ import annotations

from typing import NamedTuple

from adrem.exceptions import ParameterError
from adrem.machines.tables import Outline
from adrem.runtime.memory import size_of

# Default limit on the bytes of a Gram matrix. It is fixed, so that the same call takes the same path everywhere.
MEMORY_LIMIT = 2**30
# The fixed part of a visit to a sparse row, in entries.
FIXED_ENTRIES = 100
# An entry of a sparse row counts half: features of a single row cost nothing there, and the Gram matrix takes longer.
SPARSE_ENTRY = 0.5
# On a GPU, a Gram matrix of dense rows is faster up to this many rows per feature, plus a constant. Beyond that, a pass
# takes 1.3 times as long on an H200 as one over the rows, which need fewer passes because their blocks are larger.
DEVICE_ROWS_PER_FEATURE, DEVICE_ROWS = 2, 1000
# Sparse rows of 80 entries: 4 000 took 0.7 s with a Gram matrix and 0.9 s without, 20 000 took 3.5 s either way.
DEVICE_SPARSE_ROWS = 10_000


class Costs(NamedTuple):
    """The constants of the cost model for a loss, measured by benchmarks/paths.py.

    With a Gram matrix an update costs one pass over the rows and reading a score costs nothing. On the rows either
    costs one pass over a row's entries, plus a fixed part for dense rows of two classes or of more, in entries. Both
    paths take the same time where rows outnumber entries by `rows_per_entry`.
    """

    rows_per_entry: int
    fixed_binary: int
    fixed_multiclass: int


class Path(NamedTuple):
    """How a machine works, "gram" or "rows", and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def choose_path(
    table: Outline, n_classes: int, costs: Costs, path: str = "auto", memory_limit: int = MEMORY_LIMIT
) -> Path:
    """Choose the path on the CPU from the shape, the density, the classes, the loss and the memory limit alone."""
    n_bytes, shape = gram_bytes(table), _shape(table)
    if path == "gram":
        check_limit(table, memory_limit)
        return Path("gram", f"asked for; {shape}, Gram matrix {size_of(n_bytes)}")
    if path == "rows":
        return Path("rows", f"asked for; {shape}")
    max_rows = _max_gram_rows(table, n_classes, costs)
    if table.n_rows > max_rows:
        return Path("rows", f"{shape}; a Gram matrix pays up to {max_rows:.0f} rows")
    if n_bytes > memory_limit:
        return Path(
            "rows", f"{shape}; a Gram matrix would take {size_of(n_bytes)}, memory_limit is {size_of(memory_limit)}"
        )
    return Path("gram", f"{shape}, Gram matrix {size_of(n_bytes)}; it pays up to {max_rows:.0f} rows")


def choose_device_path(table: Outline, path: str = "auto", memory_limit: int = MEMORY_LIMIT) -> Path:
    """Choose the path on a GPU from the shape of the table and the memory limit alone."""
    n_bytes, shape = gram_bytes(table), _shape(table)
    if path == "gram":
        check_limit(table, memory_limit)
    max_rows = DEVICE_SPARSE_ROWS if table.is_sparse else DEVICE_ROWS_PER_FEATURE * table.n_features + DEVICE_ROWS
    if path == "gram" or (path == "auto" and n_bytes <= memory_limit and table.n_rows <= max_rows):
        return Path("gram", f"{shape}, Gram matrix {size_of(n_bytes)}")
    return Path("rows", shape)


def gram_bytes(table: Outline) -> int:
    """Return the bytes of a table's Gram matrix."""
    return table.n_rows**2 * table.dtype.itemsize


def _shape(table: Outline) -> str:
    return f"{table.n_rows} rows of {table.entries:.0f} entries"


def check_limit(table: Outline, memory_limit: int) -> None:
    """Raise an error if the Gram matrix of a table takes more than the memory limit."""
    n_bytes = gram_bytes(table)
    if n_bytes > memory_limit:
        raise ParameterError(
            f"The Gram matrix of {table.n_rows} rows takes {size_of(n_bytes)}, more than memory_limit "
            f"({size_of(memory_limit)}). Raise memory_limit, or set machine='auto'.",
            "memory_limit",
        )


def _max_gram_rows(table: Outline, n_classes: int, costs: Costs) -> float:
    """Return the number of rows up to which a Gram matrix is faster on the CPU."""
    if table.is_sparse:
        entries = SPARSE_ENTRY * table.entries + FIXED_ENTRIES
    else:
        entries = table.entries + (costs.fixed_binary if n_classes == 2 else costs.fixed_multiclass)
    return costs.rows_per_entry * entries
