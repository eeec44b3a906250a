"""Subspaces of the largest variances, and how those of two domains lie to each other."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd


class Principal(NamedTuple):
    """Orthonormal directions of the largest variances, one a column, and the variances, both in falling order."""

    directions: NDArray[np.float64]
    variances: NDArray[np.float64]


def principal(rows: NDArray[np.float64], n: int | None = None) -> Principal:
    """The first n principal directions of rows, or all in which they vary, from the smaller of two Gram matrices."""
    centred = rows - rows.mean(axis=0)
    freedom = max(len(rows) - 1, 1)
    side = min(rows.shape)
    wanted = None if n is None else (max(side - n, 0), side - 1)
    if rows.shape[0] < rows.shape[1]:
        variances, vectors = eigh(centred @ centred.T / freedom, subset_by_index=wanted)
        directions = centred.T @ vectors
    else:
        variances, directions = eigh(centred.T @ centred / freedom, subset_by_index=wanted)
    kept = np.flatnonzero(variances > max(rows.shape) * np.finfo(np.float64).eps * max(variances[-1], 0.0))[::-1]
    lengths = np.linalg.norm(directions[:, kept], axis=0)
    return Principal(directions[:, kept] / np.where(lengths > 0, lengths, 1.0), variances[kept])


def check_variation(source: Principal | NDArray[np.float64], target: Any, name: str) -> None:
    """Refuse domains that have no principal direction at all."""
    for which, found in (("source", source), ("target", target)):
        directions = found.directions if isinstance(found, Principal) else found
        if not directions.shape[1]:
            raise ValueError(f"The rows of the {which} are all the same: {name} needs at least two that differ.")


def clip_dimension(wanted: int, available: int, name: str) -> int:
    """As many dimensions as there are, with a warning where more were asked for."""
    if wanted > available:
        warnings.warn(
            f"{name}(n_components={wanted}): the rows span only {available} common dimension(s), which are taken.",
            UserWarning,
            stacklevel=6,
        )
    return max(1, min(wanted, available))


class Angles(NamedTuple):
    """Principal angles between two subspaces, and their directions: in the first, and orthogonal to it."""

    angles: NDArray[np.float64]
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]


def principal_angles(first: NDArray[np.float64], second: NDArray[np.float64]) -> Angles:
    """Angles by which one subspace is turned into another, given an orthonormal basis of each as columns."""
    turned, cosines, other = svd(first.T @ second, full_matrices=False)
    inside = first @ turned
    residual = second @ other.T - inside * np.clip(cosines, 0.0, 1.0)
    sines = np.linalg.norm(residual, axis=0)
    angles = np.arctan2(sines, np.clip(cosines, 0.0, 1.0))
    return Angles(angles, inside, residual / np.where(sines > 0, sines, 1.0))
