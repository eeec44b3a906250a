"""Load: many threads with one model, many fits at once, many fits in a row; with --full, very large tables."""

from __future__ import annotations

import gc
import json
import mmap
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from torture.outcomes import ANSWERED, SURVIVED, Row

ROOT = Path(__file__).parents[1]
N_THREADS, SECONDS = 32, 60
N_FITS = 1000
WARM_UP = 500  # fits, after which memory shall stand still
MOST_GROWTH = 5.0  # MB in a thousand fits
Outcome = tuple[str, str]


def digits() -> Any:
    """Two domains that come with the package."""
    from adrem.datasets import load_digits_shift

    return load_digits_shift()


def ask_together() -> Row:
    """Threads that ask one model, dense rows and sparse ones, and get what one thread gets."""
    from adrem import AdREM

    X_source, y_source, X_target, _ = digits()
    model = AdREM(C=0.1, random_state=0).fit(X_source, y_source, X_target=X_target)
    tables = {"dense rows": X_target, "sparse rows": sp.csr_array(X_target)}
    questions: list[tuple[str, Callable[[Any], Any], Any]] = [
        (f"{name} of {kind}", getattr(model, name), rows)
        for kind, rows in tables.items()
        for name in ("predict", "decision_function", "predict_proba")
    ]
    alone = [ask(rows) for _, ask, rows in questions]
    until = time.monotonic() + SECONDS

    def worker(number: int) -> list[Outcome]:
        outcomes = []
        while time.monotonic() < until:
            number += 1
            name, ask, rows = questions[number % len(questions)]
            same = np.array_equal(ask(rows), alone[number % len(questions)])
            outcomes.append((name, ANSWERED if same else "another answer than alone"))
        return outcomes

    with ThreadPoolExecutor(N_THREADS) as pool:
        outcomes = [outcome for part in pool.map(worker, range(N_THREADS)) for outcome in part]
    note = f"{N_THREADS} threads, one model, {SECONDS} s, {len(X_target)} rows each time; "
    note += "all results are those of one thread, bit for bit"
    return Row.of("load", "threads that predict with one model", outcomes, note)


def fit_together() -> Row:
    """Fits at once in one process, each as it is alone."""
    from adrem import AdREM

    X_source, y_source, X_target, _ = digits()
    few: dict[str, Any] = {"C": 0.1, "n_estimators": 3, "n_iter": 5}
    forms: dict[str, dict[str, Any]] = {
        "as usual": few,
        "on the rows, two threads each": {**few, "machine": "rows", "n_jobs": 2},
        "log loss, C chosen": {**few, "loss": "log_loss", "C": [0.01, 0.1]},
        "rbf": {**few, "kernel": "rbf"},
    }

    def fitted(params: dict[str, Any], seed: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return AdREM(**params, random_state=seed).fit(X_source, y_source, X_target=X_target)

    outcomes = []
    for name, params in forms.items():
        alone = [fitted(params, seed) for seed in range(8)]
        begin = threading.Barrier(8)

        def work(seed: int, params: dict[str, Any] = params, begin: threading.Barrier = begin) -> Any:
            begin.wait()
            return fitted(params, seed)

        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(work, range(8)))
        for seed, (one, other) in enumerate(zip(alone, together, strict=True)):
            same = all(np.array_equal(weights_of(one)[k], weights_of(other)[k]) for k in range(2))
            same = same and one.history_ == other.history_ and np.array_equal(one.transduction_, other.transduction_)
            outcomes.append((f"{name}, seed {seed}", ANSWERED if same else "another model than alone"))
    return Row.of(
        "load", "8 fits at once", outcomes, "threads of one process; each model is that of a fit alone, bit for bit"
    )


def weights_of(model: Any) -> tuple[Any, Any]:
    """What a model has learnt."""
    return getattr(model, "coef_", getattr(model, "dual_coef_", None)), model.intercept_


def resident() -> float:
    """Megabytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE / 1e6


def leftovers() -> dict[str, int]:
    """What could be left behind: threads, open files, folders that joblib shares arrays by."""
    folders = [Path("/dev/shm"), Path(tempfile.gettempdir())]  # noqa: S108 - it is looked at, nothing is written
    own = f"joblib_memmapping_folder_{os.getpid()}"
    return {
        "threads": threading.active_count(),
        "open files": len(list(Path("/proc/self/fd").iterdir())),
        "folders of joblib": sum(path.name.startswith(own) for f in folders if f.is_dir() for path in f.iterdir()),
    }


def fit_in_a_row() -> None:
    """Many small fits, by turns of several forms; prints how memory grew, and what was left behind."""
    from adrem import AdREM
    from adrem.baselines import CORAL
    from adrem.datasets import make_rotated_arcs

    X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
    few: dict[str, Any] = {"C": 1.0, "n_estimators": 4, "n_iter": 3}
    models = [
        AdREM(**few),
        AdREM(**few, n_jobs=2),
        AdREM(**few, machine="rows", loss="log_loss"),
        AdREM(**few, machine="rows", n_jobs=2),
        AdREM(**few, kernel="rbf"),
        CORAL(C=1.0),
    ]
    sizes, before = [], leftovers()
    for k in range(WARM_UP + N_FITS):
        model = models[k % len(models)].set_params(random_state=k)
        model.fit(X_source, y_source, X_target=X_target).predict(X_target)
        if k == WARM_UP:
            before = leftovers()
        if k >= WARM_UP and k % 10 == 0:
            gc.collect()
            sizes.append(resident())
    slope = float(np.polyfit(np.arange(len(sizes)) * 10 / 1000, sizes, 1)[0])
    print(json.dumps({"slope": slope, "size": sizes[-1], "before": before, "after": leftovers()}))


def many_fits() -> Row:
    """Fits in a row in a process of their own, which shall not grow."""
    found = in_a_process("fit_in_a_row")
    if isinstance(found, str):
        return Row.of("load", f"{N_FITS} fits in a row", [("the process", found)])
    growth = f"{found['slope']:.1f} MB in {N_FITS} fits"
    outcomes = [("memory", SURVIVED if found["slope"] <= MOST_GROWTH else f"grew by {growth}")]
    for name, n_before in found["before"].items():
        n_after = found["after"][name]
        outcomes.append((name, SURVIVED if n_after <= n_before else f"{n_before} before, {n_after} after"))
    note = f"memory grows by {growth}, at most {MOST_GROWTH:g} allowed; the process takes {found['size']:.0f} MB"
    return Row.of("load", f"{N_FITS} fits in a row", outcomes, note)


def in_a_process(function: str, module: str = "torture.load") -> Any:
    """What a function of a module prints, as JSON, in a process of its own; what went wrong as a text."""
    command = [sys.executable, "-W", "ignore", "-c", f"import {module} as m; m.{function}()"]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False)
    if done.returncode:
        return f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"
    return json.loads(done.stdout.splitlines()[-1])


def run(*, full: bool) -> list[Row]:
    """A row a question."""
    rows = [ask_together(), fit_together(), many_fits()]
    if full:
        from torture import large

        rows += [large.row(name, in_a_process(name, "torture.large")) for name in large.RUNS]
    return rows
