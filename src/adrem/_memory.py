"""How much memory could still be taken, and a refusal of what would not fit, before the work."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import Matrix

try:
    import resource
except ImportError:  # where there are no such limits
    resource = None  # type: ignore[assignment]  # a module, or nothing: who asks it hears an AttributeError

_MEMORY = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_PAGES = Path("/proc/self/statm")
# What a container may take and takes, and what was read from files and gives way: by version 2 and version 1.
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
# What the process may take by its own limits, and which number of `_PAGES` counts it.
_LIMITS = (("RLIMIT_AS", 0), ("RLIMIT_DATA", 5))
# Bytes that may be taken on the way to what is said of rows: they are taken so many at a time.
ON_THE_WAY = 2**27


def available_memory() -> float:
    """Bytes that can be taken without swapping, by the machine, its container and the limits of the process.

    Infinity where nothing tells.
    """
    by_container = (_of_container(*files) for files in _FILES)
    by_process = (_of_process(*limit) for limit in _LIMITS)
    return max(0.0, min(_of_machine(), *by_container, *by_process))


def check_room(n_bytes: float, what: str, instead: str) -> None:
    """Refuse what takes more than is free, with both figures and what to do instead."""
    free = available_memory()
    if n_bytes > free:
        raise MemoryError(
            f"{what} takes about {size_of(n_bytes)} besides the data, and {size_of(free)} are free: {instead}."
        )


def limit_memory(n_bytes: float) -> None:
    """From now on, let this process take only so much more, where the system has such limits."""
    with suppress(OSError, ValueError, AttributeError):  # inf is no whole number: then there is nothing to limit by
        taken = int(_PAGES.read_text().split()[0]) * mmap.PAGESIZE
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (taken + round(n_bytes), most))


def size_of(n_bytes: float) -> str:
    """A number of bytes for a person."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"


def bytes_of(table: Matrix) -> int:
    """What a table of rows takes, dense or CSR."""
    if sp.issparse(table):
        return int(table.data.nbytes + table.indices.nbytes + table.indptr.nbytes)
    return int(table.size * table.dtype.itemsize)


def by_blocks(function: Callable[[Matrix], NDArray[Any]], rows: Matrix, bytes_a_row: int) -> NDArray[Any]:
    """What a function says of every row, of as many at a time as are worth a fixed memory on the way."""
    parts = [function(part) for part in blocks_of(rows, bytes_a_row)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def blocks_of(rows: Matrix, bytes_a_row: int) -> Iterator[Matrix]:
    """Rows by blocks, so many at a time; all of them at once if these are few."""
    size = max(1, ON_THE_WAY // bytes_a_row)
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


def _of_container(limit: str, usage: str, gives_way: str) -> float:
    try:
        most, used = (int((_CGROUP / name).read_text()) for name in (limit, usage))
        stat = (_CGROUP / limit).with_name("memory.stat").read_text()
        return float(most - used + int(dict(line.split() for line in stat.splitlines())[gives_way]))
    except (OSError, ValueError, KeyError):
        return float("inf")


def _of_process(limit: str, place: int) -> float:
    try:
        most = resource.getrlimit(getattr(resource, limit))[0]
        if most == resource.RLIM_INFINITY:
            return float("inf")
        return float(most - int(_PAGES.read_text().split()[place]) * mmap.PAGESIZE)
    except (OSError, ValueError, IndexError, AttributeError):
        return float("inf")
