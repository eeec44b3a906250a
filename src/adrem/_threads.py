"""One thread for BLAS while members are trained or asked, however many fits overlap."""

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
    """The libraries to limit, looked up once: that takes milliseconds, which a prediction does not."""
    import scipy.linalg  # noqa: F401 - which brings its own

    return ThreadpoolController()


def _free_control() -> None:
    """Let the next thread that asks set the limit: threadpoolctl 3.8 heeds only the first, ours come in any order."""
    for library in _libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Members bring threads of their own, and the same figures shall come out however many these are.

    The limit is the process's: the first of several fits that overlap sets it, and the last one lifts it.
    """
    global _users, _limits  # noqa: PLW0603 - what is guarded is global
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
