"""The class shares of the target, as far as a change of the shares alone explains how the domains differ.

If only the shares change, then source rows that are weighted by class to the shares of the target can't be told from
target rows. A classifier of the domains tests that. Where the domains differ in other ways too, shares that are
estimated by classifiers of the source can be far off, and equal shares are safer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax

from adrem.algorithm.calibration import calibrate
from adrem.algorithm.prior import most_likely, with_floor
from adrem.base.validation import Domains
from adrem.committee.kinds import FEW_COLUMNS
from adrem.runtime.seeds import as_integer

Array = NDArray[np.float64]
# The weighted classes explain the difference of the domains if they remove at least this part of what a classifier of
# the domains finds, as its area under the curve above one half. Chosen on the simulated shifts and the heart data.
EXPLAINED_PART = 0.7
# Below this area under the curve there is hardly a difference to explain.
LEAST_AREA = 0.55
# Intervals of a column that the classifier of the domains can tell apart.
N_INTERVALS = 32
# Rows of each domain that are compared.
MAX_COMPARED = 2000
# Target rows per class that an estimate needs.
MIN_ROWS_PER_CLASS = 10
TINY = 1e-12


class ShareEstimate(NamedTuple):
    """Estimated class shares, and whether they explain how the domains differ.

    `area` and `area_weighted` are the areas under the curve of a classifier of the domains: with the source as it is
    but for equal shares, and with its classes weighted to the estimated shares.
    """

    shares: Array
    area: float
    area_weighted: float

    @property
    def explains(self) -> bool:
        """Whether the shares explain most of the difference."""
        return self.area > LEAST_AREA and self.area - self.area_weighted > EXPLAINED_PART * (self.area - 0.5)


def estimate_shares(held_out: Array, of_target: Array, domains: Domains, seed: np.random.SeedSequence) -> ShareEstimate:
    """Estimate the shares from probabilities for held-out source rows and for the target rows."""
    scores = np.log(np.maximum(held_out, TINY))
    calibration = calibrate(scores, domains.labels, domains.weights)
    posteriors = softmax(calibration(np.log(np.maximum(of_target, TINY))), axis=1)
    base = np.bincount(domains.labels, domains.weights) / domains.weights.sum()
    shares = with_floor(most_likely(posteriors, base))
    equal = np.full(len(shares), 1.0 / len(shares))
    area, area_weighted = (_area(domains, wanted, seed) for wanted in (equal, shares))
    return ShareEstimate(shares, area, area_weighted)


def is_estimable(domains: Domains) -> bool:
    """Whether there are enough rows, and few enough columns for the classifier of the domains."""
    n_target, n_columns = domains.X_target.shape
    counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
    few = not sp.issparse(domains.X_source) and n_columns <= FEW_COLUMNS
    return few and n_target >= MIN_ROWS_PER_CLASS * len(counts) and bool(counts.min() >= MIN_ROWS_PER_CLASS)


def _area(domains: Domains, shares: Array, seed: np.random.SeedSequence) -> float:
    """Return the cross-validated area under the curve of boosted trees that separate the domains."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    rng = np.random.default_rng(seed)
    source, target = (
        np.sort(rng.permutation(table.shape[0])[:MAX_COMPARED]) for table in (domains.X_source, domains.X_target)
    )
    labels = domains.labels[source]
    sizes = np.bincount(labels, domains.weights[source], minlength=len(shares))
    weights = (shares / np.maximum(sizes, TINY))[labels] * domains.weights[source]
    weights = np.concatenate([weights * len(target) / max(weights.sum(), TINY), np.ones(len(target))])
    rows = _ranked(np.concatenate([domains.X_source[source], domains.X_target[target]]))
    is_target = np.repeat([0, 1], [len(source), len(target)])
    scores = np.zeros(len(rows))
    for fitted, held in StratifiedKFold(3, shuffle=True, random_state=as_integer(seed)).split(rows, is_target):
        model: Any = HistGradientBoostingClassifier(max_iter=50, random_state=as_integer(seed), early_stopping=False)
        model.fit(rows[fitted], is_target[fitted], sample_weight=weights[fitted])
        scores[held] = model.decision_function(rows[held])
    return float(roc_auc_score(is_target, scores, sample_weight=weights))


def _ranked(rows: Any) -> Array:
    """Return columns as numbers of a few intervals: with weights, scikit-learn takes long to find those by itself."""
    edges = np.quantile(rows, np.arange(1, N_INTERVALS) / N_INTERVALS, axis=0)
    found = [np.searchsorted(edge, column) for edge, column in zip(edges.T, rows.T, strict=True)]
    return np.stack(found, axis=1).astype(np.float64)
