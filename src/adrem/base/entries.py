"""Checks of the entries of a matrix: valid indices, no duplicates, and no overflow of their squares."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from adrem.exceptions import InvalidDataError
from adrem.types import Matrix

SCALE = "Scale the features: divide all of them by one constant."


def check_indices(X: Any, name: str) -> None:
    """Raise an error if indices of a sparse matrix are out of bounds: compiled code would read other memory."""
    if not sp.issparse(X) or X.ndim != 2:
        return
    try:
        if X.format in _INDEX_CHECKS:
            _INDEX_CHECKS[X.format](X)
        elif hasattr(X, "check_format"):
            copy(X).check_format(full_check=True)  # a shallow copy: the check replaces its arrays
    except (ValueError, IndexError, TypeError) as error:
        raise InvalidDataError(
            f"{name} is a damaged sparse matrix: {error}. Rebuild it from rows, columns and values, as "
            "scipy.sparse.csr_array((values, (rows, columns)), shape=...)."
        ) from error


def _check_diagonals(X: Any) -> None:
    if X.data.ndim != 2 or X.offsets.shape != (len(X.data),) or len(np.unique(X.offsets)) < len(X.offsets):
        raise InvalidDataError(f"it has {len(X.data)} diagonals, but not one distinct offset for each")


def _check_lists(X: Any) -> None:
    same = len(X.rows) == len(X.data) == X.shape[0]
    if not same or any(len(indices) != len(values) for indices, values in zip(X.rows, X.data, strict=True)):
        raise InvalidDataError("it does not have one value for each index")


def _check_coordinates(X: Any) -> None:
    for indices, size, axis in ((X.row, X.shape[0], "row"), (X.col, X.shape[1], "column")):
        if len(indices) != len(X.data):
            raise InvalidDataError(f"it has {len(X.data)} values and {len(indices)} {axis} indices")
        if len(indices) and not 0 <= indices.min() <= indices.max() < size:
            raise InvalidDataError(f"a {axis} index is not from 0 to {size - 1}")


# Formats without check_format, which compiled code converts to CSR.
_INDEX_CHECKS: dict[str, Callable[[Any], None]] = {
    "coo": _check_coordinates,
    "dia": _check_diagonals,
    "lil": _check_lists,
}


def canonical(rows: Matrix, name: str) -> Matrix:
    """Return rows as float32 or float64; sparse ones in canonical format: sorted indices, no duplicates."""
    if sp.issparse(rows):
        check_indices(rows, name)  # again: not all formats can be checked before the conversion to CSR
        rows = type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape)  # without flags that may be stale
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    return rows.astype(np.float32) if rows.dtype == np.float16 else rows


def _largest(rows: Matrix) -> float:
    values = rows.data if sp.issparse(rows) else rows
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def check_range(tables: dict[str, Matrix], *, learns: bool) -> None:
    """Raise an error if the squares of the numbers overflow or underflow."""
    found = {name: _largest(rows) for name, rows in tables.items()}
    for name, rows in tables.items():
        most = 0.5 * np.sqrt(np.finfo(rows.dtype).max / max(1, rows.shape[1]))
        if found[name] > most:
            raise InvalidDataError(
                f"{name} has values as large as {found[name]:.3g}, whose squares are too large for {rows.dtype}. "
                f"{SCALE}"
            )
    least = np.sqrt(min(np.finfo(rows.dtype).tiny / np.finfo(rows.dtype).eps for rows in tables.values()))
    if learns and 0 < max(found.values()) < least:
        raise InvalidDataError(
            f"No value in {' or '.join(tables)} is larger than {max(found.values()):.3g}: squares underflow. {SCALE}"
        )
