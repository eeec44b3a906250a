"""Dual coordinate descent, compiled by numba: all compiled code of the package that runs on the CPU.

The kernels train many binary problems on the same rows at once: problem ``p`` belongs to member ``p // n_problems`` and
separates one class from the rest. Its row ``i`` enters the weight vector with a multiple between zero and ``box[i]``,
times the sign of its label:

* hinge loss (Hsieh et al. 2008): the multiple is the dual variable itself;
* log loss (Yu et al. 2011): the multiple is ``box * sigmoid(dual)``. At the optimum a row's logit is minus its margin,
  so their sum is the gradient; in logits no variable can touch the ends of its box, no logarithm is taken near zero.

What a problem does never depends on the problems beside it: not its order of rows, not its arithmetic, not its end. The
descents come back to Python when their budget is spent, so that Ctrl-C is heard, and are called again to go on.

Weights, scores and dual variables are double precision whatever the rows are, so that millions of small steps do not
drift; only the four rows of a Gram matrix that are added at a time are summed in their own type.

They stand in one file, both ways to descend, for numba's sake: what it keeps on disk is made anew when the file of a
kernel changes, and not when another file does that the kernel calls into.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from adrem.machines._cached import ForgivingCache

_intrinsic: Any = intrinsic  # its type forgets the arguments of what it makes

# Problems that share a row's visit: their weights for a feature are two cache lines and one or two SIMD registers.
LANES = 16
# Rows that are settled among themselves before the others hear of it. Their Gram matrix fits the first cache.
BLOCK = 64
# Scores that are updated together: two or four registers of the widest kind.
STRIDE = 16
# A row is left alone while its violation is below this part of the tolerance ...
LAZY = 0.25
# ... or, in Gram space, where a look is free and a change is not, below this part of the worst violation.
GREEDY = 0.3
# Violations above this count as this: a row that has just come in is infinitely far from its logit.
FAR = 30.0

RUNNING, CONVERGED, GIVEN_UP = 0, 1, 2

# Sums may be reordered, for SIMD. Infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


def _jit(function: Callable[..., Any]) -> Any:
    compiled: Any = njit(nogil=True, fastmath=FAST, error_model="numpy")(function)
    with suppress(RuntimeError):  # no folder can hold the cache: compile in every process instead
        compiled._cache = ForgivingCache(function)
    return compiled


@_jit
def _shuffle(order: Any, seed: Any) -> Any:
    """Shuffle in place by splitmix64; the new seed is returned."""
    for last in range(order.shape[0] - 1, 0, -1):
        seed += np.uint64(0x9E3779B97F4A7C15)
        bits = (seed ^ (seed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        other = np.int64((bits ^ (bits >> np.uint64(31))) % np.uint64(last + 1))
        order[last], order[other] = order[other], order[last]
    return seed


# One coordinate: what is wrong with it, and how to mend it.


@_jit
def _sigmoid(t: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-t))


@_jit
def _sign(label: Any, problem: Any, n_problems: Any) -> Any:
    """+1 for rows of the class that a problem separates from the rest, which is the second one of two."""
    positive = np.int32(problem % n_problems if n_problems > 1 else 1)
    return 1.0 if label == positive else -1.0


@_jit
def _multiple(logistic: bool, dual: Any, box: Any) -> Any:
    """Multiple of a row in the weight vector, without its sign."""
    return box * _sigmoid(dual) if logistic else dual


@_jit
def _violation(logistic: bool, margin: Any, dual: Any, box: Any) -> Any:
    """How far a coordinate is from its optimum: its projected gradient. Zero for a row that is left out."""
    if logistic:
        return min(max(dual + margin, -FAR), FAR) if box > 0.0 else 0.0
    gradient = margin - 1.0
    may_grow = min(gradient, 0.0) if dual < box else 0.0
    may_shrink = max(gradient, 0.0) if dual > 0.0 else 0.0
    return may_grow + may_shrink


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
        if abs(step) <= 1e-5 * max(1.0, abs(t)):  # the error after this step is of the order of its square
            return t - step
        t = t - step if low < t - step < high else 0.5 * (low + high)
    return t


@_jit
def _renewed(logistic: bool, norm: Any, margin: Any, dual: Any, box: Any) -> Any:
    """The dual variable that is best while all others stand still."""
    if logistic:
        start = dual if np.isfinite(dual) else -margin
        return _solve_logit(norm, box, box * _sigmoid(dual), margin, start)
    if norm > 0.0:
        return min(max(dual - (margin - 1.0) / norm, 0.0), box)
    return box  # an empty row always loses 1


@_jit
def _moved(logistic: bool, dual: Any, old_sign: Any, sign: Any, box: Any) -> Any:
    """A dual variable carried over to a new label and box: clipped to the box, begun anew where the label flipped."""
    if logistic:
        return dual if sign == old_sign and box > 0.0 else -np.inf
    return min(dual, box) if sign == old_sign else 0.0


# Gram space: the scores of all rows are kept, so a look is free and a change costs as much as there are rows. Rows are
# visited in blocks that stay in the cache while all problems work on them.


def _vector(context: Any, builder: Any, array_type: Any, array: Any, indices: list[Any], width: int) -> Any:
    """Pointer to consecutive entries of an array, as one SIMD register or a few."""
    struct = context.make_array(array_type)(context, builder, array)
    pointer = cgutils.get_item_pointer(context, builder, array_type, struct, indices)
    entry = context.get_value_type(array_type.dtype)
    return builder.bitcast(pointer, ir.VectorType(entry, width).as_pointer())


def _entry(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """One entry of an array."""
    struct = context.make_array(array_type)(context, builder, array)
    return builder.load(cgutils.get_item_pointer(context, builder, array_type, struct, [index]))


def _splat(builder: Any, number: Any, width: int) -> Any:
    """A SIMD register with the same number everywhere."""
    undefined = ir.Constant(ir.VectorType(number.type, width), ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width))


@_intrinsic
def _add_four(typingctx: Any, scores: Any, j: Any, gram: Any, which: Any, steps: Any, k: Any) -> Any:
    """Add four rows of the Gram matrix, times their steps, to the scores j to j + STRIDE.

    In SIMD registers as wide as there are; numba would use half of them. Products are summed in the type of the matrix,
    and the sum goes into double precision.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        scores_type, _, gram_type, which_type, steps_type, _ = signature.args
        scores, j, gram, which, steps, k = arguments
        total: Any = None
        for offset in range(4):
            place = builder.add(k, context.get_constant(types.intp, offset))
            row = _entry(context, builder, which_type, which, place)
            step = _splat(builder, _entry(context, builder, steps_type, steps, place), STRIDE)
            entries = builder.load(_vector(context, builder, gram_type, gram, [row, j], STRIDE), align=4)
            product = builder.fmul(entries, step, flags=("contract",))
            total = product if total is None else builder.fadd(total, product, flags=("contract",))
        if total.type.element != ir.DoubleType():
            total = builder.fpext(total, ir.VectorType(ir.DoubleType(), STRIDE))
        pointer = _vector(context, builder, scores_type, scores, [j], STRIDE)
        builder.store(builder.fadd(builder.load(pointer, align=8), total), pointer, align=8)
        return context.get_dummy_value()

    return types.void(scores, types.intp, gram, which, steps, types.intp), generate


@_intrinsic
def _add_part(typingctx: Any, local: Any, k: Any, gram: Any, i: Any, j: Any, step: Any) -> Any:
    """Add row i of the Gram matrix from column j on, times a step, to STRIDE numbers from local[k] on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        local, k, gram, i, j, step = arguments
        entries = builder.load(_vector(context, builder, signature.args[2], gram, [i, j], STRIDE), align=4)
        if entries.type.element != ir.DoubleType():
            entries = builder.fpext(entries, ir.VectorType(ir.DoubleType(), STRIDE))
        pointer = _vector(context, builder, signature.args[0], local, [k], STRIDE)
        product = builder.fmul(entries, _splat(builder, step, STRIDE), flags=("contract",))
        builder.store(builder.fadd(builder.load(pointer, align=8), product, flags=("contract",)), pointer, align=8)
        return context.get_dummy_value()

    return types.void(local, types.intp, gram, types.intp, types.intp, types.float64), generate


@_jit
def _spread(gram: Any, which: Any, steps: Any, n_steps: int, scores: Any) -> None:
    """Tell all rows of the steps of some: four at a time, so that scores are read and written less often."""
    for k in range(n_steps, -(-n_steps // 4) * 4):
        which[k], steps[k] = which[n_steps - 1], 0.0
    whole = scores.shape[0] // STRIDE * STRIDE
    for k in range(0, n_steps, 4):
        for j in range(0, whole, STRIDE):
            _add_four(scores, j, gram, which, steps, k)
        for j in range(whole, scores.shape[0]):
            for other in range(k, k + 4):
                scores[j] += steps[other] * gram[which[other], j]


@_jit
def move_gram(
    logistic: bool, n_problems: int, gram: Any, old_labels: Any, labels: Any, old_box: Any, box: Any, dual: Any,
    scores: Any,
) -> None:  # fmt: skip
    """Carry all dual variables over to new labels and boxes."""
    which, steps = np.empty(BLOCK, np.int64), np.empty(BLOCK, gram.dtype)
    for first in range(0, gram.shape[0], BLOCK):
        for p in range(dual.shape[0]):
            m = p // n_problems
            n_steps = 0
            for i in range(first, min(first + BLOCK, gram.shape[0])):
                old_sign, sign = _sign(old_labels[m, i], p, n_problems), _sign(labels[m, i], p, n_problems)
                old = _multiple(logistic, dual[p, i], old_box[m, i]) * old_sign
                dual[p, i] = _moved(logistic, dual[p, i], old_sign, sign, box[m, i])
                step = _multiple(logistic, dual[p, i], box[m, i]) * sign - old
                if step != 0.0:
                    which[n_steps], steps[n_steps] = i, step
                    n_steps += 1
            _spread(gram, which, steps, n_steps, scores[p])


@_jit
def _extremes(
    logistic: bool, p: int, n_problems: int, labels: Any, box: Any, dual: Any, scores: Any, low: Any, high: Any
) -> Any:
    """Smallest and largest violation among rows, zero included.

    Gathered for every place in a block at first: numba uses SIMD for that, and not for the extremes of a whole row.
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
            margin = _sign(own_labels[k], p, n_problems) * own_scores[k]
            violation = _violation(logistic, margin, own_dual[k], own_box[k])
            low[k], high[k] = min(violation, low[k]), max(violation, high[k])
    return low.min(), high.max()


@_jit
def _survey(
    logistic: bool, p: int, n_problems: int, bar: float, labels: Any, box: Any, dual: Any, scores: Any, n_above: Any
) -> None:
    """Count the rows of every block whose violation exceeds the bar."""
    for block in range(n_above.shape[0]):
        first, last = block * BLOCK, min((block + 1) * BLOCK, dual.shape[0])
        # Slices, because numba uses SIMD for numbers that begin at zero.
        own_labels, own_box, own_dual, own_scores = (
            labels[first:last],
            box[first:last],
            dual[first:last],
            scores[first:last],
        )
        count = 0
        for k in range(last - first):
            margin = _sign(own_labels[k], p, n_problems) * own_scores[k]
            count += abs(_violation(logistic, margin, own_dual[k], own_box[k])) > bar
        n_above[block] = count


@_jit
def _settle_block(
    logistic: bool, p: int, n_problems: int, bar: float, first: int, gram: Any, norms: Any, labels: Any, box: Any,
    dual: Any, scores: Any, which: Any, steps: Any, local: Any,
) -> int:  # fmt: skip
    """Mend the rows of a block whose violation exceeds the bar, one after the other; returns how many they are.

    What the threads share, the matrix and its norms, is never sliced: a slice counts its references, and threads that
    count the same ones stand in each other's way.
    """
    n_steps = 0
    whole = dual.shape[0] // STRIDE * STRIDE
    local[: dual.shape[0]] = scores
    for i in range(dual.shape[0]):
        sign = _sign(labels[i], p, n_problems)
        if abs(_violation(logistic, sign * local[i], dual[i], box[i])) > bar:
            old = _multiple(logistic, dual[i], box[i])
            dual[i] = _renewed(logistic, norms[first + i], sign * local[i], dual[i], box[i])
            step = (_multiple(logistic, dual[i], box[i]) - old) * sign
            which[n_steps], steps[n_steps] = first + i, step
            n_steps += 1
            for k in range(0, whole, STRIDE):
                _add_part(local, k, gram, first + i, first + k, step)
            for k in range(whole, dual.shape[0]):
                local[k] += step * gram[first + i, first + k]
    return n_steps


@_jit
def descend_gram(
    logistic: bool, n_problems: int, gram: Any, norms: Any, labels: Any, box: Any, dual: Any, scores: Any,
    tol: float, status: Any, bars: Any, n_above: Any, moves: Any, order: Any, cursor: Any, budget: int,
) -> bool:  # fmt: skip
    """Sweep over the blocks until the violations of every problem lie within `tol` of each other.

    `status` tells which problems are running; `bars`, the violation that a row must exceed to be moved in this sweep;
    `n_above`, how many such rows a block had at its beginning; `moves`, the moves of a row that a problem has left;
    `order`, the order of the blocks; `cursor`, the next of them, the seed and the sweeps so far, of which there is one
    at least. Returns whether there is more to do.
    """
    n_rows = gram.shape[0]
    which, steps = np.empty(BLOCK, np.int64), np.empty(BLOCK, gram.dtype)
    local, low, high = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    while budget > 0:
        if cursor[0] == order.shape[0]:
            n_running = 0
            for p in range(dual.shape[0]):
                if status[p] == RUNNING:
                    m = p // n_problems
                    smallest, largest = _extremes(
                        logistic, p, n_problems, labels[m], box[m], dual[p], scores[p], low, high
                    )
                    if largest - smallest <= tol and cursor[2] > 0:
                        status[p] = CONVERGED
                    elif moves[p] <= 0:
                        status[p] = GIVEN_UP
                    else:
                        n_running += 1
                        moves[p] -= order.shape[0]  # looks are cheap, not free
                        bars[p] = max(LAZY * min(tol, 1.0), GREEDY * max(largest, -smallest))
                        _survey(logistic, p, n_problems, bars[p], labels[m], box[m], dual[p], scores[p], n_above[p])
            if n_running == 0:
                return False
            cursor[0] = 0
            cursor[1] = np.int64(_shuffle(order, np.uint64(cursor[1])))
            cursor[2] += 1
            budget -= n_running * n_rows
        block = order[cursor[0]]
        cursor[0] += 1
        first, last = block * BLOCK, min((block + 1) * BLOCK, n_rows)
        for p in range(dual.shape[0]):
            if status[p] == RUNNING and n_above[p, block] > 0:
                m = p // n_problems
                n_steps = _settle_block(
                    logistic, p, n_problems, bars[p], first, gram, norms,
                    labels[m, first:last], box[m, first:last], dual[p, first:last], scores[p, first:last],
                    which, steps, local,
                )  # fmt: skip
                _spread(gram, which, steps, n_steps, scores[p])
                moves[p] -= n_steps
                budget -= n_steps * n_rows
    return True


# Rows as they are, dense or CSR: the weights of sixteen problems stand side by side, so that what a visit to a row
# fetches serves them all. `lonely` is what the features that occur in this row alone add to its squared norm: their
# weights are a multiple of the row's own, and need not be kept.


@_intrinsic
def _add_multiple(typingctx: Any, to: Any, i: Any, source: Any, j: Any, factor: Any) -> Any:
    """to[i] += factor * source[j] for arrays of LANES columns, in SIMD registers: numba would not use them here."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, i, source, j, factor = arguments
        zero = context.get_constant(types.intp, 0)
        target = _vector(context, builder, signature.args[0], to, [i, zero], LANES)
        origin = _vector(context, builder, signature.args[2], source, [j, zero], LANES)
        product = builder.fmul(_splat(builder, factor, LANES), builder.load(origin, align=8), flags=("contract",))
        builder.store(builder.fadd(builder.load(target, align=8), product, flags=("contract",)), target, align=8)
        return context.get_dummy_value()

    return types.void(to, types.intp, source, types.intp, types.float64), generate


def _gather(values: Any, indices: Any, indptr: Any, i: Any, primal: Any, sums: Any) -> None:
    """Scores of row i in all lanes, as the first row of sums."""
    raise NotImplementedError


def _scatter(values: Any, indices: Any, indptr: Any, i: Any, steps: Any, primal: Any) -> None:
    """Add row i times the step of each lane to the weights."""
    raise NotImplementedError


@overload(_gather, jit_options={"fastmath": {"contract"}, "error_model": "numpy"})
def _overload_gather(values: Any, indices: Any, indptr: Any, i: Any, primal: Any, sums: Any) -> Any:
    # Four sums, so that no addition waits for the one before it.
    if values.ndim == 2:

        def dense(values: Any, indices: Any, indptr: Any, i: Any, primal: Any, sums: Any) -> None:
            sums[:] = 0.0
            for j in range(values.shape[1]):
                _add_multiple(sums, j & 3, primal, j, values[i, j])
            for lane in range(LANES):
                sums[0, lane] = (sums[0, lane] + sums[1, lane]) + (sums[2, lane] + sums[3, lane])

        return dense

    def csr(values: Any, indices: Any, indptr: Any, i: Any, primal: Any, sums: Any) -> None:
        sums[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            _add_multiple(sums, k & 3, primal, indices[k], values[k])
        for lane in range(LANES):
            sums[0, lane] = (sums[0, lane] + sums[1, lane]) + (sums[2, lane] + sums[3, lane])

    return csr


@overload(_scatter, jit_options={"fastmath": {"contract"}, "error_model": "numpy"})
def _overload_scatter(values: Any, indices: Any, indptr: Any, i: Any, steps: Any, primal: Any) -> Any:
    if values.ndim == 2:

        def dense(values: Any, indices: Any, indptr: Any, i: Any, steps: Any, primal: Any) -> None:
            for j in range(values.shape[1]):
                _add_multiple(primal, j, steps, 0, values[i, j])

        return dense

    def csr(values: Any, indices: Any, indptr: Any, i: Any, steps: Any, primal: Any) -> None:
        for k in range(indptr[i], indptr[i + 1]):
            _add_multiple(primal, indices[k], steps, 0, values[k])

    return csr


@_jit
def sum_squares(values: Any, indptr: Any, sums: Any) -> None:
    """Squared norms of CSR rows."""
    for i in range(sums.shape[0]):
        sums[i] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            sums[i] += np.float64(values[k]) ** 2


@_jit
def part_entries(
    all_values: Any, all_indices: Any, all_indptr: Any, numbers: Any, n_shared: int, values: Any, indices: Any,
    indptr: Any, lonely: Any,
) -> None:  # fmt: skip
    """Part CSR entries: those of features numbered below `n_shared`, renumbered, and the squares of the others."""
    n_kept = 0
    for i in range(lonely.shape[0]):
        indptr[i] = n_kept
        for k in range(all_indptr[i], all_indptr[i + 1]):
            number = numbers[all_indices[k]]
            if number < n_shared:
                values[n_kept], indices[n_kept] = all_values[k], number
                n_kept += 1
            else:
                lonely[i] += np.float64(all_values[k]) ** 2
    indptr[-1] = n_kept


@_jit
def move_rows(
    logistic: bool, n_problems: int, first: int, n_lanes: int, values: Any, indices: Any, indptr: Any, old_labels: Any,
    labels: Any, old_box: Any, box: Any, dual: Any, primal: Any,
) -> None:  # fmt: skip
    """Carry the dual variables of some problems, from `first` on, over to new labels and boxes."""
    steps = np.zeros((1, LANES))
    for i in range(dual.shape[0]):
        changed = False
        for lane in range(n_lanes):
            p = first + lane
            m = p // n_problems
            old_sign, sign = _sign(old_labels[i, m], p, n_problems), _sign(labels[i, m], p, n_problems)
            old = _multiple(logistic, dual[i, lane], old_box[i, m]) * old_sign
            dual[i, lane] = _moved(logistic, dual[i, lane], old_sign, sign, box[i, m])
            steps[0, lane] = _multiple(logistic, dual[i, lane], box[i, m]) * sign - old
            changed |= steps[0, lane] != 0.0
        if changed:
            _scatter(values, indices, indptr, i, steps, primal)


@_jit
def score_rows(values: Any, indices: Any, indptr: Any, primal: Any, scores: Any) -> None:
    """Scores of all rows in all lanes, without what their lonely features add."""
    sums = np.empty((4, LANES))
    for i in range(scores.shape[0]):
        _gather(values, indices, indptr, i, primal, sums)
        scores[i] = sums[0]


@_jit
def _wake(lane: int, box: Any, awake: Any, n_awake: Any) -> int:
    """Wake all rows that take part in a lane's training; returns how many had been asleep."""
    n_woken = 0
    for i in range(awake.shape[0]):
        if box[i] > 0.0 and not awake[i, lane]:
            awake[i, lane] = True
            n_awake[i] += 1
            n_woken += 1
    return n_woken


@_jit
def _visit(
    logistic: bool, n_problems: int, first: int, tol: float, lonely: float, norm: float, sums: Any, labels: Any,
    box: Any, dual: Any, awake: Any, status: Any, window: Any, looks: Any, steps: Any,
) -> Any:  # fmt: skip
    """One coordinate step in every lane that is awake at a row.

    A row at an end of its box whose gradient lies beyond the worst violations of the last sweep sleeps until the others
    have settled (shrinking). Returns how many lanes fell asleep, and whether any made a step.
    """
    n_asleep, changed = 0, False
    for lane in range(status.shape[0]):
        steps[0, lane] = 0.0
        if not awake[lane]:
            continue
        looks[lane] -= 1
        p = first + lane
        m = p // n_problems
        sign, old = _sign(labels[m], p, n_problems), _multiple(logistic, dual[lane], box[m])
        margin = sign * sums[0, lane] + lonely * old
        violation = _violation(logistic, margin, dual[lane], box[m])
        if not logistic and violation == 0.0 and not window[2, lane] <= margin - 1.0 <= window[3, lane]:
            awake[lane] = False
            n_asleep += 1
            continue
        window[0, lane], window[1, lane] = min(window[0, lane], violation), max(window[1, lane], violation)
        if abs(violation) > LAZY * min(tol, 1.0):
            dual[lane] = _renewed(logistic, norm, margin, dual[lane], box[m])
            steps[0, lane] = (_multiple(logistic, dual[lane], box[m]) - old) * sign
            changed |= steps[0, lane] != 0.0
    return n_asleep, changed


@_jit
def _end_sweep(tol: float, lane: int, box: Any, awake: Any, n_awake: Any, status: Any, window: Any, looks: Any) -> None:
    """Decide how a lane goes on after a sweep."""
    smallest, largest = window[0, lane], window[1, lane]
    window[0, lane], window[1, lane] = 0.0, 0.0
    window[2, lane], window[3, lane] = -np.inf, np.inf
    if largest - smallest <= tol:
        if _wake(lane, box, awake, n_awake) == 0:
            status[lane] = CONVERGED
    else:
        window[2, lane] = smallest if smallest < 0.0 else -np.inf
        window[3, lane] = largest if largest > 0.0 else np.inf
    if status[lane] == RUNNING and looks[lane] <= 0:
        status[lane] = GIVEN_UP
    if status[lane] != RUNNING:
        for i in range(awake.shape[0]):
            n_awake[i] -= awake[i, lane]
            awake[i, lane] = False


@_jit
def descend_rows(
    logistic: bool, n_problems: int, first: int, values: Any, indices: Any, indptr: Any, lonely: Any, norms: Any,
    labels: Any, box: Any, dual: Any, primal: Any, tol: float, awake: Any, n_awake: Any, status: Any, window: Any,
    looks: Any, run: int, order: Any, cursor: Any, budget: int,
) -> bool:  # fmt: skip
    """Sweep over the rows until the violations of every problem from `first` on lie within `tol` of each other.

    `awake` tells which rows a lane still looks at, `n_awake` how many lanes look at a row; `status`, which lanes are
    running; `window`, the smallest and largest violation of this sweep and of the last one; `looks`, the looks at a row
    that a lane has left; `order`, the order of the runs of neighbouring rows; `cursor`, the next place, negative before
    a sweep, and the seed. Returns whether there is more to do.
    """
    n_rows = dual.shape[0]
    sums, steps = np.empty((4, LANES)), np.zeros((1, LANES))
    while budget > 0:
        if cursor[0] == order.shape[0] * run:
            n_running = 0
            for lane in range(status.shape[0]):
                if status[lane] == RUNNING:
                    _end_sweep(tol, lane, box[:, (first + lane) // n_problems], awake, n_awake, status, window, looks)
                    n_running += status[lane] == RUNNING
            if n_running == 0:
                return False
            cursor[0] = -1
        if cursor[0] < 0:
            cursor[0] = 0
            cursor[1] = np.int64(_shuffle(order, np.uint64(cursor[1])))
            budget -= n_rows
        i = order[cursor[0] // run] * run + cursor[0] % run
        cursor[0] += 1
        if i >= n_rows or n_awake[i] == 0:
            continue
        _gather(values, indices, indptr, i, primal, sums)
        n_asleep, changed = _visit(
            logistic, n_problems, first, tol, lonely[i], norms[i], sums, labels[i], box[i], dual[i], awake[i], status,
            window, looks, steps,
        )  # fmt: skip
        n_awake[i] -= n_asleep
        if changed:
            _scatter(values, indices, indptr, i, steps, primal)
        budget -= values.shape[0] // n_rows if values.ndim == 1 else values.shape[1]
    return True
