"""How common the classes are in the target, estimated without its labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import softmax

from adrem._em import Task, randomized_em
from adrem._progress import Ticker
from adrem._voting import by_class
from adrem.baselines._smooth import minimize_smooth
from adrem.machines.selection import N_FOLDS, make_folds

Array = NDArray[np.float64]
# Ways to make folds: the mean of their scores is judged.
WAYS = 3
N_RUNS = WAYS * N_FOLDS
# No class gets less than this part of an equal share.
LEAST = 0.1
# How far off an estimate may be, in shares that would have to move, as a part of the doubt that the calibrated scores
# leave about the labels: so much nearer to equal shares is what is used, and equal shares within it. Chosen on half of
# the pairs of the Amazon reviews, and on Office-Caltech.
DOUBT = 0.25
# How far from equal shares, in multiples of that, what is used has to lie to be sure that the classes are not equally
# common. Chosen on the Amazon reviews and SURF.
CLEAR = 2.0
N_DRAWS = 200  # of the bootstrap
CONFIDENCE = 0.9
MOST_STEPS = 1000
CLOSE = 1e-6
DECAY = 1e-6


class PriorEstimate(NamedTuple):
    """Shares of the classes in the target, an interval for each by the bootstrap, and a second opinion.

    The interval knows of the rows that happen to be in the target, not of how the domains differ. The second opinion is
    what the confusion matrix of held-out source rows makes of the labels, as it is.
    """

    shares: Array
    low: Array
    high: Array
    by_confusion: Array
    doubt: float

    @property
    def is_clear(self) -> bool:
        """Whether it is plain that the classes are not equally common."""
        return bool(0.5 * np.abs(self.shares - 1.0 / len(self.shares)).sum() > CLEAR * self.doubt)


def estimate_prior(task: Task, n_iter: int, sampling: str, rng: np.random.Generator, ticker: Ticker) -> PriorEstimate:
    """Estimate the shares from scores of rows that had no part in the training.

    Ad-REM is run with equal shares in the draws, without a fold of the source and of the target, which it then scores:
    scores of rows that it was trained on with its own labels would only repeat these. Held-out source rows, whose
    labels are known, calibrate the scores, and the shares are those that make the held-out target rows most likely
    (Saerens, Latinne and Decaestecker 2002). Draws by any other shares would put these shares into the scores.
    """
    n_source = len(task.labels)
    equal = replace(task, prior=np.full(len(task.prior), 1.0 / len(task.prior)))
    scores = _held_out_scores(equal, n_iter, sampling, rng, ticker)
    known, unknown = by_class(scores[:n_source]), by_class(scores[n_source:])
    calibrated = _calibrate(known, task.labels, task.weights)
    base = np.bincount(task.labels, task.weights, minlength=len(task.prior)) / task.weights.sum()
    posteriors = softmax(calibrated(unknown), axis=1)
    doubt = DOUBT * float(1.0 - posteriors.max(axis=1).mean())
    n_rows = len(posteriors)
    samples = (posteriors[rng.integers(n_rows, size=n_rows)] for _ in range(N_DRAWS))
    draws = [nearer_equal(_most_likely(sample, base), doubt) for sample in samples]
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(draws, [tail, 100.0 - tail], axis=0)
    by_confusion = _by_confusion(calibrated(known), calibrated(unknown), task.labels, task.weights)
    return PriorEstimate(nearer_equal(_most_likely(posteriors, base), doubt), low, high, by_confusion, doubt)


def _held_out_scores(task: Task, n_iter: int, sampling: str, rng: np.random.Generator, ticker: Ticker) -> Array:
    """A score for every row and problem, the mean of runs in whose training the row had no part."""
    n_source = len(task.labels)
    n_rows = n_source + task.n_target
    total = np.zeros((n_rows, task.machine.n_problems))
    for _ in range(WAYS):
        labels = np.concatenate([task.labels, np.zeros(task.n_target, dtype=np.intp)])
        weights = np.concatenate([task.weights, np.zeros(task.n_target)])
        held_out = make_folds(labels, weights, int(rng.integers(2**31)))
        of_target = rng.permutation(task.n_target) % N_FOLDS
        held_out[:, n_source:] = of_target == np.arange(N_FOLDS)[:, None]
        source = task.machine.solve(labels, np.where(held_out, 0.0, weights), task.C)
        members = randomized_em(
            task,
            source,
            rng.spawn(N_FOLDS),
            n_iter=n_iter,
            sampling=sampling,
            held_out=held_out,
            ticker=ticker,
        )
        for member, held in zip(members, held_out, strict=True):
            total[held] += member.scores[held]
    return total / WAYS


class _Calibration(NamedTuple):
    """One factor for all scores, and a constant for each class."""

    factor: float
    constants: Array

    def __call__(self, scores: Array) -> Array:
        return self.factor * scores + self.constants


def _calibrate(scores: Array, labels: NDArray[np.intp], weights: Array) -> _Calibration:
    """The factor and the constants by which softmax makes the known labels most likely."""
    shares = weights / weights.sum()
    hits = np.eye(scores.shape[1])[labels]

    def loss(params: Array) -> tuple[float, Array]:
        logits = params[0] * scores + params[1:]
        chances = softmax(logits, axis=1)
        errors = shares[:, None] * (chances - hits)
        value = -float(shares @ np.log(np.maximum(chances[np.arange(len(labels)), labels], np.finfo(float).tiny)))
        # A little weight decay, for scores that tell all labels apart.
        gradient = np.concatenate([[np.sum(errors * scores)], errors.sum(axis=0)])
        return value + 0.5 * DECAY * float(params @ params), gradient + DECAY * params

    params, _ = minimize_smooth(loss, np.zeros(1 + scores.shape[1]), CLOSE)
    return _Calibration(float(params[0]), params[1:])


def _most_likely(posteriors: Array, base: Array) -> Array:
    """The shares that make rows most likely, given what a classifier says of them that was calibrated for others."""
    shares = base.copy()
    for _ in range(MOST_STEPS):
        weighted = posteriors * (shares / base)
        found = (weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0)
        done = np.abs(found - shares).max() < CLOSE
        shares = found
        if done:
            break
    return shares


def nearer_equal(shares: Array, doubt: float) -> Array:
    """Shares moved towards equal ones by what they may be off, none of them below the least."""
    equal = 1.0 / len(shares)
    distance = 0.5 * np.abs(shares - equal).sum()
    return with_floor(equal + (shares - equal) * max(0.0, 1.0 - doubt / max(distance, np.finfo(float).tiny)))


def with_floor(shares: Array) -> Array:
    """Shares of which none is less than a part of an equal one."""
    raised = np.maximum(shares, LEAST / len(shares))
    return np.asarray(raised / raised.sum())


def _by_confusion(known: Array, unknown: Array, labels: NDArray[np.intp], weights: Array) -> Array:
    """The shares from which the confusions of known rows make the shares of labels that the others got."""
    n_classes = known.shape[1]
    guesses = known.argmax(axis=1)
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (guesses, labels), weights)
    confusion /= confusion.sum(axis=0)
    found = np.bincount(unknown.argmax(axis=1), minlength=n_classes) / len(unknown)
    shares = nnls(confusion, found)[0]
    return with_floor(shares / max(shares.sum(), np.finfo(float).tiny))
