"""Free memory, and errors before the work if a computation would not fit into it."""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.exceptions import NotEnoughMemoryError
from adrem.types import Matrix

_MEMORY = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_PAGES = Path("/proc/self/statm")
# Limit and usage of a container, and its reclaimable file cache, in cgroup version 2 and 1.
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
# Limits of the process, and the position of the matching usage in `_PAGES`.
_LIMITS = (("RLIMIT_AS", 0), ("RLIMIT_DATA", 5))
# What libraries say for lack of memory, in errors of their own; and so little that any failure may be for lack of it.
OUT_OF_MEMORY = re.compile(
    r"memory (re)?allocation|(cannot|can.t|unable to|failed to) (re)?(al|m)loc|out of memory|capacity overflow|"
    r"failed to map segment|ENOMEM|os error (11|12)\b|start new thread",
    re.IGNORECASE,
)
LITTLE = 2**25
# Memory of intermediate results; longer tables are processed in blocks of rows.
BLOCK_BYTES = 2**27


def available_memory() -> float:
    """Return the bytes free without swapping, by machine, container and process limits; infinity if unknown."""
    by_container = (_of_container(*files) for files in _FILES)
    by_process = (_of_process(*limit) for limit in _LIMITS)
    return max(0.0, min(_of_machine(), *by_container, *by_process))


def check_room(n_bytes: float, what: str, instead: str) -> None:
    """Raise NotEnoughMemoryError if `what` needs more than is free; `instead` names an alternative."""
    free = available_memory()
    if n_bytes > free:
        raise NotEnoughMemoryError(
            f"{what} takes about {size_of(n_bytes)} besides the data, and {size_of(free)} are free: {instead}."
        )


def is_lack_of_memory(error: BaseException) -> bool:
    """Return whether an error, whatever its type, was raised for lack of memory: it says so, or hardly any is free."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or OUT_OF_MEMORY.search(str(seen)):
            return True
        seen = seen.__cause__ or seen.__context__
    return available_memory() < LITTLE


def limit_memory(n_bytes: float) -> None:
    """Limit the further memory of this process, if the system supports it."""
    with suppress(ImportError, AttributeError, OSError, ValueError):  # no such limit; ValueError: infinity
        import resource

        taken = int(_PAGES.read_text().split()[0]) * mmap.PAGESIZE
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (taken + round(n_bytes), most))


def size_of(n_bytes: float) -> str:
    """Format a number of bytes."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"


def bytes_of(table: Matrix) -> int:
    """Return the size of a dense or CSR table."""
    if sp.issparse(table):
        return int(table.data.nbytes + table.indices.nbytes + table.indptr.nbytes)
    return int(table.size * table.dtype.itemsize)


def by_blocks(function: Callable[[Matrix], NDArray[Any]], rows: Matrix, bytes_a_row: int) -> NDArray[Any]:
    """Apply a function to blocks of rows, to limit the memory of intermediate results."""
    parts = [function(part) for part in blocks_of(rows, bytes_a_row)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def blocks_of(rows: Matrix, bytes_a_row: int) -> Iterator[Matrix]:
    """Yield blocks of rows; a small table is one block."""
    size = max(1, BLOCK_BYTES // bytes_a_row)
    if rows.shape[0] <= size:
        yield rows
    else:
        yield from (rows[first : first + size] for first in range(0, rows.shape[0], size))


def _of_machine() -> float:
    try:
        lines = _MEMORY.read_text().splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return float("inf")


def _of_container(limit: str, usage: str, reclaimable: str) -> float:
    try:
        most, used = (int((_CGROUP / name).read_text()) for name in (limit, usage))
        stat = (_CGROUP / limit).with_name("memory.stat").read_text()
        return float(most - used + int(dict(line.split() for line in stat.splitlines())[reclaimable]))
    except (OSError, ValueError, KeyError):
        return float("inf")


def _of_process(limit: str, place: int) -> float:
    try:
        import resource

        most = resource.getrlimit(getattr(resource, limit))[0]
        if most == resource.RLIM_INFINITY:
            return float("inf")
        return float(most - int(_PAGES.read_text().split()[place]) * mmap.PAGESIZE)
    except (ImportError, AttributeError, OSError, ValueError, IndexError):  # a system without this limit
        return float("inf")
