"""The paper's toy problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from adrem.datasets._pair import DomainPair

ARC = 80.0


def make_rotated_arcs(
    n_source: int = 100,
    n_target: int = 100,
    *,
    rotation: float = 80.0,
    minority: float = 0.5,
    noise: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> DomainPair:
    """Two classes on opposite arcs of 80 degrees around the origin, and the same arcs rotated.

    With the default rotation of 80 degrees, each class of the target ends 20 degrees short of the source's other class, as
    in the first toy figure of the paper. A classifier is a line through the origin.

    Parameters
    ----------
    n_source, n_target : int, default=100
        Number of rows in each domain.
    rotation : float, default=80.0
        Angle between source and target, in degrees.
    minority : float, default=0.5
        Share of class 0 in the target. Below one half the target is imbalanced, as in the second toy figure.
    noise : float, default=0.5
        Standard deviation of the distance from the origin, which is 3 on average.
    random_state : int, RandomState instance or None, default=None
        Seed of the points.

    Returns
    -------
    DomainPair
        ``X_source, y_source, X_target, y_target``; the classes are 0 and 1.
    """
    if not 0.0 < minority < 1.0:
        raise ValueError(f"minority must lie between 0 and 1, got {minority}.")
    rng = np.random.RandomState() if random_state is None else check_random_state(random_state)
    X_source, y_source = _arcs(n_source, 0.5, 0.0, noise, rng)
    X_target, y_target = _arcs(n_target, minority, rotation, noise, rng)
    return DomainPair(X_source, y_source, X_target, y_target)


def _arcs(
    n_rows: int, share: float, rotation: float, noise: float, rng: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    labels = (np.arange(n_rows) >= round(share * n_rows)).astype(np.intp)
    middle = np.where(labels == 0, 270.0, 90.0) + rotation
    angle = np.deg2rad(middle + rng.uniform(-ARC / 2, ARC / 2, n_rows))
    radius = np.maximum(3.0 + noise * rng.standard_normal(n_rows), 0.5)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), labels
