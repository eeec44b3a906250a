"""Measure time and memory of every method on a pair of the Amazon reviews with all features, each in its own process.

    OMP_NUM_THREADS=1 python benchmarks/baselines.py [METHOD ...]

It prints a line for each method: seconds of `fit`, peak memory of the process, and accuracy on the target. The rows are
read before, and a first fit on a few of them compiles the kernels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from time import perf_counter

import numpy as np

from adrem.benchmark.methods import METHODS
from adrem.datasets import load

DATA, PAIR = "amazon-reviews", "B-D"


def measure(name: str) -> dict[str, float]:
    import resource

    data = load(DATA).pair(PAIR)
    few = data._replace(X_source=data.X_source[::50], y_source=data.y_source[::50], X_target=data.X_target[::50])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[name].label(few, 0)
        begin = perf_counter()
        labels, _ = METHODS[name].label(data, 0)
    return {
        "seconds": perf_counter() - begin,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "accuracy": 100 * float(np.mean(labels == data.y_target)),
    }


def main(names: list[str]) -> None:
    shape = load(DATA).pair(PAIR).X_source.shape
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    print(f"{DATA} {PAIR}: {shape[0]} source rows, {shape[1]} features, OMP_NUM_THREADS={threads}")
    print(f"{'method':<18}{'seconds':>8}{'GB':>6}{'accuracy':>10}")
    for name in names or list(METHODS):
        command = [sys.executable, __file__, "--one", name]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = json.loads(output)
        print(f"{name:<18}{found['seconds']:>8.1f}{found['gigabytes']:>6.2f}{found['accuracy']:>10.1f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(sys.argv[1:])
