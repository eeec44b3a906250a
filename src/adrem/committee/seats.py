"""Seats: fitted kinds, with their votes for held-out source rows, their accuracy there and their history."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from adrem.algorithm.em import EMOptions
from adrem.algorithm.ensemble import Ensemble
from adrem.algorithm.neighbors import DEFAULT_NEIGHBORS, MAX_TARGET_ROWS, Mixing, nearest
from adrem.algorithm.recorder import Member
from adrem.algorithm.task import Task, without
from adrem.base.validation import Domains
from adrem.committee.kinds import DISCRIMINANT_ITERATIONS, Kind, head_of
from adrem.committee.views import Components, View, Viewed, components, seen_by
from adrem.committee.voters import (
    DiscriminantMembers,
    LinearMembers,
    LinearProbabilities,
    RadialMembers,
    Shares,
    TreeProbabilities,
    Voter,
    Votes,
    probabilities,
    votes_of,
)
from adrem.machines.regularization import N_FOLDS, make_folds
from adrem.machines.trees import fit_trees
from adrem.runtime.progress import Ticker
from adrem.runtime.seeds import as_integer
from adrem.types import Matrix

if TYPE_CHECKING:
    from adrem.machines import Kernel, Solution

# Above this, the least accuracy rises with the accuracy of the best kind: a kind below it stays below it.
RISES_ABOVE = 0.5


@dataclass(frozen=True)
class Seat:
    """A kind after its fit.

    `held_out` are its shares for source rows, by classifiers that were trained without them and without the target. It
    does not vote for classes at the `absent` positions.
    """

    name: str
    view: View
    voter: Voter
    home_accuracy: float
    held_out: Shares
    history: list[dict[str, Any]] = field(default_factory=list)
    n_failed: int = 0
    weight: float = 1.0
    absent: tuple[int, ...] = ()

    def shares(self, rows: Matrix) -> Shares:
        """Return the shares of votes for rows of the target."""
        return self.votes(rows).shares

    def votes(self, rows: Matrix) -> Votes:
        """Return the votes for rows of the target."""
        return self.voter.votes(self.view.apply(rows), self.absent)


@dataclass(frozen=True)
class Settings:
    """What all kinds share: the members, the number of iterations, and parameters of `LinearHead`."""

    n_estimators: int
    n_iter: int
    n_jobs: int | None
    head: dict[str, Any]
    ticker: Callable[[], Ticker] = Ticker
    absent: tuple[int, ...] = ()


def fit_seat(
    kind: Kind,
    domains: Domains,
    prior: NDArray[np.float64],
    settings: Settings,
    seed: np.random.SeedSequence,
    least: float = 0.0,
) -> Seat:
    """Fit a kind to two domains; one whose accuracy on held-out source rows is below `least` is not adapted."""
    viewed = seen_by(kind.view, domains)
    if kind.classifier == "boosting":
        return _fit_boosting(kind, domains, viewed, seed)
    fold_seed, *member_seeds = seed.spawn(1 + settings.n_estimators)
    seen = viewed
    reduced = None
    if kind.classifier == "discriminant":
        reduced = components(viewed.source, viewed.target, fold_seed, settings.head["device"])
        seen = Viewed(reduced.source, reduced.target, viewed.view)
    can_choose = _has_folds(domains.labels, domains.weights, len(domains.classes))
    head = head_of(kind, viewed, can_choose=can_choose, **settings.head)
    adapts = kind.adapts and domains.adapts
    domains = domains._replace(X_source=seen.source, X_target=seen.target if adapts else seen.target[:0])
    rows = head.begin(domains, as_integer(fold_seed), _work(domains, settings, n_folds=head.n_folds))
    task = without(Task(rows, prior, None, _mixing(kind, domains, settings.head["device"])), settings.absent)
    with task.machine.guard():
        held_out = _held_out(task, as_integer(fold_seed), soft=kind.classifier == "logistic")
        home_accuracy = _accuracy(held_out, domains)
        if least >= RISES_ABOVE and home_accuracy < least:
            return Seat(kind.name, viewed.view, Voter(), home_accuracy, held_out)
        members = _train(kind, task, rows.train_source(), settings, member_seeds)
    voter = _voter(kind, task, members, reduced)
    history = [{"kind": kind.name, "member": m, **entry} for m, own in enumerate(members) for entry in own.history]
    return Seat(kind.name, viewed.view, voter, home_accuracy, held_out, history, sum(own.n_failed for own in members))


def _work(domains: Domains, settings: Settings, n_folds: int) -> Any:
    from adrem.machines import Work

    n_members = settings.n_estimators if domains.adapts else 1
    return Work(len(domains.classes), n_members, n_folds=n_folds, n_kept=n_members)


def _mixing(kind: Kind, domains: Domains, device: str) -> Mixing | None:
    n_target = domains.X_target.shape[0]
    if not kind.with_neighbors or not 2 * DEFAULT_NEIGHBORS < n_target <= MAX_TARGET_ROWS:
        return None
    return Mixing(nearest(domains.X_target, DEFAULT_NEIGHBORS, device=device))


def _held_out(task: Task, seed: int, *, soft: bool) -> Shares:
    """Return the shares for source rows by classifiers of the source without them, equal ones for too rare classes."""
    rows, n_source = task.rows, task.rows.n_source
    shares = np.full((n_source, len(task.prior)), 1.0 / len(task.prior))
    if not _has_folds(rows.labels, rows.weights, len(task.prior)):
        return shares
    labels = np.concatenate([rows.labels, np.zeros(rows.n_target, np.intp)])
    weights = np.concatenate([rows.weights, np.zeros(rows.n_target)])
    held = make_folds(labels, weights, seed)
    solution = task.machine.solve(labels, np.where(held, 0.0, weights), rows.C, among=np.flatnonzero(weights > 0))
    scores = task.machine.on_host(task.machine.scores(solution))
    for own, out in zip(scores, held, strict=True):
        part = own[out]
        shares[out[:n_source]] = probabilities(part) if soft else votes_of(iter([part])).shares
    return shares


def _has_folds(labels: NDArray[np.intp], weights: NDArray[np.float64], n_classes: int) -> bool:
    """Return whether every class has as many rows as there are folds."""
    return bool(np.bincount(labels[weights > 0], minlength=n_classes).min() >= N_FOLDS)


def _accuracy(shares: Shares, domains: Domains) -> float:
    """Return the mean accuracy over the classes of the source, NaN if a class has fewer rows than folds."""
    labels, weights = domains.labels, domains.weights
    if not _has_folds(labels, weights, len(domains.classes)):
        return float("nan")
    right, every = (
        np.bincount(labels, own)[: domains.n_of_source]
        for own in (weights * (shares.argmax(axis=1) == labels), weights)
    )
    return float(np.mean(right / every))


def _train(
    kind: Kind, task: Task, source: Solution, settings: Settings, seeds: list[np.random.SeedSequence]
) -> list[Member]:
    """Train the members; without a target, or for a classifier of the source, its classifier is the only one."""
    if not task.rows.n_target:
        own = tuple(array[0] for array in task.machine.weights(source))
        return [Member(path=[own], n_failed=int(source.n_failed[0]))]
    n_iter = min(settings.n_iter, DISCRIMINANT_ITERATIONS) if kind.classifier == "discriminant" else settings.n_iter
    return Ensemble(task, source, EMOptions(n_iter)).members(seeds, settings.n_jobs, settings.ticker())


def _voter(kind: Kind, task: Task, members: list[Member], reduced: Components | None) -> Voter:
    arrays = [np.stack(own) for own in zip(*(member.path[-1] for member in members), strict=True)]
    if reduced is not None:
        return DiscriminantMembers(np.stack([reduced.lift(own) for own in arrays[0]]), *arrays[1:])
    if kind.classifier == "rbf":
        used = np.flatnonzero(np.any(arrays[0] != 0, axis=(0, 1)))
        kernel, table = cast("Kernel", task.machine.kernel), np.asarray(task.machine.table)
        return RadialMembers(arrays[0][..., used], arrays[1], table[used], np.array([kernel.gamma]))
    if kind.classifier == "logistic":
        return LinearProbabilities(arrays[0][0], arrays[1][0])
    return LinearMembers(arrays[0], arrays[1])


def _fit_boosting(kind: Kind, domains: Domains, viewed: Viewed, seed: np.random.SeedSequence) -> Seat:
    """Fit boosted trees to the source."""
    domains, own_seed = domains._replace(X_source=viewed.source), as_integer(seed)

    def train(part: Any = slice(None)) -> Voter:
        return TreeProbabilities.of(fit_trees(domains, own_seed, part))

    shares, accuracy = held_out_by(train, domains, own_seed)
    return Seat(kind.name, viewed.view, train(), accuracy, shares)


def held_out_by(train: Callable[[NDArray[np.bool_]], Voter], domains: Domains, seed: int) -> tuple[Shares, float]:
    """Return the shares for source rows by classifiers that `train` fits without them, and their accuracy."""
    labels, weights, n_classes = domains.labels, domains.weights, len(domains.classes)
    shares = np.full((len(labels), n_classes), 1.0 / n_classes)
    if _has_folds(labels, weights, n_classes):
        for held in make_folds(labels, weights, seed):
            shares[held] = train(~held).shares(domains.X_source[held])
    return shares, _accuracy(shares, domains)


def weighted(seat: Seat, weight: float, absent: Collection[int] = ()) -> Seat:
    """Return the seat with a weight, and without votes for absent classes."""
    return replace(seat, weight=weight, absent=tuple(absent))
