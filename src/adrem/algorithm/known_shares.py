"""Class shares of the target, estimated without labels, and corrected by the labels that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adrem.base.validation import Domains

if TYPE_CHECKING:
    from adrem.algorithm.prior import PriorEstimate

Array = NDArray[np.float64]
# An estimate without labels counts as so many labels. Chosen on four pairs of the hospitals.
WORTH = 10.0


def with_known(shares: Array, domains: Domains) -> Array:
    """Return the mean of estimated shares and those of the known labels, as if these were of random rows."""
    counts = np.bincount(domains.labels[domains.n_own :], minlength=len(domains.classes))
    counts[domains.n_of_source :] = 0  # those of rows that were not given as known
    return np.asarray((WORTH * shares + counts) / (WORTH + counts.sum())) if counts.any() else shares


def estimate_with_known(estimate: PriorEstimate, domains: Domains) -> PriorEstimate:
    """Return an estimate whose shares, bounds and second estimate are corrected."""
    return estimate._replace(
        shares=with_known(estimate.shares, domains),
        low=with_known(estimate.low, domains),
        high=with_known(estimate.high, domains),
        by_confusion=with_known(estimate.by_confusion, domains),
    )
