"""Measure the accuracy with a few labels of the target.

    ADREM_DATA=folder python benchmarks/few_labels.py [--data NAME ...] [--methods source adrem committee] [--seeds 3]
        [--out docs/results/few_labels.csv] [--table] [--weights]

So many target rows as there are classes, times 0, 1, 3, 5 and 10, are drawn at random, and their labels are given to
`fit`. The accuracy is that of the labels of all other rows. Results that the file has are not computed again. With
--table it only prints the table of docs/few-labels.md, and with --weights that of accuracies by the weight of a label.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from csv_files import read_csv, write_csv
from numpy.typing import NDArray

from adrem import AdREM, Committee
from adrem.base import read_domains
from adrem.base.known import beside_source, weigh_known
from adrem.baselines import SourceOnly
from adrem.datasets import DomainPair, load

PAIRS = {
    "heart-disease": ("C-H", "H-C", "C-V"),
    "amazon-400": ("K-D", "B-E", "E-B"),
    "office-31-resnet50": ("W-A", "A-W", "D-A"),
    "office-caltech-resnet50": ("A-C", "D-A", "C-W"),
    "gas-sensor-drift": ("1-2", "2-8", "6-8"),
    "office-caltech-surf": ("A-C", "D-A", "C-W"),
    "phishing": ("I-N", "N-I"),
    "mushrooms": ("E-T", "T-E"),
    "amazon-reviews": ("K-D", "B-E", "E-B"),
}
LABELS = (0, 1, 3, 5, 10)  # times the number of classes
METHODS: dict[str, Callable[[], Any]] = {
    "source": lambda: SourceOnly(random_state=0),
    "adrem": lambda: AdREM(n_estimators=5, random_state=0),
    "committee": lambda: Committee(n_estimators=3, random_state=0),
}
TITLES = {"source": "source + labels, SVM", "adrem": "Ad-REM", "committee": "`Committee`"}
WEIGHTS = (1, 5, 25)  # of a label, in rows of the source
WEIGHED = (("heart-disease", "C-V"), ("gas-sensor-drift", "2-8"), ("office-31-resnet50", "A-W"))
FIELDS = ("data", "pair", "labels", "seed", "method", "accuracy", "weight", "seconds")
KEYS = FIELDS[:5]


def some_rows(pair: DomainPair, labels: int, seed: int) -> NDArray[np.intp]:
    """Random rows of the target; those for fewer labels are among those for more."""
    n_known = min(labels * len(np.unique(pair.y_source)), len(pair.y_target) // 2)
    return np.random.default_rng(seed).permutation(len(pair.y_target))[:n_known]


def measure(pair: DomainPair, labels: int, seed: int, method: str) -> dict[str, Any]:
    """The accuracy on the rows without a label, how much a label counted, and the time."""
    rows = some_rows(pair, labels, seed)
    is_known = np.zeros(len(pair.y_target), dtype=bool)
    is_known[rows] = True
    y_target = np.where(is_known, pair.y_target.astype(object), None)
    began = perf_counter()
    model = METHODS[method]().fit(pair.X_source, pair.y_source, X_target=pair.X_target, y_target=y_target)
    right = model.transduction_[~is_known] == pair.y_target[~is_known]
    found = {"accuracy": float(np.mean(right)), "seconds": perf_counter() - began}
    return {**found, "weight": getattr(model, "known_weight_", "")}


def cells(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What is to be measured: without labels once, because the rows that are left out do not differ."""
    for name in args.data or PAIRS:
        for seed in range(args.seeds):
            for pair in PAIRS[name]:
                for labels in LABELS:
                    for method in args.methods:
                        if labels or not seed:
                            yield dict(zip(KEYS, (name, pair, labels, seed, method), strict=True))


def run(args: argparse.Namespace) -> None:
    """Measure what the file does not have, and write it after each cell."""
    done = read_csv(args.out) if args.out.exists() else []
    known = {tuple(row[key] for key in KEYS) for row in done}
    results: list[dict[str, Any]] = [*done]
    pairs: dict[tuple[str, str], DomainPair] = {}
    for cell in cells(args):
        if tuple(str(cell[key]) for key in KEYS) in known:
            continue
        which = cell["data"], cell["pair"]
        if which not in pairs:
            pairs = {which: load(cell["data"]).pair(*cell["pair"].split("-"))}  # one at a time
        results.append({**cell, **measure(pairs[which], cell["labels"], cell["seed"], cell["method"])})
        write_csv(args.out, FIELDS, results)
        print(*results[-1].values(), flush=True)


def summarize(rows: list[dict[str, str]]) -> list[str]:
    """The mean over the seeds, and the standard deviation over them, in percent."""
    found: dict[tuple[str, str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["data"], row["pair"], row["method"]][int(row["labels"])].append(100 * float(row["accuracy"]))
    lines = [
        f"| data | pair | method | {' | '.join(map(str, LABELS))} |",
        f"|---|---|---|{'---|' * len(LABELS)}",
    ]
    for (data, pair, method), own in sorted(found.items(), key=lambda item: _place(*item[0])):
        shown = " | ".join(_cell(own[labels]) if labels in own else "" for labels in LABELS)
        lines.append(f"| {data} | {pair} | {TITLES[method]} | {shown} |")
    return lines


def _place(data: str, pair: str, method: str) -> tuple[int, int, int]:
    return [*PAIRS].index(data), PAIRS[data].index(pair), [*METHODS].index(method)


def _cell(values: list[float]) -> str:
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}"


def alike() -> DomainPair:
    """Two domains that do not differ, with some wrong labels."""
    rng = np.random.default_rng(0)
    X, flipped = rng.normal(size=(2300, 20)), rng.random(2300) < 0.15
    y = ((X[:, 0] > 0) ^ flipped).astype(int)
    return DomainPair(X[:2000], y[:2000], X[2000:], y[2000:])


def by_weight(pair: DomainPair, labels: int) -> list[float]:
    """The accuracy of the source's classifier with labels, by how many source rows each counts."""
    rows = some_rows(pair, labels, 0)
    y_target = np.full(len(pair.y_target), None, dtype=object)
    y_target[rows] = pair.y_target[rows]
    model = SourceOnly(random_state=0)
    beside = beside_source(read_domains(model, *pair[:2], X_target=pair.X_target, y_target=y_target))
    others = np.setdiff1d(np.arange(len(y_target)), rows)
    found = []
    for weight in (*WEIGHTS, len(pair.y_source) / max(len(rows), 1)):
        model.fit_domains(weigh_known(beside, weight))
        found.append(float(np.mean(model.transduction_ == pair.y_target[others])))
    return found


def show_weights() -> None:
    """Print a line for each pair and number of labels."""
    print(f"| pair | labels a class | {' | '.join(map(str, WEIGHTS))} | as the source |")
    print(f"|---|---|{'---|' * (len(WEIGHTS) + 1)}")
    for data, name in (("drawn", ""), *WEIGHED):
        pair = load(data).pair(*name.split("-")) if name else alike()
        for labels in (3, 10) if name else (15, 30):
            shown = " | ".join(f"{100 * accuracy:.1f}" for accuracy in by_weight(pair, labels))
            print(f"| {f'{data} {name}'.strip()} | {labels} | {shown} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", choices=[*PAIRS])
    parser.add_argument("--methods", nargs="*", choices=[*METHODS], default=["source", "adrem"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("docs/results/few_labels.csv"))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--weights", action="store_true")
    args = parser.parse_args()
    if args.weights:
        show_weights()
        return
    if args.table:
        print("\n".join(summarize(read_csv(args.out))))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(args)


if __name__ == "__main__":
    main()
