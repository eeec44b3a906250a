"""A live bar on a terminal, silence everywhere else."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

Advance = Callable[[], None]


def nothing() -> None:
    """The progress of a quiet run."""


class _Ticker:
    """Counts steps from any thread. A copy sent to another process is silent: it has no terminal to write to."""

    def __init__(self, show: Callable[[int], None] | None) -> None:
        self._show = show
        self._done = 0
        self._lock = Lock()

    def __call__(self) -> None:
        if self._show is None:
            return
        with self._lock:
            self._done += 1
            self._show(self._done)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Ticker, (None,))


@contextmanager
def progress(total: int, what: str, verbose: int) -> Iterator[Advance]:
    """Give a function to call after each of `total` steps."""
    if not verbose or not sys.stderr.isatty():
        yield nothing
    elif importlib.util.find_spec("rich") is not None:
        yield from _rich_bar(total, what)
    else:
        yield from _plain_bar(total, what)


def _rich_bar(total: int, what: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total)
        yield _Ticker(lambda done: bar.update(task, completed=done))


def _plain_bar(total: int, what: str, width: int = 40) -> Iterator[Advance]:
    def show(done: int) -> None:
        filled = width * done // total
        bar = "#" * filled + "." * (width - filled)
        sys.stderr.write(f"\r{what} [{bar}] {done}/{total}")
        sys.stderr.flush()

    try:
        yield _Ticker(show)
    finally:
        sys.stderr.write("\n")
