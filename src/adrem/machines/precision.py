"""Products in double precision, whatever the type of the rows, and the rounding errors of scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.runtime.memory import blocks_of
from adrem.types import Matrix

# Dense rows that are converted to double precision at a time.
CHUNK = 1024
# Bytes of an entry of sparse rows that are sliced and converted to double precision.
BYTES_PER_ENTRY = 16
# Rows whose scores are computed again to measure rounding errors.
N_CHECKED_ROWS = 256


def weighted_sums(table: Matrix, multiples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the rows times their multiples (members x problems x rows).

    One member at a time, because the rounding of a product depends on the shape of its factors.
    """
    sums = np.zeros((*multiples.shape[:2], table.shape[1]))
    first = 0
    for rows in _double_precision(table):
        last = first + rows.shape[0]
        for m, member in enumerate(multiples):
            sums[m] += member[:, first:last] @ rows
        first = last
    return sums


def _double_precision(table: Matrix) -> Iterator[Matrix]:
    """Yield the rows in chunks of double precision; sparse ones as they are, since products copy them."""
    if sp.issparse(table):
        yield from blocks_of(table, 1 + BYTES_PER_ENTRY * table.nnz // table.shape[0])
    else:
        for first in range(0, table.shape[0], CHUNK):
            yield table[first : first + CHUNK].astype(np.float64, copy=False)


def rows_to_check(n_rows: int) -> NDArray[np.intp]:
    """Return evenly spaced rows by which rounding errors are measured."""
    return np.unique(np.linspace(0, n_rows - 1, N_CHECKED_ROWS).astype(np.intp))


def relative_error(scores: NDArray[np.float64], exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each member's largest error, relative to scores above 1 (both members x rows x problems)."""
    difference = np.abs(scores - exact) / np.maximum(1.0, np.abs(exact))
    return np.asarray(difference.max(axis=(1, 2)))
