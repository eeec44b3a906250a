"""What explains how the domains differ: other class shares, other means and scales of the columns, or neither.

If only the class shares change, source rows that are weighted by class to the shares of the target are distributed like
target rows. If only means and scales change, the rows of both domains are distributed alike once each domain is
scaled by itself. The maximum mean discrepancy (Gretton et al. 2012) measures what is left of the difference in either
case. Where the domains differ in other ways too, shares that are estimated by classifiers of the source can be far off,
and equal shares are safer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from adrem.base.known import by_origin
from adrem.base.validation import Domains
from adrem.committee import views

Array = NDArray[np.float64]
# Other shares explain the difference if they remove at least this part of it. Other means and scales explain it if
# nothing is left, where as much as this part would be noticed.
EXPLAINED_PART = 0.7
NOTICED_PART = 0.1
# Standard deviations by which a discrepancy is above zero, and by which one is clearly above another. Chosen on three
# draws of each simulated shift of SKADA-Bench.
ABOVE_ZERO = 1.65
ABOVE_ANOTHER = 1.0
# Squared widths of the kernel, relative to the mean squared distance of two rows.
WIDTHS = (0.1, 0.3, 1.0)
# Rows of each domain that are compared, and random divisions that give the standard deviation.
MAX_COMPARED = 1500
N_DIVISIONS = 200
TINY = 1e-12


class Difference(NamedTuple):
    """Squared maximum mean discrepancies of the domains.

    `before` is that with equal class shares in the source, `with_shares` that with the estimated shares, and
    `by_domain` that with each domain scaled by itself. `noise` is the standard deviation where there is no difference.
    """

    before: float
    with_shares: float
    by_domain: float
    noise: float

    @property
    def is_of_shares(self) -> bool:
        """Whether other shares explain the difference, and clearly better than other means and scales."""
        explained = self.with_shares <= (1.0 - EXPLAINED_PART) * self.before
        is_better = self.by_domain - self.with_shares > ABOVE_ANOTHER * self.noise
        return self._is_above_zero(self.before) and explained and is_better

    @property
    def is_of_scales(self) -> bool:
        """Whether nothing is left once each domain is scaled by itself, and clearly more is left with other shares."""
        is_left = self._is_above_zero(self.by_domain)
        is_better = self.with_shares - self.by_domain > ABOVE_ANOTHER * self.noise
        return self._is_above_zero(NOTICED_PART * self.before) and not is_left and is_better

    def _is_above_zero(self, discrepancy: float) -> bool:
        return discrepancy > ABOVE_ZERO * self.noise


def compare_domains(domains: Domains, shares: Array, seed: np.random.SeedSequence) -> Difference:
    """Measure the difference of the domains as it is, and with what may explain it."""
    domains, rng = by_origin(domains), np.random.default_rng(seed)
    source, target = (_some(table.shape[0], rng) for table in (domains.X_source, domains.X_target))
    rows = domains._replace(
        X_source=domains.X_source[source],
        X_target=domains.X_target[target],
        labels=domains.labels[source],
        weights=domains.weights[source],
    )
    equal = np.full(len(shares), 1.0 / len(shares))
    together = _similarities(views.scaled(rows.X_source, rows.X_target))
    apart = _similarities(views.by_domain(rows.X_source, rows.X_target))
    own = rows.weights / rows.weights.sum()
    weights = [_of_classes(rows, wanted) for wanted in (equal, shares)]
    before, with_shares = (_discrepancy(together, own_weights) for own_weights in weights)
    return Difference(before, with_shares, _discrepancy(apart, own), _noise(apart, len(source), rng))


def _some(n_rows: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return np.sort(rng.permutation(n_rows)[:MAX_COMPARED])


def _similarities(seen: views.Viewed) -> Array:
    """Return the similarities of all rows, those of the source first, zero of a row with itself."""
    rows = np.concatenate([seen.source, seen.target]).astype(np.float64)
    distances = euclidean_distances(rows, squared=True)
    mean = float(distances.mean())
    distances /= mean if mean > 0 else 1.0
    similarities = np.mean([np.exp(-distances / width) for width in WIDTHS], axis=0)
    np.fill_diagonal(similarities, 0.0)
    return np.asarray(similarities)


def _of_classes(rows: Domains, shares: Array) -> Array:
    """Return weights of the source rows, which sum to one, that give the classes these shares."""
    sizes = np.bincount(rows.labels, rows.weights, minlength=len(shares))
    weights = np.divide(shares, sizes, out=np.zeros_like(shares), where=sizes > 0)[rows.labels] * rows.weights
    return np.asarray(weights / weights.sum())


def _discrepancy(similarities: Array, weights: Array) -> float:
    """Return the unbiased estimate of the squared discrepancy of weighted source rows from the target rows."""
    n_source, n_target = len(weights), len(similarities) - len(weights)
    within, of_target = similarities[:n_source, :n_source], similarities[n_source:, n_source:]
    between = similarities[:n_source, n_source:]
    own = float(weights @ within @ weights) / max(1.0 - float(weights @ weights), TINY)
    theirs = of_target.sum() / max(n_target * (n_target - 1), 1)
    return float(own + theirs - 2.0 * weights @ between.mean(axis=1))


def _noise(similarities: Array, n_source: int, rng: np.random.Generator) -> float:
    """Return the standard deviation of the discrepancy of random parts of the rows."""
    n_rows = len(similarities)
    signs = np.full(n_rows, -1.0 / max(n_rows - n_source, 1))
    signs[:n_source] = 1.0 / n_source
    divisions = np.stack([rng.permutation(signs) for _ in range(N_DIVISIONS)])
    return float(np.std(np.sum((divisions @ similarities) * divisions, axis=1)))
