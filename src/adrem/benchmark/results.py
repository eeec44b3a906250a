"""Summarize stored cells as a table: means, standard deviations, published values and comparisons."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from adrem.benchmark.methods import Method, find_methods
from adrem.benchmark.protocols import PROTOCOLS, Protocol, find_protocols
from adrem.benchmark.published import AVERAGE, Line, Value, published_elsewhere, published_values
from adrem.benchmark.store import Cell, Result

MARKED_ERRORS = 2.0  # standard errors beyond which a difference from the published value is marked
ROUNDING = 0.05  # published values have one decimal
PAPERS_METHOD = "adrem-svm"
MAX_ALL_COMPARED = 4  # with more methods, each is compared with PAPERS_METHOD only

Place = tuple[str, str]  # method and pair


@dataclass(frozen=True)
class TableCell:
    """The mean accuracy of a method on a pair and its standard deviation over the repetitions, in percent."""

    repeats: int
    accuracy: float
    std: float | None
    published: Value | None

    @property
    def difference(self) -> float | None:
        return None if self.published is None else self.accuracy - self.published.accuracy

    @property
    def differs(self) -> bool:
        """Whether the mean is more than two standard errors, and the rounding, from the published value."""
        if self.difference is None or self.std is None:
            return False
        return abs(self.difference) > MARKED_ERRORS * self.std / sqrt(self.repeats) + ROUNDING


@dataclass(frozen=True)
class Comparison:
    """Wins, ties and losses of the first of two methods over the pairs, and the p-value of Wilcoxon's test."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    p: float


@dataclass(frozen=True)
class TableResult:
    """A table with one kind of features. It has an average once all its pairs are finished."""

    protocol: Protocol
    methods: list[Method]
    cells: dict[Place, TableCell]
    comparisons: list[Comparison]
    elsewhere: list[Line]
    finished: str
    failures: dict[Place, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The pairs that any method was run on, and the average."""
        reached = {pair for _, pair in (*self.cells, *self.failures)}
        return [name for name in (*self.protocol.pairs, AVERAGE) if name in reached]

    def best(self, column: str) -> float | None:
        """Return the highest accuracy of a column if it has several comparable ones."""
        cells = {method: cell for (method, name), cell in self.cells.items() if name == column}
        comparable = len(cells) > 1 and _comparable(self.protocol, self.methods, cells)
        return max(round(cell.accuracy, 1) for cell in cells.values()) if comparable else None


def summarize(protocol: Protocol, methods: list[Method], results: dict[Cell, Result]) -> TableResult:
    """Summarize the finished cells of a table."""
    accuracies: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    failures = {}
    finished = ""
    for cell, result in results.items():
        if (cell.task, cell.features) != (protocol.table, protocol.features):
            continue
        finished = max(finished, result.finished)
        if result.values["accuracy"] is None:
            failures[cell.method, cell.pair] = result.values["failure"]
        else:
            accuracies[cell.method][cell.pair][cell.repetition] = result.values["accuracy"]
    reached = {*accuracies, *(method for method, _ in failures)}
    shown = [method for method in methods if method.name in reached]
    cells = {}
    for method in shown:
        known = published_values(protocol.table, protocol.features, method)
        for pair, runs in _with_average(accuracies[method.name], protocol).items():
            cells[method.name, pair] = _cell(list(runs.values()), known.get(pair))
    return _table(protocol, shown, cells, finished, failures)


def read_results(text: str) -> list[TableResult]:
    """Read tables from the CSV that they were written to."""
    cells: dict[tuple[str, str], dict[Place, TableCell]] = defaultdict(dict)
    failures: dict[tuple[str, str], dict[Place, str]] = defaultdict(dict)
    for row in csv.DictReader(text.splitlines()):
        key, place = (row["table"], row["features"]), (row["method"], row["pair"])
        if row.get("failure"):
            failures[key][place] = row["failure"]
        if row["accuracy"]:
            cells[key][place] = _read_cell(row)
    tables = []
    for key in dict.fromkeys([*cells, *failures]):
        methods = find_methods(dict.fromkeys(method for method, _ in (*cells[key], *failures[key])))
        [protocol] = find_protocols(*key)
        once = {method.name for method in methods if method.once}
        repeats = [cell.repeats for (name, _), cell in cells[key].items() if name not in once]
        protocol = replace(protocol, repeats=max(repeats, default=protocol.repeats))
        tables.append(_table(protocol, methods, cells[key], "", failures[key]))
    return tables


def _read_cell(row: dict[str, str]) -> TableCell:
    known = Value(float(row["published"]), row["published_source"]) if row["published"] else None
    std = float(row["std"]) if row["std"] else None
    return TableCell(int(row["repeats"]), float(row["accuracy"]), std, known)


def _table(
    protocol: Protocol,
    methods: list[Method],
    cells: dict[Place, TableCell],
    finished: str,
    failures: dict[Place, str],
) -> TableResult:
    features = {p.features for p in PROTOCOLS if p.table == protocol.table}
    elsewhere = published_elsewhere(protocol.table, protocol.features, methods, features)
    comparisons = _compare(protocol, methods, cells)
    return TableResult(protocol, methods, cells, comparisons, elsewhere, finished, failures)


def _with_average(runs: dict[str, dict[int, float]], protocol: Protocol) -> dict[str, dict[int, float]]:
    """Return the runs of each pair, and the means over the pairs for repetitions that all pairs have."""
    ordered = {pair: runs[pair] for pair in protocol.pairs if pair in runs}
    if len(ordered) < len(protocol.pairs):
        return ordered
    shared = set.intersection(*(set(by_repetition) for by_repetition in ordered.values()))
    means = {r: float(np.mean([ordered[pair][r] for pair in ordered])) for r in sorted(shared)}
    return {**ordered, AVERAGE: means} if means else ordered


def _cell(values: list[float], known: Value | None) -> TableCell:
    std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return TableCell(len(values), float(np.mean(values)), std, known)


def _comparable(protocol: Protocol, methods: list[Method], cells: dict[str, TableCell]) -> bool:
    """Return whether methods were run equally often on a pair, or each as often as planned."""
    planned = {method.name: protocol.repeats_of(method) for method in methods}
    complete = all(cell.repeats == planned[method] for method, cell in cells.items())
    return complete or len({cell.repeats for cell in cells.values()}) == 1


def _compare(protocol: Protocol, methods: list[Method], cells: dict[Place, TableCell]) -> list[Comparison]:
    """Compare every two methods; of many, each with the paper's."""
    names = [method.name for method in methods]
    many = len(names) > MAX_ALL_COMPARED and PAPERS_METHOD in names
    compared = [two for two in combinations(names, 2) if not many or PAPERS_METHOD in two]
    differences = {two: _differences(protocol, methods, cells, *two) for two in compared}
    return [_comparison(*two, values) for two, values in differences.items() if len(values)]


def _differences(
    protocol: Protocol, methods: list[Method], cells: dict[Place, TableCell], first: str, second: str
) -> NDArray[np.float64]:
    """Return the differences in accuracy on the pairs where two methods are comparable."""
    both = [(cells.get((first, pair)), cells.get((second, pair))) for pair in protocol.pairs]
    values = [
        a.accuracy - b.accuracy for a, b in both if a and b and _comparable(protocol, methods, {first: a, second: b})
    ]
    return np.round(values, 6)  # means of equal accuracies may differ in their last bits


def _comparison(first: str, second: str, differences: NDArray[np.float64]) -> Comparison:
    wins, losses = int(np.sum(differences > 0)), int(np.sum(differences < 0))
    p = signed_rank_p(differences[differences != 0])
    return Comparison(first, second, wins, len(differences) - wins - losses, losses, p)


def signed_rank_p(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of Wilcoxon's test over all signs of the ranks: exact with ties too."""
    n = len(differences)
    ranks = rankdata(np.abs(differences))
    signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    extreme = np.abs(signs @ ranks) >= abs(np.sign(differences) @ ranks) - 1e-9
    return float(np.mean(extreme))
