"""The class shares of the target, as the classifiers of the source estimate them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax

from adrem.algorithm.calibration import calibrate
from adrem.algorithm.prior import most_likely, with_floor
from adrem.base.validation import Domains
from adrem.committee.kinds import FEW_COLUMNS

Array = NDArray[np.float64]
# Target rows per class that an estimate needs.
MIN_ROWS_PER_CLASS = 10
TINY = 1e-12


def estimate_shares(held_out: Array, of_target: Array, domains: Domains) -> Array:
    """Estimate the shares from probabilities for held-out source rows and for the target rows."""
    calibration = calibrate(np.log(np.maximum(held_out, TINY)), domains.labels, domains.weights)
    posteriors = softmax(calibration(np.log(np.maximum(of_target, TINY))), axis=1)
    base = np.bincount(domains.labels, domains.weights) / domains.weights.sum()
    return with_floor(most_likely(posteriors, base))


def is_estimable(domains: Domains) -> bool:
    """Whether there are enough rows, and few enough columns to compare the domains."""
    n_target, n_columns = domains.X_target.shape
    counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
    few = not sp.issparse(domains.X_source) and n_columns <= FEW_COLUMNS
    return few and n_target >= MIN_ROWS_PER_CLASS * len(counts) and bool(counts.min() >= MIN_ROWS_PER_CLASS)
