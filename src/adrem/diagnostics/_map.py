"""A map of two domains: rows that are alike lie close together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adrem._types import Matrix

Array = NDArray[np.float64]
# Rows of each domain on a map: more would hide each other.
MAPPED = 400
# Directions in which the rows vary the most, which the map is drawn from.
DIRECTIONS = 30
PERPLEXITY = 30.0
ALIKE = 1e-6  # coordinates of rows of length one that only differ by rounding
LEAST = 8  # rows, below which there is nothing to draw


@dataclass(frozen=True)
class Map:
    """Some rows of either domain, by their position in it, and where they lie on a map from -1 to 1.

    Parameters
    ----------
    source_rows, target_rows : list of int
        Positions of the rows in their tables, from 0.
    source_points, target_points : list of tuple of float
        Where each of them lies on the map: to the right, and up.

    Examples
    --------
    >>> from adrem.diagnostics import Map
    >>> drawn = Map([0, 7], [3], source_points=[(0.5, -1.0), (-1.0, 0.0)], target_points=[(1.0, 1.0)])
    >>> [f"row {row} at {place}" for row, place in zip(drawn.target_rows, drawn.target_points)]
    ['row 3 at (1.0, 1.0)']
    """

    source_rows: list[int]
    target_rows: list[int]
    source_points: list[tuple[float, float]]
    target_points: list[tuple[float, float]]


def draw_map(X_source: Matrix, X_target: Matrix, rng: np.random.Generator) -> Map | None:
    """Place rows of both domains by t-SNE on their directions of largest variance, each row at length one.

    All is computed from the products of the rows, so that any number of features will do.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    from adrem.machines._tables import stack

    chosen = [some_rows(X.shape[0], MAPPED, rng) for X in (X_source, X_target)]
    rows = stack([X_source[chosen[0]], X_target[chosen[1]]])
    if rows.shape[0] < LEAST:
        return None
    places = _main_directions(rows)
    if np.abs(places).max() < ALIKE:
        return None
    perplexity = min(PERPLEXITY, (rows.shape[0] - 1) / 3)
    # Threads that wait for each other on a busy machine take ten times as long as one that does not.
    with threadpool_limits(limits=1):
        points = TSNE(init="pca", perplexity=perplexity, random_state=0).fit_transform(places)
    points = points - (points.min(axis=0) + points.max(axis=0)) / 2
    span = np.abs(points).max()
    pairs = [(round(float(x), 4), round(float(y), 4)) for x, y in points / (span or 1.0)]
    n_source = len(chosen[0])
    return Map(chosen[0].tolist(), chosen[1].tolist(), pairs[:n_source], pairs[n_source:])


def some_rows(n_rows: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Positions of so many rows at random, all of them if there are no more; in their order."""
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size, replace=False))


def _main_directions(rows: Matrix) -> Array:
    """Coordinates of the rows, each divided by its norm, along the directions of their largest variance."""
    from sklearn.metrics.pairwise import cosine_similarity

    gram = np.asarray(cosine_similarity(rows), dtype=np.float64)
    means = gram.mean(axis=0)
    variances, directions = np.linalg.eigh(gram - means - means[:, None] + means.mean())
    kept = slice(None, -DIRECTIONS - 1, -1)
    return np.asarray(directions[:, kept] * np.sqrt(np.maximum(variances[kept], 0.0)))
