"""Measure the overhead of the first `fit` of a process, with and without compiled kernels on disk.

    python benchmarks/first_fit.py

Each line has the time of a new process with an empty cache folder, then the median of three that use its cache. The
time of a second fit of the same small table is subtracted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from itertools import product
from statistics import median

CODE = """
import sys, time
import numpy as np, scipy.sparse as sp
from adrem import AdREM
form, loss, machine = sys.argv[1:]
X = np.random.default_rng(0).standard_normal((60, 5))
X, y = sp.csr_array(X) if form == "csr" else X, np.arange(60) % 3
seconds = []
for _ in range(2):
    begin = time.perf_counter()
    AdREM(loss=loss, machine=machine, random_state=0).fit(X[:40], y[:40], X_target=X[40:])
    seconds.append(time.perf_counter() - begin)
print(seconds[0] - seconds[1])
"""


def overhead(cache: str, *arguments: str) -> float:
    command = [sys.executable, "-c", CODE, *arguments]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    for arguments in product(("dense", "csr"), ("hinge", "log_loss"), ("gram", "rows")):
        with tempfile.TemporaryDirectory() as cache:
            cold = overhead(cache, *arguments)
            warm = median(overhead(cache, *arguments) for _ in range(3))
        print(f"{' '.join(arguments):22} nothing compiled {cold:5.1f} s   kernels on disk {warm:5.2f} s", flush=True)


if __name__ == "__main__":
    main()
