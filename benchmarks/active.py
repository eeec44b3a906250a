"""Compare rules that choose which rows of the target to label.

    ADREM_DATA=folder python benchmarks/active.py [--data NAME ...] [--rules NAME ...] [--seeds 2]
        [--out docs/results/active.csv] [--table]

The target is cut in two halves. The rows to label are chosen from one half by a model that was fitted without labels;
the model is fitted again with them, and its accuracy is that on the other half, which no fit has seen. Results that
the file has are not computed again. With --table it only prints the table of docs/few-labels.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from csv_files import read_csv, write_csv
from few_labels import PAIRS
from numpy.typing import NDArray
from scipy.special import entr, softmax
from sklearn.cluster import KMeans

from adrem import AdREM
from adrem.active.suggestion import SHORTLIST, coordinates, farthest_first
from adrem.datasets import DomainPair, load

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
LABELS, LEAST = 3, 20  # times the number of classes, and no fewer than
# The rule was chosen on the first ones, in the order of few_labels.PAIRS.
CHOSEN_ON = ("heart-disease", "amazon-400", "office-31-resnet50", "office-caltech-resnet50")
FIELDS = ("data", "pair", "seed", "rule", "accuracy", "seconds")
KEYS = FIELDS[:4]


class Half:
    """The half of the target that rows are chosen from: its rows, the votes, and the margins of the scores."""

    def __init__(self, model: AdREM, rows: Any, seed: int) -> None:
        self.model, self.rows, self.seed = model, rows, seed
        self.shares = model.predict_proba(rows)
        scores = np.mean(list(model.member_scores(rows)), axis=0)
        self.chances = softmax(np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores, axis=1)
        ordered = np.sort(self.chances, axis=1)
        self.margin = ordered[:, -1] - ordered[:, -2]
        self.labels = self.chances.argmax(axis=1)


def at_random(half: Half, n: int) -> Rows:
    return np.random.default_rng(half.seed).permutation(len(half.margin))[:n]


def least_confident(half: Half, n: int) -> Rows:
    return np.argsort(half.chances.max(axis=1), kind="stable")[:n]


def by_margin(half: Half, n: int) -> Rows:
    return np.argsort(half.margin, kind="stable")[:n]


def by_entropy_of_votes(half: Half, n: int) -> Rows:
    return np.lexsort((half.margin, -entr(half.shares).sum(axis=1)))[:n]


def by_class(half: Half, n: int) -> Rows:
    """The smallest margins of each label in turn."""
    order = np.argsort(half.margin, kind="stable")
    turn = np.empty(len(order), dtype=np.intp)
    for label in np.unique(half.labels):
        own = order[half.labels[order] == label]
        turn[own] = np.arange(len(own))
    return np.lexsort((half.margin, turn))[:n]


def by_distance(half: Half, n: int) -> Rows:
    """Those that lie farthest apart of the smallest margins: k-center, greedily. This is `suggest`."""
    few = np.argsort(half.margin, kind="stable")[: SHORTLIST * n]
    return few[farthest_first(coordinates(half.rows, half.seed)[few], n)]


def by_clusters(half: Half, n: int) -> Rows:
    """The row nearest to each of n means, of which none counts more than another."""
    return nearest_to_means(half, n, np.ones(len(half.margin)))


def by_doubtful_clusters(half: Half, n: int) -> Rows:
    """The same, where the entropy of the scores is the weight of a row (CLUE, Prabhu and others 2021)."""
    return nearest_to_means(half, n, entr(half.chances).sum(axis=1) + 1e-9)


def nearest_to_means(half: Half, n: int, weights: Array) -> Rows:
    places = coordinates(half.rows, half.seed)
    means = KMeans(n, n_init=3, random_state=half.seed).fit(places, sample_weight=weights)
    far = means.transform(places)
    return np.array([np.flatnonzero(means.labels_ == k)[far[means.labels_ == k, k].argmin()] for k in range(n)])


def doubtful_in_clusters(half: Half, n: int) -> Rows:
    """The smallest margin of each of n clusters."""
    clusters = KMeans(n, n_init=3, random_state=half.seed).fit_predict(coordinates(half.rows, half.seed))
    return np.array([np.flatnonzero(clusters == k)[half.margin[clusters == k].argmin()] for k in range(n)])


RULES: dict[str, Callable[[Half, int], Rows]] = {
    "random": at_random,
    "least confident": least_confident,
    "margin": by_margin,
    "entropy of the votes": by_entropy_of_votes,
    "margin, class by class": by_class,
    "k-center of small margins": by_distance,
    "k-means": by_clusters,
    "k-means, weighted by entropy": by_doubtful_clusters,
    "smallest margin of each cluster": doubtful_in_clusters,
}


def accuracies(pair: DomainPair, seed: int, rules: list[str]) -> dict[str, tuple[float, float]]:
    """The accuracy on the other half by each rule, and the time of the choice."""
    order = np.random.default_rng(seed).permutation(len(pair.y_target))
    one, other = order[: len(order) // 2], order[len(order) // 2 :]
    rows, truth = pair.X_target[one], pair.y_target[one]
    n = min(max(LABELS * len(np.unique(pair.y_source)), LEAST), len(one) // 2)

    def fitted(y_target: Any) -> AdREM:
        model = AdREM(n_estimators=3, random_state=0)
        return model.fit(pair.X_source, pair.y_source, X_target=rows, y_target=y_target)

    half = Half(fitted(None), rows, seed)
    found = {}
    for rule in rules:
        began = process_time()
        chosen = np.arange(0) if rule == "no labels" else RULES[rule](half, n)
        seconds = process_time() - began
        y_target = np.full(len(one), None, dtype=object)
        y_target[chosen] = truth[chosen]
        model = fitted(y_target) if len(chosen) else half.model
        found[rule] = float(np.mean(model.predict(pair.X_target[other]) == pair.y_target[other])), seconds
    return found


def run(args: argparse.Namespace) -> None:
    """Measure what the file does not have, and write it after each pair."""
    results: list[dict[str, Any]] = [*read_csv(args.out)] if args.out.exists() else []
    for seed in range(args.seeds):
        for name in args.data or PAIRS:
            for which in PAIRS[name]:
                known = {row["rule"] for row in results if [row[key] for key in KEYS[:3]] == [name, which, str(seed)]}
                rules = [rule for rule in ("no labels", *args.rules) if rule not in known]
                if not rules:
                    continue
                found = accuracies(load(name).pair(*which.split("-")), seed, rules)
                for rule, values in found.items():
                    results.append(dict(zip(FIELDS, (name, which, str(seed), rule, *values), strict=True)))
                write_csv(args.out, FIELDS, results)
                print(name, which, seed, {rule: round(100 * own[0], 1) for rule, own in found.items()}, flush=True)


def summarize(rows: list[dict[str, str]]) -> list[str]:
    """The mean gain over random rows on both halves of the data sets, and how often a rule is worse by a point."""
    by_case: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        by_case[row["data"], row["pair"], row["seed"]][row["rule"]] = 100 * float(row["accuracy"])
    parts = [[own for case, own in by_case.items() if (case[0] in CHOSEN_ON) == chosen] for chosen in (True, False)]
    names = [name for name in PAIRS if any(case[0] == name for case in by_case)]
    lines = [
        f"| rule | chosen on | reported on | worse than random rows | {' | '.join(names)} |",
        f"|---|---|---|---|{'---|' * len(names)}",
    ]
    for rule in ("no labels", *RULES):
        means = [f"{np.mean([own[rule] - own['random'] for own in part]):+.1f}" for part in parts]
        worse = sum(own[rule] < own["random"] - 1 for own in parts[1])
        sets = [np.mean([own[rule] for case, own in by_case.items() if case[0] == name]) for name in names]
        shown = " | ".join(f"{mean:.1f}" for mean in sets)
        lines.append(f"| {rule} | {means[0]} | {means[1]} | {worse} of {len(parts[1])} | {shown} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", choices=[*PAIRS])
    parser.add_argument("--rules", nargs="*", choices=[*RULES], default=[*RULES])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs/results/active.csv"))
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.table:
        print("\n".join(summarize(read_csv(args.out))))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(args)


if __name__ == "__main__":
    main()
