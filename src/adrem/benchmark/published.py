"""Published tables and curves of the paper and its predecessors."""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from adrem.benchmark.methods import Method

AVERAGE = "avg"


class Value(NamedTuple):
    """A published accuracy in percent, and its source."""

    accuracy: float
    source: str


class Line(NamedTuple):
    """Published accuracies of a method, by pair."""

    method: str
    features: str
    source: str
    values: dict[str, float]


class Point(NamedTuple):
    """A point of a published curve, in percent. Some curves have no standard deviation."""

    x: int
    accuracy: float
    std: float | None


@cache
def _rows(name: str) -> list[dict[str, str]]:
    text = files("adrem.benchmark").joinpath(name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def published_values(table: str, features: str, method: Method) -> dict[str, Value]:
    """Return the published values of a method of the package, by pair."""
    return {
        row["pair"]: Value(float(row["accuracy"]), row["source"])
        for row in _rows("published_tables.csv")
        if (row["table"], row["features"]) == (table, features) and row["method"] in method.published
    }


def published_elsewhere(table: str, features: str, ours: list[Method], all_features: set[str]) -> list[Line]:
    """Return the published lines of a table for other methods, and for features that the package does not run."""
    known = {name for method in ours for name in method.published}
    lines: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in _rows("published_tables.csv"):
        foreign = row["features"] not in all_features
        same = row["features"] == features and row["method"] not in known
        if row["table"] == table and (foreign or same):
            lines[row["method"], row["features"], row["source"]][row["pair"]] = float(row["accuracy"])
    return [Line(*key, values) for key, values in lines.items()]


def published_curve(figure: str, data: str) -> list[Point]:
    """Return a curve of the paper's sensitivity figures."""
    return [
        Point(int(row["x"]), float(row["accuracy"]), float(row["std"]) if row["std"] else None)
        for row in _rows("published_figures.csv")
        if (row["figure"], row["data"]) == (figure, data)
    ]
