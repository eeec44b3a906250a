"""Coordinate descent on a Gram matrix: the scores of all rows are kept up to date.

Reading a score is free, and an update costs one pass over the rows. Rows are visited in blocks that stay in the cache
while all problems work on them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adrem.machines.compiled.cache import jit
from adrem.machines.compiled.common import CONVERGED, GIVEN_UP, MIN_VIOLATION, RUNNING, shuffle, sign_of
from adrem.machines.compiled.simd import STRIDE, add_four, add_part

# Rows of a block, which are updated before the scores of the other rows. Their Gram matrix fits into the L1 cache.
BLOCK = 64
# A row is not updated while its violation is below this part of the largest one, since updates are expensive here.
MIN_PART_OF_LARGEST = 0.3


@jit
def add_steps(gram: Any, which: Any, steps: Any, n_steps: int, scores: Any) -> None:
    """Add the steps of some rows to the scores of all: four at a time, so that scores are loaded less often."""
    for k in range(n_steps, -(-n_steps // 4) * 4):
        which[k], steps[k] = which[n_steps - 1], 0.0
    whole = scores.shape[0] // STRIDE * STRIDE
    for k in range(0, n_steps, 4):
        for j in range(0, whole, STRIDE):
            add_four(scores, j, gram, which, steps, k)
        for j in range(whole, scores.shape[0]):
            for other in range(k, k + 4):
                scores[j] += steps[other] * gram[which[other], j]


@jit
def move_gram(
    loss: Any, n_problems: int, gram: Any, old_labels: Any, labels: Any, old_box: Any, box: Any, dual: Any,
    scores: Any,
) -> None:  # fmt: skip
    """Transfer all dual variables to new labels and boxes."""
    which, steps = np.empty(BLOCK, np.int64), np.empty(BLOCK, gram.dtype)
    for first in range(0, gram.shape[0], BLOCK):
        for p in range(dual.shape[0]):
            m = p // n_problems
            n_steps = 0
            for i in range(first, min(first + BLOCK, gram.shape[0])):
                old_sign, sign = sign_of(old_labels[m, i], p, n_problems), sign_of(labels[m, i], p, n_problems)
                old = loss.multiple(dual[p, i], old_box[m, i]) * old_sign
                dual[p, i] = loss.transfer(dual[p, i], old_sign == sign, box[m, i])
                step = loss.multiple(dual[p, i], box[m, i]) * sign - old
                if step != 0.0:
                    which[n_steps], steps[n_steps] = i, step
                    n_steps += 1
            add_steps(gram, which, steps, n_steps, scores[p])


@jit
def _extremes(
    loss: Any, p: int, n_problems: int, labels: Any, box: Any, dual: Any, scores: Any, low: Any, high: Any
) -> Any:
    """Return the smallest and the largest violation of a problem, zero included.

    They are first computed for every position in a block: numba uses SIMD for that, and not for extremes of all rows.
    """
    low[:], high[:] = 0.0, 0.0
    for first in range(0, dual.shape[0], BLOCK):
        last = min(first + BLOCK, dual.shape[0])
        own_labels, own_box, own_dual, own_scores = (
            labels[first:last],
            box[first:last],
            dual[first:last],
            scores[first:last],
        )
        for k in range(last - first):
            margin = sign_of(own_labels[k], p, n_problems) * own_scores[k]
            violation = loss.clipped_violation(margin, own_dual[k], own_box[k])
            low[k], high[k] = min(violation, low[k]), max(violation, high[k])
    return low.min(), high.max()


@jit
def _count_violations(
    loss: Any, p: int, n_problems: int, threshold: float, labels: Any, box: Any, dual: Any, scores: Any, n_above: Any
) -> None:
    """Count the rows of every block whose violation exceeds the threshold."""
    for block in range(n_above.shape[0]):
        first, last = block * BLOCK, min((block + 1) * BLOCK, dual.shape[0])
        # Slices, because numba uses SIMD for indices that begin at zero.
        own_labels, own_box, own_dual, own_scores = (
            labels[first:last],
            box[first:last],
            dual[first:last],
            scores[first:last],
        )
        count = 0
        for k in range(last - first):
            margin = sign_of(own_labels[k], p, n_problems) * own_scores[k]
            count += abs(loss.clipped_violation(margin, own_dual[k], own_box[k])) > threshold
        n_above[block] = count


@jit
def _update_block(
    loss: Any, p: int, n_problems: int, threshold: float, first: int, gram: Any, norms: Any, labels: Any, box: Any,
    dual: Any, scores: Any, which: Any, steps: Any, local: Any,
) -> int:  # fmt: skip
    """Update the rows of a block whose violation exceeds the threshold, in turn; returns how many they are.

    The matrix and its norms, which the threads share, are never sliced: a slice counts references, and threads that
    count references to the same array slow each other down.
    """
    n_steps = 0
    whole = dual.shape[0] // STRIDE * STRIDE
    local[: dual.shape[0]] = scores
    for i in range(dual.shape[0]):
        sign = sign_of(labels[i], p, n_problems)
        if abs(loss.clipped_violation(sign * local[i], dual[i], box[i])) > threshold:
            old = loss.multiple(dual[i], box[i])
            dual[i] = loss.update(norms[first + i], sign * local[i], dual[i], box[i])
            step = (loss.multiple(dual[i], box[i]) - old) * sign
            which[n_steps], steps[n_steps] = first + i, step
            n_steps += 1
            for k in range(0, whole, STRIDE):
                add_part(local, k, gram, first + i, first + k, step)
            for k in range(whole, dual.shape[0]):
                local[k] += step * gram[first + i, first + k]
    return n_steps


@jit
def _begin_sweep(
    loss: Any, n_problems: int, labels: Any, box: Any, dual: Any, scores: Any, tol: float, status: Any,
    thresholds: Any, n_above: Any, updates: Any, is_first: bool, low: Any, high: Any,
) -> int:  # fmt: skip
    """Decide which problems go on, and with which threshold; returns how many do."""
    n_running = 0
    for p in range(dual.shape[0]):
        if status[p] != RUNNING:
            continue
        m = p // n_problems
        smallest, largest = _extremes(loss, p, n_problems, labels[m], box[m], dual[p], scores[p], low, high)
        if largest - smallest <= tol and not is_first:
            status[p] = CONVERGED
        elif updates[p] <= 0:
            status[p] = GIVEN_UP
        else:
            n_running += 1
            updates[p] -= n_above.shape[1]  # a sweep without updates is cheap, but not free
            thresholds[p] = max(MIN_VIOLATION * min(tol, 1.0), MIN_PART_OF_LARGEST * max(largest, -smallest))
            _count_violations(loss, p, n_problems, thresholds[p], labels[m], box[m], dual[p], scores[p], n_above[p])
    return n_running


@jit
def descend_gram(
    loss: Any, n_problems: int, gram: Any, norms: Any, labels: Any, box: Any, dual: Any, scores: Any, tol: float,
    status: Any, thresholds: Any, n_above: Any, updates: Any, order: Any, cursor: Any, budget: int,
) -> bool:  # fmt: skip
    """Sweep over the blocks until the violations of every problem lie within `tol` of each other.

    `status` holds which problems are running; `thresholds`, the violation that a row must exceed to be updated in this
    sweep; `n_above`, how many such rows a block had at its beginning; `updates`, the updates of a row that a problem
    has left; `order`, the order of the blocks; `cursor`, the next of them, the seed and the number of sweeps, which is
    at least one. Returns whether there is more to do.
    """
    n_rows = gram.shape[0]
    which, steps = np.empty(BLOCK, np.int64), np.empty(BLOCK, gram.dtype)
    local, low, high = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    while budget > 0:
        if cursor[0] == order.shape[0]:
            n_running = _begin_sweep(
                loss, n_problems, labels, box, dual, scores, tol, status, thresholds, n_above, updates, cursor[2] == 0,
                low, high,
            )  # fmt: skip
            if n_running == 0:
                return False
            cursor[0] = 0
            cursor[1] = np.int64(shuffle(order, np.uint64(cursor[1])))
            cursor[2] += 1
            budget -= n_running * n_rows
        block = order[cursor[0]]
        cursor[0] += 1
        first, last = block * BLOCK, min((block + 1) * BLOCK, n_rows)
        for p in range(dual.shape[0]):
            if status[p] == RUNNING and n_above[p, block] > 0:
                m = p // n_problems
                n_steps = _update_block(
                    loss, p, n_problems, thresholds[p], first, gram, norms,
                    labels[m, first:last], box[m, first:last], dual[p, first:last], scores[p, first:last],
                    which, steps, local,
                )  # fmt: skip
                add_steps(gram, which, steps, n_steps, scores[p])
                updates[p] -= n_steps
                budget -= n_steps * n_rows
    return True
