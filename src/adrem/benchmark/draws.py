"""Which rows of a data set a repetition takes, and which are held out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from adrem.datasets import DomainPair
from adrem.types import Matrix


@dataclass(frozen=True)
class Draw:
    """Which rows a repetition takes: all by default.

    Parameters
    ----------
    per_class : int, default=None
        Number of source rows of each class.
    fewer : dict of str to int, default={}
        Other numbers per class, by the short name of the source domain.
    n_source : int, default=None
        Number of source rows whatever their class. Ignored if `per_class` is given.
    n_target : int, default=None
        Number of target rows.
    """

    per_class: int | None = None
    fewer: dict[str, int] = field(default_factory=dict)
    n_source: int | None = None
    n_target: int | None = None

    def source_rows(self, domain: str, labels: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the sorted indices of the source rows that are drawn."""
        if self.per_class is None:
            return _some(len(labels), self.n_source, rng)
        size = self.fewer.get(domain, self.per_class)
        drawn = [rng.choice(np.flatnonzero(labels == label), size, replace=False) for label in np.unique(labels)]
        return np.sort(np.concatenate(drawn))

    def target_rows(self, labels: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the sorted indices of the target rows that are drawn."""
        return _some(len(labels), self.n_target, rng)


def _some(n_rows: int, size: int | None, rng: np.random.Generator) -> NDArray[np.intp]:
    return np.arange(n_rows) if size is None else np.sort(rng.choice(n_rows, size, replace=False))


class Trial(NamedTuple):
    """The rows that a method is fitted to, and the rows of the target that it is scored on if they are others.

    Parameters
    ----------
    pair : DomainPair
        The rows to fit to; without held-out rows its target is scored.
    X_held : {ndarray, CSR array} or None, default=None
        Held-out rows of the target.
    y_held : ndarray or None, default=None
        Their labels.
    """

    pair: DomainPair
    X_held: Matrix | None = None
    y_held: Any = None

    @property
    def truth(self) -> Any:
        """The labels of the rows that are scored."""
        return self.pair.y_target if self.X_held is None else self.y_held


def hold_out(pair: DomainPair, share: float, repetition: int) -> Trial:
    """Hold out a share of the rows of each class of each domain, and drop those of the source.

    The split is that of skada's ``StratifiedDomainShuffleSplit(n_splits, test_size=share, random_state=0)`` on the rows
    of the source and then the target.
    """
    n_source, n_target = pair.X_source.shape[0], pair.X_target.shape[0]
    labels = np.unique(np.concatenate([pair.y_source, pair.y_target]), return_inverse=True)[1]
    groups = 2 * labels + np.repeat([1, 0], [n_source, n_target])  # by label, then by domain: the target is negative
    splitter = StratifiedShuffleSplit(n_splits=repetition + 1, test_size=share, random_state=0)
    fitted, held = list(splitter.split(np.zeros((len(groups), 1)), groups))[repetition]
    source, target = (np.sort(rows) for rows in (fitted[fitted < n_source], fitted[fitted >= n_source] - n_source))
    scored = np.sort(held[held >= n_source]) - n_source
    kept = DomainPair(pair.X_source[source], pair.y_source[source], pair.X_target[target], pair.y_target[target])
    return Trial(kept, pair.X_target[scored], pair.y_target[scored])
