"""The committee beside Ad-REM and what others would try, on every data set. The file of results can be resumed.

ADREM_DATA=... python benchmarks/committee.py docs/results/committee.csv [--seeds 3] [--data office-31-resnet50 ...]
    [--methods committee source ...] [--device cuda]
python benchmarks/committee.py docs/results/committee.csv --page docs/committee.md  # its table
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from csv_files import append_rows, fill_page, read_rows
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adrem import AdREM, Committee
from adrem.benchmark import find_methods
from adrem.datasets import DomainPair, load
from adrem.exceptions import AdremError

FIELDS = ("data", "pair", "method", "seed", "accuracy", "seconds", "device")
PAPER = ("office-31-resnet50", "office-caltech-resnet50", "office-caltech-surf", "amazon-reviews", "amazon-400")
OTHERS = ("digits-shift", "heart-disease", "gas-sensor-drift", "mushrooms", "phishing", "amazon-text")
# Each batch of the gas sensors after the first, and each after the one before it.
GAS_PAIRS = ("1-2", "1-3", "1-4", "1-5", "1-6", "1-8", "1-9", "2-3", "3-4", "4-5", "5-6", "6-8", "8-9")
PEERS = ("LinearOTMapping", "CORAL", "SubspaceAlignment")
MAX_BOOSTED = 2000

# The columns of the page.
COLUMNS = {
    "source": "source",
    "boosting": "boosting",
    "adrem": "`AdREM()`",
    "committee": "`Committee()`",
    "committee-distilled": "distilled",
    "LinearOTMapping": "LinOT",
    "CORAL": "CORAL",
    "SubspaceAlignment": "SA",
}
# Points of accuracy below the source that count as a loss.
CLEARLY = 0.5

Labels = dict[str, NDArray[Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--data", nargs="*", default=[*PAPER, *OTHERS])
    parser.add_argument("--methods", nargs="*", default=["committee", "adrem", "source", "peers"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.page:
        fill_page(options.page, TABLES, read_rows(options.output))
        return
    done = {(row["data"], row["pair"], row["method"], row["seed"]) for row in read_rows(options.output)}
    for seed in range(options.seeds):
        for name in options.data:
            for pair, rows in pairs_of(name):
                for method in options.methods:
                    if (name, pair, method if method != "peers" else PEERS[0], str(seed)) not in done:
                        run(options.output, (name, pair), rows, method, seed, options.device)


def show_means(rows: list[dict[str, str]]) -> str:
    """Return the means over all pairs and seeds; behind the committee's its standard deviation over seeds."""
    lines = [
        f"| data | pairs | seeds | {' | '.join(COLUMNS.values())} |",
        "|---|---|---" + "|---" * len(COLUMNS) + "|",
    ]
    for name in names_of(rows):
        own = [row for row in rows if row["data"] == name]
        cells = [mean_of(own, method) for method in COLUMNS]
        pairs = len({row["pair"] for row in own})
        counts = Counter(row["seed"] for row in own if row["method"] == "committee")
        seeds = sum(count == pairs for count in counts.values())
        lines.append(f"| {name} | {pairs} | {seeds} | {' | '.join(cells)} |")
    return "\n".join(lines)


def show_losses(rows: list[dict[str, str]]) -> str:
    """Return the pairs on which the committee is clearly below logistic regression of the source."""
    lines = ["| data | pair | source | `Committee()` | difference |", "|---|---|---|---|---|"]
    means: dict[tuple[str, ...], list[float]] = {(row["data"], row["pair"], row["method"]): [] for row in rows}
    for row in rows:
        means[row["data"], row["pair"], row["method"]].append(float(row["accuracy"]))
    for data, pair, method in means:
        if method == "committee" and (data, pair, "source") in means:
            ours, theirs = (float(np.mean(means[data, pair, own])) for own in ("committee", "source"))
            if ours < theirs - CLEARLY:
                lines.append(f"| {data} | {pair} | {theirs:.1f} | {ours:.1f} | {ours - theirs:.1f} |")
    return "\n".join(lines)


def names_of(rows: list[dict[str, str]]) -> list[str]:
    """Return the data sets that have results, those of the paper first."""
    found = {row["data"] for row in rows}
    return [name for name in (*PAPER, *OTHERS) if name in found]


def mean_of(rows: list[dict[str, str]], method: str) -> str:
    """Return the mean accuracy over the pairs, with its standard deviation over the seeds that have all pairs."""
    pairs = {row["pair"] for row in rows}
    means = []
    for seed in {row["seed"] for row in rows}:
        own = {row["pair"]: float(row["accuracy"]) for row in rows if (row["method"], row["seed"]) == (method, seed)}
        if own.keys() == pairs:
            means.append(np.mean(list(own.values())))
        if 0.0 in own.values():  # as `run_peers` stores it
            return "fails"
    spread = f" ± {np.std(means, ddof=1):.1f}" if method == "committee" and len(means) > 1 else ""
    return f"{np.mean(means):.1f}{spread}" if means else ""


TABLES = {"committee": show_means, "losses": show_losses}


def pairs_of(name: str) -> Iterator[tuple[str, DomainPair]]:
    """Yield the pairs of a data set, scaled as its protocol has it; target rows of unknown classes are left out."""
    data = load(name)
    if name == "digits-shift":
        names = ["S-T"]
    elif name == "gas-sensor-drift":
        names = list(GAS_PAIRS)
    else:
        names = [f"{a}-{b}" for a, b in permutations(data, 2)]
    for pair in names:
        rows = data.pair(*pair.split("-"))
        known = np.isin(rows.y_target, np.unique(rows.y_source))
        yield pair, DomainPair(rows.X_source, rows.y_source, rows.X_target[known], rows.y_target[known])


def run(path: Path, names: tuple[str, str], rows: DomainPair, method: str, seed: int, device: str) -> None:
    """Run a group of methods on a pair, print and store the accuracies."""
    clock = time.process_time if device == "cpu" else time.perf_counter  # other work of a busy machine does not count
    started = clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = GROUPS[method](rows, seed, device)
    seconds = clock() - started
    found = [
        (*names, own, seed, f"{100 * np.mean(guess == rows.y_target):.2f}", f"{seconds:.1f}", device)
        for own, guess in labels.items()
    ]
    append_rows(path, FIELDS, found)
    for row in found:
        print(*row, flush=True)


def run_committee(rows: DomainPair, seed: int, device: Any) -> Labels:
    """The committee, and the linear classifier that is distilled from it."""
    model = Committee(device=device, random_state=seed).fit(rows.X_source, rows.y_source, X_target=rows.X_target)
    scores = np.asarray(rows.X_target @ model.coef_[0].T + model.intercept_[0])
    guess = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
    own = {f"kind: {seat.name}": model.classes_[seat.shares(rows.X_target).argmax(axis=1)] for seat in model.seats_}
    return {"committee": model.transduction_, "committee-distilled": model.classes_[guess], **own}


def run_adrem(rows: DomainPair, seed: int, device: Any) -> Labels:
    """The method of the paper."""
    model = AdREM(device=device, random_state=seed).fit(rows.X_source, rows.y_source, X_target=rows.X_target)
    return {"adrem": model.transduction_}


def run_source(rows: DomainPair, seed: int, device: Any) -> Labels:  # noqa: ARG001 - scikit-learn has no device
    """What scikit-learn makes of the source alone."""
    linear = make_pipeline(StandardScaler(with_mean=not sp.issparse(rows.X_source)), LogisticRegression(max_iter=1000))
    models: dict[str, Any] = {"source": linear}
    if not sp.issparse(rows.X_source) and rows.X_source.shape[1] * len(np.unique(rows.y_source)) <= MAX_BOOSTED:
        models["boosting"] = HistGradientBoostingClassifier(random_state=seed)
    return {name: model.fit(rows.X_source, rows.y_source).predict(rows.X_target) for name, model in models.items()}


def run_peers(rows: DomainPair, seed: int, device: Any) -> Labels:  # noqa: ARG001 - skada has no device
    """Methods of skada; where one fails it has no labels right."""
    found: Labels = {}
    for method in find_methods([f"skada:{name}" for name in PEERS]):
        try:
            found[method.name.removeprefix("skada:")] = method.label(rows, seed)[0]
        except AdremError as error:
            print(method.name, error)
            found[method.name.removeprefix("skada:")] = np.full(len(rows.y_target), None, dtype=object)
    return found


GROUPS: dict[str, Callable[[DomainPair, int, str], Labels]] = {
    "committee": run_committee,
    "adrem": run_adrem,
    "source": run_source,
    "peers": run_peers,
}


if __name__ == "__main__":
    main()
