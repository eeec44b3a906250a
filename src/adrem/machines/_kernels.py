"""Dual coordinate descent, compiled by numba: the only compiled code of the package.

Every kernel works on one binary problem over rows in any of the forms of `_rows`. Primal vectors and dual variables are
double precision whatever the rows are, so that millions of small float32 steps do not drift.

Rows come as the four plain arguments of `_rows.Rows`, and are a tuple only inside: older versions of numba mistake the
types of arrays inside a tuple that is passed from Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

# Sums may be reordered, for SIMD. Infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "nsz"}
# Rows are settled among themselves where they are at most this part of all: a third.
FEW = 3


def _jit(function: Callable[..., Any]) -> Any:
    options: dict[str, Any] = {"nogil": True, "fastmath": FAST, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can hold the cache: compile in every process instead
        return njit(**options)(function)


def row_score(rows: Any, i: Any, primal: Any) -> float:
    """Score of row i under a primal vector."""
    raise NotImplementedError


def add_row(rows: Any, i: Any, step: float, primal: Any) -> None:
    """Add a multiple of row i to a primal vector."""
    raise NotImplementedError


@overload(row_score, jit_options={"fastmath": FAST, "error_model": "numpy"})
def _row_score(rows: Any, i: Any, primal: Any) -> Any:
    if rows[0].ndim == 2:

        def dense(rows: Any, i: Any, primal: Any) -> Any:
            values, _, _, is_gram = rows
            if is_gram:
                return primal[i]
            score = 0.0
            for j in range(values.shape[1]):
                score += values[i, j] * primal[j]
            return score

        return dense

    def csr(rows: Any, i: Any, primal: Any) -> Any:
        values, indices, indptr, _ = rows
        score = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            score += values[p] * primal[indices[p]]
        return score

    return csr


@overload(add_row, jit_options={"fastmath": FAST, "error_model": "numpy"})
def _add_row(rows: Any, i: Any, step: Any, primal: Any) -> Any:
    if rows[0].ndim == 2:

        def dense(rows: Any, i: Any, step: Any, primal: Any) -> Any:
            row = rows[0][i]
            for j in range(row.shape[0]):
                primal[j] += step * row[j]

        return dense

    def csr(rows: Any, i: Any, step: Any, primal: Any) -> Any:
        values, indices, indptr, _ = rows
        for p in range(indptr[i], indptr[i + 1]):
            primal[indices[p]] += step * values[p]

    return csr


@_jit
def _shuffle(order: Any, size: int, seed: Any) -> Any:
    """Shuffle the first entries of order in place by splitmix64; the new seed is returned."""
    for last in range(size - 1, 0, -1):
        seed += np.uint64(0x9E3779B97F4A7C15)
        bits = (seed ^ (seed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        other = np.int64((bits ^ (bits >> np.uint64(31))) % np.uint64(last + 1))
        order[last], order[other] = order[other], order[last]
    return seed


@_jit
def move_hinge(
    values: Any,
    indices: Any,
    indptr: Any,
    is_gram: bool,
    old_signs: Any,
    signs: Any,
    old_box: Any,
    box: Any,
    dual: Any,
    primal: Any,
) -> None:
    """Carry the dual variables over to new labels and boxes: clip to the box, start anew where the label flipped."""
    rows = (values, indices, indptr, is_gram)
    for i in range(dual.shape[0]):
        kept = min(dual[i], box[i]) if signs[i] == old_signs[i] else 0.0
        step = kept * signs[i] - dual[i] * old_signs[i]
        dual[i] = kept
        if step != 0.0:
            add_row(rows, i, step, primal)


@_jit
def _sweep_hinge(
    rows: Any,
    norms: Any,
    signs: Any,
    box: Any,
    dual: Any,
    primal: Any,
    order: Any,
    n_active: int,
    above: Any,
    below: Any,
) -> Any:
    """One coordinate step for each of the first rows of order.

    A row at an end of its box whose gradient lies beyond `above` or `below` is moved behind the active ones instead
    (shrinking). Returns the number of rows still active, and the largest and smallest projected gradient among them.
    """
    largest, smallest = -np.inf, np.inf
    s = 0
    while s < n_active:
        i = order[s]
        gradient = signs[i] * row_score(rows, i, primal) - 1.0
        at_zero, at_box = dual[i] <= 0.0, dual[i] >= box[i]
        if (at_zero and gradient > above) or (at_box and gradient < below):
            n_active -= 1
            order[s], order[n_active] = order[n_active], order[s]
            continue
        s += 1
        projected = gradient
        if at_zero:
            projected = min(gradient, 0.0)
        elif at_box:
            projected = max(gradient, 0.0)
        largest, smallest = max(largest, projected), min(smallest, projected)
        if projected != 0.0:
            old = dual[i]
            if norms[i] > 0.0:
                dual[i] = min(max(old - gradient / norms[i], 0.0), box[i])
            else:  # an empty row always loses 1: its dual variable stands at the box
                dual[i] = box[i]
            if dual[i] != old:
                add_row(rows, i, (dual[i] - old) * signs[i], primal)
    return n_active, largest, smallest


@_jit
def _descend_hinge(
    rows: Any, norms: Any, signs: Any, box: Any, dual: Any, primal: Any, tol: float, looks: int, seed: Any
) -> Any:
    """Sweep until the projected gradients of all rows lie within `tol` of each other, or no looks are left.

    Returns the looks that are left, negative if there were too few, and the new seed.
    """
    order = np.flatnonzero(box > 0.0)
    n_active = order.shape[0]
    above, below = np.inf, -np.inf
    while looks >= 0:
        looks -= n_active
        seed = _shuffle(order, n_active, seed)
        n_active, largest, smallest = _sweep_hinge(rows, norms, signs, box, dual, primal, order, n_active, above, below)
        if n_active == 0 or largest - smallest <= tol:
            if n_active == order.shape[0]:
                return max(looks, 0), seed
            n_active = order.shape[0]
            above, below = np.inf, -np.inf
        else:
            above = largest if largest > 0.0 else np.inf
            below = smallest if smallest < 0.0 else -np.inf
    return looks, seed


@_jit
def _unsettled(signs: Any, box: Any, dual: Any, scores: Any, margin: float) -> Any:
    """Rows that may still move: those inside their box, and those at an end of it that do not lean out clearly."""
    found = np.empty(dual.shape[0], np.int64)
    n_found = 0
    for i in range(dual.shape[0]):
        if box[i] > 0.0:
            gradient = signs[i] * scores[i] - 1.0
            stays = (dual[i] <= 0.0 and gradient > margin) or (dual[i] >= box[i] and gradient < -margin)
            if not stays:
                found[n_found] = i
                n_found += 1
    return found[:n_found]


@_jit
def _descend_inside(
    gram: Any, norms: Any, signs: Any, box: Any, dual: Any, scores: Any, some: Any, tol: float, looks: int, seed: Any
) -> Any:
    """Descend on some rows alone, in a Gram matrix of their own that fits the cache, then tell all rows the outcome."""
    size = some.shape[0]
    inner = np.empty((size, size), gram.dtype)
    for a in range(size):
        row = gram[some[a]]
        for b in range(size):
            inner[a, b] = row[some[b]]
    moved, inner_scores = dual[some], scores[some]
    rows = (inner, np.empty(0, np.int32), np.empty(0, np.int64), True)
    looks, seed = _descend_hinge(rows, norms[some], signs[some], box[some], moved, inner_scores, tol, looks, seed)
    everything = (gram, np.empty(0, np.int32), np.empty(0, np.int64), True)
    for a in range(size):
        i = some[a]
        if moved[a] != dual[i]:
            add_row(everything, i, (moved[a] - dual[i]) * signs[i], scores)
            dual[i] = moved[a]
    return looks, seed


@_jit
def solve_hinge(
    values: Any, indices: Any, indptr: Any, is_gram: bool, norms: Any, signs: Any, box: Any, dual: Any, primal: Any,
    tol: float, looks: int, seed: Any,
) -> bool:  # fmt: skip
    """Minimize the dual of the hinge loss (Hsieh et al. 2008), with their shrinking and stopping rule.

    Returns whether the projected gradients of all rows came to lie within `tol` of each other before `looks` looks at a
    row were spent.
    """
    looks, _ = _descend_hinge((values, indices, indptr, is_gram), norms, signs, box, dual, primal, tol, looks, seed)
    return looks >= 0


@_jit
def solve_hinge_gram(
    values: Any, indices: Any, indptr: Any, is_gram: bool, norms: Any, signs: Any, box: Any, dual: Any, primal: Any,
    tol: float, looks: int, seed: Any,
) -> bool:  # fmt: skip
    """As `solve_hinge` for rows in Gram space.

    There a change of a dual variable costs as much as there are rows. So after each sweep over all rows, those that may
    still move are settled among themselves first, at the cost of their own small number.
    """
    rows = (values, indices, indptr, is_gram)
    order = np.flatnonzero(box > 0.0)
    while looks >= 0:
        looks -= order.shape[0]
        seed = _shuffle(order, order.shape[0], seed)
        _, largest, smallest = _sweep_hinge(
            rows, norms, signs, box, dual, primal, order, order.shape[0], np.inf, -np.inf
        )
        if order.shape[0] == 0 or largest - smallest <= tol:
            return True
        some = _unsettled(signs, box, dual, primal, 0.5 * tol)
        if some.shape[0] * FEW <= values.shape[0]:
            looks, seed = _descend_inside(values, norms, signs, box, dual, primal, some, 0.5 * tol, looks, seed)
        else:
            looks, seed = _descend_hinge(rows, norms, signs, box, dual, primal, tol, looks, seed)
    return False


@_jit
def _sigmoid(t: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-t))


@_jit
def move_log_loss(
    values: Any,
    indices: Any,
    indptr: Any,
    is_gram: bool,
    old_signs: Any,
    signs: Any,
    old_box: Any,
    box: Any,
    dual: Any,
    primal: Any,
) -> None:
    """Carry the logits over to new labels and boxes: a row that stays keeps its logit, any other starts anew."""
    rows = (values, indices, indptr, is_gram)
    for i in range(dual.shape[0]):
        old = old_box[i] * _sigmoid(dual[i])
        if signs[i] != old_signs[i] or box[i] <= 0.0:
            dual[i] = -np.inf
        step = box[i] * _sigmoid(dual[i]) * signs[i] - old * old_signs[i]
        if step != 0.0:
            add_row(rows, i, step, primal)


@_jit
def _solve_logit(norm: Any, box: Any, alpha: Any, margin: Any, start: Any) -> Any:
    """Root of t + margin + norm * (box * sigmoid(t) - alpha), a rising function, by Newton steps kept in a bracket."""
    low, high = -margin - norm * (box - alpha), -margin + norm * alpha
    t = min(max(start, low), high)
    for _ in range(200):
        p = _sigmoid(t)
        value = t + margin + norm * (box * p - alpha)
        if value > 0.0:
            high = t
        else:
            low = t
        step = value / (1.0 + norm * box * p * (1.0 - p))
        if abs(step) <= 1e-12 * max(1.0, abs(t)):
            return t - step
        t = t - step if low < t - step < high else 0.5 * (low + high)
    return t


@_jit
def solve_log_loss(
    values: Any,
    indices: Any,
    indptr: Any,
    is_gram: bool,
    norms: Any,
    signs: Any,
    box: Any,
    dual: Any,
    primal: Any,
    tol: float,
    looks: int,
    seed: Any,
) -> bool:
    """Minimize the dual of the log loss (Yu et al. 2011), each variable written as box * sigmoid(logit).

    At the optimum a row's logit is minus its margin, so logit plus margin is the gradient; in logits no variable can
    touch the ends of its box and no logarithm is taken near zero. Returns whether all gradients fell below `tol` before
    `looks` looks at a row were spent.
    """
    rows = (values, indices, indptr, is_gram)
    order = np.flatnonzero(box > 0.0)
    while looks >= 0:
        looks -= order.shape[0]
        seed = _shuffle(order, order.shape[0], seed)
        largest = 0.0
        for i in order:
            margin = signs[i] * row_score(rows, i, primal)
            gradient = abs(dual[i] + margin)
            largest = max(largest, gradient)
            if gradient > 1e-14:
                alpha = box[i] * _sigmoid(dual[i])
                start = dual[i] if np.isfinite(dual[i]) else -margin
                dual[i] = _solve_logit(norms[i], box[i], alpha, margin, start)
                add_row(rows, i, (box[i] * _sigmoid(dual[i]) - alpha) * signs[i], primal)
        if largest < tol:
            return True
    return False
