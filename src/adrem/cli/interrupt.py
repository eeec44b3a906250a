"""Ctrl-C on the command line. It imports no package, because Ctrl-C may come while packages are imported."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

SOON = 0.01  # seconds
_was_pressed = threading.Event()


@contextmanager
def listening() -> Iterator[None]:
    """Remember Ctrl-C in this context, and raise it again where Python drops it.

    Python drops an exception in a finalizer, and in a function that compiled code calls: numba compiles with such
    functions, and fails with an error of its own later.
    """
    handler, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if handler is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return

    is_listening = threading.Event()

    def raise_again() -> None:
        if not is_listening.is_set():
            return
        if hasattr(signal, "pthread_kill"):  # it wakes what waits for the system too
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            _thread.interrupt_main()

    def dropped(error: Any) -> None:
        if issubclass(error.exc_type, KeyboardInterrupt):
            threading.Timer(SOON, raise_again).start()  # what is raised here would be dropped again
        else:
            hook(error)

    _was_pressed.clear()
    is_listening.set()
    signal.signal(signal.SIGINT, _press)
    sys.unraisablehook = dropped
    try:
        yield
    finally:
        is_listening.clear()
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, handler)


def _press(number: int, frame: FrameType | None) -> None:
    _was_pressed.set()
    signal.default_int_handler(number, frame)


def was_pressed() -> bool:
    """Return whether Ctrl-C came, so that an error is its consequence."""
    return _was_pressed.is_set()


def stop() -> NoReturn:
    """Exit after Ctrl-C."""
    sys.stderr.write("adrem: Stopped.\n")
    raise SystemExit(130)
