"""Plan the cells of the benchmark and run those that are not stored; each result is stored at once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from threading import Thread
from time import sleep
from typing import Any

from joblib import Parallel, delayed

from adrem.benchmark.cells import CellResult, Home, Work, identity, load_cached, missing_data, run_cell
from adrem.benchmark.cluster import run_on_cluster
from adrem.benchmark.methods import Method, find_methods
from adrem.benchmark.protocols import Protocol
from adrem.benchmark.store import Cell, Store
from adrem.exceptions import DamagedDataError, DataNotFoundError


@dataclass(frozen=True)
class RunPlan:
    """Cells of some protocols and methods, the reasons for skipped protocols, and whether any data are damaged."""

    protocols: list[Protocol]
    methods: list[Method]
    cells: list[Cell]
    skipped: dict[str, str]
    damaged: bool = False


def plan(
    protocols: Iterable[Protocol],
    methods: Iterable[Method] | None = None,
    *,
    pairs: set[str] | None = None,
    repeats: int | None = None,
    home: Home = None,
    store: Store | None = None,
) -> RunPlan:
    """List the cells of the given methods, by default those of each protocol.

    A protocol without data is skipped, unless the store has results of it.
    """
    given = None if methods is None else list(methods)
    chosen, cells, skipped = [], [], {}
    used: dict[str, Method] = {}
    damaged = False
    for protocol in protocols:
        if pairs is not None and not pairs & set(protocol.pairs):
            continue
        try:
            checksum = _checksum(protocol, home, store)
        except DamagedDataError as error:
            skipped[protocol.name], damaged = str(error), True
            continue
        if checksum is None:
            skipped[protocol.name] = missing_data(protocol.data)
            continue
        chosen.append(protocol if repeats is None else replace(protocol, repeats=repeats))
        own = find_methods(protocol.methods) if given is None else given
        used.update({method.name: method for method in own})
        cells += _cells(chosen[-1], own, checksum, pairs)
    return RunPlan(chosen, list(used.values()), cells, skipped, damaged)


def _checksum(protocol: Protocol, home: Home, store: Store | None) -> str | None:
    try:
        return load_cached(protocol.data, home).checksum
    except DataNotFoundError:
        return None if store is None else store.last_data(protocol.table, protocol.features)


def _cells(protocol: Protocol, methods: list[Method], checksum: str, pairs: set[str] | None) -> list[Cell]:
    wanted = [pair for pair in protocol.pairs if pairs is None or pair in pairs]
    identities = {method.name: identity(protocol, method) for method in methods}
    return [
        Cell(protocol.table, protocol.features, pair, repetition, method.name, checksum, identities[method.name])
        for repetition in range(protocol.repeats)
        for pair in wanted
        for method in methods
        if repetition < protocol.repeats_of(method)
    ]


class Observer:
    """Callbacks for the start and the end of cells; this class does nothing."""

    def begin(self, cell: Cell) -> None:
        """Called before a cell is run."""

    def end(self, cell: Cell, seconds: float | None) -> None:
        """Called when a cell is stored, or without `seconds` when it has failed."""


Outcome = CellResult | Exception


def run(
    cells: Iterable[Cell],
    store: Store,
    *,
    jobs: int = 1,
    home: Home = None,
    work: Work = run_cell,
    observer: Observer | None = None,
    client: Any = None,
) -> dict[Cell, Exception]:
    """Run cells in `jobs` processes, or on the workers of a Dask `client`, and store each result as it arrives.

    A cell that fails does not stop the others. Failed cells are returned with their errors.
    """
    failed: dict[Cell, Exception] = {}
    watched = Observer() if observer is None else observer
    announced = _announced(cells, watched)
    if client is None:
        finished = _run_in_processes(announced, jobs, home, work)
    else:
        finished = run_on_cluster(announced, client, home, work)
    with _closed_quietly(finished):
        for cell, outcome in finished:
            if isinstance(outcome, Exception):
                failed[cell] = outcome
                watched.end(cell, None)
                continue
            values, seconds = outcome
            store.put(cell, values, seconds)
            watched.end(cell, seconds)
    return failed


def _announced(cells: Iterable[Cell], watched: Observer) -> Iterator[Cell]:
    for cell in cells:
        watched.begin(cell)
        yield cell


def _run_in_processes(cells: Iterator[Cell], jobs: int, home: Home, work: Work) -> Generator[tuple[Cell, Outcome]]:
    calls = (delayed(_run_one)(work, cell, home, os.getpid()) for cell in cells)
    # One cell per process at a time: a cell that began is running, and a kill loses little.
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
    finished: Generator[tuple[Cell, Outcome]] = parallel(calls)
    return finished


@contextmanager
def _closed_quietly(finished: Generator[Any]) -> Iterator[None]:
    """Cancel running cells when a result can't be stored, without joblib's warning."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finished.close()


def _run_one(work: Work, cell: Cell, home: Home, parent: int) -> tuple[Cell, Outcome]:
    if parent != os.getpid():
        _exit_with(parent)
    try:
        return cell, work(cell, home)
    except Exception as error:  # any error belongs to this cell
        return cell, error


@cache
def _exit_with(parent: int) -> None:
    """End this process when its parent is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
