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
            values = rows[0]
            for j in range(values.shape[1]):
                primal[j] += step * values[i, j]

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
def solve_hinge(
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
    """Minimize the dual of the hinge loss (Hsieh et al. 2008), with their shrinking and stopping rule.

    Returns whether the projected gradients of all rows came to lie within `tol` of each other before `looks` looks at a
    row were spent.
    """
    rows = (values, indices, indptr, is_gram)
    order = np.flatnonzero(box > 0.0)
    n_active = order.shape[0]
    shrink_above, shrink_below = np.inf, -np.inf
    while looks >= 0:
        looks -= n_active
        seed = _shuffle(order, n_active, seed)
        largest, smallest = -np.inf, np.inf
        s = 0
        while s < n_active:
            i = order[s]
            gradient = signs[i] * row_score(rows, i, primal) - 1.0
            at_zero, at_box = dual[i] <= 0.0, dual[i] >= box[i]
            if (at_zero and gradient > shrink_above) or (at_box and gradient < shrink_below):
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
        if n_active == 0 or largest - smallest <= tol:
            if n_active == order.shape[0]:
                return True
            n_active = order.shape[0]
            shrink_above, shrink_below = np.inf, -np.inf
        else:
            shrink_above = largest if largest > 0.0 else np.inf
            shrink_below = smallest if smallest < 0.0 else -np.inf
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
def _solve_logit(norm: float, box: float, alpha: float, margin: float, start: float) -> float:
    """Root of t + margin + norm * (box * sigmoid(t) - alpha), by Newton steps kept inside a shrinking bracket."""
    low, high = -margin - norm * (box - alpha), -margin + norm * alpha
    t = min(max(start, low), high)
    for _ in range(100):
        p = _sigmoid(t)
        value = t + margin + norm * (box * p - alpha)
        if value > 0.0:
            high = t
        else:
            low = t
        step = value / (1.0 + norm * box * p * (1.0 - p))
        t = t - step if low <= t - step <= high else 0.5 * (low + high)
        if abs(step) <= 1e-12 * max(1.0, abs(t)) or high - low <= 1e-15 * max(1.0, abs(t)):
            break
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
