"""Beyond the paper: target rows that belong to no class of the source.

They are found before the fit, by a classifier with one class more than the source has:

1. Rows on which the classifier of the source scores no class highly are labelled as unknown at first. The threshold is
   that of Otsu (1979), which divides the highest scores into two groups that differ most.
2. Ad-REM starts from these labels, and draws unknown rows half as often as there are. Hard rows of the classes leave
   them then. Another such run starts from what is left. If it loses many rows too, there are no unknown rows.
3. Ad-REM starts from what the first of these runs left, and draws unknown rows in proportion to their number.

The rows that are found stand beside the source with the additional class, as rows with known labels do, and are left
out of the draws. So every classifier learns the class, and new rows can get its label too. Where none are found, there
is no additional class, and the fit is the usual one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.algorithm.doubts import lower_bound, upper_bound
from adrem.algorithm.sampling import draw_balanced
from adrem.algorithm.task import Task
from adrem.base.known import finds_unknown, mean_weight, move_beside
from adrem.base.reading import UNKNOWN
from adrem.base.scoring import by_class
from adrem.base.validation import Domains
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.runtime.seeds import as_integer
from adrem.runtime.text import some_names

if TYPE_CHECKING:  # numba, which the machines need, is imported by the first fit
    from adrem.machines.linear import LinearHead

Labels = NDArray[np.intp]
Mask = NDArray[np.bool_]
N_RUNS, N_ITER = 3, 10
# There are unknown rows if both runs with half the draws leave this part of those of the first step, or if the second
# leaves this part of those that the first has left. Chosen on Office-Caltech and, for closed targets, on Office-31.
LEAST_LEFT, LEAST_STABLE = 0.4, 0.8
# Fewer target rows can't be divided into two groups, and fewer rows of the class can't be divided into folds.
LEAST_TARGET, LEAST_FOUND = 10, 3
# What the label of unknown rows must be, by the kind of the classes; those that are objects are strings.
NEEDED = dict.fromkeys("OU", "a string") | dict.fromkeys("iu", "an integer, such as -1") | {"f": "a finite number"}
UNKNOWN_ATTRIBUTES = ("unknown_share_", "unknown_interval_")
N_EXAMPLES = 3
NONE_FOUND = (
    "rows of no class of the source: none found. There may be some nevertheless: the search misses classes that lie "
    "near those of the source"
)
# Bounds of the share that are further apart tell nothing of how many rows there are.
WIDEST = 0.5


class Unknown(NamedTuple):
    """Which target rows seem to belong to no class of the source, and their share with bounds.

    If none are found, the share is zero, and its bounds are zero and one: the search may miss all of them.
    """

    rows: Mask
    share: float = 0.0
    low: float = 0.0
    high: float = 1.0

    @property
    def is_found(self) -> bool:
        """Whether there are such rows."""
        return self.share > 0


@dataclass(frozen=True)
class Course:
    """How often the additional class is drawn: so many times its current share, from all rows at once or from few."""

    part: float
    at_once: bool = False


USUAL, DRAWN_LESS, DRAWN_EARLY = Course(1.0), Course(0.5, at_once=True), Course(1.0, at_once=True)


def find_unknown(head: LinearHead, domains: Domains, seed: np.random.SeedSequence) -> Unknown:
    """Find the target rows that seem to belong to no class of the source."""
    fold_seed, *seeds = seed.spawn(1 + 4)
    head = replace(head, loss="hinge", C=_small_c(head, domains), fit_intercept=False)
    first = _first_labels(head, domains, as_integer(fold_seed))
    extended = domains._replace(classes=np.arange(len(domains.classes) + 1), has_unknown=True)
    training = replace(head, C=first.C).begin(extended, as_integer(fold_seed))
    search = Search(Task(training, np.zeros(len(extended.classes))), first.labels)
    with training.machine.guard():
        left = search.run(first.rows, DRAWN_LESS, seeds[0])
        least = search.run(left, DRAWN_LESS, seeds[1])
        n_first, n_left, n_least = (int(own.sum()) for own in (first.rows, left, least))
        if n_least < max(LEAST_FOUND, min(LEAST_LEFT * n_first, LEAST_STABLE * n_left)) or n_first == len(least):
            return Unknown(np.zeros_like(least))
        rows, most = search.run(left, USUAL, seeds[2]), search.run(first.rows, DRAWN_EARLY, seeds[3])
    if np.count_nonzero(rows) < LEAST_FOUND:
        rows = least
    found = [(int(own.sum()), len(own)) for own in (least, rows, most)]
    low, high = min(lower_bound(*own) for own in found), max(upper_bound(*own) for own in found)
    return Unknown(rows, float(rows.mean()), low, high)


def _small_c(head: LinearHead, domains: Domains) -> float:
    """Return a small C, which keeps the scores of rows low that are unlike all classes."""
    from adrem.machines.tables import mean_squared_norm

    if head.has_kernel:
        return 1.0
    tables = [table for table in (domains.X_source, domains.X_target) if table.shape[0]]
    sizes = [table.shape[0] for table in tables]
    return 1.0 / float(np.average([mean_squared_norm(table) for table in tables], weights=sizes))


class First(NamedTuple):
    """Labels of the target by the classifier of the source, its rows of low scores, and the C."""

    labels: Labels
    rows: Mask
    C: float


def _first_labels(head: LinearHead, domains: Domains, seed: int) -> First:
    source = head.begin(domains, seed)
    with source.machine.guard():
        scores = by_class(source.machine.on_host(source.machine.scores(source.train_source())[0]))[source.n_source :]
    highest = scores.max(axis=1)
    return First(scores.argmax(axis=1), highest <= threshold(highest), source.C)


def threshold(values: NDArray[np.float64]) -> float:
    """Return the value up to which one of two groups reaches that differ most (Otsu 1979)."""
    ordered = np.sort(values)
    n = np.arange(1, len(ordered))
    sums = np.cumsum(ordered)
    difference = sums[:-1] / n - (sums[-1] - sums[:-1]) / (len(ordered) - n)
    return float(ordered[np.argmax(n * (len(ordered) - n) * difference**2)])


class Search:
    """Runs of Ad-REM with an additional class, of which the source has no row."""

    def __init__(self, task: Task, labels: Labels) -> None:
        self._task = task
        self._labels = labels
        self._last = len(task.prior) - 1

    def run(self, start: Mask, course: Course, seed: np.random.SeedSequence) -> Mask:
        """Return the target rows that most members label with the additional class, from rows that have it at first."""
        rngs = [np.random.default_rng(own) for own in seed.spawn(N_RUNS)]
        labels, solution = np.tile(np.where(start, self._last, self._labels), (N_RUNS, 1)), None
        for k in range(1, N_ITER + 1):
            fraction = 1.0 if course.at_once else k / N_ITER
            counts = [self._draw(own, course.part, fraction, rng) for own, rng in zip(labels, rngs, strict=True)]
            solution = self._task.train(labels, np.stack(counts), solution, seed=k)
            labels = self._task.observe(solution).labels
        return np.asarray((labels == self._last).mean(axis=0) > 0.5)

    def _draw(self, labels: Labels, part: float, fraction: float, rng: np.random.Generator) -> NDArray[np.float64]:
        share = part * float(np.mean(labels == self._last))
        prior = np.append(np.full(self._last, (1.0 - share) / self._last), share)
        return draw_balanced(labels, fraction * len(labels), prior, rng)


def set_apart(domains: Domains, label: Any, rows: Mask) -> Domains:
    """Return domains with one class more, in which the unknown rows stand beside the source."""
    n_classes, before = len(domains.classes), len(domains.labels)
    moved = move_beside(domains, np.where(rows, n_classes, UNKNOWN))
    weights = moved.weights.copy()
    weights[before:] = mean_weight(domains)
    return moved._replace(weights=weights, classes=with_label(domains.classes, label), has_unknown=True)


def without_unknown(domains: Domains) -> Domains:
    """Return the domains without the additional class and its rows."""
    if not domains.has_unknown:
        return domains
    n_classes = domains.n_of_source
    own = domains.labels < n_classes
    return domains._replace(
        X_source=domains.X_source[own],
        labels=domains.labels[own],
        weights=domains.weights[own],
        classes=domains.classes[:-1],
        positions=None,
        n_known=domains.n_known - int(np.count_nonzero(~own)),
        has_unknown=False,
    )


def with_label(classes: NDArray[Any], label: Any) -> NDArray[Any]:
    """Return the classes and the label of unknown rows, which is the last."""
    kind = object if classes.dtype.kind == "O" else None
    return np.concatenate([classes, np.array([label], dtype=kind)])


def check_unknown(model: Any, domains: Domains) -> None:
    """Raise an error if unknown rows can't be rejected, before any work."""
    if model.get_params(deep=False).get("kernel") == "precomputed":
        raise ParameterError("unknown='reject' needs the rows: kernel='precomputed' has only similarities.", "unknown")
    classes, label = domains.classes.tolist(), model.unknown_label
    kind = domains.classes.dtype.kind
    if kind not in NEEDED:
        raise InvalidDataError(
            f"unknown='reject' adds a label to labels such as {classes[0]!r}: make them strings or numbers."
        )
    if not _is_of_kind(label, kind):
        raise ParameterError(
            f"unknown_label={label!r} does not go with labels such as {classes[0]!r}: give {NEEDED[kind]}.",
            "unknown_label",
        )
    if label in classes:
        raise ParameterError(
            f"unknown_label={label!r} is a class of the source: give a label that no source row has.", "unknown_label"
        )
    if domains.X_target.shape[0] < LEAST_TARGET:
        raise InvalidDataError(
            f"unknown='reject' compares the rows of the target, and there are only {domains.X_target.shape[0]}: give "
            f"{LEAST_TARGET} or more, or set unknown='ignore'."
        )


def _is_of_kind(label: Any, kind: str) -> bool:
    if kind in "OU" or isinstance(label, (str, bool)):
        return kind in "OU" and isinstance(label, str)
    return bool(np.isfinite(label)) and (kind == "f" or isinstance(label, Integral))


def rejects(model: Any) -> bool:
    """Return whether a model gives unknown rows a label of their own."""
    return bool(model.unknown == "reject")


def apart_for(
    model: Any,
    domains: Domains,
    see: Callable[[Domains], tuple[LinearHead, Domains]],
    seed: np.random.SeedSequence,
) -> tuple[Domains, Domains]:
    """Return the domains with all rows, and those to fit a model to, in which unknown rows stand beside the source.

    If none are found, both are the domains as they are given. `see` returns the classifier that finds these rows, and
    the rows as it sees them. The estimated share becomes an attribute of the model.
    """
    for name in UNKNOWN_ATTRIBUTES:
        vars(model).pop(name, None)  # of an earlier fit
    if not (rejects(model) and domains.adapts):
        return domains, domains
    check_unknown(model, domains)
    found = find_unknown(*see(domains), seed)
    model.unknown_share_, model.unknown_interval_ = found.share, np.array([found.low, found.high])
    if not found.is_found:
        return domains, domains
    apart = set_apart(domains, model.unknown_label, found.rows)
    return domains._replace(classes=apart.classes, has_unknown=True), apart


def tell_unknown(model: Any) -> list[str]:
    """Return a line on the share of unknown rows, if a fit has looked for them."""
    if not hasattr(model, "unknown_share_"):
        return []
    if not finds_unknown(model):
        return [NONE_FOUND]
    low, share, high = (f"{100 * own:.0f}" for own in np.insert(model.unknown_interval_, 1, model.unknown_share_))
    name, bounds = some_names([model.unknown_label]), f"{low} to {high} %"
    found = f"about {share} % ({bounds}), labelled {name}"
    if np.ptp(model.unknown_interval_) > WIDEST:
        found = f"some found, labelled {name}; how many there are can't be told ({bounds})"
    return [f"rows of no class of the source: {found}{_examples(model.vote_share_[:, -1])}"]


def _examples(shares: NDArray[np.float64]) -> str:
    """Return the numbers of the rows with the largest shares of votes."""
    rows = np.argsort(-shares, kind="stable")
    named = [str(1 + row) for row in rows[shares[rows] > 0][:N_EXAMPLES].tolist()]
    return f"; the surest, counted from 1, are rows {', '.join(named)}" if named else ""
