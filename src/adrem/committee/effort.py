"""The effort of a fit: a forecast of the time of each kind, and the kinds that fit into the budget of time.

A forecast is in seconds of one core. It depends on the shape of the rows alone, so that the same rows have the same
kinds everywhere, and not on how hard they are to separate: nine of ten kinds that `benchmarks/effort.py` measured take
between half and twice as long as forecast.
"""

from __future__ import annotations

from typing import NamedTuple

from adrem.base.validation import Domains
from adrem.committee.kinds import DISCRIMINANT_ITERATIONS, FEW_COLUMNS, KINDS, Kind
from adrem.committee.shift import MAX_COMPARED
from adrem.committee.views import MAX_COMPONENTS
from adrem.machines.cost_model import choose_path
from adrem.machines.losses import find_loss
from adrem.machines.problems import Work
from adrem.machines.tables import Outline
from adrem.runtime.text import percent

# The budget of a fit: a multiple of the time of `AdREM()`, or these seconds of one core if that is more.
MULTIPLE, SECONDS = 6.0, 10.0
PARTS = {"low": 1 / 3, "auto": 1.0}

# Seconds for a product of two entries in a Gram matrix, and for an entry of a row that is visited without one.
PRODUCT, ENTRY = 1.4e-10, 2.0e-9
# Seconds for a row in one iteration of one member, for two classes. With more, the problems of the classes together
# take the root of their number times as long: each has few rows that are hard to tell.
VISIT = {"hinge": 3.0e-7, "log_loss": 8.0e-7}
# Iterations that take as long as the choice of C, as training on the source for its own sake, as the class shares of
# text, and as the longest search for missing classes on dense rows.
CHOICE, SOURCE, SHARES, SEARCH = 100, 80, 600, 400
# AdREM() takes this many times as long on few columns, which seldom separate the classes, so that a large C is slow.
ADREM_MEMBERS, ADREM_ITERATIONS, FEW_FACTOR = 11, 20, 2.0
# A matrix of similarities: its products, a pair of rows in an iteration, iterations that its preparation takes as long
# as, and a visit.
SIMILARITY, PAIR, PREPARED, KERNEL_VISIT = 9.0e-11, 5.0e-11, 35, 1.4e-6
# A discriminant: an entry whose principal components are found, and a component of a row in an iteration.
REDUCED, COMPONENT = 1.4e-7, 1.3e-8
# A boosted tree, by columns and by rows, and the trees of four fits for each problem.
TREE_COLUMN, TREE_ROW, TREES = 5.9e-6, 3.8e-7, 400
# A pair of rows whose similarity is compared between the domains.
COMPARED = 1.1e-7


class Size(NamedTuple):
    """The size of a fit: all rows, those of the source, and the work for each kind."""

    table: Outline
    n_source: int
    n_problems: int
    n_members: int
    n_iter: int

    @classmethod
    def of(cls, domains: Domains, n_members: int, n_iter: int) -> Size:
        """Return the size of a fit to two domains; without a target there are no iterations."""
        table = Outline.of(domains.X_source, domains.X_target)
        n_problems = Work(len(domains.classes)).n_problems
        members = (n_members, n_iter) if domains.adapts else (1, 0)
        return cls(table, len(domains.labels), n_problems, *members)

    @property
    def has_few_columns(self) -> bool:
        """Whether the table is dense, with few columns."""
        return not self.table.is_sparse and self.table.n_features <= FEW_COLUMNS

    def visits(self, n_iterations: float) -> float:
        """Return how often rows are visited in so many iterations of single members."""
        return float(self.table.n_rows * self.n_problems**0.5 * n_iterations)

    def of_source(self) -> Size:
        """Return the size of the source alone."""
        share = self.n_source / self.table.n_rows
        table = self.table._replace(n_rows=self.n_source, n_entries=round(share * self.table.n_entries))
        return self._replace(table=table)


def seconds_of(kind: Kind, size: Size) -> float:
    """Forecast how long a kind takes."""
    n_rows, n_features = size.table.n_rows, size.table.n_features
    iterations = size.n_members * size.n_iter
    if kind.classifier == "boosting":
        return TREES * size.n_problems * (TREE_COLUMN * n_features + TREE_ROW * size.n_source)
    if kind.classifier == "rbf":
        pairs = n_rows**2 * (SIMILARITY * n_features + PAIR * (iterations + PREPARED))
        return pairs + KERNEL_VISIT * size.visits(iterations)
    if kind.classifier == "discriminant":
        iterations = size.n_members * min(size.n_iter, DISCRIMINANT_ITERATIONS)
        n_components = min(n_features, MAX_COMPONENTS)
        return n_rows * (REDUCED * n_features + COMPONENT * n_components * iterations)
    if kind.classifier == "logistic":
        return _linear("log_loss", size.of_source(), SOURCE)
    loss = "hinge" if kind.classifier == "hinge" else "log_loss"
    return _linear(loss, size, iterations + (CHOICE if kind.strength is None else 0))


def _linear(loss: str, size: Size, n_iterations: float) -> float:
    """Forecast how long linear classifiers take, with a Gram matrix or without."""
    table, visits = size.table, size.visits(n_iterations)
    n_classes = max(size.n_problems, 2)
    if choose_path(table, n_classes, find_loss(loss).costs).name == "gram":
        return PRODUCT * table.n_rows**2 * table.entries + VISIT[loss] * visits
    return (ENTRY * table.entries + VISIT[loss]) * visits


def seconds_of_adrem(size: Size) -> float:
    """Forecast how long `AdREM()` takes on the same rows."""
    iterations = ADREM_MEMBERS * ADREM_ITERATIONS if size.n_iter else 0
    return (FEW_FACTOR if size.has_few_columns else 1.0) * _linear("hinge", size, iterations + CHOICE)


def seconds_of_rest(size: Size, *, searches: bool = False) -> float:
    """Forecast how long it takes to estimate the class shares, to compare the domains, and to find missing classes."""
    n_target = size.table.n_rows - size.n_source
    if not n_target:
        return 0.0
    if size.table.is_sparse:
        return _linear("hinge", size, SHARES)
    n_compared = min(size.n_source, MAX_COMPARED) + min(n_target, MAX_COMPARED)
    compared = COMPARED * n_compared**2 if size.has_few_columns else 0.0
    return compared + (_linear("hinge", size, SEARCH) if searches else 0.0)


def affordable(
    names: list[str], size: Size, effort: str, *, searches: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Return the kinds within the budget, and why the others are left out: the slowest first, and never all.

    With `searches` missing classes are searched for, which takes a part of the budget.
    """
    if effort not in PARTS:
        return names, {}
    budget = PARTS[effort] * max(MULTIPLE * seconds_of_adrem(size), SECONDS)
    seconds = {name: seconds_of(KINDS[name], size) for name in names}
    total = all_kinds = sum(seconds.values()) + seconds_of_rest(size, searches=searches)
    left_out: dict[str, str] = {}
    slowest_first = sorted(names, key=seconds.__getitem__)[::-1]  # of equal ones the last
    for name in slowest_first[:-1]:
        if total <= budget:
            break
        total -= seconds[name]
        left_out[name] = (
            f"it would take {percent(seconds[name], budget)} of the allowed time, and all kinds "
            f'{percent(all_kinds, budget)}; the effort "high" tries it'
        )
    return [name for name in names if name not in left_out], left_out
