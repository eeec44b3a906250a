"""Measure the error of the accuracy estimated without labels of the target, and the coverage of its interval.

    ADREM_DATA=folder python benchmarks/estimate.py [--out docs/results/estimate.csv] [--jobs 2]

Ad-REM with its defaults on every real pair, the first repetition of its protocol.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import write_csv
from joblib import Parallel, delayed
from options import CHOSEN_ON, DIGITS, tables

from adrem import AdREM
from adrem.datasets import DomainPair, load_digits_shift
from adrem.diagnostics import estimate_accuracy
from adrem.model_selection import CircularScorer
from adrem.model_selection.scorers import Parts

ESTIMATES = ("estimate", "confidence", "difference", "votes", "circular")
FIELDS = ("data", "pair", "accuracy", "low", "high", *ESTIMATES)


def cases(wanted: list[str]) -> Iterator[tuple[str, str, DomainPair]]:
    for protocol, data in tables():
        if not wanted or protocol.name in wanted:
            for pair in protocol.pairs:
                yield protocol.name, pair, protocol.make_pair(data, pair, 0)
    if not wanted or DIGITS in wanted:
        yield DIGITS, "camera", load_digits_shift()


def halves(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    chosen_on = [row for row in rows if row["data"] in CHOSEN_ON]
    others = [row for row in rows if row["data"] not in CHOSEN_ON]
    named = {"Data that the rules were chosen on": chosen_on, "The other data": others}
    return {title: half for title, half in named.items() if half}


def measure(name: str, pair: str, data: DomainPair) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AdREM(random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
        found = estimate_accuracy(model, data.X_source, data.y_source, data.X_target)
        circular = CircularScorer().score_parts(model, Parts(data.X_source, data.y_source, data.X_target))
    return {
        "data": name,
        "pair": pair,
        "accuracy": float(np.mean(model.transduction_ == data.y_target)),
        "low": found.low,
        "high": found.high,
        "estimate": found.accuracy,
        "confidence": found.confidence,
        "difference": found.difference_of_confidences,
        "votes": float(model.vote_share_.max(axis=1).mean()),
        "circular": circular,
    }


def summarize(rows: list[dict[str, Any]]) -> list[str]:
    """A line an estimate: how far off it is, and how often the interval holds the truth."""
    lines = []
    for title, half in halves(rows).items():
        truths, low, high = (np.array([float(row[key]) for row in half]) for key in ("accuracy", "low", "high"))
        lines += [f"{title}:", "", "| estimate | mean absolute error | bias | correlation |", "|---" * 4 + "|"]
        for name in ESTIMATES:
            found = np.array([float(row[name]) for row in half])
            errors, correlation = 100 * (found - truths), np.corrcoef(found, truths)[0, 1]
            lines.append(f"| {name} | {np.abs(errors).mean():.1f} | {errors.mean():+.1f} | {correlation:.2f} |")
        held = np.count_nonzero((low <= truths) & (truths <= high))
        width = 100 * (high - low).mean()
        lines += [
            "",
            f"The interval holds it in {held} of {len(half)} pairs; its mean width is {width:.0f} points.",
            "",
        ]
    return lines[:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="A CSV file for the pairs.")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    runner = Parallel(n_jobs=arguments.jobs, pre_dispatch="2*n_jobs", verbose=5)
    rows = list(runner(delayed(measure)(*case) for case in cases([])))
    print("\n".join(summarize(rows)))
    if arguments.out is not None:
        write_csv(arguments.out, FIELDS, rows)


if __name__ == "__main__":
    main()
