"""What the kernels on Gram matrices and on rows share."""

from __future__ import annotations

from typing import Any

import numpy as np

from adrem.machines.compiled.cache import jit

# A row is not updated while its violation is below this part of the tolerance.
MIN_VIOLATION = 0.25

RUNNING, CONVERGED, GIVEN_UP = 0, 1, 2


@jit
def shuffle(order: Any, seed: Any) -> Any:
    """Shuffle in place by splitmix64, and return the new seed."""
    for last in range(order.shape[0] - 1, 0, -1):
        seed += np.uint64(0x9E3779B97F4A7C15)
        bits = (seed ^ (seed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        other = np.int64((bits ^ (bits >> np.uint64(31))) % np.uint64(last + 1))
        order[last], order[other] = order[other], order[last]
    return seed


@jit
def sign_of(label: Any, problem: Any, n_problems: Any) -> Any:
    """Return +1 for rows of the positive class of a problem, which is the second of two classes, and -1 for others."""
    positive = np.int32(problem % n_problems if n_problems > 1 else 1)
    return 1.0 if label == positive else -1.0
