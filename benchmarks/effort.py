"""Measure how long a committee and each of its kinds take on one core, and compare it with the forecast of `effort`.

    OMP_NUM_THREADS=1 ADREM_DATA=folder python benchmarks/effort.py docs/results/effort.csv [PAIR ...]
    python benchmarks/effort.py docs/results/effort.csv --page docs/committee.md  # its tables

A pair is a data set and two of its domains, as in office-31-resnet50:A-W, and a view of the rows: "as-given" before the
scaling of the protocol, or "pca-100", the first 100 principal components of these. The times are seconds of a core,
whatever else the machine does, though caches and memory that are shared with other work make it slower. A fit with one
member and one iteration comes first: it loads compiled code. The file can be resumed. `AdREM()` is fitted
to scaled rows only: on others it is slow.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import append_rows, fill_page, read_rows
from parts import parts
from sklearn.decomposition import PCA

from adrem import AdREM, Committee
from adrem.base.validation import Domains
from adrem.committee.effort import Size, affordable, seconds_of, seconds_of_adrem, seconds_of_rest
from adrem.committee.kinds import KINDS, usual_kinds
from adrem.datasets import DomainPair, load
from adrem.machines.cost_model import MEMORY_LIMIT

PAIRS = (
    "office-31-resnet50:A-W", "office-caltech-resnet50:C-A", "office-caltech-surf:C-A", "amazon-reviews:B-D",
    "amazon-400:B-D", "digits-shift:S-T", "heart-disease:C-H", "gas-sensor-drift:1-9", "mushrooms:E-T",
    "phishing:N-I", "amazon-text:B-D", "office-31-resnet50:A-W:pca-100", "amazon-400:B-D:as-given",
    "gas-sensor-drift:1-2:as-given",
)  # fmt: skip
FIELDS = ("data", "pair", "rows", "part", "seconds", "forecast", "accuracy")
PROTOCOL = "protocol"
COMMITTEE, ADREM, REST = "Committee()", "AdREM()", "class shares, missing classes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("pairs", nargs="*", default=PAIRS)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.page:
        fill_page(options.page, TABLES, read_rows(options.output))
        return
    warnings.simplefilter("ignore")
    done = {(row["data"], row["pair"], row["rows"]) for row in read_rows(options.output)}
    for place in options.pairs:
        name, pair, view = (*place.split(":"), PROTOCOL)[:3]
        if (name, pair, view) not in done:
            found = measure(rows_of(name, pair, view), with_adrem=view == PROTOCOL)
            append_rows(options.output, FIELDS, [(name, pair, view, *row) for row in found])


def rows_of(name: str, pair: str, view: str) -> DomainPair:
    """Return the rows of a pair, scaled by the protocol of the data set, as they are, or their components."""
    data = load(name)
    rows = data.pair(*pair.split("-"))
    if view == PROTOCOL:
        return rows
    source, target = (np.asarray(data[domain].X, dtype=np.float64) for domain in pair.split("-"))
    if view != "as-given":
        components = PCA(int(view.removeprefix("pca-")), random_state=0).fit(np.concatenate([source, target]))
        source, target = components.transform(source), components.transform(target)
    return DomainPair(source, rows.y_source, target, rows.y_target)


def measure(rows: DomainPair, *, with_adrem: bool) -> list[tuple[str, str, str, str]]:
    """Return the measured and the forecast seconds of a committee, its parts, and `AdREM()`, with their accuracy."""
    classes, labels = np.unique(rows.y_source, return_inverse=True)
    domains = Domains(rows.X_source, labels, np.ones(len(labels)), rows.X_target, classes)
    model = Committee(random_state=0)
    size = Size.of(domains, model.n_estimators, model.n_iter)
    names, _ = usual_kinds(rows.X_source, rows.X_target, len(classes), MEMORY_LIMIT)
    kept, _ = affordable(names, size, "auto")
    forecast = {f"kind {name}": seconds_of(KINDS[name], size) for name in kept}
    total = sum(forecast.values()) + seconds_of_rest(size)
    fit(Committee(n_estimators=1, n_iter=1, random_state=0), rows)
    with parts(time.process_time) as spent:
        seconds, accuracy = fit(model, rows)
    forecast[REST] = seconds_of_rest(size)
    found = [(COMMITTEE, f"{seconds:.2f}", f"{total:.2f}", f"{accuracy:.2f}")]
    found += [(part.strip(), f"{own:.2f}", shown(forecast.get(part)), "") for part, own in spent.items()]
    if with_adrem:
        seconds, accuracy = fit(AdREM(random_state=0), rows)
        found.append((ADREM, f"{seconds:.2f}", shown(seconds_of_adrem(size)), f"{accuracy:.2f}"))
    for row in found:
        print(*row, flush=True)
    return found


def shown(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.2f}"


def fit(model: Any, rows: DomainPair) -> tuple[float, float]:
    """Return how long a fit takes on one core, and the accuracy in percent."""
    started = time.process_time()
    model.fit(rows.X_source, rows.y_source, X_target=rows.X_target)
    return time.process_time() - started, 100 * float(np.mean(model.transduction_ == rows.y_target))


def show_times(rows: list[dict[str, str]]) -> str:
    """Return the seconds of a committee and of `AdREM()` on a pair of each data set."""
    lines = ["| data | pair | `AdREM()` | `Committee()` | ratio | forecast |", "|---|---|---|---|---|---|"]
    for (data, pair, view), own in by_pair(rows).items():
        if view == PROTOCOL:
            ours, theirs = own[COMMITTEE], own[ADREM]
            ratio = float(ours["seconds"]) / max(float(theirs["seconds"]), 0.1)
            times = [f"{float(value):.1f}" for value in (theirs["seconds"], ours["seconds"])]
            lines.append(f"| {data} | {pair} | {' | '.join(times)} | {ratio:.1f} | {float(ours['forecast']):.1f} |")
    return "\n".join(lines)


def show_worst(rows: list[dict[str, str]]) -> str:
    """Return the seconds and the accuracy on rows that nobody has scaled, and on principal components."""
    lines = ["| data | pair | rows | seconds | accuracy |", "|---|---|---|---|---|"]
    for (data, pair, view), own in by_pair(rows).items():
        if view != PROTOCOL:
            ours = own[COMMITTEE]
            lines.append(f"| {data} | {pair} | {view} | {float(ours['seconds']):.1f} | {float(ours['accuracy']):.1f} |")
    return "\n".join(lines)


def by_pair(rows: list[dict[str, str]]) -> dict[tuple[str, str, str], dict[str, dict[str, str]]]:
    """Return the rows of each pair by their part."""
    found: dict[tuple[str, str, str], dict[str, dict[str, str]]] = {}
    for row in rows:
        found.setdefault((row["data"], row["pair"], row["rows"]), {})[row["part"]] = row
    return found


TABLES = {"effort": show_times, "unscaled": show_worst}


if __name__ == "__main__":
    main()
