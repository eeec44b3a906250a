"""Measure the estimate of the accuracy from 50 labels: how often its interval holds the truth, and how wide it is.

    ADREM_DATA=folder python benchmarks/labelled_estimate.py [--data NAME ...]
        [--out docs/results/labelled_estimate.csv] [--table]

Each pair is fitted once, and then once for each third that an estimate leaves out. From this, 20 random samples of 50
labels make 20 intervals. With the form "in the fit", the labels of one sample are used in the fit too, and so are in
the estimate by cross-validation only; the truth is the accuracy on the other rows. Results that the file has are not
computed again. With --table it only prints the tables of docs/estimate.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import read_csv, write_csv
from few_labels import PAIRS
from numpy.typing import NDArray
from own_cases import BATCHES
from scipy.stats import norm

from adrem import AdREM
from adrem.datasets import load
from adrem.diagnostics import estimate_accuracy
from adrem.diagnostics.accuracy import held_out_chances
from adrem.diagnostics.diagnosis import examine
from adrem.diagnostics.labelled import LabelledRows, estimate_from_labels

Array = NDArray[np.float64]
Bounds = tuple[float, float]
DOMAINS = {
    "heart-disease": "CHSV",
    "amazon-400": "BDEK",
    "office-31-resnet50": "ADW",
    "office-caltech-resnet50": "ACDW",
    "office-caltech-surf": "ACDW",
    "phishing": "IN",
    "mushrooms": "ET",
    "amazon-reviews": "BDEK",
}
# The interval was chosen on the first ones, in the order of few_labels.PAIRS.
CHOSEN_ON = ("heart-disease", "amazon-400", "office-31-resnet50", "office-caltech-resnet50")
N_LABELS, N_DRAWS = 50, 20
FIELDS = ("data", "pair", "form", "interval", "n_target", "accuracy", "held", "draws", "width", "error")
KEYS = FIELDS[:3]


def pairs_of(name: str) -> Iterator[str]:
    """All pairs of domains; of the gas sensors, the first batch and each later one."""
    if name == "gas-sensor-drift":
        yield from (f"1-{batch}" for batch in BATCHES)
    else:
        yield from ("-".join(own) for own in permutations(DOMAINS[name], 2))


def with_chances(labelled: LabelledRows, chances: Array) -> Bounds:
    found = estimate_from_labels(labelled, chances)
    return found.low, found.high


def without_chances(labelled: LabelledRows, chances: Array) -> Bounds:
    return with_chances(labelled, np.zeros_like(chances))


def normal(labelled: LabelledRows, chances: Array) -> Bounds:
    """The interval of the usual prediction-powered inference: normal, with power tuning, for any population."""
    right, own = labelled.is_right.astype(float), chances[labelled.rows]
    n, n_rows = len(right), len(chances)
    spread = np.var(own)
    slope = float(np.clip(np.cov(right, own)[0, 1] / spread / (1 + n / n_rows), 0, 1)) if spread else 0.0
    mean = np.mean(right - slope * own) + slope * chances.mean()
    error = np.sqrt(slope**2 * np.var(chances) / n_rows + np.var(right - slope * own) / n)
    half_width = norm.ppf(0.95) * error
    return float(mean - half_width), float(mean + half_width)


INTERVALS: dict[str, Callable[[LabelledRows, Array], Bounds]] = {
    "this package": with_chances,
    "labelled rows alone": without_chances,
    "prediction-powered, normal": normal,
}


def fit(pair: Any, y_target: Any = None) -> AdREM:
    model = AdREM(n_estimators=3, random_state=0)
    return model.fit(pair.X_source, pair.y_source, X_target=pair.X_target, y_target=y_target)


def beside_the_fit(pair: Any) -> Iterator[dict[str, Any]]:
    """All intervals from many samples, for one model."""
    examined = examine(fit(pair), pair.X_source, pair.y_source, pair.X_target)
    found, labels = held_out_chances(examined), examined.after
    chances = found.unknown[np.arange(len(labels)), labels]
    is_right = examined.model.classes_[labels] == pair.y_target
    truth, n_rows = float(np.mean(is_right)), len(labels)
    draws = [np.random.default_rng(seed).permutation(n_rows)[:N_LABELS] for seed in range(N_DRAWS)]
    samples = [LabelledRows.at_random(rows, is_right[rows], n_rows) for rows in draws]
    for name, interval in INTERVALS.items():
        bounds = np.array([interval(sample, chances) for sample in samples])
        yield summary(name, bounds, np.full(N_DRAWS, truth), n_rows)


def in_the_fit(pair: Any) -> Iterator[dict[str, Any]]:
    """The interval from a sample whose labels were known in the fit."""
    rows = np.random.default_rng(0).permutation(len(pair.y_target))[:N_LABELS]
    y_known = np.full(len(pair.y_target), None, dtype=object)
    y_known[rows] = pair.y_target[rows]
    model = fit(pair, y_known)
    others = np.setdiff1d(np.arange(len(y_known)), rows)
    truth = float(np.mean(model.transduction_[others] == pair.y_target[others]))
    estimate = estimate_accuracy(model, pair.X_source, pair.y_source, pair.X_target, y_known=y_known)
    yield summary("this package", np.array([[estimate.low, estimate.high]]), np.array([truth]), len(y_known))


def summary(name: str, bounds: Array, truth: Array, n_rows: int) -> dict[str, Any]:
    held = (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
    return {
        "interval": name,
        "n_target": n_rows,
        "accuracy": float(truth[0]),
        "held": int(held.sum()),
        "draws": len(held),
        "width": float(np.mean(bounds[:, 1] - bounds[:, 0])),
        "error": float(np.mean(bounds.mean(axis=1) - truth)),
    }


def run(args: argparse.Namespace) -> None:
    """Measure what the file does not have, and write it after each pair."""
    results: list[dict[str, Any]] = [*read_csv(args.out)] if args.out.exists() else []
    known = {tuple(row[key] for key in KEYS) for row in results}
    cells = [(name, which, "beside the fit") for name in args.data or PAIRS for which in pairs_of(name)]
    cells += [(name, which, "in the fit") for name in args.data or PAIRS for which in PAIRS[name]]
    for name, which, form in cells:
        if (name, which, form) not in known:
            pair = load(name).pair(*which.split("-"))
            measured = [*(beside_the_fit if form == "beside the fit" else in_the_fit)(pair)]
            results += [dict(zip(KEYS, (name, which, form), strict=True)) | row for row in measured]
            write_csv(args.out, FIELDS, results)
            print(name, which, form, [(row["held"], round(row["width"], 3)) for row in measured], flush=True)


def summarize(rows: list[dict[str, str]]) -> list[str]:
    """How often each interval holds the truth, on both halves of the data sets, and the mean widths."""
    lines = [
        "| interval | labels | chosen on: held | reported on: held | fewest of a data set | mean width |",
        "|---|---|---|---|---|---|",
    ]
    for form in ("beside the fit", "in the fit"):
        for name in INTERVALS:
            own = [row for row in rows if (row["form"], row["interval"]) == (form, name)]
            if own:
                halves = [[row for row in own if (row["data"] in CHOSEN_ON) == chosen] for chosen in (True, False)]
                by_set = [shares([row for row in own if row["data"] == data]) for data in {row["data"] for row in own}]
                width = np.mean([100 * float(row["width"]) for row in own])
                held = " | ".join(f"{shares(half):.1f} %" if half else "" for half in halves)
                lines.append(f"| {name} | {form} | {held} | {min(by_set):.0f} % | {width:.1f} |")
    return lines


def shares(rows: list[dict[str, str]]) -> float:
    draws = sum(int(row["draws"]) for row in rows)
    return 100 * sum(int(row["held"]) for row in rows) / draws


def by_data(rows: list[dict[str, str]]) -> list[str]:
    """The widths of each data set, with the chances and without."""
    lines = ["| data | pairs | held | width | width, labelled rows alone | narrower by |", "|---|---|---|---|---|---|"]
    for data in PAIRS:
        own = [row for row in rows if row["data"] == data and row["form"] == "beside the fit"]
        with_, without = ([row for row in own if row["interval"] == name] for name in [*INTERVALS][:2])
        if own:
            widths = [np.mean([100 * float(row["width"]) for row in part]) for part in (with_, without)]
            narrower = 100 * (1 - widths[0] / widths[1])
            held = f"{shares(with_):.0f} %"
            lines.append(f"| {data} | {len(with_)} | {held} | {widths[0]:.1f} | {widths[1]:.1f} | {narrower:.0f} % |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", choices=[*PAIRS])
    parser.add_argument("--out", type=Path, default=Path("docs/results/labelled_estimate.csv"))
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.table:
        rows = read_csv(args.out)
        print("\n".join([*summarize(rows), "", *by_data(rows)]))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(args)


if __name__ == "__main__":
    main()
