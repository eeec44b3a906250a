"""The decorator of all compiled functions, and their cache on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

# Sums may be reordered, for SIMD. Infinities and NaN keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}


class RobustCache(FunctionCache):
    """numba's cache of a function, which recompiles what it can't read and ignores that it can't write.

    numba invalidates a function when its own file changes. Compiled functions call into other files of this package, so
    that here a change of any of these counts.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stats = [path.stat() for path in sorted(Path(__file__).parent.glob("*.py"))]
        stamp = tuple((stat.st_mtime, stat.st_size) for stat in stats)
        base = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(cache_path=self._cache_path, filename_base=base, source_stamp=stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # truncated by a power failure, or damaged in another way
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # the disk is full, or read-only
            super().save_overload(sig, data)


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call, and keep the result on disk."""
    compiled: Any = njit(nogil=True, fastmath=FASTMATH, error_model="numpy")(function)
    with suppress(RuntimeError, OSError):  # no folder can hold the cache: compile in every process instead
        compiled._cache = RobustCache(function)
    return compiled
