"""Measure the accuracy of Ad-REM with its defaults on every pair of the paper's data sets, full protocol.

    ADREM_DATA=folder python benchmarks/accuracy.py [DATA_SET ...] [--seeds 3] [--loss hinge] [--jobs 2]
                                                    [--plain-maximum]

Each row is a pair: the accuracy of the source classifier, of one member (mean over the members) and of the vote, in
percent, mean over the seeds. The last row is the mean over the pairs, with its standard deviation over the seeds.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from adrem import AdREM
from adrem.datasets import load
from adrem.machines import regularization

DATA_SETS = ("amazon-reviews", "office-31-resnet50", "office-caltech-resnet50", "office-caltech-surf")
COLUMNS = ("source", "one member", "vote")


def run_pair(
    name: str, pair: str, seed: int, params: dict[str, Any], plain_maximum: bool
) -> tuple[NDArray[np.float64], float, float]:
    regularization.STANDARD_ERRORS = (
        0.0 if plain_maximum else 1.0
    )  # here, since pairs may run in processes of their own
    X_source, y_source, X_target, y_target = load(name).pair(pair)
    begin = perf_counter()
    model = AdREM(random_state=seed, **params).fit(X_source, y_source, X_target=X_target)
    seconds = perf_counter() - begin
    baseline = AdREM(**{**params, "C": model.C_}).fit(X_source, y_source).score(X_target, y_target)
    singles = [np.mean(labels == y_target) for labels in member_labels(model, X_target)]
    return 100 * np.array([baseline, np.mean(singles), np.mean(model.transduction_ == y_target)]), seconds, model.C_


def member_labels(model: AdREM, X: Any) -> list[NDArray[Any]]:
    from adrem.machines import decide

    return [model.classes_[decide(X @ coef.T + bias)] for coef, bias in zip(model.coef_, model.intercept_, strict=True)]


def run_data_set(name: str, seeds: range, params: dict[str, Any], jobs: int, plain_maximum: bool) -> None:
    pairs = load(name).pairs
    tasks = [(pair, seed) for pair in pairs for seed in seeds]
    results = Parallel(n_jobs=jobs)(delayed(run_pair)(name, pair, seed, params, plain_maximum) for pair, seed in tasks)
    table = np.array([accuracy for accuracy, _, _ in results]).reshape(-1, len(seeds), len(COLUMNS))
    print(f"\n{name}, {params or 'defaults'}, seeds {list(seeds)}")
    print(f"{'pair':6}" + "".join(f"{column:>14}" for column in COLUMNS) + f"{'seconds':>10}  C")
    for k, pair in enumerate(pairs):
        runs = results[k * len(seeds) : (k + 1) * len(seeds)]
        cells = "".join(f"{value:14.2f}" for value in table[k].mean(axis=0))
        print(f"{pair:6}{cells}{np.median([r[1] for r in runs]):10.1f}  {sorted({r[2] for r in runs})}")
    means = table.mean(axis=0)
    spread = means.std(axis=0, ddof=1) if len(seeds) > 1 else np.full(len(COLUMNS), np.nan)
    cells = "".join(f"{m:8.2f}+-{s:4.2f}" for m, s in zip(means.mean(axis=0), spread, strict=True))
    print(f"{'mean':6}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="DATA_SET", help=f"among {', '.join(DATA_SETS)}; default: all")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds, from 0")
    parser.add_argument("--loss", default="hinge", choices=("hinge", "log_loss"))
    parser.add_argument("--jobs", type=int, default=1, help="pairs run side by side")
    parser.add_argument("--plain-maximum", action="store_true", help="choose C by the highest accuracy, ties apart")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(DATA_SETS)
    if unknown:
        parser.error(f"unknown data set {', '.join(unknown)}; known are {', '.join(DATA_SETS)}")
    params = {} if arguments.loss == "hinge" else {"loss": arguments.loss}
    for name in arguments.names or DATA_SETS:
        run_data_set(name, range(arguments.seeds), params, arguments.jobs, arguments.plain_maximum)


if __name__ == "__main__":
    main()
