"""The steps of a fit: put the rows into a machine, estimate what was asked for, train the members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.algorithm.doubts import warn_of_shares
from adrem.algorithm.em import EMOptions
from adrem.algorithm.ensemble import Ensemble, Seeds, n_jobs_here
from adrem.algorithm.known_shares import estimate_with_known
from adrem.algorithm.neighbors import DEFAULT_NEIGHBORS, MAX_TARGET_ROWS, Mixing, are_informative, nearest
from adrem.algorithm.recorder import Member
from adrem.algorithm.task import Task, without
from adrem.base.parameters import read_prior, read_protected
from adrem.base.validation import Domains
from adrem.exceptions import DeviceMemoryError, LostClassWarning, ParameterError
from adrem.runtime.memory import bytes_of, check_room
from adrem.runtime.notices import NamingText, warn_user
from adrem.runtime.progress import progress
from adrem.runtime.seeds import RandomState, as_integer, spawn_seeds

if TYPE_CHECKING:  # numba, which the machines need, is imported by the first fit
    from adrem.algorithm.missing import Found
    from adrem.algorithm.prior import PriorEstimate
    from adrem.machines import Solution, Work
    from adrem.machines.linear import LinearHead

MOST_LISTED = 5  # classes in a warning


@dataclass(frozen=True)
class FitSettings:
    """The settings of a fit: those of the classifier, of Algorithm 1 and of Algorithm 2."""

    head: LinearHead
    options: EMOptions
    n_estimators: int = 11
    class_prior: Any = "uniform"
    neighbors: Any = None
    protected_classes: Any = ()
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def estimates_prior(self) -> bool:
        """Whether the class shares are estimated."""
        return isinstance(self.class_prior, str) and self.class_prior == "estimate"

    @property
    def assumes_equal_shares(self) -> bool:
        """Whether each class is drawn equally often, unasked."""
        is_default = isinstance(self.class_prior, str) and self.class_prior == "uniform"
        return is_default and self.options.sampling == "balanced"

    def work(self, domains: Domains) -> Work:
        """All that the machine will be asked for."""
        from adrem.machines import Work
        from adrem.machines.regularization import N_FOLDS

        n_members = self.n_estimators if domains.adapts else 1
        n_folds = N_FOLDS if self.estimates_prior or self.head.chooses_c else 1
        n_stored = self.options.n_iter + self.options.n_refine + 1 if self.options.store_path else 1
        n_jobs = min(n_jobs_here(self.n_jobs), n_members)  # a job has one member at least
        return Work(len(domains.classes), n_members, n_jobs, n_folds, n_members * n_stored)

    def begin(self, domains: Domains, fold_seed: np.random.SeedSequence) -> Task:
        """Put the rows into a machine, and choose C."""
        prior = read_prior(self.class_prior, domains)
        rows = self.head.begin(domains, as_integer(fold_seed), self.work(domains))
        sources = None if domains.sources is None else np.unique(domains.sources, return_inverse=True)[1]
        return Task(rows, prior, sources)

    def estimate_prior(self, task: Task, seed: np.random.SeedSequence, protected: NDArray[np.bool_]) -> Found:
        """Estimate the class shares of the target, and find the classes that are missing there."""
        from adrem.algorithm.missing import estimate_present
        from adrem.algorithm.prior import N_RUNS

        options = EMOptions(self.options.n_iter, self.options.sampling)
        with progress(N_RUNS * options.n_iter, "class shares", self.verbose) as ticker:
            return estimate_present(task, options, np.random.default_rng(seed), ticker, protected)


def order_similarities(domains: Domains) -> Domains:
    """Put the columns of a kernel matrix into the order of the rows: those of the source first."""
    n_rows = domains.X_source.shape[0] + domains.X_target.shape[0]
    if domains.X_source.shape[1] != n_rows:
        raise ParameterError(
            f"kernel='precomputed' needs a column for each of the {n_rows} rows, X has {domains.X_source.shape[1]}.",
            "kernel",
        )
    order = np.arange(n_rows) if domains.positions is None else domains.positions
    check_room(bytes_of(domains.X_source) + bytes_of(domains.X_target), "A copy of the similarities", "give fewer rows")
    return domains._replace(X_source=domains.X_source[:, order], X_target=domains.X_target[:, order], positions=order)


@dataclass(frozen=True)
class Fit:
    """What a fit has found."""

    task: Task
    members: list[Member]
    n_failed: int
    n_neighbors: int = 0
    estimate: PriorEstimate | None = None
    missing: dict[int, str] = field(default_factory=dict)


def fit_members(settings: FitSettings, domains: Domains, random_state: RandomState) -> Fit:
    """Fit the members; without a target, the classifier of the source is the only one."""
    fold_seed, *member_seeds, prior_seed = spawn_seeds(random_state, 2 + settings.n_estimators)
    task = settings.begin(domains, fold_seed)
    machine = task.machine
    if not domains.adapts:
        with machine.guard():
            return _fit_source(task)
    estimate, n_neighbors = None, 0
    missing: dict[int, str] = {}
    protected = read_protected(settings.protected_classes, domains)
    with machine.guard():
        if settings.neighbors is not None:
            task, n_neighbors = _with_neighbors(settings, task, domains, as_integer(fold_seed))
        if settings.estimates_prior:
            estimate, missing = settings.estimate_prior(of_source(task, domains), prior_seed, protected)
            estimate = estimate_with_known(estimate, domains)
            task = replace(task, prior=estimate.shares)
        task = without(task, missing)
        source = task.rows.train_source()
        members = _train_members(settings, task, source, member_seeds)
    return Fit(task, members, int(source.n_failed[0]), n_neighbors, estimate, missing)


def of_source(task: Task, domains: Domains) -> Task:
    """Return the task with the classes of the source alone."""
    return without(task, [len(domains.classes) - 1]) if domains.has_unknown else task


def _fit_source(task: Task) -> Fit:
    from adrem.machines.linear import classifier_of

    found = classifier_of(task.rows, task.rows.train_source())
    return Fit(task, [Member(path=[(found.coef, found.intercept)], rounding=found.rounding)], found.n_failed)


def _with_neighbors(settings: FitSettings, task: Task, domains: Domains, seed: int) -> tuple[Task, int]:
    """Return the task that mixes the scores of neighbours, and their number: with "auto" none if they don't help."""
    n_source, n_target = task.rows.n_source, task.rows.n_target
    precomputed = isinstance(settings.head.kernel, str) and settings.head.kernel == "precomputed"
    source, target = domains.X_source, domains.X_target
    if precomputed:
        source, target = source[:, :n_source], target[:, n_source:]
    k = settings.neighbors
    if isinstance(k, str):
        k = DEFAULT_NEIGHBORS
        if not k < n_target <= MAX_TARGET_ROWS or not are_informative(
            task.rows, source, seed, similarities=precomputed
        ):
            return task, 0
    return replace(task, mixing=Mixing(nearest(target, k, similarities=precomputed))), k


def _train_members(settings: FitSettings, task: Task, source: Solution, seeds: Seeds) -> list[Member]:
    """Algorithm 2 before its vote. If the memory of a GPU runs out, half as many members are trained at a time."""
    ensemble = Ensemble(task, source, settings.options)
    n_steps = len(seeds) * settings.options.n_iter
    while True:
        try:
            with task.machine.guard(), progress(n_steps, "Ad-REM", settings.verbose) as ticker:
                return ensemble.members(seeds, settings.n_jobs, ticker)
        except DeviceMemoryError:
            if ensemble.group_size == 1:
                raise
            ensemble = ensemble.in_halves()


def warn_about(fit: Fit, settings: FitSettings, classes: list[Any], labels: Sequence[int] = ()) -> None:
    """Warn of trainings that did not converge, of rounding errors, of lost classes and of unequal shares."""
    from adrem.machines.linear import warn_given_up, warn_imprecise

    intercept, C, tol = fit.members[0].path[-1][1], fit.task.rows.C, settings.head.tol
    n_failed = fit.n_failed + sum(member.n_failed for member in fit.members)
    n_trained = len(intercept) * (1 + sum(max(0, len(member.history) - 1) for member in fit.members))
    warn_given_up(n_failed, n_trained, tol, C)
    warn_imprecise(max(member.rounding for member in fit.members), tol, C, intercept.dtype)
    lost = Counter(c for member in fit.members for c in member.lost)
    if lost:
        n_members = len(fit.members)
        listed = [f"{classes[c]!r} (in {n} of {n_members} members)" for c, n in sorted(lost.items())]
        more = f" and {len(listed) - MOST_LISTED} more" if len(listed) > MOST_LISTED else ""
        named = ", ".join(listed[:MOST_LISTED]) + more
        balanced = settings.options.sampling == "balanced"
        advice = "If the target has few or no such rows, set {class_prior}; otherwise check" if balanced else "Check"
        text = f"At some iteration no target row was labelled with class {{named}}. {advice} the labels with care."
        warn_user(NamingText(text, named=named), LostClassWarning)
    elif len(labels) and settings.assumes_equal_shares:
        warn_of_shares(np.asarray(labels), classes)
