"""Forecasts of memory: the parts that several machines share."""

from __future__ import annotations

from typing import NamedTuple

from adrem.exceptions import DeviceMemoryError
from adrem.machines import newton
from adrem.machines.precision import BYTES_PER_ENTRY, CHUNK
from adrem.machines.problems import Work
from adrem.machines.tables import Outline
from adrem.runtime.memory import BLOCK_BYTES, size_of


def members_at_once(width: int, work: Work) -> int:
    """Return how many members are trained at the same time, in all threads, by a machine of this width."""
    group = max(1, width // work.n_problems)
    return max(work.n_folds, min(work.n_members, work.n_jobs * group))


def weights_memory(n_weights: int, itemsize: int, at_once: int, work: Work) -> int:
    """Return the bytes of classifiers: computed in double precision, kept, and copied into one array."""
    return n_weights * work.n_problems * (16 * at_once + 2 * itemsize * work.n_kept)


def double_precision_memory(table: Outline) -> int:
    """Return the bytes of the rows that are in double precision at a time."""
    if table.is_sparse:
        return min(BLOCK_BYTES, BYTES_PER_ENTRY * table.n_entries)
    return 8 * min(CHUNK, table.n_rows) * table.n_features


def newton_memory(table: Outline) -> int:
    """Return the bytes that Newton's method takes for one problem, if the table is small enough for it."""
    shape = table.n_rows, table.n_features
    return newton.memory(*shape) if newton.is_small(*shape) else 0


class DeviceMemory(NamedTuple):
    """Bytes on a device: those that are taken once, and those for each member that is trained at the same time."""

    fixed: int
    member: int

    def of(self, work: Work) -> int:
        """Return the bytes if all members are trained at the same time."""
        return self.fixed + (max(work.n_folds, work.n_members) + 1) * self.member

    def members_that_fit(self, work: Work, free: float) -> int:
        """Return how many members can be trained at the same time in `free` bytes; raise an error if none can."""
        fixed = self.fixed + max(1, work.n_folds) * self.member
        n_members = int((free - fixed) // self.member)
        if n_members < 1:
            raise DeviceMemoryError(
                f"Training a single member takes about {size_of(fixed + self.member)} on the device, and "
                f"{size_of(free)} are free there: give fewer rows, or set device='cpu'."
            )
        return min(n_members, work.n_members)
