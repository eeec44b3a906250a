"""Growing subsets of the target, as a count per row: a row drawn twice has count 2."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import ParameterError


def draw(
    labels: NDArray[np.intp],
    fraction: float,
    prior: NDArray[np.float64],
    sampling: str,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw a subset of size ``fraction * len(labels)`` by the named method and return the count of every row."""
    if sampling == "balanced":
        return draw_balanced(labels, fraction * len(labels), prior, rng)
    if sampling == "random":
        return draw_random(len(labels), fraction * len(labels), rng)
    if sampling == "all":
        return np.ones(len(labels))
    raise ParameterError(f"sampling={sampling!r} is none of balanced, random, all.", "sampling")


def draw_balanced(
    labels: NDArray[np.intp], size: float, prior: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw ``ceil(size * prior[c])`` rows of every class c.

    A class with fewer rows repeats each of them as often as fits; the remainder is drawn without replacement. A class
    without rows is skipped.
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
    """Return how often each row of a class is drawn, and how many rows once more, for a total of ``ceil(size)``."""
    return divmod(_ceil(size), n_rows)


def draw_random(n_rows: int, size: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw ``ceil(size)`` rows without replacement, regardless of their labels."""
    counts = np.zeros(n_rows)
    counts[rng.choice(n_rows, _ceil(size), replace=False)] = 1
    return counts


def _ceil(size: float) -> int:
    # A product such as 100 * 0.07 exceeds the exact integer by a rounding error.
    return ceil(size - 1e-9 * max(1.0, size))
