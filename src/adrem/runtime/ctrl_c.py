"""Processes that Ctrl-C does not reach, because the one that started them stops them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def starting_workers() -> Iterator[None]:
    """Keep Ctrl-C from the processes that are started in this context, and from theirs.

    A terminal sends Ctrl-C to all processes of a command. A worker that still imports its packages would print a
    traceback. In this process it waits until the end of the context. Windows has no such way.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
