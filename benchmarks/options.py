"""Compare the options beyond the paper with the defaults of Ad-REM, on every real pair.

    ADREM_DATA=folder python benchmarks/options.py [--out docs/results/options.csv] [--jobs 2] [--seeds 10]

A seed is a repetition of the protocol, with its own draws of rows where it has any, and the seed of Ad-REM. All options
of a pair and seed see the same rows. `neighbors` is "auto"; if that chooses none,
the result is that of the defaults, bit for bit.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import write_csv
from joblib import Parallel, delayed

from adrem import AdREM
from adrem.benchmark.protocols import PROTOCOLS, Protocol
from adrem.datasets import DataSet, DomainPair, load, load_digits_shift

BASE = "Ad-REM"
OPTIONS: dict[str, dict[str, Any]] = {
    BASE: {},
    "refine": {"refine": 50},
    "neighbors": {"neighbors": "auto"},
    "intercept": {"fit_intercept": True},
    "log_loss": {"loss": "log_loss"},
    "rbf": {"kernel": "rbf"},
}
# The options that change little from seed to seed, or take long, are run with fewer of them.
FEWER = {"refine": 3, "intercept": 3, "log_loss": 1, "rbf": 3}
DIGITS = "digits"
# On these rules and thresholds were chosen; the others only report them.
CHOSEN_ON = (
    "amazon-standard/all",
    "amazon-full/all",
    "office-caltech-standard/surf",
    "office-caltech-full/surf",
    DIGITS,
)
FIELDS = ("data", "pair", "seed", "option", "accuracy", "seconds", "neighbors", "C")


def measure(name: str, pair: str, seed: int, data: DomainPair) -> list[dict[str, Any]]:
    rows = []
    for option, params in OPTIONS.items():
        if seed >= FEWER.get(option, seed + 1):
            continue
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = AdREM(random_state=seed, **params).fit(data.X_source, data.y_source, X_target=data.X_target)
        rows.append(
            {
                "data": name,
                "pair": pair,
                "seed": seed,
                "option": option,
                "accuracy": 100 * float(np.mean(model.transduction_ == data.y_target)),
                "seconds": time.perf_counter() - started,
                "neighbors": model.neighbors_,
                "C": model.C_,
            }
        )
    return rows


def tables() -> Iterator[tuple[Protocol, DataSet]]:
    """The protocols whose data are there."""
    for protocol in PROTOCOLS:
        try:
            yield protocol, load(protocol.data)
        except FileNotFoundError as error:
            print(f"{protocol.name}: {str(error).splitlines()[0]}", flush=True)


def cases(n_seeds: int) -> Iterator[tuple[str, str, int, DomainPair]]:
    for protocol, data in tables():
        for pair in protocol.pairs:
            for seed in range(n_seeds):
                yield protocol.name, pair, seed, protocol.make_pair(data, pair, seed)
    for seed in range(n_seeds):
        yield DIGITS, "camera", seed, load_digits_shift(random_state=seed)


def summarize(rows: list[dict[str, Any]]) -> list[str]:
    """A line a data set: the accuracy of Ad-REM, and what each option adds to it, with its spread over the pairs."""
    options = [option for option in OPTIONS if option != BASE]
    lines = [f"| data | pairs | {BASE} | {' | '.join(options)} |", "|---" * (len(options) + 3) + "|"]
    gains: dict[str, list[float]] = {option: [] for option in options}
    for data in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == data]
        pairs = list(dict.fromkeys(row["pair"] for row in own))
        cells = []
        for option in options:
            of_pairs = []
            for pair in pairs:
                by = {(row["option"], row["seed"]): float(row["accuracy"]) for row in own if row["pair"] == pair}
                of_pairs.append(float(np.mean([by[option, s] - by[BASE, s] for o, s in by if o == option])))
            gains[option] += of_pairs
            cells.append(_spread(of_pairs))
        mean = np.mean([float(row["accuracy"]) for row in own if row["option"] == BASE])
        mark = "*" if data in CHOSEN_ON else ""
        lines.append(f"| {data}{mark} | {len(pairs)} | {mean:.2f} | {' | '.join(cells)} |")
    times = " | ".join(f"x {_times(rows, option):.2f}" for option in options)
    lines.append(f"| all | {len(gains[options[0]])} | | {' | '.join(_spread(gains[option]) for option in options)} |")
    lines.append(f"| median time | | x 1 | {times} |")
    return lines


def _times(rows: list[dict[str, Any]], option: str) -> float:
    """How many times as long as Ad-REM an option takes on the same rows: the median."""
    seconds = {(row["data"], row["pair"], row["seed"], row["option"]): float(row["seconds"]) for row in rows}
    return float(np.median([own / seconds[*key, BASE] for (*key, o), own in seconds.items() if o == option]))


def _spread(gains: list[float]) -> str:
    return f"{np.mean(gains):+.2f} ({min(gains):+.1f} to {max(gains):+.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="A CSV file for the fits.")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    runner = Parallel(n_jobs=arguments.jobs, pre_dispatch="2*n_jobs", verbose=5)
    rows = [row for part in runner(delayed(measure)(*case) for case in cases(arguments.seeds)) for row in part]
    print("\n".join(summarize(rows)))
    if arguments.out is not None:
        write_csv(arguments.out, FIELDS, rows)


if __name__ == "__main__":
    main()
