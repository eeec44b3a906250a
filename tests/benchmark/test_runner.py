"""Tests of the runner: each cell runs once, also after failures, kills and restarts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from adrem import AdREM
from adrem.benchmark.cells import Home, Work, identity, run_cell
from adrem.benchmark.draws import Draw
from adrem.benchmark.methods import METHODS, Method, find_methods
from adrem.benchmark.peers import find_peer
from adrem.benchmark.protocols import PROTOCOLS, Protocol, find_protocols
from adrem.benchmark.runner import Observer, plan, run
from adrem.benchmark.store import Cell, Store
from adrem.datasets import DomainPair, load

pytestmark = pytest.mark.thorough

# Enough rows for all ten digits, few enough for a quick test.
DIGITS = Protocol("digits", "pixels", "Digits", "digits-shift", (), ("S-T",), 3, Draw(per_class=12, n_target=150))
CELLS = [Cell("t", "f", "A-B", n, "m", "d", "i") for n in range(6)]


def make_work(failing: int | None = None) -> Work:
    """Make a work function that logs each cell in the data folder and fails on one of them.

    A nested function is pickled by value, so that worker processes need not import this file.
    """

    def work(cell: Cell, home: Home) -> tuple[dict[str, Any], float]:
        with (Path(str(home)) / str(cell.repetition)).open("a") as log:
            log.write("run\n")
        if cell.repetition == failing:
            raise RuntimeError(f"cell {failing} can't be run")
        return {"accuracy": cell.repetition / 7}, 0.25

    return work


def times_run(log: Path) -> dict[int, int]:
    return {int(path.name): len(path.read_text().splitlines()) for path in log.iterdir()}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "log"
    folder.mkdir()
    return folder


def test_plan_skips_protocols_without_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skada.datasets", None)
    planned = plan([*PROTOCOLS, DIGITS], find_methods(["source-svm"]), home=tmp_path)
    assert planned.protocols == [DIGITS]
    assert {cell.task for cell in planned.cells} == {"digits"}
    assert list(planned.skipped) == [protocol.name for protocol in PROTOCOLS]
    assert planned.skipped["office-31/decaf"] == (
        "the files of office-31-decaf are missing; `adrem datasets info office-31-decaf` says where to put them."
    )


def test_plan_has_one_cell_per_repetition_and_method() -> None:
    methods = find_methods(["source-svm", "adrem-lr"])
    planned = plan([DIGITS], methods)
    checksum = load("digits-shift").checksum
    assert planned.methods == methods
    assert planned.skipped == {}
    assert planned.cells == [
        Cell("digits", "pixels", "S-T", repetition, method.name, checksum, identity(DIGITS, method))
        for repetition in range(3)
        for method in methods
    ]
    fewer = plan([DIGITS], methods, repeats=2)
    assert fewer.cells == planned.cells[:4]
    assert [protocol.repeats for protocol in fewer.protocols] == [2]
    assert plan([DIGITS], methods, repeats=4).cells[:6] == planned.cells


def test_plan_runs_deterministic_methods_once() -> None:
    methods = find_methods(["adrem-svm", "coral"])
    for draw, expected in ((DIGITS.draw, {"adrem-svm": 3, "coral": 3}), (Draw(), {"adrem-svm": 3, "coral": 1})):
        planned = plan([replace(DIGITS, draw=draw)], methods)
        assert Counter(cell.method for cell in planned.cells) == expected


def test_plan_includes_only_requested_pairs() -> None:
    both = replace(DIGITS, pairs=("S-T", "T-S"))
    for pairs, expected in ((None, ["S-T", "T-S"]), ({"T-S"}, ["T-S"]), ({"A-W"}, [])):
        planned = plan([both], find_methods(["adrem-svm"]), pairs=pairs, repeats=1)
        assert [cell.pair for cell in planned.cells] == expected


def test_plan_includes_stored_results_without_data(tmp_path: Path) -> None:
    protocols, methods = find_protocols("office-31"), find_methods(["adrem-svm"])
    store = Store(tmp_path / "cache")
    cell = Cell("office-31", "decaf", "A-W", 1, "adrem-svm", "of then", identity(protocols[1], methods[0]))
    store.put(cell, {"accuracy": 50.0}, 1.0)
    planned = plan(protocols, methods, home=tmp_path, store=store)
    assert planned.protocols == protocols[1:]
    assert list(planned.skipped) == ["office-31/resnet50"]
    assert list(store.get(planned.cells)) == [cell]
    assert plan(protocols, methods, home=tmp_path).cells == []


def test_identity_changes_with_method_and_protocol() -> None:
    method = METHODS["adrem-svm"]
    known = identity(DIGITS, method)
    assert known == identity(replace(DIGITS, repeats=9, title="other"), replace(method, title="other", published=()))
    assert identity(DIGITS, replace(method, version=2)) != known
    assert identity(DIGITS, replace(method, make=lambda seed: AdREM(tol=0.01, random_state=seed))) != known
    assert identity(DIGITS, METHODS["adrem-lr"]) != known
    assert identity(replace(DIGITS, scaling=("joint-std",)), method) != known
    assert identity(replace(DIGITS, draw=Draw()), method) != known
    assert json.loads(known)["version"] == 1


def test_new_method_version_invalidates_stored_results(tmp_path: Path) -> None:
    method = METHODS["adrem-svm"]
    store = Store(tmp_path)
    for cell in plan([DIGITS], [method]).cells:
        store.put(cell, {"accuracy": 1.0}, 1.0)
    assert len(store.get(plan([DIGITS], [method]).cells)) == 3
    assert store.get(plan([DIGITS], [replace(method, version=2)]).cells) == {}


@pytest.mark.parametrize("jobs", [1, 2])
def test_run_computes_and_stores_each_cell_once(tmp_path: Path, log: Path, jobs: int) -> None:
    store = Store(tmp_path / "cache")
    run(CELLS, store, jobs=jobs, home=log, work=make_work())
    found = store.get(CELLS)
    assert {cell: (result.values, result.seconds) for cell, result in found.items()} == {
        cell: ({"accuracy": cell.repetition / 7}, 0.25) for cell in CELLS
    }
    assert times_run(log) == dict.fromkeys(range(6), 1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_run_continues_after_a_failed_cell(tmp_path: Path, log: Path, jobs: int) -> None:
    store = Store(tmp_path / "cache")
    failed = run(CELLS, store, jobs=jobs, home=log, work=make_work(failing=2))
    assert [(cell, str(error)) for cell, error in failed.items()] == [(CELLS[2], "cell 2 can't be run")]
    assert set(store.get(CELLS)) == set(CELLS) - {CELLS[2]}
    missing = [cell for cell in CELLS if cell not in store.get(CELLS)]
    assert run(missing, store, jobs=jobs, home=log, work=make_work()) == {}
    assert {cell.repetition: result.values["accuracy"] for cell, result in store.get(CELLS).items()} == {
        n: n / 7 for n in range(6)
    }
    assert times_run(log) == {0: 1, 1: 1, 2: 2, 3: 1, 4: 1, 5: 1}


# joblib's pool may raise in its manager thread if it is shut down just after work was submitted.
@pytest.mark.filterwarnings("ignore:Exception in thread ExecutorManagerThread")
@pytest.mark.parametrize("jobs", [1, 2])
def test_run_raises_when_store_is_unusable(tmp_path: Path, log: Path, jobs: int) -> None:
    store = Store(tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(OSError, match="can't be used now"):
        run(CELLS, store, jobs=jobs, home=log, work=make_work())


def test_observer_sees_begin_and_end_of_cells(tmp_path: Path, log: Path) -> None:
    store = Store(tmp_path / "cache")
    heard: list[tuple[str, int]] = []

    class Witness(Observer):
        def begin(self, cell: Cell) -> None:
            assert not (log / str(cell.repetition)).exists()
            heard.append(("begin", cell.repetition))

        def end(self, cell: Cell, seconds: float | None) -> None:
            assert cell in store.get([cell])
            assert seconds == 0.25
            heard.append(("end", cell.repetition))

    run(CELLS[:3], store, home=log, work=make_work(), observer=Witness())
    assert heard == [(word, n) for n in range(3) for word in ("begin", "end")]


# Runs the missing ones of 40 cells in a process that is killed after a while, repeatedly; the last process is not
# killed. Prints what was stored before each run.
KILLED = """
import json, os, random, signal, sys, time
from pathlib import Path
from adrem.benchmark.runner import run
from adrem.benchmark.store import Cell, Store

def work(cell, home):
    with open(home, "a") as log:
        log.write(f"{cell.repetition}\\n")
    time.sleep(0.01)
    return {"accuracy": cell.repetition / 7}, 0.0

folder, kills = Path(sys.argv[1]), int(sys.argv[2])
cells = [Cell("t", "f", "A-B", n, "m", "d", "i") for n in range(40)]
chance = random.Random(0)
for k in range(kills + 1):
    found = Store(folder).get(cells)
    print(json.dumps({cell.repetition: result.values["accuracy"] for cell, result in found.items()}), flush=True)
    pid = os.fork()
    if pid == 0:
        run([cell for cell in cells if cell not in found], Store(folder), home=folder / f"log {k}", work=work)
        os._exit(0)
    if k < kills:
        time.sleep(chance.uniform(0.0, 0.12))
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_killed_runs_resume(tmp_path: Path) -> None:
    kills = 12
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(kills)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    stored = [json.loads(line) for line in done.stdout.splitlines()]
    logs = [tmp_path / f"log {k}" for k in range(kills + 1)]
    started = [log.read_text().split() if log.exists() else [] for log in logs]
    assert len(stored) == kills + 1
    for before, begun in zip(stored, started, strict=True):
        assert not before.keys() & set(begun)
    for before, after, begun in zip(stored, stored[1:], started, strict=False):
        assert before.items() <= after.items()
        assert len(set(begun) - after.keys()) <= 1  # the cell that ran during the kill
    assert any(len(begun) > 0 for begun in started[:-1])
    found = Store(tmp_path).get([replace(CELLS[0], repetition=n) for n in range(40)])
    assert {cell.repetition: result.values["accuracy"] for cell, result in found.items()} == {
        n: n / 7 for n in range(40)
    }
    again = Counter(n for begun in started for n in begun)
    assert again.total() <= 40 + kills


# Two cells in separate processes that log for some seconds that they are alive.
ORPHANED = """
import sys, time
from pathlib import Path
from adrem.benchmark.runner import run
from adrem.benchmark.store import Cell, Store

def work(cell, home):
    for _ in range(300):
        with open(home / str(cell.repetition), "a") as log:
            log.write(".")
        time.sleep(0.05)
    return {}, 0.0

folder = Path(sys.argv[1])
run([Cell("t", "f", "A-B", n, "m", "d", "i") for n in range(2)], Store(folder), jobs=2, home=folder, work=work)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not report the end of the parent process")
def test_workers_exit_when_run_is_killed(tmp_path: Path) -> None:
    logs = [tmp_path / "0", tmp_path / "1"]
    with subprocess.Popen([sys.executable, "-c", ORPHANED, str(tmp_path)], stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not all(log.exists() for log in logs):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.kill()
    time.sleep(3.0)
    sizes = [log.stat().st_size for log in logs]
    time.sleep(0.7)
    assert [log.stat().st_size for log in logs] == sizes
    assert max(sizes) < 300


@pytest.fixture
def digits(monkeypatch: pytest.MonkeyPatch) -> Protocol:
    monkeypatch.setattr("adrem.benchmark.protocols.PROTOCOLS", (DIGITS,))
    return DIGITS


@pytest.mark.parametrize("name", ["source-svm", "adrem-svm"])
def test_run_cell_equals_direct_fit(digits: Protocol, tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    planned = plan([digits], find_methods([name]), repeats=2)
    run(planned.cells, store)
    found = store.get(planned.cells)
    data = load("digits-shift")
    for cell in planned.cells:
        X_source, y_source, X_target, y_target = digits.make_pair(data, "S-T", cell.repetition)
        model = AdREM(random_state=cell.repetition)
        if name == "source-svm":
            labels = model.fit(X_source, y_source).predict(X_target)
        else:
            labels = model.fit(X_source, y_source, X_target=X_target).transduction_
        result = found[cell]
        assert result.values == {"accuracy": 100 * np.mean(labels == y_target), "C": model.C_, "warnings": []}
        assert 50.0 < result.values["accuracy"] < 100.0
        assert 0.0 < result.seconds < 60.0
    assert len({result.values["accuracy"] for result in found.values()}) == 2


@pytest.mark.parametrize("name", ["source-svm", "adrem-svm", "skada:CORAL"])
def test_held_out_rows_are_scored(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = replace(DIGITS, draw=Draw(), held_out=0.2)
    monkeypatch.setattr("adrem.benchmark.protocols.PROTOCOLS", (protocol,))
    store = Store(tmp_path)
    [method] = find_methods([name])
    planned = plan([protocol], [method], repeats=2)
    assert len(planned.cells) == 2
    assert run(planned.cells, store) == {}
    trial = protocol.make_trial(load("digits-shift"), "S-T", 1)
    labels, _ = method.label(trial.pair, 1, trial.X_held)
    assert len(labels) == len(trial.y_held) < len(trial.pair.y_target)
    assert store.get(planned.cells)[planned.cells[1]].values["accuracy"] == 100 * np.mean(labels == trial.y_held) > 50


def test_data_that_need_skada_are_skipped_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skada.datasets", None)
    planned = plan(find_protocols("skada-bench", "sim-target"), find_methods(["adrem-svm"]), home=tmp_path)
    assert planned.cells == []
    assert planned.skipped == {
        "skada-bench/sim-target": 'simulated-target is drawn by skada: pip install "adrem[bench]".'
    }


class Loud:
    """An estimator that labels all rows 3 and warns."""

    C_ = np.float32(0.5)

    def fit(self, X: Any, y: Any, X_target: Any) -> Self:  # noqa: ARG002
        for text in ("second", "first", "second"):
            warnings.warn(text, UserWarning, stacklevel=1)
        self.transduction_ = np.full(len(X_target), 3)
        return self

    def get_params(self, deep: bool) -> dict[str, Any]:  # noqa: ARG002
        return {}


def test_run_cell_records_warnings(digits: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    method = Method("loud", "Loud", lambda _: Loud())
    monkeypatch.setitem(METHODS, "loud", method)
    (cell,) = plan([digits], [method], repeats=1).cells
    values, _ = run_cell(cell, None)
    threes = np.mean(digits.make_pair(load("digits-shift"), "S-T", 0).y_target == 3)
    assert values == {
        "accuracy": 100 * threes,
        "C": 0.5,
        "warnings": ["UserWarning: first", "UserWarning: second"],
    }
    assert json.loads(json.dumps(values)) == values


def test_peer_result_or_failure_is_stored(digits: Protocol, tmp_path: Path) -> None:
    store = Store(tmp_path)
    working, stopped = find_peer("skada:CORAL"), replace(find_peer("skada:OTMapping"), time_limit=0.0)
    for peer in (working, stopped):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("adrem.benchmark.cells.find_methods", lambda _, peer=peer: [peer])
            cells = plan([digits], [peer], repeats=1).cells
            assert run(cells, store) == {}
        (result,) = store.get(cells).values()
        if peer is working:
            assert 50.0 < result.values["accuracy"] < 100.0
            assert result.values["peak_memory"] > 0
        else:
            assert result.values == {"accuracy": None, "failure": "timed out"}


def test_peers_run_in_worker_processes(tmp_path: Path) -> None:
    rows = np.random.RandomState(0).standard_normal((60, 4)) + 3.0 * (np.arange(60) % 2)[:, None]
    np.savez(tmp_path / "pair.npz", rows=rows)

    def work(cell: Cell, home: Home) -> tuple[dict[str, Any], float]:
        with np.load(Path(str(home)) / "pair.npz") as archive:
            X = archive["rows"]
        y = np.arange(len(X)) % 2
        [peer] = find_methods(["skada:CORAL"])
        labels, report = peer.label(DomainPair(X[:40], y[:40], X[40:], y[40:]), cell.repetition)
        return {"accuracy": float(np.mean(labels == y[40:]))}, report.seconds

    store = Store(tmp_path)
    assert run(CELLS[:2], store, jobs=2, home=tmp_path, work=work) == {}
    assert all(result.values["accuracy"] > 0.8 for result in store.get(CELLS[:2]).values())
