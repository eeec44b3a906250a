"""How much memory could still be taken."""

from __future__ import annotations

from pathlib import Path

_MEMORY = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
# What a container may take and takes, and what was read from files and gives way: by version 2 and version 1.
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)


def available_memory() -> float:
    """Bytes that can be taken without swapping, by the machine and by its container; infinity where nothing tells."""
    return max(0.0, min(_of_machine(), *(_of_container(*files) for files in _FILES)))


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
