"""Beyond the paper: classes of the source that are missing from the target.

Balanced draws label as many target rows with a missing class as with any other. Such classes are found in two steps:

1. After runs with equal draws, some classes clearly have a smaller share than an equal one. If none has, that is all.
2. These classes are left out. The others are drawn in proportion to the shares of their labels and to the scores of the
   rows with these labels, but none more often than equally often. A missing class fades from run to run, as its rows
   find their own classes, even one that took all pictures of an object: it has a usual share, but low scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from adrem.algorithm.doubts import LOW_PART, few_labels, upper_bound
from adrem.algorithm.em import EMOptions
from adrem.algorithm.prior import (
    PriorEstimate,
    Shares,
    assumed_error,
    calibrate_scores,
    estimate_prior,
    find_shares,
    held_out_scores,
    with_draws,
)
from adrem.algorithm.task import Task, without
from adrem.runtime.progress import Ticker

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
# A class is missing if it has fewer rows than `LOW_PART` allows. At first twice the assumed error of the shares is
# added, so that nothing is left out where the classes can't be told apart. This and the following were chosen on
# Office-Caltech and the Amazon reviews.
ERRORS = 2.0
# A class that was left out comes back if its classifier claims this part of an equal share.
RETURN_PART = 0.5
# The least part of an equal share in the draws.
LEAST_DRAWN = 0.02
# The search ends after so many runs, or after so many that found nothing.
MAX_ROUNDS, CALM_ROUNDS = 12, 2
# With so few classes left, draws by their shares would drift to one of them.
FEW_CLASSES = 2

FEW = "about {share:.1%} of the target rows seem to be of it, where an equal share would be {equal:.1%}"


class Found(NamedTuple):
    """The estimated shares, and why classes are missing, by their positions."""

    estimate: PriorEstimate
    missing: dict[int, str]


def estimate_present(
    task: Task, options: EMOptions, rng: np.random.Generator, ticker: Ticker, protected: Mask
) -> Found:
    """Estimate the class shares, and those without the missing classes if there are any."""
    estimate = estimate_prior(task, options, rng, ticker)
    missing = Search(task, options, rng, ticker, protected).run(estimate.found, estimate.error)
    if not missing:
        return Found(estimate, missing)
    rest = without(task, missing)
    if np.count_nonzero(rest.is_present) > 1:
        return Found(estimate_prior(rest, options, rng, ticker), missing)
    only = rest.is_present.astype(np.float64)
    return Found(estimate._replace(shares=only, low=only, high=only, by_confusion=only), missing)


def find_missing(
    task: Task, options: EMOptions, rng: np.random.Generator, ticker: Ticker, protected: Mask
) -> dict[int, str]:
    """Return why classes are missing, by their positions: at first by a third of the runs that an estimate takes."""
    scores = held_out_scores(with_draws(task, np.ones(len(task.prior))), options, rng, ticker, n_repeats=1)
    calibrated = calibrate_scores(task, scores)
    search = Search(task, options, rng, ticker, protected)
    return search.run(find_shares(task, scores), assumed_error(softmax(calibrated.unknown, axis=1)))


class Search:
    """The search for missing classes by runs of Ad-REM, each on other rows."""

    def __init__(
        self, task: Task, options: EMOptions, rng: np.random.Generator, ticker: Ticker, protected: Mask
    ) -> None:
        self._task = task
        self._options = options
        self._rng = rng
        self._ticker = ticker
        self._n_classes = np.count_nonzero(task.is_present)
        self._kept = protected.copy()  # also classes that came back

    def run(self, first: Shares, error: float) -> dict[int, str]:
        """Return why classes are missing, by their positions; the first shares come from equal draws."""
        missing = self._low(self._task, first, ERRORS * error)
        if self._n_classes == 2:
            few = self._few_before()
            missing = {c: why for c, why in missing.items() if c in few}
        return dict(sorted(self._fade(missing, first).items())) if missing else missing

    def _few_before(self) -> list[int]:
        """Return the classes with few labels by the classifier of the source: two classes may change places later."""
        source = self._task.machine.copies(self._task.rows.train_source(), 1)
        counts = np.bincount(self._task.observe(source).labels[0], minlength=len(self._task.prior))
        return few_labels(counts[self._task.is_present])  # an absent class is the last

    def _fade(self, missing: dict[int, str], shares: Shares) -> dict[int, str]:
        """Leave out those classes that fade away in runs without the missing ones."""
        calm = 0
        for _ in range(MAX_ROUNDS):
            task = with_draws(without(self._task, missing), faded(shares))
            if np.count_nonzero(task.is_present) <= FEW_CLASSES or calm == CALM_ROUNDS:
                break
            scores = held_out_scores(task, self._options, self._rng, self._ticker, n_repeats=1)
            shares = find_shares(task, scores)
            low, back = self._low(task, shares), self._returned(task, scores)
            self._kept[back] = True
            missing = {c: why for c, why in {**missing, **low}.items() if c not in back}
            calm = 0 if low or back else calm + 1
        return missing

    def _low(self, task: Task, shares: Shares, error: float = 0.0) -> dict[int, str]:
        """Return the classes whose shares are clearly too small. Of two classes, balanced draws label both."""
        n_present = np.count_nonzero(task.is_present)
        largest = shares.likely if self._n_classes == 2 else np.maximum(shares.labelled, shares.likely)
        equal, found = 1.0 / n_present, {}
        for c in np.flatnonzero(task.is_present & ~self._kept):
            share = float(largest[c])
            if (
                share * n_present + error < LOW_PART
                and upper_bound(round(share * task.rows.n_target), task.rows.n_target) < equal
            ):
                found[int(c)] = FEW.format(share=share, equal=1.0 / len(task.prior))
        return found

    def _returned(self, task: Task, scores: Array) -> list[int]:
        """Return the missing classes whose classifiers claim rows although no row was labelled with them."""
        claimed = np.bincount(scores[task.rows.n_source :].argmax(axis=1), minlength=len(task.prior))
        enough = RETURN_PART * task.rows.n_target / np.count_nonzero(task.is_present)
        return np.flatnonzero(~task.is_present & ~self._kept & (claimed >= enough)).tolist()


def faded(shares: Shares) -> Array:
    """Return how often classes are drawn, as parts of an equal share: by their shares and scores, but at most one."""
    part = 0.5 * (shares.labelled + shares.likely) * shares.n_present
    median = float(np.nanmedian(shares.scores))
    score = np.nan_to_num(shares.scores / median) if median > 0 else np.ones(len(part))
    return np.asarray(np.clip(part, LEAST_DRAWN, 1.0) * np.clip(score, LEAST_DRAWN, 1.0))
