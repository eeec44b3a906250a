"""Compiled code on disk: it saves time where it can be written and read, and is never a reason to fail."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from numba.core.caching import FunctionCache


class ForgivingCache(FunctionCache):
    """What numba keeps of a function, made anew where it can't be read and let be where it can't be written."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # cut off by a power failure, or damaged in whatever way
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # the disk is full, or became read-only
            super().save_overload(sig, data)
