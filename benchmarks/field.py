"""Compare libraries for domain adaptation on the same rows: supported input, time and accuracy.

    ADREM_DATA=folder python benchmarks/field.py adrem skada POT --out docs/results/field.csv
    ADREM_DATA=folder python benchmarks/field.py adapt --out docs/results/field.csv   # where it is installed

It runs every method that needs no labels of the target, with its defaults, and with scikit-learn's LinearSVC where a
method needs a classifier. Each runs in its own process, on one thread, with a limit of one minute of CPU time and eight
gigabytes. New rows of a library replace its old ones in the file.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from csv_files import read_csv, write_csv
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from adrem.datasets import load

TASKS = {"digits": ("digits-shift", "S-T"), "Amazon": ("amazon-reviews", "B-D")}
SECONDS, BYTES = 60, 8 * 2**30
Labeller = Callable[[Any, Any, Any], Any]


def of_adrem() -> dict[str, tuple[Labeller, Any]]:
    from adrem import AdREM, baselines

    models = {"AdREM": AdREM, **{name: getattr(baselines, name) for name in baselines.__all__}}

    def label(model: Any) -> Labeller:
        return lambda X, y, Z: model(random_state=0).fit(X, y, X_target=Z).transduction_

    return {name: (label(model), model()) for name, model in models.items()}


def of_skada() -> dict[str, tuple[Labeller, Any]]:
    import skada

    from adrem.benchmark.peers import known_peers

    def label(name: str) -> Labeller:
        def run(X: Any, y: Any, Z: Any) -> Any:
            domain = np.repeat([1, -2], [X.shape[0], Z.shape[0]])
            rows = sp.csr_matrix(sp.vstack([X, Z])) if sp.issparse(X) else np.vstack([X, Z])
            model = getattr(skada, name)()
            model.fit(rows, np.concatenate([y, np.full(Z.shape[0], -1)]), sample_domain=domain)
            return model.predict(Z, sample_domain=domain[X.shape[0] :])

        return run

    return {name: (label(name), getattr(skada, name)()) for name in known_peers()}


def of_pot() -> dict[str, tuple[Labeller, Any]]:
    import ot.da

    def label(name: str) -> Labeller:
        def run(X: Any, y: Any, Z: Any) -> Any:
            moved = getattr(ot.da, name)().fit_transform(Xs=X, ys=y, Xt=Z)
            return LinearSVC(random_state=0).fit(moved, y).predict(Z)

        return run

    names = ("EMDTransport", "SinkhornTransport", "SinkhornLpl1Transport", "EMDLaplaceTransport", "LinearTransport")
    return {name: (label(name), getattr(ot.da, name)()) for name in names}


def of_adapt() -> dict[str, tuple[Labeller, Any]]:
    from adapt import feature_based, instance_based

    places = {**dict.fromkeys(("CORAL", "SA", "TCA"), feature_based)}
    places |= dict.fromkeys(
        ("KMM", "KLIEP", "LDM", "ULSIF", "RULSIF", "NearestNeighborsWeighting", "IWC"), instance_based
    )

    def label(name: str) -> Labeller:
        def run(X: Any, y: Any, Z: Any) -> Any:
            model = getattr(places[name], name)(LinearSVC(random_state=0), Xt=Z, random_state=0, verbose=0)
            return model.fit(X, y).predict(Z)

        return run

    return {name: (label(name), getattr(places[name], name)(LinearSVC())) for name in places}


LIBRARIES = {"adrem": of_adrem, "skada": of_skada, "POT": of_pot, "adapt": of_adapt}


def measure(library: str, method: str, task: str) -> dict[str, Any]:
    """One method on one task: an accuracy in percent and seconds, or why there is none."""
    X, y, Z, truth = load(TASKS[task][0]).pair(TASKS[task][1])
    codes = np.unique(y, return_inverse=True)
    label, _ = LIBRARIES[library]()[method]
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    limit = int(process_time()) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    warnings.simplefilter("ignore")
    begin = process_time()
    try:
        given = codes[0][np.asarray(label(X, codes[1], Z), dtype=int)]
    except Exception as error:  # whatever it is, it is the method's result
        return {"failure": f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"}
    return {"accuracy": f"{100 * np.mean(given == truth):.1f}", "seconds": f"{process_time() - begin:.1f}"}


def check(library: str, method: str, _task: str) -> dict[str, Any]:
    """How many of scikit-learn's checks an estimator passes."""
    _, estimator = LIBRARIES[library]()[method]
    warnings.simplefilter("ignore")
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    states = [result["status"] for result in results]
    return {"passed": states.count("passed"), "checks": len(states) - states.count("skipped")}


def in_a_process(work: Callable[[str, str, str], dict[str, Any]], *words: str) -> dict[str, Any]:
    """What it returns, or that it was ended."""
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(work, *words).result()
        except BrokenProcessPool:
            return {"failure": f"more than {SECONDS} seconds, or a crash"}
        except Exception as error:  # whatever it is, it is the library's result
            return {"failure": f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"}


def summarize(rows: list[dict[str, str]]) -> list[str]:
    """A table with a line for each library."""
    lines = [
        "| | tried | digits, best of them | take sparse rows | Amazon, best of them | checks passed |",
        "|---|---|---|---|---|---|",
    ]
    for library in dict.fromkeys(row["library"] for row in rows):
        own = [row for row in rows if row["library"] == library]
        n_methods = len({row["method"] for row in own})
        n_sparse = sum(bool(row["accuracy"]) for row in own if row["task"] == "Amazon")
        digits, amazon = (_best([row for row in own if row["task"] == task]) for task in TASKS)
        shares = [int(row["passed"]) / int(row["checks"]) for row in own if row["checks"]]
        passed = f"{100 * np.median(shares):.0f} %" if shares else "can't be run"
        lines.append(
            f"| {library} {own[0]['version']} | {n_methods} methods | {digits} | {n_sparse} | {amazon} | {passed} |"
        )
    return lines


def _best(rows: list[dict[str, str]]) -> str:
    done = [row for row in rows if row["accuracy"]]
    if not done:
        return "none"
    row = max(done, key=lambda row: float(row["accuracy"]))
    return f"{row['accuracy']} ({row['method']}, {row['seconds']} s)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", choices=list(LIBRARIES))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = [
        row
        for row in (read_csv(options.out) if options.out.exists() else [])
        if row["library"] not in options.libraries
    ]
    for library in options.libraries:
        for method in LIBRARIES[library]():
            for task in (*TASKS, "checks"):
                found = in_a_process(check if task == "checks" else measure, library, method, task)
                row = {"library": library, "version": version(library), "method": method, "task": task}
                row |= {key: found.get(key, "") for key in ("accuracy", "seconds", "passed", "checks", "failure")}
                rows.append(row)
                print(*row.values(), flush=True)
                write_csv(options.out, list(row), rows)


if __name__ == "__main__":
    main()
