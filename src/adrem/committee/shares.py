"""The class shares of the target, as the classifiers of the source estimate them, or Ad-REM for text."""

from __future__ import annotations

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
from adrem.algorithm.missing import Found
from adrem.algorithm.prior import PriorEstimate, most_likely, with_floor
from adrem.base.validation import Domains
from adrem.committee import views
from adrem.committee.kinds import FEW_COLUMNS
from adrem.machines.linear import LinearHead
from adrem.machines.regularization import N_FOLDS
from adrem.machines.tables import mean_squared_norm, stack

Array = NDArray[np.float64]
# Target rows per class that an estimate needs.
MIN_ROWS_PER_CLASS = 10
# Shares of text that are closer to equal ones than this, as a total variation distance, gain no accuracy: see the
# tables of docs/label-shift.md.
MIN_DISTANCE = 0.1
TINY = 1e-12


def estimate_shares(held_out: Array, of_target: Array, domains: Domains) -> Array:
    """Estimate the shares from probabilities for held-out source rows and for the target rows."""
    calibration = calibrate(np.log(np.maximum(held_out, TINY)), domains.labels, domains.weights)
    posteriors = softmax(calibration(np.log(np.maximum(of_target, TINY))), axis=1)
    base = np.bincount(domains.labels, domains.weights) / domains.weights.sum()
    return with_floor(most_likely(posteriors, base))


def view_of_unknown(domains: Domains, head: dict[str, Any]) -> tuple[LinearHead, Domains]:
    """Return the linear classifier that finds unknown rows, and the rows as it sees them.

    The columns keep their zeros: only then do rows that are unlike all classes score low.
    """
    viewed = views.of_unit_square(domains.X_source, domains.X_target)
    seen = domains._replace(X_source=viewed.source, X_target=viewed.target)
    return LinearHead("hinge", **head), seen


def find_present(
    domains: Domains, head: dict[str, Any], seed: np.random.SeedSequence, protected: NDArray[np.bool_]
) -> Found:
    """Estimate the shares and find missing classes as `AdREM(class_prior="estimate")` does."""
    fold_seed, own_seed = seed.spawn(2)
    viewed = views.scaled(domains.X_source, domains.X_target)
    is_text = sp.issparse(viewed.source)
    C = "cv" if is_text else 1.0 / mean_squared_norm(stack([viewed.source, viewed.target]))
    linear = LinearHead("hinge", C, fit_intercept=not is_text, **head)
    settings = FitSettings(linear, EMOptions(), n_estimators=1, class_prior="estimate")
    task = settings.begin(domains._replace(X_source=viewed.source, X_target=viewed.target), fold_seed)
    with task.machine.guard():
        found = settings.estimate_prior(task, own_seed, protected)
    return found._replace(estimate=estimate_with_known(found.estimate, domains))


def is_clear(estimate: PriorEstimate) -> bool:
    """Whether the shares are clearly not equal, and far enough from equal ones to gain accuracy."""
    distance = 0.5 * float(np.abs(estimate.shares - 1.0 / len(estimate.shares)).sum())
    return estimate.is_clear and distance > MIN_DISTANCE


def may_lack_classes(domains: Domains, shares: list[Array]) -> bool:
    """Whether classifiers of the source, by the shares of each for target rows, give a class few labels."""
    n_classes = len(domains.classes)
    rarest = int(np.bincount(domains.labels[domains.weights > 0], minlength=n_classes).min())
    if rarest < N_FOLDS:
        return False
    labelled = np.bincount(np.mean(shares, axis=0).argmax(axis=1), minlength=n_classes)
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
