"""A progress bar for the cells of the benchmark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import mean
from threading import Lock

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from adrem.benchmark.runner import Observer
from adrem.benchmark.store import Cell

NAMES_WIDTH = 34  # columns for the names of running cells


class BarObserver(Observer):
    """Show which cells are running, and estimate the time left from finished cells of the same kind."""

    def __init__(self, bar: Progress, task: TaskID, cells: list[Cell], jobs: int) -> None:
        self._bar = bar
        self._task = task
        self._left = dict.fromkeys(cells)
        self._jobs = jobs
        self._running: dict[Cell, None] = {}
        self._seconds: dict[tuple[str, ...], list[float]] = defaultdict(list)
        self._lock = Lock()  # joblib starts cells in another thread

    def begin(self, cell: Cell) -> None:
        with self._lock:
            self._running[cell] = None
            self._show(0)

    def end(self, cell: Cell, seconds: float | None) -> None:
        with self._lock:
            self._running.pop(cell, None)
            self._left.pop(cell, None)
            if seconds is not None:
                self._seconds[_kind(cell)].append(seconds)
            self._show(1)

    def _show(self, advance: int) -> None:
        names = [f"{c.pair} {c.method}" for c in self._running][: self._jobs]
        text = ", ".join(names) or "done"
        short = text if len(text) <= NAMES_WIDTH else f"{text[: NAMES_WIDTH - 1]}…"
        self._bar.update(self._task, advance=advance, running=f"{short:<{NAMES_WIDTH}}", left=self._time_left())

    def _time_left(self) -> str:
        if not self._seconds:
            return "?"
        known = {kind: mean(seconds) for kind, seconds in self._seconds.items()}
        usual = mean(known.values())
        seconds = round(sum(known.get(_kind(cell), usual) for cell in self._left) / self._jobs)
        return f"{seconds // 60}:{seconds % 60:02d}"


def _kind(cell: Cell) -> tuple[str, ...]:
    return cell.task, cell.features, cell.method


@contextmanager
def run_bar(cells: list[Cell], jobs: int, console: Console | None = None) -> Iterator[Observer]:
    """Show a bar, on standard error unless another console is given."""
    columns = (
        TextColumn("{task.fields[running]}"),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left {task.fields[left]}"),
    )
    with Progress(*columns, console=console or Console(stderr=True)) as bar:
        task = bar.add_task("", total=len(cells), running=" " * NAMES_WIDTH, left="?")
        yield BarObserver(bar, task, cells, jobs)
