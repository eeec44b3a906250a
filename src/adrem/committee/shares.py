"""The class shares of the target, as the classifiers of the source estimate them, or Ad-REM for text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax

from adrem.algorithm.calibration import calibrate
from adrem.algorithm.doubts import few_labels
from adrem.algorithm.em import EMOptions
from adrem.algorithm.fitting import FitSettings
from adrem.algorithm.known_shares import estimate_with_known
from adrem.algorithm.missing import Found, find_missing
from adrem.algorithm.prior import PriorEstimate, most_likely, with_floor
from adrem.algorithm.task import Task
from adrem.base.validation import Domains
from adrem.committee import views
from adrem.committee.kinds import FEW_COLUMNS
from adrem.committee.seats import Seat
from adrem.machines.linear import LinearHead
from adrem.machines.regularization import N_FOLDS
from adrem.machines.tables import mean_squared_norm, stack
from adrem.runtime.progress import Ticker

Array = NDArray[np.float64]
# Target rows per class that an estimate needs.
MIN_ROWS_PER_CLASS = 10
# Shares of text that are closer to equal ones than this, as a total variation distance, gain no accuracy: see the
# tables of docs/label-shift.md.
MIN_DISTANCE = 0.1
# Iterations of a run of the search for missing classes on dense rows; `AdREM` takes 20.
SEARCH_ITERATIONS = 10
TINY = 1e-12


def estimate_shares(held_out: Array, of_target: Array, domains: Domains) -> Array:
    """Estimate the shares from probabilities for held-out source rows and for the target rows."""
    calibration = calibrate(np.log(np.maximum(held_out, TINY)), domains.labels, domains.weights)
    posteriors = softmax(calibration(np.log(np.maximum(of_target, TINY))), axis=1)
    base = np.bincount(domains.labels, domains.weights) / domains.weights.sum()
    return with_floor(most_likely(posteriors, base))


@dataclass(frozen=True)
class Basis:
    """What assumptions about the target are based on.

    `seats` are the classifiers of the source, `head` parameters of `LinearHead`, and `protected` marks the classes that
    are known to be in the target.
    """

    domains: Domains
    seats: list[Seat]
    head: dict[str, Any]
    seed: np.random.SeedSequence
    protected: NDArray[np.bool_]

    @property
    def has_votes(self) -> bool:
        """Whether classifiers of the source label rows of a target."""
        return self.domains.adapts and bool(self.seats)

    @cached_property
    def votes(self) -> Array:
        """The shares of their votes for the target rows (rows x classes)."""
        return np.asarray(np.mean([seat.shares(self.domains.X_target) for seat in self.seats], axis=0))


def view_of_unknown(domains: Domains, head: dict[str, Any]) -> tuple[LinearHead, Domains]:
    """Return the linear classifier that finds unknown rows, and the rows as it sees them.

    The columns keep their zeros: only then do rows that are unlike all classes score low.
    """
    viewed = views.of_unit_square(domains.X_source, domains.X_target)
    seen = domains._replace(X_source=viewed.source, X_target=viewed.target)
    return LinearHead("hinge", **head), seen


def find_present(basis: Basis) -> Found:
    """Estimate the shares and find missing classes as `AdREM(class_prior="estimate")` does."""
    settings, task, seed = _begin(basis)
    with task.machine.guard():
        found = settings.estimate_prior(task, seed, basis.protected)
    return found._replace(estimate=estimate_with_known(found.estimate, basis.domains))


def find_absent(basis: Basis) -> dict[int, str]:
    """Return why classes are missing, by their positions, by fewer and shorter runs than `find_present`."""
    _, task, seed = _begin(basis)
    options, rng = EMOptions(SEARCH_ITERATIONS), np.random.default_rng(seed)
    with task.machine.guard():
        return find_missing(task, options, rng, Ticker(), basis.protected)


def _begin(basis: Basis) -> tuple[FitSettings, Task, np.random.SeedSequence]:
    """Put the scaled rows into a machine for a linear classifier, with an intercept unless they are sparse."""
    fold_seed, own_seed = basis.seed.spawn(2)
    domains, is_text = basis.domains, sp.issparse(basis.domains.X_source)
    viewed = views.scaled(domains.X_source, domains.X_target)
    C = "cv" if is_text else 1.0 / mean_squared_norm(stack([viewed.source, viewed.target]))
    linear = LinearHead("hinge", C, fit_intercept=not is_text, **basis.head)
    settings = FitSettings(linear, EMOptions(), n_estimators=1, class_prior="estimate")
    task = settings.begin(domains._replace(X_source=viewed.source, X_target=viewed.target), fold_seed)
    return settings, task, own_seed


def is_clear(estimate: PriorEstimate) -> bool:
    """Whether the shares are clearly not equal, and far enough from equal ones to gain accuracy."""
    distance = 0.5 * float(np.abs(estimate.shares - 1.0 / len(estimate.shares)).sum())
    return estimate.is_clear and distance > MIN_DISTANCE


def may_lack_classes(basis: Basis) -> bool:
    """Whether the classifiers of the source give a class few labels, on dense rows with many columns.

    On few columns other shifts look like missing classes. For sparse rows there is always an estimate.
    """
    domains, n_classes = basis.domains, len(basis.domains.classes)
    if not basis.has_votes or sp.issparse(domains.X_source) or has_few_columns(domains):
        return False
    rarest = int(np.bincount(domains.labels[domains.weights > 0], minlength=n_classes).min())
    if rarest < N_FOLDS:
        return False
    labelled = np.bincount(basis.votes.argmax(axis=1), minlength=n_classes)
    return bool(few_labels(labelled))


def has_rows(domains: Domains) -> bool:
    """Whether both domains have enough rows for an estimate."""
    counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
    return domains.X_target.shape[0] >= MIN_ROWS_PER_CLASS * len(counts) and bool(counts.min() >= MIN_ROWS_PER_CLASS)


def has_few_columns(domains: Domains) -> bool:
    """Whether the rows are dense, and have few enough columns to compare the domains."""
    return not sp.issparse(domains.X_source) and domains.X_target.shape[1] <= FEW_COLUMNS


def is_estimable(domains: Domains) -> bool:
    """Whether there are also enough rows for an estimate by the classifiers of the source."""
    return has_few_columns(domains) and has_rows(domains)
