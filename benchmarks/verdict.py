"""Measure how often the verdict of the diagnosis is correct, on every real pair of the benchmark.

    ADREM_DATA=folder python benchmarks/verdict.py [--out docs/results/verdict.csv]

Ad-REM with its defaults adapts every pair (the first repetition of its protocol), and the verdict sees no labels of the
target. They are used only to compute the gain of adapting. A second round uses the pairs of the full protocols with a
skewed target: only 15 % of the rows of half of the classes are kept, and Ad-REM is not told.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import write_csv

from adrem import AdREM
from adrem.benchmark.protocols import PROTOCOLS, Protocol
from adrem.datasets import DataSet, DomainPair, load
from adrem.diagnostics import BeforeAfter
from adrem.diagnostics.diagnosis import examine

KEPT = 0.15
CHOICES = ("adapted", "unsure", "source")
SKEWED = ("amazon-full/all", "office-31/resnet50", "office-caltech-full/resnet50", "office-caltech-full/surf")
FIELDS = (
    "protocol", "target", "pair", "source_accuracy", "adapted_accuracy", "gain", "verdict", "circular_source",
    "circular_adapted", "neighbours_source", "neighbours_adapted", "agreement", "off_prior_source", "off_prior_adapted",
)  # fmt: skip


def skewed(data: DomainPair) -> DomainPair:
    """The pair without most of the target rows of the first half of the classes."""
    classes = np.unique(data.y_target)
    rare = np.isin(data.y_target, classes[: len(classes) // 2])
    kept = ~rare | (np.random.default_rng(1).random(len(rare)) < KEPT)
    return data._replace(X_target=data.X_target[kept], y_target=data.y_target[kept])


def judge_pair(data: DomainPair) -> dict[str, Any]:
    model = AdREM(random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
    examined = examine(model, data.X_source, data.y_source, data.X_target)
    evidence, verdict = examined.evidence, examined.verdict
    before, after = (
        100 * float(np.mean(model.classes_[labels] == data.y_target)) for labels in (examined.before, examined.after)
    )
    row = {"source_accuracy": before, "adapted_accuracy": after, "gain": after - before, "verdict": verdict.choice}
    for name in ("circular", "neighbours", "off_prior"):
        sides: BeforeAfter | None = getattr(evidence, name)
        if sides is not None:
            row |= {f"{name}_source": sides.source, f"{name}_adapted": sides.adapted}
    return {**row, "agreement": evidence.agreement}


def run(protocol: Protocol, data: DataSet, target: str) -> list[dict[str, Any]]:
    rows = []
    for pair in protocol.pairs:
        drawn = protocol.make_pair(data, pair, 0)
        row = judge_pair(skewed(drawn) if target == "skewed" else drawn)
        rows.append({"protocol": protocol.name, "target": target, "pair": pair, **row})
        print(f"{protocol.name:<34} {target:<8} {pair} gain {row['gain']:+5.1f} {row['verdict']}", file=sys.stderr)
    return rows


def summarize(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each table: how the verdicts fell, and what following them wins against always adapting."""
    heads = ("target", "table", "pairs", "gain of adapting", *CHOICES, "correct", "against always adapting")
    lines = [f"| {' | '.join(heads)} |", f"{'|---' * len(heads)}|"]
    groups = list(dict.fromkeys((row["target"], row["protocol"]) for row in rows))
    for target, protocol in [*groups, *((target, "all") for target in dict.fromkeys(t for t, _ in groups))]:
        own = [row for row in rows if row["target"] == target and protocol in (row["protocol"], "all")]
        cells = []
        for choice in CHOICES:
            gains = [row["gain"] for row in own if row["verdict"] == choice]
            cells.append(f"{len(gains)} ({np.mean(gains):+.1f})" if gains else "0")
        sure = [row for row in own if row["verdict"] != "unsure" and abs(row["gain"]) > 0]
        right = sum((row["gain"] > 0) == (row["verdict"] == "adapted") for row in sure)
        won = np.mean([-row["gain"] if row["verdict"] == "source" else 0.0 for row in own])
        mean = np.mean([row["gain"] for row in own])
        line = (target, protocol, str(len(own)), f"{mean:+.1f}", *cells, f"{right} of {len(sure)}", f"{won:+.2f}")
        lines.append(f"| {' | '.join(line)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="A CSV file for the pairs.")
    out = parser.parse_args().out
    warnings.simplefilter("ignore")
    rows = []
    for protocol in PROTOCOLS:
        try:
            data = load(protocol.data)
        except FileNotFoundError as error:
            print(f"{protocol.name}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        rows += run(protocol, data, "as it is")
        if protocol.name in SKEWED:
            rows += run(protocol, data, "skewed")
    print("\n".join(summarize(rows)))
    if out is not None:
        write_csv(out, FIELDS, rows)


if __name__ == "__main__":
    main()
