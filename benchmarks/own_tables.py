"""The tables of the pages about files of one's own, of the results of own_files.py.

The verdict and the interval of a data set have constants that were chosen on the other data sets. A run is a pair and a
seed. The constants are chosen on the first seed, so that every pair counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from own_cases import AS_IT_IS
from own_scores import ESTIMATES, SCORES, as_accuracies

from adrem.diagnostics import BeforeAfter, Evidence, accuracy, verdict
from adrem.diagnostics.accuracy import interval_of
from adrem.diagnostics.verdict import judge

Row = dict[str, Any]
# What nothing in the rows can show: labels that mean something else, and columns that were asked for and mislead.
HIDDEN = ("swapped classes", "leaking column")
HIDDEN_PAIRS = ("simulated-subspace",)
KINDS = ("table", "text", "image")
# Accuracies that differ by less are alike.
ALIKE = 0.02
# What is handed out should lose no more than this.
MOST_LOST = 0.03
# A verdict for the adapted labels should never lose as much.
MOST_REGRET = 0.05
THRESHOLDS = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
# The part of the accuracies on other data sets that the interval holds.
QUANTILE = 0.94
# The mean of two estimates.
BOTH = "both"
START, END = "<!-- results: {} -->", "<!-- end of results -->"


class Guess(NamedTuple):
    """An estimated accuracy and the true one, and what the width of the interval depends on."""

    estimate: float
    truth: float
    n_rows: int
    distance: float


class Checked(NamedTuple):
    """An estimate whose interval was calibrated on other data sets."""

    kind: str
    error: float
    low: float
    high: float
    is_held: bool


def is_hidden(row: Row) -> bool:
    return row["form"] in HIDDEN or row["pair"].startswith(HIDDEN_PAIRS)


def is_known(row: Row) -> bool:
    """Return whether the accuracy was estimated."""
    return not row["unknown"]


def is_whole(row: Row) -> bool:
    """Return whether a row has all columns: rows of earlier versions lack the evidence of other rules."""
    return not np.isnan(row["opposed"])


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
        opposed=row["opposed"] if is_whole(row) else 0.0,
    )
    classes = [[0] * int(row[name]) for name in ("vanished", "recovered")]
    n_changed = round(row["changed"] * row["rows"])
    with patch.object(verdict, "ONE_SIDED", threshold):
        return judge(evidence, classes[0], n_changed, classes[1]).choice


def gain_of(row: Row, choice: str) -> float:
    """Return what the labels that are handed out gain over the classifier of the source."""
    return 0.0 if choice == "source" else row["adapted"] - row["baseline"]


def leave_one_out(rows: list[Row]) -> list[Row]:
    """Add to each row the verdict and the interval with constants that were chosen on the other groups."""
    found = []
    for group in dict.fromkeys(row["group"] for row in rows):
        others = [row for row in to_choose_on(rows) if row["group"] != group]
        threshold, width = best_threshold(others), width_of(others)
        for row in (row for row in rows if row["group"] == group):
            low, high = interval_with(width, guess_of(row)) if is_known(row) else (0.0, 1.0)
            judged = judged_with(row, threshold)
            found.append({**row, "judged": judged, "threshold": threshold, "low": low, "high": high})
    return found


def to_choose_on(rows: list[Row]) -> list[Row]:
    """Return the runs that constants are chosen on."""
    return [row for row in rows if row["seed"] == 0 and not is_hidden(row)]


def best_threshold(rows: list[Row]) -> float:
    """Return the threshold whose verdicts gain most."""
    return max(THRESHOLDS, key=lambda threshold: _mean_gain(rows, threshold))


def _mean_gain(rows: list[Row], threshold: float) -> float:
    return float(np.mean([gain_of(row, judged_with(row, threshold)) for row in rows]))


def guess_of(row: Row, estimate: str = "estimate", truth: str = "handed_out") -> Guess:
    return Guess(row[estimate], row[truth], int(row["rows"]), row["distance"])


def width_of(rows: list[Row]) -> float:
    """Return the width with which the interval of the package holds the accuracies of most rows."""
    return width_for([guess_of(row) for row in rows if is_known(row)])


def interval_with(width: float, guess: Guess) -> tuple[float, float]:
    with patch.object(accuracy, "WIDTH", width):
        return interval_of(guess.estimate, guess.n_rows, guess.distance)


def width_for(guesses: list[Guess]) -> float:
    """Return the width that holds most true accuracies."""
    estimates, truths, _, distances = (np.array(own) for own in zip(*guesses, strict=True))
    with patch.object(accuracy, "WIDTH", 0.0):
        bounds = np.array([interval_of(own.estimate, own.n_rows, 0.0) for own in guesses])
    sampling = (bounds[:, 1] - bounds[:, 0]) / 2
    spread = np.sqrt(np.maximum(estimates * (1 - estimates), 0.01))
    left = np.sqrt(np.maximum((estimates - truths) ** 2 - sampling**2, 0.0))
    needed = left / (spread * (accuracy.LEAST_DISTANCE + distances))
    return float(np.quantile(needed, QUANTILE, method="higher"))


def check_estimate(rows: list[Row], name: str) -> list[Checked]:
    """Return an estimate of the accuracy of the adapted labels, with intervals that were calibrated on other groups."""
    found = []
    rows = [row for row in rows if is_known(row) and is_whole(row) and not is_hidden(row)]
    for group in dict.fromkeys(row["group"] for row in rows):
        here = [row for row in rows if row["group"] == group]
        others = [row for row in to_choose_on(rows) if row["group"] != group]
        width = width_for(_guesses(others, others, name))
        for row, guess in zip(here, _guesses(here, others, name), strict=True):
            low, high = interval_with(width, guess)
            error = guess.estimate - guess.truth
            found.append(Checked(row["kind"], error, low, high, low <= guess.truth <= high))
    return found


def _guesses(rows: list[Row], others: list[Row], name: str) -> list[Guess]:
    if name == BOTH:
        rows = [{**row, BOTH: (row["ours"] + row["thresholded"]) / 2} for row in rows]
    guesses = [guess_of(row, name, "adapted") for row in rows]
    if name not in SCORES:
        return guesses
    scores, truths = (np.array([row[key] for row in others]) for key in (name, "adapted"))
    estimates = as_accuracies(scores, truths, np.array([guess.estimate for guess in guesses]))
    return [guess._replace(estimate=float(own)) for guess, own in zip(guesses, estimates, strict=True)]


def show_verdicts(rows: list[Row]) -> str:
    """Return how the verdicts fell, by kind of data."""
    counts_of = "adapted | unsure | source | right | undecided"
    lines = [
        f"| data | pairs | runs | gain of adapting | gain of what is handed out | {counts_of} |",
        f"|{'---|' * 10}",
    ]
    for title, own in _parts(rows):
        pairs = _pairs(own).values()
        gains = [np.mean([gain_of(row, "adapted") for row in runs]) for runs in pairs]
        handed = [np.mean([gain_of(row, row["judged"]) for row in runs]) for runs in pairs]
        counts = [sum(row["judged"] == choice for row in own) for choice in ("adapted", "unsure", "source")]
        n_right, n_sure, n_undecided = count_right(own)
        cells = [title, str(len(pairs)), str(len(own))]
        cells += [f"{100 * np.mean(gains):+.1f}", f"{100 * np.mean(handed):+.1f}", *map(str, counts)]
        lines.append(f"| {' | '.join([*cells, f'{n_right} of {n_sure}', str(n_undecided)])} |")
    return "\n".join(lines)


def _parts(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    shown = [row for row in rows if not is_hidden(row)]
    as_they_are = [row for row in shown if row["form"] == AS_IT_IS]
    parts = [(f"{kind}s, {AS_IT_IS}", [row for row in as_they_are if row["kind"] == kind]) for kind in KINDS]
    parts.append(("altered", [row for row in shown if row["form"] != AS_IT_IS]))
    parts += [(f"all {kind}s", [row for row in shown if row["kind"] == kind]) for kind in KINDS]
    parts += [("all of these", shown), ("nothing can show it", [row for row in rows if is_hidden(row)])]
    return [part for part in parts if part[1]]


def count_right(rows: list[Row]) -> tuple[int, int, int]:
    """Return the right verdicts where the accuracies differ, all that decide, and those that do not."""
    clear = [row for row in rows if abs(gain_of(row, "adapted")) > ALIKE]
    sure = [row for row in clear if row["judged"] != "unsure"]
    right = sum((gain_of(row, "adapted") > 0) == (row["judged"] == "adapted") for row in sure)
    return right, len(sure), len(clear) - len(sure)


def show_losses(rows: list[Row]) -> str:
    """Return the pairs where the labels that are handed out are clearly worse than those of the source, with a seed."""
    lines = ["| pair | source alone | handed out | lost at most | verdict |", "|---|---|---|---|---|"]
    for own in _pairs(rows).values():
        gains = [gain_of(row, row["judged"]) for row in own]
        if min(gains) < -MOST_LOST and not is_hidden(own[0]):
            handed = np.mean([row["baseline"] + gain for row, gain in zip(own, gains, strict=True)])
            cells = f"{_percent(own, 'baseline')} | {100 * handed:.1f} | {-100 * min(gains):.1f}"
            lines.append(f"| {_title(own[0])} | {cells} | {_verdicts(own, 'judged')} |")
    return "\n".join(lines)


def _pairs(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """Return the runs of each pair."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["pair"], row["form"]), []).append(row)
    return found


def _title(row: Row) -> str:
    return str(row["pair"] if row["form"] == AS_IT_IS else f"{row['pair']}, {row['form']}")


def _percent(rows: list[Row], key: str, digits: int = 1) -> str:
    return f"{100 * np.mean([row[key] for row in rows]):.{digits}f}"


def _verdicts(rows: list[Row], key: str) -> str:
    counts = Counter(row[key] for row in rows)
    return ", ".join(name if len(counts) == 1 else f"{name} {count}" for name, count in counts.most_common())


def show_estimates(rows: list[Row]) -> str:
    """Return how often the interval holds the accuracy, by kind of data."""
    lines = [
        "| data | runs | mean absolute error | bias | interval holds it | mean width | nothing said |",
        "|---|---|---|---|---|---|---|",
    ]
    shown = [row for row in rows if not is_hidden(row)]
    parts = [(f"{kind}s", [row for row in shown if row["kind"] == kind]) for kind in KINDS]
    parts.append(("nothing can show it", [row for row in rows if is_hidden(row)]))
    for title, own in parts:
        said = [row for row in own if is_known(row)]
        if not said:
            continue
        errors = 100 * np.array([row["estimate"] - row["handed_out"] for row in said])
        held = sum(row["low"] <= row["handed_out"] <= row["high"] for row in said)
        width = 100 * np.mean([row["high"] - row["low"] for row in said])
        cells = [title, len(own), f"{np.abs(errors).mean():.1f}", f"{errors.mean():+.1f}", f"{held} of {len(said)}"]
        lines.append(f"| {' | '.join(map(str, cells))} | {width:.0f} | {len(own) - len(said)} |")
    return "\n".join(lines)


def show_pairs(rows: list[Row]) -> str:
    """Return a line for each pair, the means of its runs."""
    lines = [
        "| pair | runs | source alone | adapted | handed out | verdict | estimate |",
        "|---|---|---|---|---|---|---|",
    ]
    for own in _pairs(rows).values():
        shares = [_percent(own, key) for key in ("baseline", "adapted", "handed_out")]
        said = [row for row in own if is_known(row)]
        value, low, high = (_percent(said, key, 0) if said else "" for key in ("estimate", "low", "high"))
        estimate = f"{value} [{low}-{high}]" if said else "none"
        cells = [_title(own[0]), str(len(own)), *shares, _verdicts(own, "verdict"), estimate]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def show_rivals(rows: list[Row]) -> str:
    """Return the errors of several estimates of the accuracy of the adapted labels, and how well intervals hold it."""
    lines = [f"| estimate | {' | | | '.join(f'{kind}s' for kind in KINDS)} | | |", f"|{'---|' * 10}"]
    lines.append(f"| | {' | '.join(['error | holds | width'] * len(KINDS))} |")
    for name, title in {**ESTIMATES, BOTH: "mean of the first and the third"}.items():
        checked = check_estimate(rows, name)
        cells = [_rival_cells([own for own in checked if own.kind == kind]) for kind in KINDS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _rival_cells(checked: list[Checked]) -> str:
    errors = 100 * np.array([own.error for own in checked])
    width = 100 * np.mean([own.high - own.low for own in checked])
    held = f"{sum(own.is_held for own in checked)} of {len(checked)}"
    return f"{np.abs(errors).mean():.1f} ({errors.mean():+.1f}) | {held} | {width:.0f}"


def source_if(is_against: Callable[[Row], bool]) -> Callable[[Row], str]:
    """Return the rule that turns a verdict for the adapted labels into one for those of the source."""
    return lambda row: "source" if row["judged"] == "adapted" and is_against(row) else row["judged"]


def by_sign(value: float) -> str:
    return "adapted" if value > 0 else "source"


RULES: dict[str, Callable[[Row], str]] = {
    "the rules above": lambda row: str(row["judged"]),
    "without the test of the forms of classifiers": lambda row: judged_with({**row, "opposed": 0.0}, row["threshold"]),
    "neighbours that agree clearly, by two standard errors": lambda row: (
        "unsure" if row["judged"] == "adapted" and 1.0 < row["neighbours_z"] <= 2.0 else row["judged"]
    ),
    "`source` if reverse validation favours it by two standard errors": source_if(lambda row: row["reversed"] < -2.0),
    "`source` if its mixed rows (MixVal) keep more labels": source_if(lambda row: row["mixed"] < row["mixed_source"]),
    "`source` if its matrix norm (MaNo) is larger": source_if(lambda row: row["norm_adapted"] < row["norm_source"]),
    "MixVal alone": lambda row: by_sign(row["mixed"] - row["mixed_source"]),
    "MaNo alone": lambda row: by_sign(row["norm_adapted"] - row["norm_source"]),
    "reverse validation alone": lambda row: by_sign(row["reversed"]),
    "a class that vanished is no doubt": lambda row: judged_with({**row, "vanished": 0.0}, row["threshold"]),
    "`source` instead of `unsure`": lambda row: "source" if row["judged"] == "unsure" else str(row["judged"]),
}


def show_rules(rows: list[Row]) -> str:
    """Return how right the verdicts would be with other rules."""
    rows = [row for row in rows if is_whole(row) and not is_hidden(row)]
    lines = [
        "| rule | right | undecided | gain of what is handed out | runs that lose more than 3 | `adapted`, lost 5 |",
        "|---|---|---|---|---|---|",
    ]
    for title, rule in RULES.items():
        own = [{**row, "judged": rule(row)} for row in rows]
        n_right, n_sure, n_undecided = count_right(own)
        gains = [gain_of(row, row["judged"]) for row in own]
        worst = sum(row["judged"] == "adapted" and gain_of(row, "adapted") < -MOST_REGRET for row in own)
        cells = [f"{n_right} of {n_sure}", str(n_undecided), f"{100 * np.mean(gains):+.1f}"]
        lines.append(f"| {title} | {' | '.join(cells)} | {sum(gain < -MOST_LOST for gain in gains)} | {worst} |")
    return "\n".join(lines)


TABLES: dict[str, Callable[[list[Row]], str]] = {
    "rivals": show_rivals,
    "verdicts": show_verdicts,
    "losses": show_losses,
    "estimates": show_estimates,
    "pairs": show_pairs,
    "rules": show_rules,
}


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
