"""What speaks for the labels before and after adapting: two tests that need no label of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from adrem._adrem import AdREM
from adrem._types import Matrix
from adrem._validation import Domains
from adrem.diagnostics._map import some_rows

Labels = NDArray[np.intp]
NEIGHBOURS = 5
# Target rows whose neighbours are looked for.
COMPARED = 2000


@dataclass(frozen=True)
class Sides:
    """A value for the labels of the source's classifier alone, and for those after adapting.

    Parameters
    ----------
    source : float
        The value for the labels of the source's classifier alone.
    adapted : float
        The value for the labels after adapting.

    Examples
    --------
    >>> from adrem.diagnostics import Sides
    >>> neighbours = Sides(source=0.5, adapted=0.75)
    >>> neighbours.gain
    0.25
    """

    source: float
    adapted: float

    @property
    def gain(self) -> float:
        """What adapting adds.

        Examples
        --------
        >>> from adrem.diagnostics import Sides
        >>> Sides(source=0.75, adapted=0.5).gain
        -0.25
        """
        return self.adapted - self.source


@dataclass(frozen=True)
class Evidence:
    """What the verdict is founded on.

    Parameters
    ----------
    circular : Sides or None
        Circular validation: a classifier is trained on the target with the labels in question, and this is its accuracy
        on the source, whose labels are known. It leans towards the source, whose classifier made its labels. None where
        all target rows have one label.
    neighbours : Sides or None
        How often the nearest target rows of a target row have its label. It leans towards adapted labels, which are
        smoother. None where there are too few rows.
    neighbours_z : float
        By how many standard errors that has risen: neighbours that agree by adapting and those that no longer do are
        counted against each other.
    agreement : float or None
        Mean share of the members that agree with a label; None for methods of one classifier.
    off_prior : Sides or None
        Which share of the target rows would need another label for the classes to be as common as the model was told;
        None for methods that are not told.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_rotated_arcs
    >>> from adrem.diagnostics import diagnose
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(20, 20, rotation=60, random_state=0)
    >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> evidence = diagnose(model, X_source, y_source, X_target).evidence
    >>> evidence.neighbours
    Sides(source=0.93, adapted=1.0)
    """

    circular: Sides | None
    neighbours: Sides | None
    neighbours_z: float
    agreement: float | None
    off_prior: Sides | None


def train_back(plain: AdREM, domains: Domains, labels: Labels) -> float | None:
    """Accuracy on the source of a classifier of the target with the given labels, trained as the plain one was."""
    known = np.unique(labels)
    if len(known) < 2:
        return None
    n_target = domains.X_target.shape[0]
    back = clone(plain)
    back._learn(
        Domains(
            domains.X_target,
            np.searchsorted(known, labels),
            np.ones(n_target),
            domains.X_target[:0],
            known,
        )
    )
    return float(np.mean(known[back._label(domains.X_source)] == domains.labels))


def nearest(rows: Matrix) -> NDArray[np.intp]:
    """The nearest other rows of every row, by the cosine between them."""
    from sklearn.metrics.pairwise import cosine_similarity

    likeness = np.asarray(cosine_similarity(rows))
    np.fill_diagonal(likeness, -np.inf)
    order: NDArray[np.intp] = np.argpartition(-likeness, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS]
    return order


def compare_neighbours(
    rows: Matrix, before: NDArray[Any], after: NDArray[Any], rng: np.random.Generator
) -> tuple[Sides | None, float]:
    """How often rows that are near each other have the same label, and by how many standard errors that has risen."""
    if len(before) <= 2 * NEIGHBOURS:
        return None, 0.0
    chosen = some_rows(len(before), COMPARED, rng)
    near = nearest(rows[chosen])
    agrees, agreed = (own[chosen][near] == own[chosen][:, None] for own in (after, before))
    won, lost = int(np.count_nonzero(agrees & ~agreed)), int(np.count_nonzero(agreed & ~agrees))
    z = float((won - lost) / np.sqrt(max(won + lost, 1)))
    return Sides(float(agreed.mean()), float(agrees.mean())), z


def gather(
    plain: AdREM,
    domains: Domains,
    before: Labels,
    after: Labels,
    *,
    agreement: float | None,
    prior: NDArray[np.float64] | None,
    rng: np.random.Generator,
) -> Evidence:
    """Compare the labels before and after adapting."""
    changed = bool(np.any(before != after))
    back = train_back(plain, domains, before)
    back_adapted = train_back(plain, domains, after) if changed else back
    circular = None if back is None or back_adapted is None else Sides(back, back_adapted)
    neighbours, z = compare_neighbours(domains.X_target, before, after, rng)
    off_prior = None
    if prior is not None:
        off_prior = Sides(*(_off(own, prior) for own in (before, after)))
    return Evidence(circular, neighbours, z, agreement, off_prior)


def _off(labels: Labels, prior: NDArray[np.float64]) -> float:
    shares = np.bincount(labels, minlength=len(prior)) / len(labels)
    return float(0.5 * np.abs(shares - prior).sum())
