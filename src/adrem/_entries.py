"""What stands in a table: entries in their places, each stored once, and numbers that can be computed with."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from adrem._types import Matrix

SCALE = "Scale the features: divide all of them by one constant."


def check_places(X: Any, name: str) -> None:
    """Refuse a sparse matrix whose entries lie outside of it: compiled code would read whatever memory is there."""
    if not sp.issparse(X) or X.ndim != 2:
        return
    try:
        if X.format in _PLACES:
            _PLACES[X.format](X)
        elif hasattr(X, "check_format"):
            copy(X).check_format(full_check=True)  # a copy of the shell: the check puts other arrays into it
    except (ValueError, IndexError, TypeError) as error:
        raise ValueError(
            f"{name} is a damaged sparse matrix: {error}. Build it anew from rows, columns and values, as "
            "scipy.sparse.csr_array((values, (rows, columns)), shape=...)."
        ) from error


def _check_diagonals(X: Any) -> None:
    if X.data.ndim != 2 or X.offsets.shape != (len(X.data),) or len(np.unique(X.offsets)) < len(X.offsets):
        raise ValueError(f"it has {len(X.data)} diagonals and offsets that are not one for each")


def _check_lists(X: Any) -> None:
    same = len(X.rows) == len(X.data) == X.shape[0]
    if not same or any(len(places) != len(values) for places, values in zip(X.rows, X.data, strict=True)):
        raise ValueError("it has not one value for each place")


def _check_coordinates(X: Any) -> None:
    for places, size, axis in ((X.row, X.shape[0], "row"), (X.col, X.shape[1], "column")):
        if len(places) != len(X.data):
            raise ValueError(f"it has {len(X.data)} values and {len(places)} {axis} indices")
        if len(places) and not 0 <= places.min() <= places.max() < size:
            raise ValueError(f"a {axis} index is not from 0 to {size - 1}")


# Forms without a check of their own, which compiled code makes CSR of.
_PLACES: dict[str, Callable[[Any], None]] = {
    "coo": _check_coordinates,
    "dia": _check_diagonals,
    "lil": _check_lists,
}


def settled(rows: Matrix, name: str) -> Matrix:
    """Rows of a type that is computed with; a sparse one with its entries in order, each stored once."""
    if sp.issparse(rows):
        check_places(rows, name)  # again: forms other than CSR and COO were not looked into
        rows = type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape)  # without flags that may be stale
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    return rows.astype(np.float32) if rows.dtype == np.float16 else rows


def _largest(rows: Matrix) -> float:
    values = rows.data if sp.issparse(rows) else rows
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def check_range(tables: dict[str, Matrix], *, learns: bool) -> None:
    """Refuse numbers whose squares are beyond what their type can hold."""
    found = {name: _largest(rows) for name, rows in tables.items()}
    for name, rows in tables.items():
        most = 0.5 * np.sqrt(np.finfo(rows.dtype).max / max(1, rows.shape[1]))
        if found[name] > most:
            raise ValueError(
                f"{name} holds numbers as large as {found[name]:.3g}, whose squares are too large for {rows.dtype}. "
                f"{SCALE}"
            )
    least = np.sqrt(min(np.finfo(rows.dtype).tiny / np.finfo(rows.dtype).eps for rows in tables.values()))
    if learns and 0 < max(found.values()) < least:
        raise ValueError(
            f"No number in {' or '.join(tables)} is larger than {max(found.values()):.3g}, and the squares of such "
            f"numbers vanish. {SCALE}"
        )
