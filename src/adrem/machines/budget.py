"""How long coordinate descent works on a problem before it gives up."""

from __future__ import annotations

import numpy as np

# Multiplications that a kernel may spend before it returns to Python: a fraction of a second.
KERNEL_BUDGET = 200_000_000
# A training that starts from one that was given up is itself given up this many times sooner.
RETRY_FACTOR = 20


def visit_budget(n_rows: int, tol: float, give_up_factor: float, is_retry: bool) -> int:
    """Return the visits to a row after which a problem is given up and counted as failed.

    It is a thousand visits per row, as liblinear's sweeps, at liblinear's tolerance of 0.1, more for a tighter one, and
    at least a million in all. Rows that are shrunk away are not visited and cost nothing.
    """
    visits = max(1_000_000, 1000 * n_rows * min(max(1.0, np.sqrt(0.1 / tol)), 1000.0))
    return int(visits / give_up_factor / (RETRY_FACTOR if is_retry else 1))
