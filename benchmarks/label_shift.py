"""Measure the effect of unknown class shares of the target, and of estimating them.

    ADREM_DATA=folder python benchmarks/label_shift.py [--out docs/results/label_shift.csv] [--jobs 2] [--data NAME]

Amazon reviews, all features, all pairs: the target keeps all rows of one class and so many of the other that the first
makes up 50 to 90 % of it, in both directions. Office-31, ResNet-50 features, all pairs: a random half of the target's
classes keeps a third of its rows, drawn five times. Ad-REM with its defaults, and the shares of the classes in its
draws equal, those of the source, estimated, or the true ones; and the source's classifier alone.
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
from sklearn.metrics import balanced_accuracy_score

from adrem import AdREM
from adrem.baselines import SourceOnly
from adrem.benchmark.protocols import PROTOCOLS
from adrem.datasets import DomainPair, load

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MODES = ("source-only", "uniform", "source", "estimate", "true")
# By these pairs it was decided how far the estimate is moved towards equal shares; the others only report it.
CHOSEN_ON = ("B-D", "B-E", "D-K", "E-B", "K-D", "K-E")
FIELDS = ("data", "pair", "setting", "draw", "mode", "accuracy", "balanced_accuracy", "prior_error")
KEPT, N_DRAWS = 1 / 3, 5


def with_share(data: DomainPair, share: float) -> DomainPair:
    """The target with so much of its second class, of two."""
    is_second = data.y_target == np.unique(data.y_target)[1]
    rng = np.random.default_rng(0)
    rare, common = np.flatnonzero(is_second == (share < 0.5)), np.flatnonzero(is_second != (share < 0.5))
    part = min(share, 1 - share)
    kept = np.concatenate([common, rng.choice(rare, round(len(common) * part / (1 - part)), replace=False)])
    return data._replace(X_target=data.X_target[np.sort(kept)], y_target=data.y_target[np.sort(kept)])


def with_rare_classes(data: DomainPair, draw: int) -> DomainPair:
    """The target with a third of the rows of half of its classes."""
    rng = np.random.default_rng(draw)
    classes = np.unique(data.y_target)
    rare = rng.choice(classes, len(classes) // 2, replace=False)
    drop = [
        rng.choice(rows, round((1 - KEPT) * len(rows)), replace=False)
        for rows in (np.flatnonzero(data.y_target == c) for c in rare)
    ]
    kept = np.setdiff1d(np.arange(len(data.y_target)), np.concatenate(drop))
    return data._replace(X_target=data.X_target[kept], y_target=data.y_target[kept])


def measure(name: str, pair: str, setting: str, draw: int, data: DomainPair) -> list[dict[str, Any]]:
    classes = np.unique(data.y_source)
    true = np.array([np.mean(data.y_target == c) for c in classes])
    rows = []
    for mode in MODES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model: Any = SourceOnly(random_state=0)
            if mode != "source-only":
                model = AdREM(random_state=0, class_prior=true if mode == "true" else mode)
            model.fit(data.X_source, data.y_source, X_target=data.X_target)
            balanced = balanced_accuracy_score(data.y_target, model.transduction_)
        error = 0.5 * np.abs(model.class_prior_ - true).sum() if hasattr(model, "class_prior_") else None
        rows.append(
            {
                "data": name,
                "pair": pair,
                "setting": setting,
                "draw": draw,
                "mode": mode,
                "accuracy": 100 * float(np.mean(model.transduction_ == data.y_target)),
                "balanced_accuracy": 100 * float(balanced),
                "prior_error": error,
            }
        )
    return rows


def cases(wanted: str | None = None) -> Iterator[tuple[str, str, str, int, DomainPair]]:
    for name in ("amazon-full/all", "office-31/resnet50"):
        if wanted not in (None, name):
            continue
        protocol = next(p for p in PROTOCOLS if p.name == name)
        data = load(protocol.data)
        for pair in protocol.pairs:
            drawn = protocol.make_pair(data, pair, 0)
            if name.startswith("amazon"):
                for share in SHARES:
                    yield name, pair, f"{100 * share:.0f} %", 0, with_share(drawn, share)
            else:
                for draw in range(N_DRAWS):
                    yield name, pair, "half the classes cut to a third", draw, with_rare_classes(drawn, draw)


def summarize(rows: list[dict[str, Any]]) -> list[str]:
    """Tables of mean accuracies, for the pairs that the rule was chosen on and for the others."""
    lines = []
    for data in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == data]
        groups = {"all pairs": own}
        if data.startswith("amazon"):
            groups = {
                "pairs that the rule was chosen on": [row for row in own if row["pair"] in CHOSEN_ON],
                "the other pairs": [row for row in own if row["pair"] not in CHOSEN_ON],
            }
        for title, group in groups.items():
            lines += ["", f"{data}, {title}: accuracy (balanced accuracy), and how far off the estimate is", ""]
            lines += [f"| target | {' | '.join(MODES)} | error |", "|---" * (len(MODES) + 2) + "|"]
            for setting in dict.fromkeys(row["setting"] for row in group):
                cells = []
                for mode in MODES:
                    found = [row for row in group if (row["setting"], row["mode"]) == (setting, mode)]
                    means = [np.mean([float(row[key]) for row in found]) for key in ("accuracy", "balanced_accuracy")]
                    cells.append(f"{means[0]:.1f}{_spread(found)} ({means[1]:.1f})")
                errors = [
                    float(row["prior_error"]) for row in group if (row["setting"], row["mode"]) == (setting, "estimate")
                ]
                lines.append(f"| {setting} | {' | '.join(cells)} | {np.mean(errors):.2f} |")
    return lines


def _spread(rows: list[dict[str, Any]]) -> str:
    """The standard deviation over the draws, of which each is a mean of its pairs, where there are several."""
    by_draw: dict[int, list[float]] = {}
    for row in rows:
        by_draw.setdefault(int(row["draw"]), []).append(float(row["accuracy"]))
    return f" +- {np.std([np.mean(own) for own in by_draw.values()], ddof=1):.1f}" if len(by_draw) > 1 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="A CSV file for the pairs.")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", help="One of the two data sets alone.")
    arguments = parser.parse_args()
    every = cases(arguments.data)
    found = Parallel(n_jobs=arguments.jobs, pre_dispatch="2*n_jobs")(delayed(measure)(*case) for case in every)
    rows = [row for part in found for row in part]
    print("\n".join(summarize(rows)))
    if arguments.out is not None:
        write_csv(arguments.out, FIELDS, rows)


if __name__ == "__main__":
    main()
