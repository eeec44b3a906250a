"""Tests of benchmark runs on a Dask cluster: each cell runs once and is stored locally when it ends."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clusters import Cluster

import adrem
from adrem.benchmark.cells import Home
from adrem.benchmark.cluster import check_workers, connected
from adrem.benchmark.runner import run
from adrem.benchmark.store import Cell, Store
from adrem.exceptions import ClusterError

pytestmark = pytest.mark.thorough

CELLS = [Cell("t", "f", "A-B", n, "m", "d", "i") for n in range(6)]
PLANNED = Cell("office-31", "decaf", "A-W", 0, "source-svm", "a checksum", "{}")


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Any]:
    with connected(cluster.address) as client:
        yield client


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "log"
    folder.mkdir()
    return folder


def note(cell: Cell, home: Home) -> int:
    """Log the process that ran a cell, and return how often the cell has run."""
    path = Path(str(home)) / str(cell.repetition)
    with path.open("a") as log:
        log.write(f"{os.getpid()}\n")
    return len(path.read_text().split())


def test_run_computes_each_cell_once_on_workers(client: Any, cluster: Cluster, tmp_path: Path, log: Path) -> None:
    def work(cell: Cell, home: Home) -> tuple[dict[str, Any], float]:
        note(cell, home)
        time.sleep(0.2)
        if cell.repetition == 2:
            raise RuntimeError("cell 2 can't be run")
        return {"accuracy": cell.repetition / 7}, 0.25

    store = Store(tmp_path / "cache")
    failed = run(CELLS, store, home=log, work=work, client=client)
    assert [(cell, str(error)) for cell, error in failed.items()] == [(CELLS[2], "cell 2 can't be run")]
    assert {cell.repetition: (result.values, result.seconds) for cell, result in store.get(CELLS).items()} == {
        n: ({"accuracy": n / 7}, 0.25) for n in range(6) if n != 2
    }
    ran = {path.name: [int(pid) for pid in path.read_text().split()] for path in log.iterdir()}
    assert {name: len(pids) for name, pids in ran.items()} == {str(n): 1 for n in range(6)}
    assert {pid for pids in ran.values() for pid in pids} == cluster.pids()


def test_run_repeats_cell_of_killed_worker(client: Any, cluster: Cluster, tmp_path: Path, log: Path) -> None:
    def work(cell: Cell, home: Home) -> tuple[dict[str, Any], float]:
        n_times = note(cell, home)
        if cell.repetition == 1 and n_times == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"accuracy": 1.0}, 0.25

    before = cluster.pids()
    store = Store(tmp_path / "cache")
    assert run(CELLS, store, home=log, work=work, client=client) == {}
    assert set(store.get(CELLS)) == set(CELLS)
    assert len((log / "1").read_text().split()) == 2
    assert cluster.pids() != before


def test_run_raises_when_store_is_unusable(client: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    (tmp_path / "cache" / "results.sqlite").unlink()
    (tmp_path / "cache" / "results.sqlite").mkdir()
    with pytest.raises(OSError, match="can't be used now"):
        run(CELLS, store, work=lambda *_: ({"accuracy": 1.0}, 0.25), client=client)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nothing://here", "", "no address at all"])
def test_connected_raises_without_scheduler(address: str) -> None:
    pytest.importorskip("distributed")
    begin = time.monotonic()
    with pytest.raises(ClusterError, match="No Dask scheduler answers at"), connected(address):
        pass
    assert time.monotonic() - begin < 20


def test_connected_raises_for_other_server() -> None:
    pytest.importorskip("distributed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"No Dask scheduler answers at {address}"), connected(address):
            pass


def test_missing_dask_raises_install_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "adrem\[dask\]"'), connected("tcp://127.0.0.1:1"):
        pass


def test_worker_without_data_raises_cluster_error(client: Any, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"Worker tcp://\S+ has no files of office-31-decaf: set ADREM_DATA"):
        check_workers(client, [PLANNED], tmp_path)


def test_worker_version_mismatch_raises_cluster_error(client: Any, tmp_path: Path) -> None:
    try:
        client.run(setattr, adrem, "__version__", "0.0.1")
        with pytest.raises(ClusterError, match=r"Worker tcp://\S+ has adrem 0\.0\.1, but .* is needed"):
            check_workers(client, [PLANNED], tmp_path)
    finally:
        client.run(delattr, adrem, "__version__")


def test_cluster_without_workers_raises_cluster_error(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        connected(empty.scheduler_address) as client,
        pytest.raises(ClusterError, match="The cluster has no workers"),
    ):
        check_workers(client, [PLANNED], tmp_path)
