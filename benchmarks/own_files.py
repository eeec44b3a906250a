"""Measure what `adrem adapt` hands out for files of one's own, its verdict, and its estimate of the accuracy.

    ADREM_DATA=folder python benchmarks/own_files.py [--only heart gas] [--jobs 2] [--out docs/results/own_files.csv]
    python benchmarks/own_files.py --page docs/diagnosis.md docs/estimate.md  # their tables

A row is a pair of own_cases.py: the accuracy of the classifier of the source, of the adapted labels and of those that
are handed out, the evidence and the verdict, and the estimated accuracy of the labels that are handed out. Rows that
are in the file are not measured again. The verdict and the interval of a data set, as the tables tell them, have
constants that were chosen on the other data sets.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from csv_files import read_csv, write_csv
from joblib import Parallel, delayed
from own_cases import LABEL, Case, cases

from adrem import Committee
from adrem.base.scoring import by_class
from adrem.columns import make_pair
from adrem.columns.labelling import adapt_pair, label_rows
from adrem.diagnostics import BeforeAfter, Evidence, accuracy, verdict
from adrem.diagnostics.accuracy import Chances, estimate_from, held_out_chances, interval_of
from adrem.diagnostics.diagnosis import Examination
from adrem.diagnostics.verdict import judge
from adrem.exceptions import InvalidDataError

FIELDS = (
    "group", "kind", "pair", "form", "rows", "chosen", "baseline", "adapted", "handed_out", "verdict", "changed",
    "neighbours_source", "neighbours_adapted", "neighbours_z", "one_sided", "largest_source", "largest_adapted",
    "skill", "least_skill", "vanished", "recovered", "estimate", "low", "high", "unknown", "distance",
    "ours", "expected", "thresholded", "difference", "agreement", "seconds",
)  # fmt: skip
# Estimates of the accuracy of the adapted labels, and whose they are.
RIVALS = {
    "ours": "estimate",
    "expected": "expected accuracy, as NannyML's CBPE",
    "thresholded": "average thresholded confidence",
    "difference": "difference of confidences",
    "agreement": "agreement of two kinds",
}
NUMBERS = FIELDS[6:9] + FIELDS[10:19] + ("estimate", "low", "high", "distance", *RIVALS)
OUT = Path(__file__).parents[1] / "docs" / "results" / "own_files.csv"
# What nothing in the rows can show: labels that mean something else, and columns that were asked for and mislead.
HIDDEN = ("swapped classes", "leaking column")
HIDDEN_PAIRS = ("simulated-subspace",)
AS_IT_IS = "as it is"
KINDS = ("table", "text", "image")
# Accuracies that differ by less are alike.
ALIKE = 0.02
THRESHOLDS = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
QUANTILE = 0.92
START, END = "<!-- results: {} -->", "<!-- end of results -->"

Row = dict[str, Any]


def measure(case: Case) -> Row:
    """Adapt as the command line does with its defaults."""
    start = time.perf_counter()
    labelled: dict[str, Any] = {} if case.source.frame is None else {"label": LABEL, "target_label": LABEL}
    pair = make_pair(case.source, case.target, **labelled, **case.options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bundle, examined = adapt_pair(pair, Committee(random_state=0), {})
        labels = label_rows(bundle, pair.X_target)
        estimated = _estimates(examined)
    scores = examined.score(pair.truth)
    if scores is None:
        raise ValueError(f"{case.target.name} has no labels to score by.")
    return {
        "group": case.group,
        "kind": case.kind,
        "pair": case.name,
        "form": case.form,
        "rows": len(labels.label),
        "chosen": bundle.baseline.chosen_,
        "baseline": scores.accuracy.source,
        "adapted": scores.accuracy.adapted,
        "handed_out": float(np.mean(labels.label.astype(str) == np.asarray(pair.truth).astype(str))),
        "verdict": examined.verdict.choice,
        **_evidence_row(examined),
        "distance": examined.distance_before,
        **estimated,
        "seconds": round(time.perf_counter() - start, 1),
    }


def _estimates(examined: Examination) -> Row:
    """Return the estimates of the accuracy, none if a class has too few rows: as the command line does."""
    try:
        chances = held_out_chances(examined)
    except InvalidDataError:
        return {"low": 0.0, "high": 1.0, "unknown": 1, **dict.fromkeys(("estimate", *RIVALS), float("nan"))}
    estimate = estimate_from(chances, examined, examined.chosen)
    return {
        "estimate": estimate.accuracy,
        "low": estimate.low,
        "high": estimate.high,
        "unknown": int(not estimate.is_known),
        **_rivals(examined, chances),
    }


def _rivals(examined: Examination, chances: Chances) -> Row:
    """Return estimates of the accuracy of the adapted labels, ours and those of others."""
    known, unknown = (own.max(axis=1) for own in chances)
    found = estimate_from(chances, examined)
    source_accuracy = float(np.mean(chances.known.argmax(axis=1) == examined.domains.labels))
    winners = [
        scores.argmax(axis=1) for scores in map(by_class, examined.model.member_scores(examined.domains.X_target))
    ]
    pairs = [float(np.mean(one == other)) for one, other in combinations(winners, 2)]
    return {
        "ours": found.accuracy,
        "expected": float(unknown.mean()),
        "thresholded": float(np.mean(unknown >= np.quantile(known, 1.0 - source_accuracy))),
        "difference": found.difference_of_confidences,
        "agreement": float(np.mean(pairs)) if pairs else 1.0,
    }


def _evidence_row(examined: Examination) -> Row:
    evidence = examined.evidence
    near = evidence.neighbours or BeforeAfter(float("nan"), float("nan"))
    return {
        "changed": examined.n_changed / len(examined.after),
        "neighbours_source": near.source,
        "neighbours_adapted": near.adapted,
        "neighbours_z": evidence.neighbours_z,
        "one_sided": evidence.one_sided,
        "largest_source": evidence.largest_share.source,
        "largest_adapted": evidence.largest_share.adapted,
        "skill": evidence.skill,
        "least_skill": evidence.least_skill,
        "vanished": len(examined.vanished),
        "recovered": len(examined.recovered),
    }


def judged_with(row: Row, threshold: float) -> str:
    """Return the verdict with another threshold for one-sided changes."""
    near = BeforeAfter(row["neighbours_source"], row["neighbours_adapted"])
    evidence = Evidence(
        None if np.isnan(near.source) else near,
        row["neighbours_z"],
        row["one_sided"],
        BeforeAfter(row["largest_source"], row["largest_adapted"]),
        row["skill"],
        row["least_skill"],
        None,
    )
    classes = [[0] * int(row[name]) for name in ("vanished", "recovered")]
    n_changed = round(row["changed"] * int(row["rows"]))
    with patch.object(verdict, "ONE_SIDED", threshold):
        return judge(evidence, classes[0], n_changed, classes[1]).choice


def is_hidden(row: Row) -> bool:
    return row["form"] in HIDDEN or row["pair"].startswith(HIDDEN_PAIRS)


def gain_of(row: Row, choice: str) -> float:
    """Return what the labels that are handed out gain over the classifier of the source."""
    return 0.0 if choice == "source" else row["adapted"] - row["baseline"]


def leave_one_out(rows: list[Row]) -> list[Row]:
    """Add to each row the verdict and the interval with constants that were chosen on the other groups."""
    found = []
    for group in dict.fromkeys(row["group"] for row in rows):
        others = [row for row in rows if row["group"] != group and not is_hidden(row)]
        threshold = best_threshold(others)
        width = width_for(others)
        for row in (row for row in rows if row["group"] == group):
            with patch.object(accuracy, "WIDTH", width):
                low, high = interval_of(row["estimate"], int(row["rows"]), row["distance"])
            if int(row["unknown"]):
                low, high = 0.0, 1.0
            found.append({**row, "judged": judged_with(row, threshold), "low": low, "high": high})
    return found


def best_threshold(rows: list[Row]) -> float:
    """Return the threshold whose verdicts gain most."""
    return max(THRESHOLDS, key=lambda threshold: _mean_gain(rows, threshold))


def _mean_gain(rows: list[Row], threshold: float) -> float:
    return float(np.mean([gain_of(row, judged_with(row, threshold)) for row in rows]))


def width_for(rows: list[Row]) -> float:
    """Return the width that holds the accuracies of most rows."""
    known = [row for row in rows if not int(row["unknown"])]
    with patch.object(accuracy, "WIDTH", 0.0):
        sampling = np.array([np.diff(interval_of(row["estimate"], int(row["rows"]), 0.0))[0] / 2 for row in known])
    spread = np.array([np.sqrt(max(row["estimate"] * (1 - row["estimate"]), 0.01)) for row in known])
    errors = np.array([abs(row["estimate"] - row["handed_out"]) for row in known])
    distances = accuracy.LEAST_DISTANCE + np.array([row["distance"] for row in known])
    needed = np.sqrt(np.maximum(errors**2 - sampling**2, 0.0)) / (spread * distances)
    return float(np.quantile(needed, QUANTILE, method="higher"))


def show_verdicts(rows: list[Row]) -> str:
    """Return how the verdicts fell, by kind of data."""
    lines = [
        "| pairs | number | gain of adapting | gain of what is handed out | adapted | unsure | source | right |",
        "|---|---|---|---|---|---|---|---|",
    ]
    shown = [row for row in rows if not is_hidden(row)]
    as_they_are = [row for row in shown if row["form"] == AS_IT_IS]
    parts = [(f"{kind}s, {AS_IT_IS}", [row for row in as_they_are if row["kind"] == kind]) for kind in KINDS]
    parts.append(("altered", [row for row in shown if row["form"] != AS_IT_IS]))
    parts.append(("all of these", shown))
    parts.append(("nothing can show it", [row for row in rows if is_hidden(row)]))
    for title, own in (part for part in parts if part[1]):
        gains = [gain_of(row, "adapted") for row in own]
        handed = [gain_of(row, row["judged"]) for row in own]
        counts = [sum(row["judged"] == choice for row in own) for choice in ("adapted", "unsure", "source")]
        sure = [row for row in own if row["judged"] != "unsure" and abs(gain_of(row, "adapted")) > ALIKE]
        right = sum((gain_of(row, "adapted") > 0) == (row["judged"] == "adapted") for row in sure)
        cells = [title, str(len(own)), f"{100 * np.mean(gains):+.1f}", f"{100 * np.mean(handed):+.1f}"]
        lines.append(f"| {' | '.join([*cells, *map(str, counts)])} | {right} of {len(sure)} |")
    return "\n".join(lines)


def show_estimates(rows: list[Row]) -> str:
    """Return how often the interval holds the accuracy, by kind of data."""
    lines = [
        "| pairs | number | mean absolute error | bias | interval holds it | mean width | nothing said |",
        "|---|---|---|---|---|---|---|",
    ]
    shown = [row for row in rows if not is_hidden(row)]
    parts = [(f"{kind}s", [row for row in shown if row["kind"] == kind]) for kind in KINDS]
    parts.append(("nothing can show it", [row for row in rows if is_hidden(row)]))
    for title, own in parts:
        said = [row for row in own if not int(row["unknown"])]
        if not said:
            continue
        errors = 100 * np.array([row["estimate"] - row["handed_out"] for row in said])
        held = sum(row["low"] <= row["handed_out"] <= row["high"] for row in said)
        width = 100 * np.mean([row["high"] - row["low"] for row in said])
        cells = [title, len(own), f"{np.abs(errors).mean():.1f}", f"{errors.mean():+.1f}", f"{held} of {len(said)}"]
        lines.append(f"| {' | '.join(map(str, cells))} | {width:.0f} | {len(own) - len(said)} |")
    return "\n".join(lines)


def show_pairs(rows: Iterable[Row]) -> str:
    """Return a line for each pair."""
    lines = [
        "| pair | source alone | adapted | handed out | verdict | estimate |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = row["pair"] if row["form"] == AS_IT_IS else f"{row['pair']}, {row['form']}"
        shares = [f"{100 * row[key]:.1f}" for key in ("baseline", "adapted", "handed_out")]
        value, low, high = (f"{100 * row[key]:.0f}" for key in ("estimate", "low", "high"))
        estimate = "none" if int(row["unknown"]) else f"{value} [{low}-{high}]"
        lines.append(f"| {name} | {' | '.join(shares)} | {row['verdict']} | {estimate} |")
    return "\n".join(lines)


def show_rivals(rows: list[Row]) -> str:
    """Return the errors of several estimates of the accuracy of the adapted labels."""
    lines = ["| estimate | tables | texts | images |", "|---|---|---|---|"]
    said = [row for row in rows if not int(row["unknown"]) and not is_hidden(row)]
    for name, title in RIVALS.items():
        parts = [np.array([row[name] - row["adapted"] for row in said if row["kind"] == kind]) for kind in KINDS]
        cells = [f"{100 * np.abs(errors).mean():.1f} ({100 * errors.mean():+.1f})" for errors in parts]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


TABLES = {"rivals": show_rivals, "verdicts": show_verdicts, "estimates": show_estimates, "pairs": show_pairs}


def write_pages(rows: list[Row], pages: list[Path]) -> None:
    """Replace the tables of pages."""
    judged = leave_one_out(rows)
    for page in pages:
        text = page.read_text("utf-8")
        for name, show in TABLES.items():
            mark = START.format(name)
            if mark in text:
                before, rest = text.split(mark, 1)
                text = f"{before}{mark}\n\n{show(judged)}\n\n{END}{rest.split(END, 1)[1]}"
        page.write_text(text, "utf-8")


def read_rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [{**row, **{name: float(row[name]) for name in NUMBERS}} for row in read_csv(path)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="data sets to measure")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--page", type=Path, nargs="*", default=[], help="pages whose tables to replace")
    arguments = parser.parse_args()
    rows = read_rows(arguments.out)
    if arguments.page:
        write_pages(rows, arguments.page)
        return
    done = {(row["pair"], row["form"]) for row in rows}
    wanted = (case for case in cases(Path(os.environ["ADREM_DATA"]), arguments.only) if case.key not in done)
    runner = Parallel(n_jobs=arguments.jobs, pre_dispatch=arguments.jobs, return_as="generator_unordered")
    for row in runner(delayed(measure)(case) for case in wanted):
        rows.append(row)
        write_csv(arguments.out, FIELDS, rows)
        print(row["pair"], row["form"], f"{row['baseline']:.3f} {row['adapted']:.3f} {row['verdict']}", flush=True)
    shown = [row for row in rows if not is_hidden(row)]
    print(f"chosen on all groups: width {width_for(shown):.2f}, threshold {best_threshold(shown)}")


if __name__ == "__main__":
    main()
