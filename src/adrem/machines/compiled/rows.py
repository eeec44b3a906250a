"""Coordinate descent on the rows, dense or CSR: the weights are kept up to date.

The weights of sixteen problems are contiguous, in lanes, so that one visit to a row serves them all. `unshared` is
the part of a row's squared norm that comes from features of this row alone: their weights are the row's multiple times
their values, and are not stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from adrem.machines.compiled.cache import jit
from adrem.machines.compiled.common import CONVERGED, GIVEN_UP, MIN_VIOLATION, RUNNING, shuffle, sign_of
from adrem.machines.compiled.simd import LANES, add_multiple


def _gather(values: Any, indices: Any, indptr: Any, i: Any, primal: Any, sums: Any) -> None:
    """Compute the scores of row i in all lanes, in the first row of `sums`."""
    raise NotImplementedError


def _scatter(values: Any, indices: Any, indptr: Any, i: Any, steps: Any, primal: Any) -> None:
    """Add row i times the step of each lane to the weights."""
    raise NotImplementedError


@overload(_gather, jit_options={"fastmath": {"contract"}, "error_model": "numpy"})
def _overload_gather(values: Any, indices: Any, indptr: Any, i: Any, primal: Any, sums: Any) -> Any:
    # Four sums, so that no addition has to wait for the one before it.
    if values.ndim == 2:

        def dense(values: Any, indices: Any, indptr: Any, i: Any, primal: Any, sums: Any) -> None:
            sums[:] = 0.0
            for j in range(values.shape[1]):
                add_multiple(sums, j & 3, primal, j, values[i, j])
            for lane in range(LANES):
                sums[0, lane] = (sums[0, lane] + sums[1, lane]) + (sums[2, lane] + sums[3, lane])

        return dense

    def csr(values: Any, indices: Any, indptr: Any, i: Any, primal: Any, sums: Any) -> None:
        sums[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            add_multiple(sums, k & 3, primal, indices[k], values[k])
        for lane in range(LANES):
            sums[0, lane] = (sums[0, lane] + sums[1, lane]) + (sums[2, lane] + sums[3, lane])

    return csr


@overload(_scatter, jit_options={"fastmath": {"contract"}, "error_model": "numpy"})
def _overload_scatter(values: Any, indices: Any, indptr: Any, i: Any, steps: Any, primal: Any) -> Any:
    if values.ndim == 2:

        def dense(values: Any, indices: Any, indptr: Any, i: Any, steps: Any, primal: Any) -> None:
            for j in range(values.shape[1]):
                add_multiple(primal, j, steps, 0, values[i, j])

        return dense

    def csr(values: Any, indices: Any, indptr: Any, i: Any, steps: Any, primal: Any) -> None:
        for k in range(indptr[i], indptr[i + 1]):
            add_multiple(primal, indices[k], steps, 0, values[k])

    return csr


@jit
def move_rows(
    loss: Any, n_problems: int, first: int, n_lanes: int, values: Any, indices: Any, indptr: Any, old_labels: Any,
    labels: Any, old_box: Any, box: Any, dual: Any, primal: Any,
) -> None:  # fmt: skip
    """Transfer the dual variables of the problems from `first` on to new labels and boxes."""
    steps = np.zeros((1, LANES))
    for i in range(dual.shape[0]):
        changed = False
        for lane in range(n_lanes):
            p = first + lane
            m = p // n_problems
            old_sign, sign = sign_of(old_labels[i, m], p, n_problems), sign_of(labels[i, m], p, n_problems)
            old = loss.multiple(dual[i, lane], old_box[i, m]) * old_sign
            dual[i, lane] = loss.transfer(dual[i, lane], old_sign == sign, box[i, m])
            steps[0, lane] = loss.multiple(dual[i, lane], box[i, m]) * sign - old
            changed |= steps[0, lane] != 0.0
        if changed:
            _scatter(values, indices, indptr, i, steps, primal)


@jit
def score_rows(values: Any, indices: Any, indptr: Any, primal: Any, scores: Any) -> None:
    """Compute the scores of all rows in all lanes, without the part of their unshared features."""
    sums = np.empty((4, LANES))
    for i in range(scores.shape[0]):
        _gather(values, indices, indptr, i, primal, sums)
        scores[i] = sums[0]


@jit
def _unshrink(lane: int, box: Any, active: Any, n_active: Any) -> int:
    """Make all rows that a lane trains on active again; returns how many were not."""
    n_added = 0
    for i in range(active.shape[0]):
        if box[i] > 0.0 and not active[i, lane]:
            active[i, lane] = True
            n_active[i] += 1
            n_added += 1
    return n_added


@jit
def _visit(
    loss: Any, n_problems: int, first: int, tol: float, unshared: float, norm: float, sums: Any, labels: Any,
    box: Any, dual: Any, active: Any, status: Any, window: Any, visits: Any, steps: Any,
) -> Any:  # fmt: skip
    """Make one coordinate step in every lane where a row is active.

    A row at an end of its box whose gradient is beyond the largest violations of the last sweep is not visited again
    before the others have converged (shrinking). Returns in how many lanes that happened, and whether any made a step.
    """
    n_shrunk, changed = 0, False
    for lane in range(status.shape[0]):
        steps[0, lane] = 0.0
        if not active[lane]:
            continue
        visits[lane] -= 1
        p = first + lane
        m = p // n_problems
        sign, old = sign_of(labels[m], p, n_problems), loss.multiple(dual[lane], box[m])
        margin = sign * sums[0, lane] + unshared * old
        violation = loss.clipped_violation(margin, dual[lane], box[m])
        if loss.can_shrink(margin, violation, window[2, lane], window[3, lane]):
            active[lane] = False
            n_shrunk += 1
            continue
        window[0, lane], window[1, lane] = min(window[0, lane], violation), max(window[1, lane], violation)
        if abs(violation) > MIN_VIOLATION * min(tol, 1.0):
            dual[lane] = loss.update(norm, margin, dual[lane], box[m])
            steps[0, lane] = (loss.multiple(dual[lane], box[m]) - old) * sign
            changed |= steps[0, lane] != 0.0
    return n_shrunk, changed


@jit
def _end_sweep(
    tol: float, lane: int, box: Any, active: Any, n_active: Any, status: Any, window: Any, visits: Any
) -> None:
    """Decide after a sweep whether a lane has converged, is given up, or goes on."""
    smallest, largest = window[0, lane], window[1, lane]
    window[0, lane], window[1, lane] = 0.0, 0.0
    window[2, lane], window[3, lane] = -np.inf, np.inf
    if largest - smallest <= tol:
        if _unshrink(lane, box, active, n_active) == 0:
            status[lane] = CONVERGED
    else:
        window[2, lane] = smallest if smallest < 0.0 else -np.inf
        window[3, lane] = largest if largest > 0.0 else np.inf
    if status[lane] == RUNNING and visits[lane] <= 0:
        status[lane] = GIVEN_UP
    if status[lane] != RUNNING:
        for i in range(active.shape[0]):
            n_active[i] -= active[i, lane]
            active[i, lane] = False


@jit
def descend_rows(
    loss: Any, n_problems: int, first: int, values: Any, indices: Any, indptr: Any, unshared: Any, norms: Any,
    labels: Any, box: Any, dual: Any, primal: Any, tol: float, active: Any, n_active: Any, status: Any, window: Any,
    visits: Any, run: int, order: Any, cursor: Any, budget: int,
) -> bool:  # fmt: skip
    """Sweep over the rows until the violations of every problem from `first` on lie within `tol` of each other.

    `active` holds which rows a lane still visits, `n_active` in how many lanes a row is active; `status`, which lanes
    are running; `window`, the smallest and largest violation of this sweep and of the last one; `visits`, the visits to
    a row that a lane has left; `order`, the order of the runs of neighbouring rows; `cursor`, the next position,
    negative before a sweep, and the seed. Returns whether there is more to do.
    """
    n_rows = dual.shape[0]
    sums, steps = np.empty((4, LANES)), np.zeros((1, LANES))
    while budget > 0:
        if cursor[0] == order.shape[0] * run:
            n_running = 0
            for lane in range(status.shape[0]):
                if status[lane] == RUNNING:
                    _end_sweep(
                        tol, lane, box[:, (first + lane) // n_problems], active, n_active, status, window, visits
                    )
                    n_running += status[lane] == RUNNING
            if n_running == 0:
                return False
            cursor[0] = -1
        if cursor[0] < 0:
            cursor[0] = 0
            cursor[1] = np.int64(shuffle(order, np.uint64(cursor[1])))
            budget -= n_rows
        i = order[cursor[0] // run] * run + cursor[0] % run
        cursor[0] += 1
        if i >= n_rows or n_active[i] == 0:
            continue
        _gather(values, indices, indptr, i, primal, sums)
        n_shrunk, changed = _visit(
            loss, n_problems, first, tol, unshared[i], norms[i], sums, labels[i], box[i], dual[i], active[i], status,
            window, visits, steps,
        )  # fmt: skip
        n_active[i] -= n_shrunk
        if changed:
            _scatter(values, indices, indptr, i, steps, primal)
        budget -= values.shape[0] // n_rows if values.ndim == 1 else values.shape[1]
    return True
