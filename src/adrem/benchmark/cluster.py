"""Cells of the benchmark on the workers of a Dask cluster, which read the data where they are."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from threading import Lock, Thread
from typing import Any

from adrem._cluster import Calls
from adrem.benchmark.runner import Home, Outcome, Work, load_cached, protocol_of
from adrem.benchmark.store import Cell
from adrem.exceptions import ClusterError, DamagedDataError, DataNotFoundError

# Seconds in which a scheduler has to answer.
ANSWER = 5

# A cell has its process to itself, as it has on one machine: others beside it would change its time and its warnings.
_one_at_a_time = Lock()


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster at an address."""
    try:
        import distributed  # noqa: F401 - told before anything is tried
    except ImportError as error:
        raise ImportError('A cluster needs Dask: pip install "adrem[dask]".') from error
    client = _answer_of(address)
    if not client:
        raise ClusterError(
            f"No Dask scheduler answers at {address or 'an empty address'}: give the one that `dask scheduler` tells, "
            "such as tcp://host:8786."
        )
    with client[0]:
        yield client[0]


def _answer_of(address: str) -> list[Any]:
    """A client, or nothing where none can be had in time.

    In a thread, since Dask itself waits forever for something else that listens there and says nothing.
    """
    from distributed import Client

    made: list[Any] = []

    def ask() -> None:
        with suppress(OSError, ValueError):
            made.append(Client(address, timeout=ANSWER, set_as_default=False))

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(2 * ANSWER)
    return made


def count_workers(client: Any) -> int:
    """How many workers a cluster has."""
    return len(client.nthreads())


def check_workers(client: Any, cells: Iterable[Cell], home: Home) -> None:
    """Raise unless every worker has this version of the package and the data of the cells."""
    from adrem import __version__

    checksums = {protocol_of(cell.task, cell.features).data: cell.data for cell in cells}
    workers = list(client.nthreads())
    if not workers:
        raise ClusterError("The cluster has no workers: start some by `dask worker ADDRESS --nthreads 1`.")
    looks = {
        worker: client.submit(trouble, __version__, checksums, home, workers=[worker], pure=False) for worker in workers
    }
    for worker, look in looks.items():
        try:
            found = look.result()
        except ModuleNotFoundError as error:
            found = f'has no module {error.name}: pip install "adrem[bench,dask]" there.'
        if found:
            raise ClusterError(f"Worker {worker} {found}")


def trouble(version: str, checksums: dict[str, str], home: Home) -> str:
    """On a worker: what keeps it from running cells on these data, and what to do; nothing if it can."""
    from adrem import __version__

    if version != __version__:
        return f"has adrem {__version__}, and {version} is needed: install it there."
    for name, checksum in checksums.items():
        try:
            differs = load_cached(name, home).checksum != checksum
        except DataNotFoundError:
            return (
                f"has no files of {name}: set ADREM_DATA where the worker is started, or --data-home to a folder that "
                "all machines see."
            )
        except DamagedDataError as error:
            return f"can't read its data: {error}"
        if differs:
            return f"has other data of {name} than this machine: copy them there."
    return ""


@dataclass(frozen=True)
class Order:
    """What to do with a cell."""

    work: Work
    home: Home


def run_there(cells: Iterator[Cell], client: Any, home: Home, work: Work) -> Generator[tuple[Cell, Outcome]]:
    """Give each cell with what it gave or why it failed, as they end; as many at a time as there are workers."""
    with Calls(client, run_one, Order(work, home)) as calls:
        for cell in islice(cells, count_workers(client)):
            calls.start(cell)
        for ended in calls.ended():
            yield ended
            n_free = max(1, count_workers(client)) - len(calls)  # workers come and go
            for cell in islice(cells, max(0, n_free)):
                calls.start(cell)


def run_one(order: Order, cell: Cell) -> Outcome:
    """On a worker: run a cell."""
    with _one_at_a_time:
        return order.work(cell, order.home)
