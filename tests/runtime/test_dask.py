"""Tests of fits on a Dask cluster: results equal local fits, also if workers die."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from cluster import arrivals, count_arrivals
from clusters import N_WORKERS, PATIENCE, Cluster, wait_until
from golden import PROBLEMS, Answer, answer
from joblib import Parallel, delayed
from problems import make_blobs_shift
from terminals import Terminal

import adrem
import adrem.runtime.cluster as cluster_module
from adrem import AdREM
from adrem.datasets import DomainPair
from adrem.exceptions import ClusterError
from adrem.runtime.cluster import Calls

pytestmark = pytest.mark.thorough

here = functools.cache(answer)
SIDE_BY_SIDE = [name for name, problem in PROBLEMS.items() if "n_jobs" in problem.model.get_params()]


def make_wide() -> DomainPair:
    """Rows of eight megabytes, which dominate the transferred data."""
    data = make_blobs_shift(n_classes=2, n_source=100, n_target=100)
    noise = np.random.default_rng(0).standard_normal((200, 5000))
    noise[:, :5] += np.concatenate([data.X_source, data.X_target])
    return DomainPair(noise[:100], data.y_source, noise[100:], data.y_target)


def fit_there(model: AdREM, data: DomainPair) -> AdREM:
    with joblib.parallel_config("dask"):
        return fit_here(model, data)


def fit_here(model: AdREM, data: DomainPair) -> AdREM:
    fitted: AdREM = sklearn.clone(model).fit(data.X_source, data.y_source, X_target=data.X_target)
    return fitted


def assert_same(found: AdREM, expected: AdREM) -> None:
    for name in ("coef_", "intercept_", "transduction_", "vote_share_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.history_ == expected.history_
    assert found.termination_ == expected.termination_


# Members that take some seconds in total, in many groups.
LONG = AdREM(C=0.1, tol=1e-2, n_iter=8, n_estimators=64, machine="rows", random_state=0)


@pytest.fixture(scope="module")
def noise() -> DomainPair:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1200, 40)), np.arange(1200) % 2
    return DomainPair(X[:600], y[:600], X[600:], y[600:])


@pytest.fixture(scope="module")
def at_home(noise: DomainPair) -> AdREM:
    return fit_here(LONG, noise)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("name", SIDE_BY_SIDE)
def test_cluster_fit_equals_local_fit(name: str) -> None:
    with joblib.parallel_config("dask"):
        assert answer(name).digest == here(name).digest


@pytest.mark.usefixtures("cluster")
def test_fits_on_workers_equal_local_fits() -> None:
    with joblib.parallel_config("dask"):
        found: list[Answer] = Parallel()(delayed(answer)(name) for name in SIDE_BY_SIDE)
    assert [theirs.digest for theirs in found] == [here(name).digest for name in SIDE_BY_SIDE]


@pytest.mark.parametrize("machine", ["gram", "rows"])
def test_rows_are_sent_once_to_each_worker(cluster: Cluster, machine: Any) -> None:
    data = make_wide()
    cluster.client.run(count_arrivals)
    model = AdREM(C=0.1, n_iter=2, n_estimators=40, machine=machine, random_state=0)
    found = fit_there(model, data)
    n_bytes = data.X_source.nbytes + data.X_target.nbytes
    for n_arrived in cluster.client.run(arrivals).values():
        assert 1.0 < n_arrived / n_bytes < 1.2
    assert_same(found, fit_here(model, data))


def test_no_data_remain_on_workers(cluster: Cluster) -> None:
    fit_there(AdREM(C=0.1, n_iter=2, random_state=0), make_wide())
    wait_until(lambda: not any(cluster.client.has_what().values()))


# Workers and scheduler log the deaths of workers as errors.
@pytest.mark.parametrize("n_workers", [1, 2])
def test_fit_survives_killed_workers(cluster: Cluster, noise: DomainPair, at_home: AdREM, n_workers: int) -> None:
    with cluster.killing(n_workers) as killed:
        found = fit_there(LONG, noise)
    assert len(killed) == n_workers
    assert not cluster.pids() & set(killed)
    assert_same(found, at_home)


def test_fit_raises_when_workers_die(cluster: Cluster, noise: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.runtime.cluster.MAX_LOSSES", 0)
    with pytest.raises(ClusterError, match="All workers of the cluster died"), cluster.killing(2):
        fit_there(LONG, noise)


def test_call_that_kills_its_worker_ends_with_error(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import KilledWorker

    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with Calls[int](cluster.client, lambda common, item: os._exit(common + item), 7) as calls:
        calls.start(1)
        ((item, outcome),) = calls.ended()
    cluster.client.wait_for_workers(N_WORKERS, timeout=PATIENCE)
    assert item == 1
    assert isinstance(outcome, KilledWorker)


def test_worker_version_mismatch_raises_cluster_error(cluster: Cluster, two_blobs: DomainPair) -> None:
    try:
        cluster.client.run(setattr, cluster_module, "VERSION", "0.0.1")
        with pytest.raises(ClusterError, match=r"A worker has adrem 0\.0\.1, but .* is needed"):
            fit_there(AdREM(C=0.1), two_blobs)
    finally:
        cluster.client.run(setattr, cluster_module, "VERSION", adrem.__version__)


@pytest.mark.usefixtures("cluster")
def test_progress_counts_remote_steps(two_blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    fit_there(AdREM(C=0.1, n_iter=3, n_estimators=16, verbose=1, random_state=0), two_blobs)
    assert "48/48" in terminal.getvalue()


# A fit of minutes on a separate cluster, then the response time of a worker to a small task.
INTERRUPTED = """
import time, warnings, joblib, numpy as np
from distributed import Client, LocalCluster
from adrem import AdREM

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 60)), np.arange(3000) % 2
    model = AdREM(C=0.1, tol=1e-3, n_iter=500, n_estimators=8, machine="rows", random_state=0)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        client.run(AdREM(C=1.0, n_iter=1, machine="rows").fit, X[:50], y[:50], X_target=X[50:60])
        print("fitting", flush=True)
        try:
            with joblib.parallel_config("dask"):
                model.fit(X[:1500], y[:1500], X_target=X[1500:])
            print("ended by itself", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            begin = time.monotonic()
            client.gather([client.submit(pow, 2, 3, workers=[w], pure=False) for w in client.nthreads()])
            print(time.monotonic() - begin, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT can't be sent on Windows")
def test_ctrl_c_stops_work_on_workers(tmp_path: Any) -> None:
    pytest.importorskip("distributed")
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "fitting\n"
        time.sleep(3.0)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 6.0
        assert float(process.stdout.readline()) < 6.0
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
