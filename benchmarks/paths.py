"""Compare the Gram machine and the row machine on tables of many shapes: the data of the cost model.

    OMP_NUM_THREADS=1 python benchmarks/paths.py

Synthetic rows, half of them source; five iterations of as many members as are trained together. The two paths
alternate, and the script prints the median milliseconds per member and their ratio. Below one, the Gram
matrix is faster.
"""

from __future__ import annotations

from itertools import product
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from adrem.algorithm.em import EMOptions, randomized_em
from adrem.algorithm.task import Task
from adrem.machines import make_machine
from adrem.machines.cost_model import choose_path
from adrem.machines.linear import TrainingSet
from adrem.machines.losses import LOSSES
from adrem.machines.tables import Outline

PATHS = ("gram", "rows")


def seconds(X: Any, y: Any, n_classes: int, loss: str, path: str) -> float:
    n_source = len(y) // 2
    machine = make_machine(X, n_classes, loss, path=path, memory_limit=2**40)
    prior, C = np.full(n_classes, 1 / n_classes), 0.1 / np.sqrt(X.shape[1])
    rows = TrainingSet(machine, y[:n_source], np.ones(n_source), len(y) - n_source, C)
    task, source = Task(rows, prior), rows.train_source()
    rngs = [np.random.default_rng(seed) for seed in range(min(11, machine.group_size))]
    begin = perf_counter()
    randomized_em(task, source, rngs, EMOptions(n_iter=5))
    return (perf_counter() - begin) / len(rngs)


def main(rounds: int = 3) -> None:
    for loss, n_classes, n_rows, n_features in product(
        ("hinge", "log_loss"), (2, 10), (500, 2000, 8000), (4, 16, 64, 256, 1024)
    ):
        X, y = make_classification(
            n_rows, n_features, n_informative=min(n_features, 20), n_redundant=0, n_repeated=0, n_classes=n_classes,
            n_clusters_per_class=1, class_sep=0.7, random_state=0,
        )  # fmt: skip
        X = (X / X.std()).astype(np.float32)
        for path in PATHS:
            seconds(X[:200], y[:200], n_classes, loss, path)  # compiles
        times = [[seconds(X, y, n_classes, loss, path) for path in PATHS] for _ in range(rounds)]
        gram, rows = (1000 * median(side) for side in zip(*times, strict=True))
        ratio = median(a / b for a, b in times)
        chosen = choose_path(Outline.of(X), n_classes, LOSSES[loss].costs).name
        verdict = "" if (ratio < 1) == (chosen == "gram") else f"  chosen all the same: {chosen}"
        shape = f"{loss:9} {n_classes:3} classes {n_rows:6} rows {n_features:5} features"
        print(f"{shape}  gram {gram:8.1f} ms  rows {rows:8.1f} ms  ratio {ratio:5.2f}{verdict}", flush=True)


if __name__ == "__main__":
    main()
