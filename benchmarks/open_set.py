"""Targets with rows of classes that the source lacks: how well these are found. The file can be resumed.

ADREM_DATA=... python benchmarks/open_set.py docs/results/open_set.csv [--seeds 1] [--settings NAME ...]
    [--methods NAME ...]
python benchmarks/open_set.py docs/results/open_set.csv --page docs/classes.md  # its tables
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from classes import SHARED
from csv_files import read_rows
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import normalize

from adrem import AdREM, Committee
from adrem.algorithm.unknown import find_unknown, threshold
from adrem.base.validation import Domains
from adrem.baselines import SourceOnly
from adrem.datasets import DataSet, DomainPair, load, load_digits_shift
from adrem.machines.discriminant import cosines, discriminate
from adrem.machines.linear import LinearHead
from adrem.preprocessing.pair import transform_pair

Array = NDArray[np.float64]
ESTIMATED = ("share", "low", "high")
CELL = ("setting", "pair", "method", "seed")
FIELDS = (*CELL, "unknown", "known_accuracy", "unknown_accuracy", "harmonic", "rejected", *ESTIMATED)
UNKNOWN = "unknown"
# How many classes in the order of the alphabet are known, and how many are unknown in the target, after these.
SPLITS = {
    "Office-31, 10 known, 11 unknown": ("office-31-resnet50", 10, 11),
    "Office-31, all 31 known": ("office-31-resnet50", 31, 0),
    "Office-Caltech, 5 known, 5 unknown": ("office-caltech-resnet50", 5, 5),
    "Office-Caltech, 8 known, 2 unknown": ("office-caltech-resnet50", 8, 2),
    "Office-Caltech, all 10 known": ("office-caltech-resnet50", 10, 0),
    "SURF, 5 known, 5 unknown": ("office-caltech-surf", 5, 5),
    "SURF, all 10 known": ("office-caltech-surf", 10, 0),
    "gas sensors, 4 known, 2 unknown": ("gas-sensor-drift", 4, 2),
    "gas sensors, as they are": ("gas-sensor-drift", 6, 0),
    "hospitals, as they are": ("heart-disease", 2, 0),
    "mushrooms, as they are": ("mushrooms", 2, 0),
    "Amazon reviews, as they are": ("amazon-reviews", 2, 0),
    "digits, 6 known, 4 unknown": ("digits", 6, 4),
    "digits, all 10 known": ("digits", 10, 0),
}
START, END = "<!-- results: {} -->", "<!-- end of results -->"


class Result(NamedTuple):
    """Labels of the target, and the estimated share of unknown rows with bounds, NaN without one."""

    labels: NDArray[Any]
    share: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--settings", nargs="*", default=list(SPLITS))
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.page:
        write_page(options.page, read_rows(options.output))
        return
    done = {tuple(row[name] for name in CELL) for row in read_rows(options.output)}
    for seed in range(options.seeds):
        for setting in options.settings:
            for pair, rows in cases(setting):
                for method in options.methods:
                    if (setting, pair, method, str(seed)) not in done:
                        store(options.output, [setting, pair, method, seed, *measure(rows, method, seed)])


def store(path: Path, row: list[Any]) -> None:
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        csv.writer(file).writerows([FIELDS, row] if is_new else [row])
    print(*row, flush=True)


def cases(setting: str) -> Iterator[tuple[str, DomainPair]]:
    """Yield the pairs of a setting, scaled as their protocol has it, with the true label "unknown" where it applies."""
    name, n_known, n_unknown = SPLITS[setting]
    if name == "digits":
        pair = load_digits_shift()
        own, kept = (y < n_known for y in (pair.y_source, pair.y_target))
        truth = np.where(kept, pair.y_target.astype(str), UNKNOWN)
        yield "digits", DomainPair(pair.X_source[own], pair.y_source[own].astype(str), pair.X_target, truth)
        return
    data = load(name)
    known, unknown = split(data, n_known, n_unknown)
    for name in data.pairs:
        yield name, opened(data, name, known, unknown)


def split(data: DataSet, n_known: int, n_unknown: int) -> tuple[list[Any], list[Any]]:
    """Return known and unknown classes; of Office-31, those of the usual protocol."""
    classes = sorted(data.classes)
    if len(classes) == 31 and n_unknown:
        return list(SHARED), [name for name in classes if name not in SHARED][-n_unknown:]
    return classes[:n_known], classes[n_known : n_known + n_unknown]


def opened(data: DataSet, pair: str, known: list[Any], unknown: list[Any]) -> DomainPair:
    source, target = (data[domain] for domain in pair.split("-"))
    y_source, y_target = np.asarray(source.y), np.asarray(target.y)
    own, kept = np.isin(y_source, known), np.isin(y_target, [*known, *unknown])
    X_source, X_target = transform_pair(data.preprocessing, source.X[own], target.X[kept], y_source[own])
    truth = np.where(np.isin(y_target[kept], known), y_target[kept].astype(str), UNKNOWN)
    return DomainPair(X_source, y_source[own].astype(str), X_target, truth)


def measure(rows: DomainPair, method: str, seed: int) -> list[str]:
    """Return the share of unknown rows, the mean accuracy of the known classes, that of unknown rows, and others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = METHODS[method](rows, seed)
    is_unknown, is_right = rows.y_target == UNKNOWN, found.labels == rows.y_target
    known = 100 * np.mean([is_right[rows.y_target == c].mean() for c in np.unique(rows.y_target[~is_unknown])])
    unknown = 100 * is_right[is_unknown].mean() if is_unknown.any() else float("nan")
    harmonic = 2 * known * unknown / max(known + unknown, 1e-9)
    shares = 100 * np.array([np.mean(found.labels == UNKNOWN), found.share, found.low, found.high])
    return [f"{value:.2f}" for value in (100 * is_unknown.mean(), known, unknown, harmonic, *shares)]


def reject(model: Any, rows: DomainPair) -> Result:
    model.fit(rows.X_source, rows.y_source, X_target=rows.X_target)
    return Result(model.transduction_, model.unknown_share_, *model.unknown_interval_)


def labelled(rows: DomainPair, scores: Array, values: Array, limit: float) -> Result:
    """Return the labels of the highest scores, and unknown where a value does not exceed the limit."""
    names = np.unique(rows.y_source)
    return Result(np.where(values <= limit, UNKNOWN, names[scores.argmax(axis=1)]))


def of_source(rows: DomainPair, seed: int) -> Array:
    model = SourceOnly(random_state=seed).fit(rows.X_source, rows.y_source, X_target=rows.X_target)
    return np.asarray(model.decision_function(rows.X_target))


def by_score(rows: DomainPair, seed: int) -> Result:
    """The source's highest score, divided by Otsu's threshold."""
    scores = of_source(rows, seed)
    return labelled(rows, scores, scores.max(axis=1), threshold(scores.max(axis=1)))


def by_mixture(rows: DomainPair, seed: int) -> Result:
    """The source's highest score, divided by a mixture of two normal distributions."""
    scores = of_source(rows, seed)
    values = scores.max(axis=1, keepdims=True)
    mixture = GaussianMixture(2, n_init=3, random_state=seed).fit(values)
    lower = mixture.predict(values) == mixture.means_.ravel().argmin()
    return labelled(rows, scores, np.where(lower, 0.0, 1.0), 0.5)


def by_cosine(rows: DomainPair, seed: int) -> Result:
    """The largest cosine to a class mean in the space of the source's discriminant, divided by Otsu's threshold."""
    del seed
    names, labels = np.unique(rows.y_source, return_inverse=True)
    source, target = (normalize(np.asarray(own, dtype=np.float64)) for own in (rows.X_source, rows.X_target))
    both = np.concatenate([source, target])
    own = np.concatenate([labels, np.zeros(len(target), dtype=np.intp)])
    weights = np.repeat([1.0, 0.0], [len(source), len(target)])
    scores = np.asarray(cosines(target, *discriminate(both, own, weights, len(names))), dtype=np.float64)
    return labelled(rows, scores, scores.max(axis=1), threshold(scores.max(axis=1)))


def by_margin(rows: DomainPair, seed: int) -> Result:
    """The mean margin of the members of Ad-REM, with the threshold at which held-out classes are told best.

    Each half of the classes is left out once, with every second row of the others. The threshold is the one at which as
    large a part of the left-out classes is above as of the other left-out rows below.
    """
    names = np.unique(rows.y_source)
    known, unknown = [], []
    for half in range(2):
        left_out = np.isin(rows.y_source, names[half::2])
        held = ~left_out & (np.arange(len(left_out)) % 2 == 0)
        used = ~left_out & ~held
        part = rows._replace(X_source=rows.X_source[used], y_source=rows.y_source[used])
        margin = margin_of(part, seed)[1]
        known.append(margin(rows.X_source[held]))
        unknown.append(margin(rows.X_source[left_out]))
    scores, margin = margin_of(rows, seed)
    return labelled(
        rows, scores(rows.X_target), margin(rows.X_target), equal_error(*map(np.concatenate, (known, unknown)))
    )


def margin_of(rows: DomainPair, seed: int) -> tuple[Callable[[Any], Array], Callable[[Any], Array]]:
    model = AdREM(n_estimators=3, random_state=seed).fit(rows.X_source, rows.y_source, X_target=rows.X_target)

    def scores(table: Any) -> Array:
        return np.asarray(np.mean(list(model.member_scores(table)), axis=0))

    def margin(table: Any) -> Array:
        ordered = np.sort(scores(table), axis=1)
        return np.asarray(ordered[:, -1] - ordered[:, -2])

    return scores, margin


def equal_error(known: Array, unknown: Array) -> float:
    """Return the limit below which as large a part of the known values is as of the unknown ones above."""
    candidates = np.unique(np.concatenate([known, unknown]))
    below = np.searchsorted(np.sort(known), candidates, "right") / len(known)
    above = 1.0 - np.searchsorted(np.sort(unknown), candidates, "right") / len(unknown)
    return float(candidates[np.abs(below - above).argmin()])


def warn(rows: DomainPair, seed: int) -> Result:
    """What a diagnosis warns of; it gives no labels."""
    del seed
    names, labels = np.unique(rows.y_source, return_inverse=True)
    domains = Domains(rows.X_source, labels, np.ones(len(labels)), rows.X_target, names)
    found = find_unknown(LinearHead(), domains, np.random.SeedSequence(0))
    return Result(np.where(found.rows & found.is_found, UNKNOWN, ""), found.share, found.low, found.high)


METHODS: dict[str, Callable[[DomainPair, int], Result]] = {
    "margin": by_margin,
    "cosine": by_cosine,
    "mixture": by_mixture,
    "score": by_score,
    "adrem": lambda rows, seed: reject(AdREM(unknown="reject", random_state=seed), rows),
    "warning": warn,
    "committee": lambda rows, seed: reject(Committee(unknown="reject", random_state=seed), rows),
}
TITLES = {
    "margin": "margin of members, held-out classes",
    "cosine": "cosine of the discriminant, Otsu",
    "mixture": "score of the source, mixture",
    "score": "score of the source, Otsu",
    "adrem": '`AdREM(unknown="reject")`',
    "committee": '`Committee(unknown="reject")`',
}


def write_page(page: Path, rows: list[dict[str, str]]) -> None:
    """Replace the tables of a page."""
    text = page.read_text("utf-8")
    for name, show in {
        "open set": show_open,
        "closed set": show_closed,
        "unknown shares": show_shares,
        "unknown warnings": show_warnings,
    }.items():
        mark = START.format(name)
        before, rest = text.split(mark, 1)
        text = f"{before}{mark}\n\n{show(rows)}\n\n{END}{rest.split(END, 1)[1]}"
    page.write_text(text, "utf-8")


def groups(rows: list[dict[str, str]], *, is_open: bool) -> Iterator[tuple[str, str, list[dict[str, str]]]]:
    for setting in SPLITS:
        for method, title in TITLES.items():
            own = [row for row in rows if row["setting"] == setting and row["method"] == method]
            if own and is_open == ("unknown" in setting):
                yield setting, title, own


def mean(rows: list[dict[str, str]], name: str) -> float:
    return float(np.mean([float(row[name]) for row in rows]))


def show_open(rows: list[dict[str, str]]) -> str:
    lines = ["| target | method | known | unknown | harmonic mean | lowest pair |", "|---" * 6 + "|"]
    for setting, title, own in groups(rows, is_open=True):
        cells = [f"{mean(own, name):.1f}" for name in ("known_accuracy", "unknown_accuracy", "harmonic")]
        lowest = min(own, key=lambda row: float(row["harmonic"]))
        lines.append(
            f"| {setting} | {title} | {' | '.join(cells)} | {lowest['pair']} {float(lowest['harmonic']):.1f} |"
        )
    return "\n".join(lines)


def show_closed(rows: list[dict[str, str]]) -> str:
    lines = ["| target | method | accuracy | rejected | most |", "|---" * 5 + "|"]
    for setting, title, own in groups(rows, is_open=False):
        most = max(own, key=lambda row: float(row["rejected"]))
        cells = f"{mean(own, 'known_accuracy'):.1f} | {mean(own, 'rejected'):.1f}"
        lines.append(f"| {setting} | {title} | {cells} | {most['pair']} {float(most['rejected']):.1f} |")
    return "\n".join(lines)


def show_shares(rows: list[dict[str, str]]) -> str:
    """Return how far the estimated shares of `AdREM` are from the true ones, and how often the bounds hold them.

    Where no rows are found, there are no bounds but zero and one.
    """
    lines = ["| target | pairs | mean error | rows found | within the bounds | width |", "|---" * 6 + "|"]
    for is_open in (True, False):
        for setting, title, own in groups(rows, is_open=is_open):
            if title != TITLES["adrem"]:
                continue
            true, share, low, high = (np.array([float(row[name]) for row in own]) for name in ("unknown", *ESTIMATED))
            found, error = share > 0, np.abs(share - true).mean()
            inside = int(np.count_nonzero((low <= true) & (true <= high) & found))
            width = f"{(high - low)[found].mean():.1f}" if found.any() else ""
            lines.append(f"| {setting} | {len(own)} | {error:.1f} | {np.count_nonzero(found)} | {inside} | {width} |")
    return "\n".join(lines)


def show_warnings(rows: list[dict[str, str]]) -> str:
    """Return on how many pairs a diagnosis warns of unknown rows: its search is that of `AdREM`."""
    lines = ["| target | pairs | warnings |", "|---" * 3 + "|"]
    for setting in SPLITS:
        own = {row["pair"]: row for row in rows if row["setting"] == setting and row["method"] in ("adrem", "warning")}
        warned = sum(float(row["share"]) > 0 for row in own.values())
        if own:
            lines.append(f"| {setting} | {len(own)} | {warned} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
