"""A limit of one BLAS thread during fits and predictions, which may overlap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_users = 0
_limits: Any = None


@cache
def _libraries() -> Any:
    """Return the BLAS libraries, looked up once, because that takes longer than a prediction."""
    import scipy.linalg  # noqa: F401 - it loads a BLAS of its own

    return ThreadpoolController()


def _free_control() -> None:
    """Let any thread set the limit: threadpoolctl 3.8 allows that only to the first thread that did."""
    for library in _libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: members run in threads of their own, and results must not depend on their number.

    The limit holds for the process. Of several overlapping fits the first one sets it, and the last one lifts it.
    """
    global _users, _limits  # noqa: PLW0603 - the limit is global
    with _lock:
        _users += 1
        if _users == 1:
            _free_control()
            _limits = _libraries().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _free_control()
                _limits.restore_original_limits()
                _free_control()
