"""Tests of the labels before and after adapting that need no label of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.diagnostics.map import some_rows
from adrem.types import Matrix

Labels = NDArray[np.intp]
NEIGHBOURS = 5
# Maximum number of target rows whose neighbours are compared.
N_COMPARED = 2000
# Shares that differ by less are equal.
EQUAL = 1e-9
# With fewer changed labels, as a part of all, changes say nothing about class shares.
MIN_CHANGED = 0.03
# The source is further from equal shares than the labels before adapting if it is by more than this.
MORE_SKEWED = 0.02
# A classifier has learnt something if it avoids at least this part of the errors of the most common label, and at least
# this number of standard errors.
LEAST_SKILL, SKILL_ERRORS = 0.15, 2.0
# A family of kinds opposes the changed labels if its votes do by more than this many standard errors.
OPPOSED_ERRORS = 2.0
# All labels but a few are the same if one class has more than this part of them.
NEARLY_ALL = 0.95
# Class shares are far from others beyond this distance, a total variation.
FAR = 0.25


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
    neighbours : BeforeAfter or None
        How often the nearest target rows of a target row have its label. It favours adapted labels, which are smoother.
        None if there are too few rows.
    neighbours_z : float
        The change of that value in standard errors, from the pairs of neighbours that agree only before or only after.
    one_sided : float
        For two classes that are assumed to be equally common: the part of the changed labels that only brings the class
        shares closer to equal ones. Zero otherwise, and if the source is further from equal shares than the labels
        before adapting.
    largest_share : BeforeAfter
        The share of the rows that have the most common label.
    skill, least_skill : float
        The part of the errors of always giving the most common label that the source's classifier avoids on held-out
        source rows, NaN if a class has too few; and the least that is clearly above none.
    agreement : float or None
        Mean share of the members that agree with a label; None for a method with one classifier.
    nearly_all : float, default=0.95
        The share above which the most common label has nearly all rows: more if it does in the source.
    opposed : float, default=0
        The part of the families of kinds of a committee that, where labels changed, clearly prefer those of the source
        classifier. Zero if fewer than two families adapt.
    """

    neighbours: BeforeAfter | None
    neighbours_z: float
    one_sided: float
    largest_share: BeforeAfter
    skill: float
    least_skill: float
    agreement: float | None
    nearly_all: float = NEARLY_ALL
    opposed: float = 0.0


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


def one_sided_part(before: Labels, after: Labels, labels: Labels, prior: NDArray[np.float64]) -> float:
    """Return the part of the changed labels that only evens out the shares of two classes that are assumed equal."""
    changed = np.count_nonzero(before != after)
    if len(prior) != 2 or np.ptp(prior) > EQUAL or changed < MIN_CHANGED * len(before):
        return 0.0
    old, new, source = (float(np.mean(own == 0)) - 0.5 for own in (before, after, labels))
    if abs(source) > abs(old) + MORE_SKEWED or (new - old) * old > 0:
        return 0.0
    return abs(new - old) * len(before) / changed


def opposed_part(votes: Sequence[Labels], families: Sequence[str | None], before: Labels, after: Labels) -> float:
    """Return the part of the families whose votes for changed rows are clearly more often the label before.

    Kinds of one family err alike, so a family counts once, and None is no family. A single family is no evidence.
    """
    changed = before != after
    of_family: dict[str, list[Labels]] = {}
    for own, name in zip(votes, families, strict=True):
        if name is not None:
            of_family.setdefault(name, []).append(own[changed])
    if len(of_family) < 2 or not changed.any():
        return 0.0
    return float(np.mean([_is_preferred(before[changed], after[changed], own) for own in of_family.values()]))


def _is_preferred(labels: Labels, others: Labels, votes: list[Labels]) -> bool:
    """Return whether the votes of a family are clearly more often for labels than for others."""
    for_labels, for_others = (np.mean(np.stack(votes) == own, axis=0).sum() for own in (labels, others))
    return bool(for_labels - for_others > OPPOSED_ERRORS * np.sqrt(for_labels + for_others))


def skill_of(accuracy: float, labels: Labels) -> tuple[float, float]:
    """Return how much better an accuracy is than that of the most common label, and the least that is clearly better.

    Both are parts of the errors that the most common label leaves.
    """
    common = float(np.bincount(labels).max() / len(labels))
    error = np.sqrt(common * (1.0 - common) / len(labels))
    return (accuracy - common) / (1.0 - common), max(LEAST_SKILL, SKILL_ERRORS * float(error) / (1.0 - common))


def nearly_all_of(labels: Labels) -> float:
    """Return the share above which a label has nearly all rows: the others have less than half of theirs in the source.

    Or less than a twentieth, if that is less.
    """
    common = float(np.bincount(labels).max() / len(labels))
    return max(NEARLY_ALL, (1.0 + common) / 2.0)


def distance(shares: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the total variation between class shares."""
    return float(0.5 * np.abs(shares - others).sum())


def unsupported_class(
    shares: NDArray[np.float64], source: NDArray[np.float64], assumed: NDArray[np.float64]
) -> int | None:
    """Return the class that gained most on the source, if shares are far from those of the source and those assumed."""
    if min(distance(shares, source), distance(shares, assumed)) <= FAR:
        return None
    return int(np.argmax(shares - source))


def largest_shares(before: Labels, after: Labels) -> BeforeAfter:
    """Return the share of the rows that have the most common label."""
    return BeforeAfter(*(float(np.bincount(own).max() / len(own)) for own in (before, after)))
