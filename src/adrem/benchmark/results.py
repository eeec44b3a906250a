"""From stored cells to the numbers of a table: means, spreads, what is published, and who beats whom."""

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

MARKED = 2.0  # standard errors beyond which a difference from the published value is marked


@dataclass(frozen=True)
class Entry:
    """A method on a pair: mean accuracy and its standard deviation over the repetitions, in percent."""

    repeats: int
    accuracy: float
    std: float | None
    published: Value | None

    @property
    def difference(self) -> float | None:
        return None if self.published is None else self.accuracy - self.published.accuracy

    @property
    def differs(self) -> bool:
        """Whether ours lies more than two of its standard errors from the published value, which has its last digit."""
        if self.difference is None or self.std is None:
            return False
        return abs(self.difference) > MARKED * self.std / sqrt(self.repeats) + ROUNDING


ROUNDING = 0.05  # published values have one decimal
PAPERS_METHOD = "adrem-svm"
ALL_COMPARED = 4  # methods of which every two are compared


@dataclass(frozen=True)
class Comparison:
    """Two methods over the pairs: how often the first wins, ties and loses, and Wilcoxon's p of the differences."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    p: float


@dataclass(frozen=True)
class TableResult:
    """All numbers of a table with one kind of features. The average is there once all its pairs are."""

    protocol: Protocol
    methods: list[Method]
    entries: dict[tuple[str, str], Entry]
    comparisons: list[Comparison]
    elsewhere: list[Line]
    finished: str
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Pairs that any method was run on, and the average."""
        reached = {pair for _, pair in (*self.entries, *self.failures)}
        return [name for name in (*self.protocol.pairs, AVERAGE) if name in reached]

    def best(self, column: str) -> float | None:
        """The highest accuracy of a column, where there are several that can be compared."""
        entries = {method: entry for (method, name), entry in self.entries.items() if name == column}
        comparable = len(entries) > 1 and _comparable(self.protocol, self.methods, entries)
        return max(round(entry.accuracy, 1) for entry in entries.values()) if comparable else None


def summarize(protocol: Protocol, methods: list[Method], results: dict[Cell, Result]) -> TableResult:
    """The numbers of a table, from those of its cells that are finished."""
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
    entries = {}
    for method in shown:
        known = published_values(protocol.table, protocol.features, method)
        for pair, runs in _with_average(accuracies[method.name], protocol).items():
            entries[method.name, pair] = _entry(list(runs.values()), known.get(pair))
    return _table(protocol, shown, entries, finished, failures)


def read_results(text: str) -> list[TableResult]:
    """Tables from the CSV that they were written to."""
    entries: dict[tuple[str, str], dict[tuple[str, str], Entry]] = defaultdict(dict)
    failures: dict[tuple[str, str], dict[tuple[str, str], str]] = defaultdict(dict)
    for row in csv.DictReader(text.splitlines()):
        if row.get("failure"):
            failures[row["table"], row["features"]][row["method"], row["pair"]] = row["failure"]
        if not row["accuracy"]:
            continue
        known = Value(float(row["published"]), row["published_source"]) if row["published"] else None
        std = float(row["std"]) if row["std"] else None
        entry = Entry(int(row["repeats"]), float(row["accuracy"]), std, known)
        entries[row["table"], row["features"]][row["method"], row["pair"]] = entry
    tables = []
    for key in dict.fromkeys([*entries, *failures]):
        methods = find_methods(dict.fromkeys(method for method, _ in (*entries[key], *failures[key])))
        [protocol] = find_protocols(*key)
        once = {method.name for method in methods if method.once}
        repeats = [entry.repeats for (name, _), entry in entries[key].items() if name not in once]
        protocol = replace(protocol, repeats=max(repeats, default=protocol.repeats))
        tables.append(_table(protocol, methods, entries[key], "", failures[key]))
    return tables


def _table(
    protocol: Protocol,
    methods: list[Method],
    entries: dict[tuple[str, str], Entry],
    finished: str,
    failures: dict[tuple[str, str], str],
) -> TableResult:
    features = {p.features for p in PROTOCOLS if p.table == protocol.table}
    elsewhere = published_elsewhere(protocol.table, protocol.features, methods, features)
    comparisons = _compare(protocol, methods, entries)
    return TableResult(protocol, methods, entries, comparisons, elsewhere, finished, failures)


def _with_average(runs: dict[str, dict[int, float]], protocol: Protocol) -> dict[str, dict[int, float]]:
    """The runs of every pair, and the means over the pairs of those repetitions that every pair has."""
    ordered = {pair: runs[pair] for pair in protocol.pairs if pair in runs}
    if len(ordered) < len(protocol.pairs):
        return ordered
    shared = set.intersection(*(set(by_repetition) for by_repetition in ordered.values()))
    means = {r: float(np.mean([ordered[pair][r] for pair in ordered])) for r in sorted(shared)}
    return {**ordered, AVERAGE: means} if means else ordered


def _entry(values: list[float], known: Value | None) -> Entry:
    std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Entry(len(values), float(np.mean(values)), std, known)


def _comparable(protocol: Protocol, methods: list[Method], entries: dict[str, Entry]) -> bool:
    """Whether methods were run equally often on a pair, or each as often as it is to be."""
    planned = {method.name: protocol.repeats_of(method) for method in methods}
    complete = all(entry.repeats == planned[method] for method, entry in entries.items())
    return complete or len({entry.repeats for entry in entries.values()}) == 1


def _compare(protocol: Protocol, methods: list[Method], entries: dict[tuple[str, str], Entry]) -> list[Comparison]:
    """Every two methods; of many, each with the paper's own."""
    names = [method.name for method in methods]
    many = len(names) > ALL_COMPARED and PAPERS_METHOD in names
    comparisons = []
    for first, second in combinations(names, 2):
        if many and PAPERS_METHOD not in (first, second):
            continue
        pairs = [
            p
            for p in protocol.pairs
            if (first, p) in entries
            and (second, p) in entries
            and _comparable(protocol, methods, {m: entries[m, p] for m in (first, second)})
        ]
        # To a millionth of a percent: means of equal accuracies may differ in their last bits.
        differences = np.round([entries[first, p].accuracy - entries[second, p].accuracy for p in pairs], 6)
        if len(differences):
            wins, losses = int(np.sum(differences > 0)), int(np.sum(differences < 0))
            p = signed_rank_p(differences[differences != 0])
            comparisons.append(Comparison(first, second, wins, len(differences) - wins - losses, losses, p))
    return comparisons


def signed_rank_p(differences: NDArray[np.float64]) -> float:
    """Wilcoxon's two-sided p: over all ways to give the ranks signs, exact with ties too, whatever scipy's version."""
    n = len(differences)
    ranks = rankdata(np.abs(differences))
    signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    extreme = np.abs(signs @ ranks) >= abs(np.sign(differences) @ ranks) - 1e-9
    return float(np.mean(extreme))
