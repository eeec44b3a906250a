"""Tests of the labels before and after adapting that need no label of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.validation import Domains
from adrem.diagnostics.map import some_rows
from adrem.runtime.seeds import integer_seed
from adrem.types import Matrix

if TYPE_CHECKING:
    from adrem.machines.linear import LinearHead

Labels = NDArray[np.intp]
NEIGHBOURS = 5
# Maximum number of target rows whose neighbours are compared.
N_COMPARED = 2000


@dataclass(frozen=True)
class BeforeAfter:
    """A value for the labels of the source classifier, and for those of the adapted model.

    Parameters
    ----------
    source : float
        The value for the labels of the source classifier.
    adapted : float
        The value for the labels after adapting.
    """

    source: float
    adapted: float

    @property
    def gain(self) -> float:
        """Adapted minus source."""
        return self.adapted - self.source


@dataclass(frozen=True)
class Evidence:
    """The tests behind the verdict.

    Parameters
    ----------
    circular : BeforeAfter or None
        Circular validation: the accuracy on the source of a classifier that is trained on the target with the labels in
        question. It favours the labels of the source classifier. None if all target rows have one label.
    neighbours : BeforeAfter or None
        How often the nearest target rows of a target row have its label. It favours adapted labels, which are smoother.
        None if there are too few rows.
    neighbours_z : float
        The change of that value in standard errors, from the pairs of neighbours that agree only before or only after.
    agreement : float or None
        Mean share of the members that agree with a label; None for a method with one classifier.
    off_prior : BeforeAfter or None
        The share of the target rows that would need another label to match ``class_prior_``; None for methods without
        it.
    """

    circular: BeforeAfter | None
    neighbours: BeforeAfter | None
    neighbours_z: float
    agreement: float | None
    off_prior: BeforeAfter | None


def train_back(head: LinearHead, domains: Domains, labels: Labels) -> float | None:
    """Return the accuracy on the source of a classifier trained on the target with the given labels."""
    known = np.unique(labels)
    if len(known) < 2:
        return None
    n_target = domains.X_target.shape[0]
    reverse = Domains(domains.X_target, np.searchsorted(known, labels), np.ones(n_target), domains.X_target[:0], known)
    back = head.fit(reverse, integer_seed(0))
    return float(np.mean(known[back.label(domains.X_source)] == domains.labels))


def nearest_uncentred(rows: Matrix) -> NDArray[np.intp]:
    """Return the nearest other rows of every row, by the cosine between rows that are not centred."""
    from sklearn.metrics.pairwise import cosine_similarity

    similarity = np.asarray(cosine_similarity(rows))
    np.fill_diagonal(similarity, -np.inf)
    order: NDArray[np.intp] = np.argpartition(-similarity, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS]
    return order


def compare_neighbours(
    rows: Matrix, before: NDArray[Any], after: NDArray[Any], rng: np.random.Generator
) -> tuple[BeforeAfter | None, float]:
    """Return how often neighbours have the same label, before and after, and the change in standard errors."""
    if len(before) <= 2 * NEIGHBOURS:
        return None, 0.0
    chosen = some_rows(len(before), N_COMPARED, rng)
    near = nearest_uncentred(rows[chosen])
    agrees, agreed = (own[chosen][near] == own[chosen][:, None] for own in (after, before))
    won, lost = int(np.count_nonzero(agrees & ~agreed)), int(np.count_nonzero(agreed & ~agrees))
    z = float((won - lost) / np.sqrt(max(won + lost, 1)))
    return BeforeAfter(float(agreed.mean()), float(agrees.mean())), z


def gather(
    head: LinearHead,
    domains: Domains,
    before: Labels,
    after: Labels,
    *,
    agreement: float | None,
    prior: NDArray[np.float64] | None,
    rng: np.random.Generator,
) -> Evidence:
    """Run all tests of the labels before and after adapting."""
    changed = bool(np.any(before != after))
    back = train_back(head, domains, before)
    back_adapted = train_back(head, domains, after) if changed else back
    circular = None if back is None or back_adapted is None else BeforeAfter(back, back_adapted)
    neighbours, z = compare_neighbours(domains.X_target, before, after, rng)
    off_prior = None
    if prior is not None:
        off_prior = BeforeAfter(*(_off(own, prior) for own in (before, after)))
    return Evidence(circular, neighbours, z, agreement, off_prior)


def _off(labels: Labels, prior: NDArray[np.float64]) -> float:
    shares = np.bincount(labels, minlength=len(prior)) / len(labels)
    return float(0.5 * np.abs(shares - prior).sum())
