"""How much memory could still be taken."""

from __future__ import annotations

from pathlib import Path

_MEMORY = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> float:
    """Bytes that can be taken without swapping, by the machine and by its container; infinity where nothing tells."""
    return min(_of_machine(), _of_container())


def _of_machine() -> float:
    try:
        lines = _MEMORY.read_text().splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return float("inf")


def _of_container() -> float:
    try:
        limit, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        stat = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        return float(limit - used + int(stat["inactive_file"]))  # what was read from files gives way
    except (OSError, ValueError, KeyError):
        return float("inf")
