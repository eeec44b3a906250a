"""A progress bar on terminals, and a way to stop running threads."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import Any

Show = Callable[[int], None]


class Ticker:
    """Counts steps from any thread; after `stop`, raises KeyboardInterrupt in the threads that call it.

    A copy in another process shows nothing.
    """

    def __init__(self, show: Show | None = None) -> None:
        self._show = show
        self._done = 0
        self._stopped = False
        self._lock = Lock()

    def __call__(self, n_steps: int = 1) -> None:
        self.check()
        if self._show is not None:
            with self._lock:
                self._done += n_steps
                self._show(self._done)

    def check(self) -> None:
        if self._stopped:
            raise KeyboardInterrupt("The fit was stopped.")

    def stop(self) -> None:
        self._stopped = True

    def __reduce__(self) -> tuple[Any, ...]:
        return (Ticker, ())


@contextmanager
def progress(total: int, what: str, verbose: int, *, unit: str = "") -> Iterator[Ticker]:
    """Yield a function to call after each of `total` steps. After an error or Ctrl-C it raises, to end threads.

    With a `unit`, the bar shows how many of them are done in a second.
    """
    with _bar(total, what, verbose, unit) as show:
        ticker = Ticker(show)
        try:
            yield ticker
        except BaseException:
            ticker.stop()
            raise


def _bar(total: int, what: str, verbose: int, unit: str) -> AbstractContextManager[Show | None]:
    if not verbose or not sys.stderr.isatty():
        return nullcontext()
    return _rich_bar(total, what, unit) if importlib.util.find_spec("rich") is not None else _plain_bar(total, what)


@contextmanager
def _rich_bar(total: int, what: str, unit: str) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    speed = [TextColumn("{task.fields[speed]}")] if unit else []
    with Progress(*columns, *speed, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, speed="")

        def show(done: int) -> None:
            rate = bar.tasks[0].speed
            bar.update(task, completed=done, speed="" if rate is None else f"{rate:.1f} {unit}s/s")

        yield show


@contextmanager
def _plain_bar(total: int, what: str, width: int = 40) -> Iterator[Show]:
    def show(done: int) -> None:
        filled = width * done // total
        bar = "#" * filled + "." * (width - filled)
        sys.stderr.write(f"\r{what} [{bar}] {done}/{total}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\n")
