"""A local Dask cluster with workers that can be killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

N_WORKERS = 2
# Timeout in seconds for operations that take one second on an idle machine.
PATIENCE = 180


class Cluster:
    """Two workers of one thread each, in processes that are restarted when they die."""

    def __init__(self, client: Any, scheduler: Any) -> None:
        self.client = client
        self.scheduler = scheduler

    @property
    def address(self) -> str:
        return str(self.scheduler.address)

    def pids(self) -> set[int]:
        """Process ids of the workers."""
        return set(self.client.run(os.getpid).values())

    def kill(self, pids: set[int]) -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    def is_busy(self) -> bool:
        """Whether every worker is processing a task."""
        workers = list(self.scheduler.workers.values())
        return len(workers) == N_WORKERS and all(worker.processing for worker in workers)

    @contextmanager
    def killing(self, n_workers: int, after: float = 0.3) -> Iterator[list[int]]:
        """Kill this many workers some time after all are busy; yields the list of killed process ids."""
        killed: list[int] = []
        chosen = set(sorted(self.pids())[:n_workers])

        def kill() -> None:
            wait_until(self.is_busy)
            time.sleep(after)
            if self.is_busy():
                self.kill(chosen)
                killed.extend(chosen)

        thread = Thread(target=kill)
        thread.start()
        yield killed
        thread.join()
        self.client.wait_for_workers(N_WORKERS, timeout=PATIENCE)


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds, or fail after the timeout."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def local_cluster() -> Iterator[Cluster]:
    """A local Dask cluster; tests are skipped if Dask is not installed."""
    distributed = pytest.importorskip("distributed", reason='pip install "adrem[dask]" for the tests on a cluster')
    with (
        distributed.LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Cluster(client, cluster.scheduler)
