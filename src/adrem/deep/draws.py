"""Which target rows a round learns from: random, balanced, and more of them each round, as in the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


def balanced_draw(labels: Rows, n_classes: int, share: float, rng: np.random.Generator) -> Rows:
    """Return rows, as many of each class that has any: together this share of all; those of a rare class repeat."""
    n_each = int(np.ceil(share * len(labels) / n_classes))
    drawn = []
    for c in range(n_classes):
        own = rng.permutation(np.flatnonzero(labels == c))
        drawn.append(np.resize(own, n_each if len(own) else 0))
    return np.concatenate(drawn).astype(np.intp)


def plain_draw(labels: Rows, share: float, rng: np.random.Generator) -> Rows:
    """Return this share of all rows, whatever their classes."""
    return rng.permutation(len(labels))[: max(1, round(share * len(labels)))].astype(np.intp)
