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


class PriorEstimate(NamedTuple):
    """Estimated class shares of the target, a bootstrap interval for each, and a second estimate.

    The interval covers the choice of the target rows, not the difference between the domains. The second estimate
    corrects the label counts by the confusion matrix of held-out source rows. `error` is the assumed error of the
    shares, as a total variation distance.
    """

    shares: Array
    low: Array
    high: Array
    by_confusion: Array
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether the classes are clearly not equally common."""
        return bool(0.5 * np.abs(self.shares - 1.0 / len(self.shares)).sum() > CLEAR_ERRORS * self.error)


def estimate_prior(task: Task, options: EMOptions, rng: np.random.Generator, ticker: Ticker) -> PriorEstimate:
    """Estimate the shares from scores of rows that had no part in the training.

    Ad-REM runs with equal shares in the draws, without a fold of both domains, and then scores the rows of this fold:
    scores of training rows would only repeat the labels that they were trained with. Held-out source rows, whose labels
    are known, calibrate the scores. The shares are those that maximize the likelihood of the held-out target rows
    (Saerens, Latinne and Decaestecker 2002). Draws with other shares would bias the scores towards these shares.
    """
    rows, n_classes = task.rows, len(task.prior)
    equal = replace(task, prior=np.full(n_classes, 1.0 / n_classes))
    scores = _held_out_scores(equal, options, rng, ticker)
    known, unknown = by_class(scores[: rows.n_source]), by_class(scores[rows.n_source :])
    calibration = calibrate(known, rows.labels, rows.weights)
    base = np.bincount(rows.labels, rows.weights, minlength=n_classes) / rows.weights.sum()
    posteriors = softmax(calibration(unknown), axis=1)
    error = ERROR_PER_UNCERTAINTY * float(1.0 - posteriors.max(axis=1).mean())
    n_target = len(posteriors)
    samples = (posteriors[rng.integers(n_target, size=n_target)] for _ in range(N_BOOTSTRAP))
    draws = [shrink_to_equal(most_likely(sample, base), error) for sample in samples]
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(draws, [tail, 100.0 - tail], axis=0)
    by_confusion = _by_confusion(calibration(known), calibration(unknown), rows.labels, rows.weights)
    return PriorEstimate(shrink_to_equal(most_likely(posteriors, base), error), low, high, by_confusion, error)


def _held_out_scores(task: Task, options: EMOptions, rng: np.random.Generator, ticker: Ticker) -> Array:
    """Score every row (rows x problems) by the mean of runs in whose training it had no part."""
    rows = task.rows
    labels, weights = with_idle_target(rows.labels, rows.weights, rows.n_target)
    total = np.zeros((len(labels), task.machine.n_problems))
    for _ in range(N_REPEATS):
        held_out = make_folds(labels, weights, int(rng.integers(2**31)))
        of_target = rng.permutation(rows.n_target) % N_FOLDS
        held_out[:, rows.n_source :] = of_target == np.arange(N_FOLDS)[:, None]
        source = task.machine.solve(labels, np.where(held_out, 0.0, weights), rows.C)
        participants = HeldOutRows(task, held_out)
        members = randomized_em(task, source, rng.spawn(N_FOLDS), options, participants=participants, ticker=ticker)
        for member, held in zip(members, held_out, strict=True):
            total[held] += member.scores[held]
    return total / N_REPEATS


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
