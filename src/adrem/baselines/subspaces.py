"""Principal subspaces and the angles between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd

from adrem.exceptions import InvalidDataError
from adrem.runtime.notices import warn_user


class Principal(NamedTuple):
    """Principal directions as orthonormal columns, and their variances in descending order."""

    directions: NDArray[np.float64]
    variances: NDArray[np.float64]


def principal(rows: NDArray[np.float64], n: int | None = None) -> Principal:
    """Return the first n principal directions, or all of non-zero variance, from the smaller Gram matrix."""
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
    """Raise an error if a domain has no principal direction."""
    for which, found in (("source", source), ("target", target)):
        directions = found.directions if isinstance(found, Principal) else found
        if not directions.shape[1]:
            raise InvalidDataError(f"All rows of the {which} are equal: {name} needs at least two different rows.")


def clip_dimension(wanted: int, available: int, name: str) -> int:
    """Clip a dimension to the available one, with a warning."""
    if wanted > available:
        warn_user(
            f"{name}(n_components={wanted}): the rows span only {available} common dimension(s), which are used.",
            UserWarning,
        )
    return max(1, min(wanted, available))


class Angles(NamedTuple):
    """Principal angles between two subspaces, with their directions inside the first and orthogonal to it."""

    angles: NDArray[np.float64]
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]


def principal_angles(first: NDArray[np.float64], second: NDArray[np.float64]) -> Angles:
    """Return the principal angles between two subspaces, given as orthonormal columns."""
    rotation, cosines, other = svd(first.T @ second, full_matrices=False)
    inside = first @ rotation
    residual = second @ other.T - inside * np.clip(cosines, 0.0, 1.0)
    sines = np.linalg.norm(residual, axis=0)
    angles = np.arctan2(sines, np.clip(cosines, 0.0, 1.0))
    return Angles(angles, inside, residual / np.where(sines > 0, sines, 1.0))
