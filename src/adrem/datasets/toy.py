"""The paper's toy problems: arcs around the origin, separated by a line through it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from adrem.datasets.pair import DomainPair
from adrem.exceptions import ParameterError

# First and last angle of an arc, in degrees; class 0 below the origin, class 1 above it.
Arc = tuple[float, float]
SOURCE: tuple[Arc, Arc] = ((230.0, 310.0), (50.0, 130.0))
RADIUS = 3.0


def make_rotated_arcs(
    n_source: int = 100,
    n_target: int = 100,
    *,
    rotation: float = 80.0,
    noise: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> DomainPair:
    """Make two classes on opposite arcs of 80 degrees, and the same arcs rotated: the paper's first toy figure.

    With the default rotation each class of the target ends 20 degrees short of the source's other class.

    Parameters
    ----------
    n_source, n_target : int, default=100
        Number of rows in each domain, half of them of each class.
    rotation : float, default=80.0
        Angle between source and target, in degrees.
    noise : float, default=0.5
        Standard deviation of the distance from the origin, which is 3 on average.
    random_state : int, RandomState instance or None, default=None
        Seed of the points.

    Returns
    -------
    DomainPair
        ``X_source, y_source, X_target, y_target``; the classes are 0 and 1.

    Examples
    --------
    >>> from adrem.datasets import make_rotated_arcs
    >>> make_rotated_arcs(random_state=0).X_target.shape
    (100, 2)
    """
    target = [(first + rotation, last + rotation) for first, last in SOURCE]
    return _make_pair(n_source, n_target, target, 0.5, noise, random_state)


def make_imbalanced_arcs(
    n_source: int = 100,
    n_target: int = 100,
    *,
    minority: float = 0.3,
    noise: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> DomainPair:
    """Make a target whose classes lie close together, off to one side: the paper's second toy figure.

    The source is that of `make_rotated_arcs`. The target's classes span 60 degrees each with 20 degrees between them,
    and class 1, the rarer one, lies across the source's boundary. Without class balance the many rows of class 0 pull
    the boundary further into class 1: the loss falls, and so does the accuracy.

    Parameters
    ----------
    n_source, n_target : int, default=100
        Number of rows in each domain.
    minority : float, default=0.3
        Share of class 1 in the target.
    noise, random_state : optional
        As for `make_rotated_arcs`.

    Returns
    -------
    DomainPair
        ``X_source, y_source, X_target, y_target``; the classes are 0 and 1.

    Examples
    --------
    >>> from adrem.datasets import make_imbalanced_arcs
    >>> int(make_imbalanced_arcs(random_state=0).y_target.sum())
    30
    """
    if not 0.0 < minority < 1.0:
        raise ParameterError(f"minority must lie between 0 and 1, got {minority}.", "minority")
    return _make_pair(n_source, n_target, [(230.0, 290.0), (150.0, 210.0)], minority, noise, random_state)


def _make_pair(
    n_source: int,
    n_target: int,
    target: Sequence[Arc],
    share: float,
    noise: float,
    random_state: int | np.random.RandomState | None,
) -> DomainPair:
    # Without a seed, use a new generator: a library should not change numpy's global state.
    rng = np.random.RandomState() if random_state is None else check_random_state(random_state)
    return DomainPair(*_draw_arcs(n_source, SOURCE, 0.5, noise, rng), *_draw_arcs(n_target, target, share, noise, rng))


def _draw_arcs(
    n_rows: int, arcs: Sequence[Arc], share: float, noise: float, rng: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw points on the arcs of both classes, with the given share of class 1."""
    labels = (np.arange(n_rows) < round(share * n_rows)).astype(np.intp)
    first, last = np.array(arcs)[labels].T
    angle = np.deg2rad(rng.uniform(first, last))
    radius = np.maximum(RADIUS + noise * rng.standard_normal(n_rows), RADIUS / 10)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), labels
