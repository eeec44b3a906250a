"""Growing subsets of the target, as counts per row: a row drawn twice has count 2."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray


def draw(
    labels: NDArray[np.intp],
    fraction: float,
    prior: NDArray[np.float64],
    sampling: str,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Counts of the target rows in a subset of size ``fraction * len(labels)``, for the named way of sampling."""
    if sampling == "balanced":
        return draw_balanced(labels, fraction * len(labels), prior, rng)
    if sampling == "random":
        return draw_random(len(labels), fraction * len(labels), rng)
    return np.ones(len(labels))


def draw_balanced(
    labels: NDArray[np.intp], size: float, prior: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw ``ceil(size * prior[c])`` rows of every class c.

    A class with fewer rows than that gives each row as many whole times as fits, and the rest without replacement. A
    class without rows is skipped.
    """
    counts = np.zeros(len(labels))
    for c, share in enumerate(prior):
        members = np.flatnonzero(labels == c)
        if len(members) == 0:
            continue
        times, rest = quota(size * share, len(members))
        counts[members] = times
        counts[rng.choice(members, rest, replace=False)] += 1
    return counts


def quota(size: float, n_rows: int) -> tuple[int, int]:
    """How many whole times each row of a class is drawn, and how many rows once more, for ``ceil(size)`` in all."""
    return divmod(_ceil(size), n_rows)


def draw_random(n_rows: int, size: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw ``ceil(size)`` rows whatever their labels, without replacement."""
    counts = np.zeros(n_rows)
    counts[rng.choice(n_rows, _ceil(size), replace=False)] = 1
    return counts


def _ceil(size: float) -> int:
    # A product such as 100 * 0.07 lies a rounding error above the whole number that is meant.
    return ceil(size - 1e-9 * max(1.0, size))
