"""Running the cells of a table: what is stored is not run again, what is finished is stored at once."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from adrem.benchmark.methods import Method, find_methods
from adrem.benchmark.protocols import PROTOCOLS, Protocol
from adrem.benchmark.store import Cell, Store
from adrem.datasets import DataSet, DomainPair, load
from adrem.exceptions import DamagedDataError, DataNotFoundError, MethodFailedError

Home = str | Path | None


@dataclass(frozen=True)
class Plan:
    """The cells of some protocols and methods, why some protocols have none, and whether damaged data are why."""

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
) -> Plan:
    """List the cells of the methods given, by default each protocol's own.

    Without its data a protocol is skipped, or read from the store where one is given.
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
    return Plan(chosen, list(used.values()), cells, skipped, damaged)


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


def identity(protocol: Protocol, method: Method) -> str:
    """All that a result depends on beside the data, the pair and the repetition, as text."""
    content = {**protocol.identity(), "parameters": method.parameters(), "version": method.version}
    return json.dumps(content, sort_keys=True, default=str)


def missing_data(name: str) -> str:
    """Why something is skipped, and what to do about it."""
    return f"the files of {name} are not there; `adrem datasets info {name}` says which to put where."


@lru_cache(maxsize=4)
def load_cached(name: str, home: Home) -> DataSet:
    """A data set, read once a process."""
    return load(name, home)


@lru_cache(maxsize=1)
def _pair_of(table: str, features: str, pair: str, repetition: int, checksum: str, home: Home) -> DomainPair:
    """The rows of a cell, made once for all methods that follow each other; none of them changes what it is given."""
    protocol = protocol_of(table, features)
    data = load_cached(protocol.data, home)
    if data.checksum != checksum:
        raise DamagedDataError(f"The data of {protocol.data} are not those that the run was planned with.")
    return protocol.make_pair(data, pair, repetition)


def protocol_of(table: str, features: str) -> Protocol:
    """The protocol that a cell belongs to."""
    return next(p for p in PROTOCOLS if (p.table, p.features) == (table, features))


def run_cell(cell: Cell, home: Home) -> tuple[dict[str, Any], float]:
    """Label the target of a cell, and score the labels; or say why a peer gave none."""
    data = _pair_of(cell.task, cell.features, cell.pair, cell.repetition, cell.data, home)
    [method] = find_methods([cell.method])
    begin = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            labels, model = method.label(data, cell.repetition)
        except MethodFailedError as error:
            return {"accuracy": None, "failure": str(error)}, perf_counter() - begin
    seconds = getattr(model, "seconds", perf_counter() - begin)
    values = {
        "accuracy": 100.0 * float(np.mean(labels == data.y_target)),
        "C": float(model.C_) if hasattr(model, "C_") else None,
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
    }
    if hasattr(model, "peak_memory"):
        values["peak_memory"] = model.peak_memory
    return values, seconds


Work = Callable[[Cell, Home], tuple[dict[str, Any], float]]


class Observer:
    """Told as a cell begins and as it ends; this one does nothing."""

    def begin(self, cell: Cell) -> None:
        """A cell is about to be run."""

    def end(self, cell: Cell, seconds: float | None) -> None:
        """A cell is finished and stored, or has failed where no seconds are given."""


Outcome = tuple[dict[str, Any], float] | Exception


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
    """Run cells, `jobs` at a time in processes of their own or by the workers of a client's, and store each as it ends.

    A cell that fails keeps no other from being run; what failed is given back, with its error.
    """
    failed: dict[Cell, Exception] = {}
    watched = Observer() if observer is None else observer
    announced = _announced(cells, watched)
    if client is None:
        finished = _run_here(announced, jobs, home, work)
    else:
        from adrem.benchmark.cluster import run_there

        finished = run_there(announced, client, home, work)
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


def _run_here(cells: Iterator[Cell], jobs: int, home: Home, work: Work) -> Generator[tuple[Cell, Outcome]]:
    tasks = (delayed(_run_one)(work, cell, home, os.getpid()) for cell in cells)
    # One cell at a time to each process, so that what begins is what runs, and little is lost when it is killed.
    runner = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
    finished: Generator[tuple[Cell, Outcome]] = runner(tasks)
    return finished


@contextmanager
def _closed_quietly(finished: Generator[Any]) -> Iterator[None]:
    """Give up what still runs when results can't be stored, without joblib's warning that it is given up."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finished.close()


def _run_one(work: Work, cell: Cell, home: Home, parent: int) -> tuple[Cell, Outcome]:
    if parent != os.getpid():
        _end_with(parent)
    try:
        return cell, work(cell, home)
    except Exception as error:  # whatever it is, it belongs to this cell
        return cell, error


@cache
def _end_with(parent: int) -> None:
    """Let this process not outlive the one that it works for, were that to be killed."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
