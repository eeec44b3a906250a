"""CSR tables: squared norms, and the features that several rows share."""

from __future__ import annotations

from typing import Any

import numpy as np

from adrem.machines.compiled.cache import jit


@jit
def sum_squares(values: Any, indptr: Any, sums: Any) -> None:
    """Compute the squared norms of CSR rows."""
    for i in range(sums.shape[0]):
        total = 0.0  # a local sum: its order does not depend on the alignment of the arrays
        for k in range(indptr[i], indptr[i + 1]):
            total += np.float64(values[k]) ** 2
        sums[i] = total


@jit
def split_entries(
    all_values: Any, all_indices: Any, all_indptr: Any, numbers: Any, n_shared: int, values: Any, indices: Any,
    indptr: Any, unshared: Any,
) -> None:  # fmt: skip
    """Keep CSR entries of features numbered below `n_shared`, renumbered; sum the squares of the others by row."""
    n_kept = 0
    for i in range(unshared.shape[0]):
        indptr[i] = n_kept
        for k in range(all_indptr[i], all_indptr[i + 1]):
            number = numbers[all_indices[k]]
            if number < n_shared:
                values[n_kept], indices[n_kept] = all_values[k], number
                n_kept += 1
            else:
                unshared[i] += np.float64(all_values[k]) ** 2
    indptr[-1] = n_kept
