"""Compare coordinate descent alone and with Newton's method as fallback, on tables with unscaled features.

    OMP_NUM_THREADS=1 python benchmarks/unscaled.py

scikit-learn's iris, wine and breast cancer as they come, a random half of each the source and the rest the target;
Ad-REM with its defaults, both sides alternated on the same halves. The script prints median seconds and their ratio,
the share of trainings that did not converge, and the mean accuracy with its standard deviation over the halves.
"""

from __future__ import annotations

import re
import warnings
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from adrem import AdREM
from adrem.exceptions import LostClassWarning
from adrem.machines import newton as _newton

DATA = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
N_HALVES = 5


class Fit(NamedTuple):
    """How a fit went."""

    seconds: float
    given_up: float
    accuracy: float


def fit(loss: Any, X: Any, y: Any, is_source: Any, most_work: int) -> Fit:
    """One fit, with Newton's method for tables up to so much work a step."""
    usual, _newton.MOST_WORK = _newton.MOST_WORK, most_work
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            warnings.simplefilter("ignore", LostClassWarning)
            begin = perf_counter()
            model = AdREM(loss, random_state=0).fit(X[is_source], y[is_source], X_target=X[~is_source])
            seconds = perf_counter() - begin
    finally:
        _newton.MOST_WORK = usual
    told = [re.match(r"(\d+) of (\d+) trainings", str(one.message)) for one in caught]
    shares = [int(one[1]) / int(one[2]) for one in told if one]
    return Fit(seconds, sum(shares), float(np.mean(model.transduction_ == y[~is_source])))


def describe(fits: list[Fit]) -> str:
    accuracies = [100 * one.accuracy for one in fits]
    given_up = 100 * np.mean([one.given_up for one in fits])
    spread = f"{np.mean(accuracies):5.1f} +- {np.std(accuracies, ddof=1):.1f}"
    return f"{median(one.seconds for one in fits):6.2f} s, {given_up:3.0f} % given up, accuracy {spread}"


def main() -> None:
    for name, read in DATA.items():
        X, y = read(return_X_y=True)
        for loss in ("hinge", "log_loss"):
            sides = []
            for seed in range(N_HALVES):
                is_source = np.random.default_rng(seed).random(len(y)) < 0.5
                sides.append([fit(loss, X, y, is_source, work) for work in (0, _newton.MOST_WORK)])
            alone, both = zip(*sides, strict=True)
            ratio = median(a.seconds / b.seconds for a, b in sides)
            print(
                f"{name:13} {loss:8}  alone {describe(list(alone))}; with Newton {describe(list(both))}; {ratio:.1f} x",
                flush=True,
            )


if __name__ == "__main__":
    main()
