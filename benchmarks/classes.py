"""Targets without some classes of the source: accuracies, and which classes are found missing. The file can be resumed.

ADREM_DATA=... python benchmarks/classes.py docs/results/classes.csv [--seeds 1] [--data NAME ...] [--settings NAME ...]
    [--methods source adrem estimate committee]
python benchmarks/classes.py docs/results/classes.csv --page docs/classes.md  # its tables
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import append_rows, fill_page, read_rows
from numpy.typing import NDArray

from adrem import AdREM, Committee
from adrem.baselines import SourceOnly
from adrem.datasets import DataSet, DomainPair, load
from adrem.exceptions import LostClassWarning, MissingClassWarning, UnequalSharesWarning
from adrem.preprocessing.pair import transform_pair

FIELDS = ("data", "setting", "pair", "method", "seed", "accuracy", "missing", "found", "lost", "warned")
DATA = ("office-caltech-resnet50", "amazon-reviews", "office-31-resnet50", "office-caltech-surf", "amazon-400")
TITLES = {"source": "source only", "adrem": "`AdREM()`", "estimate": "estimate", "committee": "`Committee()`"}
METHODS = tuple(TITLES)
# The classes that Office-31 shares with Office-Caltech: the target of the usual partial protocol.
SHARED = (
    "back_pack", "bike", "calculator", "headphones", "keyboard", "laptop_computer", "monitor", "mouse", "mug",
    "projector",
)  # fmt: skip
RARE = (0.0, 0.01, 0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--data", nargs="*", default=DATA)
    parser.add_argument("--settings", nargs="*")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.page:
        fill_page(
            options.page, {"classes": show_accuracies, "class warnings": show_warnings}, read_rows(options.output)
        )
        return
    done = {tuple(row[name] for name in FIELDS[:5]) for row in read_rows(options.output)}
    for seed in range(options.seeds):
        for name in options.data:
            for setting, pair, rows in cases(name, options.settings):
                for method in options.methods:
                    if (name, setting, pair, method, str(seed)) not in done:
                        found = [name, setting, pair, method, seed, *measure(rows, method, seed)]
                        append_rows(options.output, FIELDS, [found])
                        print(*found, flush=True)


def groups_of(rows: list[dict[str, str]]) -> dict[tuple[str, str], list[dict[str, str]]]:
    """Return the rows of each data set and setting; the rare class of the reviews is each of the two."""
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows:
        setting = f"{row['setting'].partition(' %')[0]} % of a class" if "%" in row["setting"] else row["setting"]
        groups.setdefault((row["data"], setting), []).append(row)
    return groups


def show_accuracies(rows: list[dict[str, str]]) -> str:
    """Return mean accuracies, the lowest in brackets, and how many classes the estimate found missing."""
    methods = [name for name in METHODS if any(row["method"] == name for row in rows)]
    titles = [TITLES[name] for name in methods]
    lines = [f"| data | target | {' | '.join(titles)} | missing | found | lost |", "|---" * (5 + len(titles)) + "|"]
    for (data, setting), own in groups_of(rows).items():
        cells = [_accuracy([row for row in own if row["method"] == method]) for method in methods]
        estimates = [row for row in own if row["method"] == "estimate"]
        sums = [str(sum(int(row[name]) for row in estimates)) for name in ("missing", "found", "lost")]
        lines.append(f"| {data} | {setting} | {' | '.join([*cells, *sums])} |")
    return "\n".join(lines)


def _accuracy(rows: list[dict[str, str]]) -> str:
    values = [float(row["accuracy"]) for row in rows]
    return f"{np.mean(values):.1f} ({min(values):.1f})" if values else ""


def show_warnings(rows: list[dict[str, str]]) -> str:
    """Return in how many fits of `AdREM()` there is which warning."""
    lines = ["| data | target | fits | lost or missing classes | unequal shares | none |", "|---" * 6 + "|"]
    for (data, setting), own in groups_of(rows).items():
        warned = [row["warned"] for row in own if row["method"] == "adrem"]
        counts = [sum(own in names for own in warned) for names in (("lost", "missing"), ("shares",), ("",))]
        if warned:
            lines.append(f"| {data} | {setting} | {len(warned)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


TABLES = {"classes": show_accuracies, "class warnings": show_warnings}


def cases(name: str, wanted: list[str] | None) -> Iterator[tuple[str, str, DomainPair]]:
    """Yield the settings and pairs of a data set, each scaled as its protocol has it."""
    data = load(name)
    settings = [setting for setting in settings_of(data) if wanted is None or setting in wanted]
    for setting in settings:
        for pair in data.pairs:
            yield setting, pair, rows_of(data, pair, setting)


def settings_of(data: DataSet) -> list[str]:
    if data.name == "office-31-resnet50":
        return ["all classes", "10 of 31"]
    if len(data.classes) == 10:
        return ["all classes", "3 of 10", "5 of 10", "7 of 10"]
    names = [f"{100 * share:.0f} % {label}" for share in RARE for label in data.classes]
    return ["all classes", *names]


def rows_of(data: DataSet, pair: str, setting: str) -> DomainPair:
    """Return a pair whose target has some of its rows only; both are scaled together."""
    source, target = (data[domain] for domain in pair.split("-"))
    labels = np.asarray(target.y)
    kept = np.flatnonzero(kept_rows(labels, data, setting))
    X_source, X_target = transform_pair(data.preprocessing, source.X, target.X[kept], source.y)
    return DomainPair(X_source, np.asarray(source.y), X_target, labels[kept])


def kept_rows(labels: NDArray[Any], data: DataSet, setting: str) -> NDArray[np.bool_]:
    """Mark the rows of a target that a setting keeps."""
    if setting == "all classes":
        return np.ones(len(labels), dtype=bool)
    if setting == "10 of 31":
        return np.isin(labels, SHARED)
    if setting.endswith("of 10"):
        return np.isin(labels, data.classes[: int(setting.split(maxsplit=1)[0])])
    share, _, label = setting.partition(" % ")
    rare = labels.astype(str) == label
    part = float(share) / 100
    n_kept = round(np.count_nonzero(~rare) * part / (1 - part))
    chosen = np.random.default_rng(0).permutation(np.flatnonzero(rare))[:n_kept]
    rare[chosen] = False
    return np.asarray(~rare)


def measure(rows: DomainPair, method: str, seed: int) -> list[Any]:
    """Return the accuracy, the numbers of classes missing, found missing, and wrongly so, and the warnings."""
    models: dict[str, Any] = {
        "source": SourceOnly(random_state=seed),
        "adrem": AdREM(random_state=seed),
        "estimate": AdREM(class_prior="estimate", random_state=seed),
        "committee": Committee(random_state=seed),
    }
    model = models[method]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows.X_source, rows.y_source, X_target=rows.X_target)
    accuracy = 100 * np.mean(model.transduction_ == rows.y_target)
    found = set(getattr(model, "missing_classes_", ()))
    true = set(rows.y_source.tolist()) - set(rows.y_target.tolist())
    names = {"lost": LostClassWarning, "missing": MissingClassWarning, "shares": UnequalSharesWarning}
    warned = [name for name, own in names.items() if any(issubclass(item.category, own) for item in caught)]
    return [f"{accuracy:.2f}", len(true), len(found & true), len(found - true), " ".join(warned)]


if __name__ == "__main__":
    main()
