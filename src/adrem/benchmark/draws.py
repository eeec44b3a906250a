"""Which rows of a data set a repetition takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
