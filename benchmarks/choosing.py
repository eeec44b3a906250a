"""Measure how well models can be chosen without labels of the target.

    ADREM_DATA=folder python benchmarks/choosing.py [--out docs/results/choosing.csv] [--jobs 2] [--data NAME,...]

`AdREMCV` is fitted to every real pair (the first repetition of its protocol), and every scorer of
`adrem.model_selection` scores each candidate. Labels of the target only evaluate the scorers: their rank
correlation with the true accuracy, and the points lost by taking the candidate with the highest score.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import read_csv, write_csv
from joblib import Parallel, delayed
from options import CHOSEN_ON, DIGITS, tables
from scipy.stats import spearmanr

from adrem import AdREM, AdREMCV
from adrem.base.validation import Domains
from adrem.datasets import DomainPair, load_digits_shift
from adrem.model_selection import (
    AgreementScorer,
    CircularScorer,
    EntropyScorer,
    ImportanceWeightedScorer,
    NeighbourhoodDensityScorer,
    NeighbourScorer,
)
from adrem.model_selection.candidates import Candidate

SOURCE, PLAIN, OURS, DEFAULT = "source alone", "hinge", "AdREMCV", "Ad-REM"
SCORERS: dict[str, Any] = {
    "circular": CircularScorer(),
    "importance": ImportanceWeightedScorer(),
    "density": NeighbourhoodDensityScorer(),
    "entropy": EntropyScorer(),
    "agreement": AgreementScorer(),
    "neighbours": NeighbourScorer(),
}
FIELDS = ("data", "pair", "candidate", "taken", "accuracy", "seconds", "source_accuracy", *SCORERS)
TEXTS = ("data", "pair", "candidate", "taken")


class Watched(AdREMCV):
    """`AdREMCV` that keeps its candidates."""

    def _choose(self, fitted: list[Candidate], domains: Domains) -> Candidate:
        self.fitted_ = fitted
        return super()._choose(fitted, domains)


def measure(name: str, pair: str, data: DomainPair) -> list[dict[str, Any]]:
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.perf_counter()
        model = Watched(random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
        common = {"data": name, "pair": pair}
        rows.append(
            {
                **common,
                "candidate": OURS,
                "taken": model.best_name_,
                "accuracy": _accuracy(model, data),
                "seconds": time.perf_counter() - started,
            }
        )
        for candidate in model.fitted_:
            row = {**common, "candidate": candidate.name, "accuracy": _accuracy(candidate.model, data)}
            row |= {"seconds": candidate.seconds, "source_accuracy": candidate.source_accuracy}
            row |= {scorer: score.score_parts(candidate.model, candidate.parts) for scorer, score in SCORERS.items()}
            rows.append(row)
        plain = AdREM(random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
        rows.append({**common, "candidate": DEFAULT, "accuracy": _accuracy(plain, data)})
    print(
        f"{name:<32} {pair:<6} {rows[0]['accuracy']:5.1f} {rows[0]['taken']:<14} {rows[0]['seconds']:5.0f} s",
        flush=True,
    )
    return rows


def _accuracy(model: Any, data: DomainPair) -> float:
    return 100 * float(np.mean(model.transduction_ == data.y_target))


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


def summarize(rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for title, half in halves(rows).items():
        lines += [f"{title}:", "", *_choices(half), "", *_scorers(half), ""]
    return lines[:-1]


def _choices(rows: list[dict[str, Any]]) -> list[str]:
    """A line a data set: what is taken, and what the best by labels of the target would have been."""
    heads = ("data", "pairs", "source alone", "Ad-REM", "AdREMCV", "best candidate", "lost", "below source", "taken")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for data in [*dict.fromkeys(row["data"] for row in rows), "all"]:
        pairs = _by_pair([row for row in rows if data in (row["data"], "all")])
        ours, alone, plain = (np.array([own[name]["accuracy"] for own in pairs]) for name in (OURS, SOURCE, DEFAULT))
        best = np.array([max(row["accuracy"] for row in _candidates(own)) for own in pairs])
        taken = [own[OURS]["taken"] for own in pairs]
        counts = ", ".join(
            f"{name} {taken.count(name)}" for name in dict.fromkeys(sorted(taken, key=taken.count)[::-1])
        )
        below = int(np.count_nonzero(ours < alone))
        means = " | ".join(f"{own.mean():.2f}" for own in (alone, plain, ours, best, best - ours))
        lines.append(f"| {data} | {len(pairs)} | {means} | {below} | {counts} |")
    return lines


def _scorers(rows: list[dict[str, Any]]) -> list[str]:
    """A line a scorer: how it goes with the accuracy, among the candidates of a pair, and what it loses."""
    lines = ["| scorer | rank correlation in a pair | across pairs | lost | below source |", "|---" * 5 + "|"]
    pairs = _by_pair(rows)
    for scorer in (*SCORERS, "source_accuracy"):
        within, lost, below, of_plain = [], [], 0, []
        for own in pairs:
            candidates = _candidates(own)
            scores, truths = ([float(row[key]) for row in candidates] for key in (scorer, "accuracy"))
            if len(set(scores)) > 1 and len(set(truths)) > 1:
                within.append(float(spearmanr(scores, truths)[0]))
            lost.append(max(truths) - truths[int(np.argmax(scores))])
            below += truths[int(np.argmax(scores))] < own[SOURCE]["accuracy"]
            of_plain.append((own[PLAIN][scorer], own[PLAIN]["accuracy"]))
        across = float(spearmanr(*zip(*of_plain, strict=True))[0])
        means = f"{np.mean(within):+.2f} | {across:+.2f} | {np.mean(lost):.2f}"
        lines.append(f"| {scorer} | {means} | {below} |")
    return lines


def _by_pair(rows: list[dict[str, Any]]) -> list[dict[str, dict[str, Any]]]:
    keys = dict.fromkeys((row["data"], row["pair"]) for row in rows)
    return [{row["candidate"]: row for row in rows if (row["data"], row["pair"]) == key} for key in keys]


def _candidates(own: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for name, row in own.items() if name not in (OURS, DEFAULT)]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """What was written before."""
    return [
        {name: value if name in TEXTS else float(value or "nan") for name, value in row.items()}
        for row in read_csv(path)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="A CSV file for the candidates.")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", default="", help="Only these tables, with commas between.")
    arguments = parser.parse_args()
    runner = Parallel(n_jobs=arguments.jobs, pre_dispatch="2*n_jobs")
    wanted = [name for name in arguments.data.split(",") if name]
    rows = [row for part in runner(delayed(measure)(*case) for case in cases(wanted)) for row in part]
    print("\n".join(summarize(rows)))
    if arguments.out is not None:
        write_csv(arguments.out, FIELDS, rows)


if __name__ == "__main__":
    main()
