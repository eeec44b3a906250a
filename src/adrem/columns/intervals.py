"""Numbers as intervals: how they stand beside words.

If each word is scaled like a number, a few numbers have no effect beside many words. If both groups are scaled to the
same size, the words have none. An interval is like a frequent word.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

N_INTERVALS = 10


def learn_edges(values: NDArray[np.float64]) -> list[float]:
    """Return the bounds of intervals with about equally many of the finite values; few values have their own."""
    known = np.unique(values[np.isfinite(values)])
    if len(known) <= N_INTERVALS:
        return [float(edge) for edge in (known[:-1] + known[1:]) / 2]
    edges = np.quantile(values[np.isfinite(values)], np.arange(1, N_INTERVALS) / N_INTERVALS)
    return [float(edge) for edge in np.unique(edges)]


def interval_names(name: str, edges: list[float]) -> list[str]:
    """Return a name for every interval."""
    if not edges:
        return [name]
    middle = [f"{name} {low:g} to {high:g}" for low, high in pairwise(edges)]
    return [f"{name} < {edges[0]:g}", *middle, f"{name} >= {edges[-1]:g}"]


def find_intervals(values: NDArray[np.float64], edges: list[float]) -> NDArray[np.int64]:
    """Return the interval of every value, -1 for values that are missing."""
    places = np.searchsorted(np.asarray(edges, dtype=np.float64), values, side="right")
    return np.where(np.isfinite(values), places, -1).astype(np.int64)
