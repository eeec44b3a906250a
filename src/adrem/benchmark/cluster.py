"""Run cells of the benchmark on the workers of a Dask cluster, which read the data themselves."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from threading import Lock, Thread
from typing import Any

from adrem.benchmark.cells import CellResult, Home, Work, load_cached
from adrem.benchmark.protocols import find_protocols
from adrem.benchmark.store import Cell
from adrem.exceptions import ClusterError, DamagedDataError, DataNotFoundError, MissingImportError
from adrem.runtime.cluster import Calls

CONNECT_TIMEOUT = 5  # seconds

# A cell has its process to itself, as without a cluster: other cells would change its time and its warnings.
_one_at_a_time = Lock()


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to the scheduler at an address and yield the client."""
    try:
        import distributed  # noqa: F401 - reported before anything is tried
    except ImportError as error:
        raise MissingImportError('A cluster needs Dask: pip install "adrem[dask]".') from error
    client = _connect(address)
    if client is None:
        raise ClusterError(
            f"No Dask scheduler answers at {address or 'an empty address'}: pass the address that `dask scheduler` "
            "prints, such as tcp://host:8786."
        )
    with client:
        yield client


def _connect(address: str) -> Any:
    """Return a client, or None after a timeout.

    Dask itself waits forever for a server that accepts the connection and sends nothing; a thread can be left behind.
    """
    from distributed import Client

    made: list[Any] = []

    def ask() -> None:
        with suppress(OSError, ValueError):
            made.append(Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False))

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(2 * CONNECT_TIMEOUT)
    return made[0] if made else None


def check_workers(client: Any, cells: Iterable[Cell], home: Home) -> None:
    """Raise unless every worker has this version of the package and the data of the cells."""
    from adrem import __version__

    checksums = {find_protocols(cell.task, cell.features)[0].data: cell.data for cell in cells}
    workers = list(client.nthreads())
    if not workers:
        raise ClusterError("The cluster has no workers: start some with `dask worker ADDRESS --nthreads 1`.")
    checks = {
        worker: client.submit(find_problem, __version__, checksums, home, workers=[worker], pure=False)
        for worker in workers
    }
    for worker, check in checks.items():
        try:
            problem = check.result()
        except ModuleNotFoundError as error:
            problem = f'has no module {error.name}: pip install "adrem[bench,dask]" there.'
        if problem:
            raise ClusterError(f"Worker {worker} {problem}")


def find_problem(version: str, checksums: dict[str, str], home: Home) -> str:
    """On a worker: return what keeps it from running cells on these data, or an empty string."""
    from adrem import __version__

    if version != __version__:
        return f"has adrem {__version__}, but {version} is needed: install it there."
    for name, checksum in checksums.items():
        try:
            differs = load_cached(name, home).checksum != checksum
        except DataNotFoundError:
            return (
                f"has no files of {name}: set ADREM_DATA where the worker is started, or use a data home that all "
                "machines can read."
            )
        except DamagedDataError as error:
            return f"can't read its data: {error}"
        if differs:
            return f"has other data of {name} than this machine: copy them there."
    return ""


@dataclass(frozen=True)
class CellRunner:
    """What a worker needs to run any cell."""

    work: Work
    home: Home


def run_on_cluster(
    cells: Iterator[Cell], client: Any, home: Home, work: Work
) -> Generator[tuple[Cell, CellResult | Exception]]:
    """Yield each cell with its result or error as they end, running as many at a time as there are workers."""
    with Calls(client, run_one, CellRunner(work, home)) as calls:
        for cell in islice(cells, len(client.nthreads())):
            calls.start(cell)
        for ended in calls.ended():
            yield ended
            n_free = max(1, len(client.nthreads())) - len(calls)  # workers join and leave
            for cell in islice(cells, max(0, n_free)):
                calls.start(cell)


def run_one(runner: CellRunner, cell: Cell) -> CellResult:
    """On a worker: run a cell."""
    with _one_at_a_time:
        return runner.work(cell, runner.home)
