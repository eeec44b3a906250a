"""Measure time and peak memory of `fit` by rows, features and classes, and plot them with their log-log slopes.

    OMP_NUM_THREADS=1 python benchmarks/scaling.py [--picture docs/pictures/scaling.png]

Every fit runs in its own process, on one thread: 2 members, 5 iterations, C given, float32, half of the rows source.
Memory is the peak of the process minus its memory before the data were made, as a multiple of the data. A first fit on
a few rows loads the compiled kernels and is not measured.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from adrem import AdREM

SETTINGS: dict[str, Any] = {"C": 1e-3, "n_estimators": 2, "n_iter": 5, "random_state": 0}
ROWS = (1000, 3000, 10_000, 30_000, 100_000, 200_000)
SPARSE_FEATURES = (1000, 10_000, 100_000, 1_000_000)
CLASSES = (2, 5, 10, 20, 50, 100)


def make_dense(n_rows: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    """Gaussian classes whose means differ in every feature."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    means = (0.15 * rng.standard_normal((n_classes, n_features))).astype(np.float32)
    for c in range(n_classes):
        X[y == c] += means[c]
    return X, y


def make_sparse(n_rows: int, n_features: int, n_classes: int, n_entries: int = 100) -> tuple[Any, Any]:
    """Rows of a hundred entries at places that are likelier the lower their number, as words are."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    places = (n_features * rng.random((n_rows, n_entries)) ** 3).astype(np.int32)
    places[:, :20] = (places[:, :20] // n_classes * n_classes + y[:, None]) % n_features  # words of the class
    values = np.ones(n_rows * n_entries, np.float32)
    X = sp.csr_array(
        (values, places.ravel(), np.arange(0, n_rows * n_entries + 1, n_entries)), shape=(n_rows, n_features)
    )
    X.sum_duplicates()
    return X, y


def run_alone(kind: str, n_rows: int, n_features: int, n_classes: int, machine: Any) -> dict[str, Any]:
    """One fit in this process."""
    make = make_sparse if kind == "sparse" else make_dense
    X, y = make(60, 50, 2)
    AdREM(machine=machine, **SETTINGS).fit(X[:40], y[:40], X_target=X[40:])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    X, y = make(n_rows, n_features, n_classes)
    half = n_rows // 2
    source, target = X[:half], X[half:]
    if kind == "sparse":
        del X
        size = sum(part.data.nbytes + part.indices.nbytes + part.indptr.nbytes for part in (source, target))
    else:
        size = X.nbytes
    begin = perf_counter()
    model = AdREM(machine=machine, **SETTINGS).fit(source, y[:half], X_target=target)
    seconds = perf_counter() - begin
    peak = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    accuracy = float(np.mean(model.transduction_ == y[half:]))
    return {
        "seconds": seconds,
        "megabytes": peak / 1e6,
        "memory": peak / size,
        "accuracy": accuracy,
        "machine": model.machine_,
    }


def run(*shape: Any) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--alone", json.dumps(shape)]
    result: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


def series() -> Iterator[tuple[str, str, tuple[int, ...], list[tuple[Any, ...]]]]:
    """Title, axis, its values, and the shapes of each series."""
    yield "rows, on the rows", "rows", ROWS, [("dense", n, 256, 10, "rows") for n in ROWS]
    yield "rows, machine='auto'", "rows", ROWS, [("dense", n, 256, 10, "auto") for n in ROWS]
    features = SPARSE_FEATURES
    yield "features, sparse", "features", features, [("sparse", 10_000, n, 10, "auto") for n in features]
    yield "classes", "classes", CLASSES, [("dense", 10_000, 256, n, "rows") for n in CLASSES]


def slope(sizes: Any, seconds: Any) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def draw(results: dict[str, tuple[str, Any, Any, Any]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained", sharex="col", sharey="row")
    columns = {"rows": 0, "features": 1, "classes": 2}
    for (title, (axis, sizes, seconds, memory)), marker in zip(results.items(), "os^D", strict=True):
        top, bottom = axes[:, columns[axis]]
        top.loglog(sizes, seconds, marker=marker, label=f"{title}: slope {slope(sizes, seconds):.2f}")
        bottom.semilogx(sizes, memory, marker=marker)
        bottom.set_xlabel(axis)
        top.legend(frameon=False, fontsize="small")
    axes[0, 0].set_ylabel("seconds")
    axes[1, 0].set_ylabel("peak memory / data")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, help="where to draw the curves")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(run_alone(*json.loads(arguments.alone))))
        return
    results = {}
    for title, axis, sizes, shapes in series():
        print(f"\n{title}\n{axis:>10} {'seconds':>9} {'peak MB':>9} {'/ data':>7} {'accuracy':>9}  machine")
        runs = []
        for size, shape in zip(sizes, shapes, strict=True):
            one = run(*shape)
            runs.append(one)
            line = (
                f"{size:10} {one['seconds']:9.2f} {one['megabytes']:9.0f} {one['memory']:7.2f} {one['accuracy']:9.3f}"
            )
            print(f"{line}  {one['machine'].partition(':')[0]}", flush=True)
        seconds = [one["seconds"] for one in runs]
        print(f"slope {slope(sizes, seconds):.2f}", flush=True)
        results[title] = (axis, sizes, seconds, [one["memory"] for one in runs])
    if arguments.picture:
        draw(results, arguments.picture)


if __name__ == "__main__":
    main()
