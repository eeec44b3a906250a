"""Beyond the paper: the class shares of the target, estimated without its labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import softmax

from adrem.algorithm.calibration import calibrate
from adrem.algorithm.em import EMOptions, HeldOutRows, randomized_em
from adrem.algorithm.task import Task
from adrem.base.scoring import by_class
from adrem.machines.linear import with_idle_target
from adrem.machines.regularization import N_FOLDS, make_folds
from adrem.runtime.progress import Ticker

Array = NDArray[np.float64]
# The cross-validation is repeated, and the scores are averaged.
N_REPEATS = 3
N_RUNS = N_REPEATS * N_FOLDS
# No class gets less than this part of an equal share.
SMALLEST_PART = 0.1
# The assumed error of an estimate, as a part of the mean uncertainty of the calibrated scores. The estimate is moved
# towards equal shares by it. Chosen on half of the pairs of the Amazon reviews, and on Office-Caltech.
ERROR_PER_UNCERTAINTY = 0.25
# An estimate that is further from equal shares than this many errors is clear. Chosen on the Amazon reviews and SURF.
CLEAR_ERRORS = 2.0
N_BOOTSTRAP = 200
CONFIDENCE = 0.9
MAX_STEPS = 1000
TOLERANCE = 1e-6


class Shares(NamedTuple):
    """Class shares of the target rows by scores of members in whose training these rows had no part.

    `labelled` are the shares of the labels, and `likely` those that make the rows most likely. `scores` are the means
    of the highest scores of the rows with each label, NaN without such rows. `n_present` classes were not absent.
    """

    labelled: Array
    likely: Array
    scores: Array
    n_present: int


class PriorEstimate(NamedTuple):
    """Estimated class shares of the target, a bootstrap interval for each, and a second estimate.

    The interval covers the choice of the target rows, not the difference between the domains. The second estimate
    corrects the label counts by the confusion matrix of held-out source rows. `error` is the assumed error of the
    shares, as a total variation distance. `found` are the shares before they were moved towards equal ones.
    """

    shares: Array
    low: Array
    high: Array
    by_confusion: Array
    error: float
    found: Shares

    @property
    def is_clear(self) -> bool:
        """Whether the classes are clearly not equally common."""
        return bool(0.5 * np.abs(self.shares - 1.0 / len(self.shares)).sum() > CLEAR_ERRORS * self.error)


class Calibrated(NamedTuple):
    """Calibrated scores of held-out rows (rows x present classes), with labels and weights of those of the source."""

    known: Array
    unknown: Array
    labels: NDArray[np.intp]
    weights: Array

    @property
    def base(self) -> Array:
        """The class shares for which the scores are calibrated."""
        return np.asarray(np.bincount(self.labels, self.weights) / self.weights.sum())


def estimate_prior(task: Task, options: EMOptions, rng: np.random.Generator, ticker: Ticker) -> PriorEstimate:
    """Estimate the shares from scores of rows that had no part in the training.

    Ad-REM runs with equal shares in the draws, without a fold of both domains, and then scores the rows of this fold:
    scores of training rows would only repeat the labels that they were trained with. Held-out source rows, whose labels
    are known, calibrate the scores. The shares are those that maximize the likelihood of the held-out target rows
    (Saerens, Latinne and Decaestecker 2002). Draws with other shares would bias the scores towards these shares.
    Absent classes have no share.
    """
    scores = held_out_scores(with_draws(task, np.ones(len(task.prior))), options, rng, ticker)
    calibrated = calibrate_scores(task, scores)
    posteriors, base = softmax(calibrated.unknown, axis=1), calibrated.base
    error = assumed_error(posteriors)
    n_target = len(posteriors)
    samples = (posteriors[rng.integers(n_target, size=n_target)] for _ in range(N_BOOTSTRAP))
    draws = [shrink_to_equal(most_likely(sample, base), error) for sample in samples]
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(draws, [tail, 100.0 - tail], axis=0)
    return PriorEstimate(
        of_all_classes(task, shrink_to_equal(most_likely(posteriors, base), error)),
        of_all_classes(task, low),
        of_all_classes(task, high),
        of_all_classes(task, _by_confusion(*calibrated)),
        error,
        find_shares(task, scores),
    )


def assumed_error(posteriors: Array) -> float:
    """Return the assumed error of shares that are estimated by posteriors, as a total variation distance."""
    return ERROR_PER_UNCERTAINTY * float(1.0 - posteriors.max(axis=1).mean())


def with_draws(task: Task, parts: Array) -> Task:
    """Return the task with shares in the draws in proportion to these parts, and none of absent classes."""
    own = np.where(task.is_present, parts, 0.0)
    return replace(task, prior=own / own.sum())


def held_out_scores(
    task: Task, options: EMOptions, rng: np.random.Generator, ticker: Ticker, n_repeats: int = N_REPEATS
) -> Array:
    """Score every row (rows x classes) by the mean of runs in whose training it had no part."""
    rows = task.rows
    labels, weights = with_idle_target(rows.labels, rows.weights, rows.n_target)
    total = np.zeros((len(labels), task.machine.n_problems))
    for _ in range(n_repeats):
        held_out = make_folds(labels, weights, int(rng.integers(2**31)))
        of_target = rng.permutation(rows.n_target) % N_FOLDS
        held_out[:, rows.n_source :] = of_target == np.arange(N_FOLDS)[:, None]
        source = task.machine.solve(labels, np.where(held_out, 0.0, weights), rows.C)
        participants = HeldOutRows(task, held_out)
        members = randomized_em(task, source, rng.spawn(N_FOLDS), options, participants=participants, ticker=ticker)
        for member, held in zip(members, held_out, strict=True):
            total[held] += member.scores[held]
    return by_class(total / n_repeats)


def calibrate_scores(task: Task, scores: Array) -> Calibrated:
    """Calibrate scores (rows x classes) by the source rows of the classes that are present."""
    rows, present = task.rows, np.flatnonzero(task.is_present)
    is_known = np.concatenate([task.is_present[rows.labels], np.zeros(rows.n_target, dtype=bool)])
    labels = np.searchsorted(present, rows.labels[is_known[: rows.n_source]])
    weights = rows.weights[is_known[: rows.n_source]]
    known, unknown = (scores[part][:, present] for part in (is_known, slice(rows.n_source, None)))
    calibration = calibrate(known, labels, weights)
    return Calibrated(calibration(known), calibration(unknown), labels, weights)


def find_shares(task: Task, scores: Array) -> Shares:
    """Return the class shares of the target by scores of held-out rows (rows x classes)."""
    calibrated = calibrate_scores(task, scores)
    likely = most_likely(softmax(calibrated.unknown, axis=1), calibrated.base)
    highest, labels = winners(task, scores)
    counts = np.bincount(labels, minlength=len(task.prior))
    sums = np.bincount(labels, highest, minlength=len(task.prior))
    means = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return Shares(counts / len(labels), of_all_classes(task, likely), means, int(np.count_nonzero(task.is_present)))


def winners(task: Task, scores: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the highest score of each target row among the classes that are present, and its class."""
    own = np.where(task.is_present, scores[task.rows.n_source :], -np.inf)
    return own.max(axis=1), own.argmax(axis=1)


def of_all_classes(task: Task, values: Array) -> Array:
    """Return the values of the classes that are present, and zero for the others."""
    found = np.zeros(len(task.prior))
    found[task.is_present] = values
    return found


def most_likely(posteriors: Array, base: Array) -> Array:
    """Return the shares that make rows most likely, by posteriors that were calibrated for the base shares."""
    shares = base.copy()
    for _ in range(MAX_STEPS):
        weighted = posteriors * (shares / base)
        found = (weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0)
        done = np.abs(found - shares).max() < TOLERANCE
        shares = found
        if done:
            break
    return shares


def shrink_to_equal(shares: Array, error: float) -> Array:
    """Move shares towards equal ones by their assumed error."""
    equal = 1.0 / len(shares)
    distance = 0.5 * np.abs(shares - equal).sum()
    return with_floor(equal + (shares - equal) * max(0.0, 1.0 - error / max(distance, np.finfo(float).tiny)))


def with_floor(shares: Array) -> Array:
    """Raise shares that are too small."""
    raised = np.maximum(shares, SMALLEST_PART / len(shares))
    return np.asarray(raised / raised.sum())


def _by_confusion(known: Array, unknown: Array, labels: NDArray[np.intp], weights: Array) -> Array:
    """Return the shares that the confusion matrix of known rows turns into the label shares of the others."""
    n_classes = known.shape[1]
    guesses = known.argmax(axis=1)
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (guesses, labels), weights)
    confusion /= confusion.sum(axis=0)
    found = np.bincount(unknown.argmax(axis=1), minlength=n_classes) / len(unknown)
    shares = nnls(confusion, found)[0]
    return with_floor(shares / max(shares.sum(), np.finfo(float).tiny))
