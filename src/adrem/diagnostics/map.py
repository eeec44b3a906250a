"""A map of two domains in two dimensions, with similar rows close together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adrem.types import Matrix

Array = NDArray[np.float64]
# Maximum number of rows of each domain on a map: more would overlap.
MAX_ROWS = 400
# Principal components that the map is computed from.
N_COMPONENTS = 30
PERPLEXITY = 30.0
ROUNDING = 1e-6  # coordinates of unit rows that differ by rounding only
MIN_ROWS = 8


@dataclass(frozen=True)
class Map:
    """Some rows of each domain, and their coordinates on a map, from -1 to 1.

    Parameters
    ----------
    source_rows, target_rows : list of int
        Positions of the rows in their tables, from 0.
    source_points, target_points : list of tuple of float
        Their coordinates on the map.
    """

    source_rows: list[int]
    target_rows: list[int]
    source_points: list[tuple[float, float]]
    target_points: list[tuple[float, float]]


def draw_map(X_source: Matrix, X_target: Matrix, rng: np.random.Generator) -> Map | None:
    """Map rows of both domains by t-SNE on the principal components of the normalized rows.

    Everything is computed from the Gram matrix, for any number of features.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    from adrem.machines.tables import stack

    chosen = [some_rows(X.shape[0], MAX_ROWS, rng) for X in (X_source, X_target)]
    rows = stack([X_source[chosen[0]], X_target[chosen[1]]])
    if rows.shape[0] < MIN_ROWS:
        return None
    places = _main_directions(rows)
    if np.abs(places).max() < ROUNDING:
        return None
    perplexity = min(PERPLEXITY, (rows.shape[0] - 1) / 3)
    # On a busy machine several threads that wait for each other take ten times as long as one.
    with threadpool_limits(limits=1):
        embedding = TSNE(init="pca", perplexity=perplexity, random_state=0).set_output(transform="default")
        points = embedding.fit_transform(places)
    points = points - (points.min(axis=0) + points.max(axis=0)) / 2
    span = np.abs(points).max()
    pairs = [(round(float(x), 4), round(float(y), 4)) for x, y in points / (span or 1.0)]
    n_source = len(chosen[0])
    return Map(chosen[0].tolist(), chosen[1].tolist(), pairs[:n_source], pairs[n_source:])


def some_rows(n_rows: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return sorted positions of at most `size` random rows."""
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size, replace=False))


def _main_directions(rows: Matrix) -> Array:
    """Return the principal components of the normalized rows."""
    from sklearn.metrics.pairwise import cosine_similarity

    gram = np.asarray(cosine_similarity(rows), dtype=np.float64)
    means = gram.mean(axis=0)
    variances, directions = np.linalg.eigh(gram - means - means[:, None] + means.mean())
    kept = slice(None, -N_COMPONENTS - 1, -1)
    return np.asarray(directions[:, kept] * np.sqrt(np.maximum(variances[kept], 0.0)))
