"""Block coordinate descent on a GPU by Triton kernels, with one warp per problem.

The rows of a block are updated in runs that a warp holds in its registers. Each step has to be broadcast to all threads
of the warp, which takes most of the time; the next row of the Gram matrix is loaded meanwhile. The scores of the next
run are updated by the steps of the runs before it.
"""

from __future__ import annotations

import math
from typing import Any

import triton
import triton.language as tl

from adrem.machines.torch import steps as plain

# Rows of a run, one per thread.
RUN = 32
# Tile of a matrix product: problems, rows or features, and depth. Long sums use tensor cores, in three products with
# the precision of float32 ("tf32x3"); for short sums these are no faster.
TALL, WIDE, DEPTH = 64, 64, 32
# Sparse rows: entries of a row, rare features of a block, and problems that a program handles at a time.
ENTRIES, FEATURES, PROBLEMS = 32, 16, 32


@triton.jit
def _sign_of(labels, p, n_problems, i):
    """Return +1 for rows of the positive class of a problem, which is the second of two classes, and -1 for others."""
    positive = tl.where(n_problems > 1, p % n_problems, 1)
    return tl.where(tl.load(labels + i) == positive, 1.0, -1.0)


@triton.jit
def _scores_of(scores, split_stride, n_splits, gram, gram_stride, to, first, i, RUN: tl.constexpr):
    """Return the scores of a run: the sum of their parts, and of the steps of the runs before it in the block."""
    total = tl.load(scores + i)
    for split in range(1, n_splits):
        total += tl.load(scores + split * split_stride + i)
    for k in range(0, first, RUN):
        others = k + tl.arange(0, RUN)
        part = tl.load(gram + others[:, None] * gram_stride + i[None, :])
        total += tl.sum(tl.load(to + others)[:, None] * part, 0)
    return total


@triton.jit
def _settle(
    gram, rates, labels, box, dual, scores, steps, running, moves, order, turn, gram_block, gram_stride, row_stride,
    split_stride, score_stride, score_block, n_splits, n_problems, SIZE: tl.constexpr, RUN: tl.constexpr,
):  # fmt: skip
    """Update the dual variables of a block: minus the gradient over the squared norm, clipped to the box."""
    p = tl.program_id(0).to(tl.int64)
    block = tl.load(order + turn)
    to = steps + p * SIZE
    place = tl.arange(0, RUN)
    runs = tl.load(running + p) != 0
    n_moves = 0
    labels += (p // n_problems) * row_stride + block * SIZE
    box += (p // n_problems) * row_stride + block * SIZE
    dual += p * row_stride + block * SIZE
    rates += block * SIZE
    gram += block * gram_block
    scores += p * score_stride + block * score_block
    for first in range(0, SIZE, RUN):
        i = first + place
        step = tl.zeros([RUN], steps.dtype.element_ty)
        if runs:
            rate = tl.load(rates + i)
            sign = _sign_of(labels, p, n_problems, i).to(rate.dtype)
            start, end = sign * tl.load(dual + i), sign * tl.load(box + i)
            lowest, highest = tl.minimum(end, 0.0), tl.maximum(end, 0.0)
            low, high = lowest - start, highest - start
            score = _scores_of(scores, split_stride, n_splits, gram, gram_stride, to, first, i, RUN)
            wish = (sign - score) * rate
            for j in tl.static_range(RUN):
                row = rate * tl.load(gram + (first + j) * gram_stride + i)
                whose = tl.full([RUN], j, tl.int32)
                move = tl.minimum(
                    tl.maximum(tl.gather(wish, whose, 0), tl.gather(low, whose, 0)), tl.gather(high, whose, 0)
                )
                wish -= move * row
                step = tl.where(place == j, move, step)
            # Set an end of the box exactly, without rounding errors.
            stop = tl.where(step >= high, highest, tl.where(step <= low, lowest, start + step))
            step = stop - start
            tl.store(dual + i, tl.abs(stop))
            n_moves += tl.sum((step != 0.0).to(tl.int32), 0)
        tl.store(to + i, step)
        tl.debug_barrier()
    tl.store(moves + p, tl.load(moves + p) - n_moves)


@triton.jit
def _fetch(table, n_numbers, LINES: tl.constexpr):
    """Prefetch memory for the next kernel into the L2 cache; each program fetches some lines of 32 numbers."""
    program = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    numbers = tl.minimum((program * LINES + tl.arange(0, LINES)) * 32, n_numbers - 1)
    places = (table + numbers).to(tl.int64)
    tl.inline_asm_elementwise(
        "prefetch.global.L2 [$1]; mov.b32 $0, 0;", "=r,l", [places], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def _spread(
    matrix, steps, to, order, turn, following, n_columns, n_problems, ahead, n_ahead, SIZE: tl.constexpr,
    DEPTH: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, PRECISION: tl.constexpr, LINES: tl.constexpr,
):  # fmt: skip
    """Add the steps of a block, times its rows of a matrix, to a tile of the weights or scores."""
    _fetch(ahead + tl.load(order + following) * n_ahead, n_ahead, LINES)
    problems = tl.program_id(1) * TALL + tl.arange(0, TALL)
    columns = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    there = (problems[:, None] < n_problems) & (columns[None, :] < n_columns)
    matrix += tl.load(order + turn) * SIZE * n_columns
    places = to + problems[:, None].to(tl.int64) * n_columns + columns[None, :]
    total = tl.load(places, mask=there, other=0.0)
    for first in range(0, SIZE, DEPTH):
        k = first + tl.arange(0, DEPTH)
        step = tl.load(steps + problems[:, None] * SIZE + k[None, :], mask=problems[:, None] < n_problems, other=0.0)
        rows = tl.load(matrix + k[:, None] * n_columns + columns[None, :], mask=columns[None, :] < n_columns, other=0.0)
        total = tl.dot(step, rows, total, input_precision=PRECISION)
    tl.store(places, total, mask=there)


@triton.jit
def _score(
    rows, weights, scores, order, turn, n_columns, n_problems, per_part, grams, SIZE: tl.constexpr, DEPTH: tl.constexpr,
    TALL: tl.constexpr, WIDE: tl.constexpr, PRECISION: tl.constexpr, LINES: tl.constexpr,
):  # fmt: skip
    """Compute a tile of the scores of a block's rows, as partial sums over ranges of columns."""
    _fetch(grams + tl.load(order + turn) * SIZE * SIZE, SIZE * SIZE, LINES)
    i = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    problems = tl.program_id(1) * TALL + tl.arange(0, TALL)
    part = tl.program_id(2)
    there = problems[:, None] < n_problems
    rows += tl.load(order + turn) * SIZE * n_columns
    total = tl.zeros([TALL, WIDE], scores.dtype.element_ty)
    for first in range(part * per_part, (part + 1) * per_part, DEPTH):
        k = first + tl.arange(0, DEPTH)
        weight = tl.load(weights + problems[:, None] * n_columns + k[None, :], mask=there, other=0.0)
        total = tl.dot(weight, tl.load(rows + i[None, :] * n_columns + k[:, None]), total, input_precision=PRECISION)
    tl.store(scores + (part * n_problems + problems[:, None]) * SIZE + i[None, :], total, mask=there)


@triton.jit
def _score_entries(
    values, columns, ends, weights, scores, order, turn, size, n_problems, feature_stride, problem_stride, score_stride,
    ENTRIES: tl.constexpr, PROBLEMS: tl.constexpr,
):  # fmt: skip
    """Compute the scores of a sparse row in some problems."""
    i = tl.program_id(0)
    problems = tl.program_id(1) * PROBLEMS + tl.arange(0, PROBLEMS)
    there = problems < n_problems
    row = tl.load(order + turn) * size + i
    last = tl.load(ends + row + 1)
    total = tl.zeros([PROBLEMS], scores.dtype.element_ty)
    for first in range(tl.load(ends + row), last, ENTRIES):
        k = first + tl.arange(0, ENTRIES)
        value = tl.load(values + k, mask=k < last, other=0.0)
        column = tl.load(columns + k, mask=k < last, other=0).to(tl.int64)
        places = weights + column[:, None] * feature_stride + problems[None, :] * problem_stride
        weight = tl.load(places, mask=(k < last)[:, None] & there[None, :], other=0.0)
        total += tl.sum(value[:, None] * weight, 0)
    tl.store(scores + problems.to(tl.int64) * score_stride + i, total, mask=there)


@triton.jit
def _spread_entries(
    values, rows, features, feature_ends, block_ends, n_frequent, steps, weights, order, turn, n_problems,
    most_frequent, step_stride, feature_stride, problem_stride, SIZE: tl.constexpr, FEATURES: tl.constexpr,
    PROBLEMS: tl.constexpr,
):  # fmt: skip
    """Add the steps of a block, times its entries, to the weights of one frequent feature or of some rare ones."""
    block, program = tl.load(order + turn), tl.program_id(0)
    begin, frequent = tl.load(block_ends + block), tl.load(n_frequent + block)
    problems = tl.program_id(1) * PROBLEMS + tl.arange(0, PROBLEMS)
    wanted = problems < n_problems
    steps += problems[None, :].to(tl.int64) * step_stride
    weights += problems[None, :] * problem_stride
    if program < most_frequent:
        if program < frequent:
            first = tl.load(feature_ends + begin + program)
            k = first + tl.arange(0, SIZE)
            there = k < tl.load(feature_ends + begin + program + 1)
            row = tl.load(rows + k, mask=there, other=0)
            value = tl.load(values + k, mask=there, other=0.0)
            step = tl.load(steps + row[:, None], mask=there[:, None] & wanted[None, :], other=0.0)
            places = weights + tl.load(features + begin + program).to(tl.int64) * feature_stride
            total = tl.load(places, mask=wanted[None, :], other=0.0) + tl.sum(value[:, None] * step, 0)[None, :]
            tl.store(places, total, mask=wanted[None, :])
    else:
        feature = begin + frequent + (program - most_frequent) * FEATURES + tl.arange(0, FEATURES)
        inside = feature < tl.load(block_ends + block + 1)
        first = tl.load(feature_ends + feature, mask=inside, other=0)
        last = tl.load(feature_ends + feature + 1, mask=inside, other=0)
        places = weights + tl.load(features + feature, mask=inside, other=0).to(tl.int64)[:, None] * feature_stride
        mask = inside[:, None] & wanted[None, :]
        total = tl.load(places, mask=mask, other=0.0)
        for k in range(tl.max(last - first, 0)):
            there = first + k < last
            row = tl.load(rows + first + k, mask=there, other=0)
            value = tl.load(values + first + k, mask=there, other=0.0)
            total += value[:, None] * tl.load(steps + row[:, None], mask=mask, other=0.0)
        tl.store(places, total, mask=mask)


@triton.jit
def _extremes(
    labels, box, dual, scores, lows, highs, n_rows, n_problems, WIDE: tl.constexpr,
):  # fmt: skip
    """Return the smallest and largest violation of every problem, zero included."""
    p = tl.program_id(0).to(tl.int64)
    member = p // n_problems
    low = tl.zeros([WIDE], scores.dtype.element_ty)
    high = tl.zeros([WIDE], scores.dtype.element_ty)
    for first in range(0, n_rows, WIDE):
        i = first + tl.arange(0, WIDE)
        there = i < n_rows
        end = tl.load(box + member * n_rows + i, mask=there, other=0.0)
        value = tl.load(dual + p * n_rows + i, mask=there, other=0.0)
        positive = tl.where(n_problems > 1, p % n_problems, 1)
        own = tl.load(labels + member * n_rows + i, mask=there, other=0) == positive
        score = tl.load(scores + p * n_rows + i, mask=there, other=0.0)
        margin = tl.where(own, score, -score)
        gradient = margin - 1.0
        violation = tl.where(value < end, tl.minimum(gradient, 0.0), 0.0)
        violation += tl.where(value > 0.0, tl.maximum(gradient, 0.0), 0.0)
        low, high = tl.minimum(low, violation), tl.maximum(high, violation)
    tl.store(lows + p, tl.min(low, 0))
    tl.store(highs + p, tl.max(high, 0))


def extremes(n_problems: int, solution: Any, scores: Any) -> tuple[Any, Any]:
    """Return the smallest and largest violation of every problem, zero included."""
    lows, highs = scores.new_empty(len(scores)), scores.new_empty(len(scores))
    _extremes[(len(scores),)](
        solution.labels, solution.box, solution.dual, scores, lows, highs, scores.shape[1], n_problems, WIDE=1024,
        num_warps=4,
    )  # fmt: skip
    return lows, highs


def _lines(n_numbers: int, grid: tuple[int, ...]) -> int:
    """Return the number of lines of 32 numbers that each program of a grid prefetches, a power of two."""
    return int(triton.next_power_of_2(triton.cdiv(n_numbers, 32 * math.prod(grid))))


def spread(by_block: Any, turn: int, solution: Any, ahead: Any) -> None:
    """Add the steps of a block to the weights or scores, and prefetch what the next block needs."""
    search = solution.search
    if solution.dual.element_size() == 8:
        plain.spread(by_block, turn, solution, ahead)
        return
    n_problems, n_columns = solution.primal.shape
    size = by_block.shape[1]
    wide = min(WIDE, size)
    grid = (triton.cdiv(n_columns, wide), triton.cdiv(n_problems, TALL))
    n_ahead = ahead[0].numel()
    _spread[grid](
        by_block, search.steps, solution.primal, search.order, turn, min(turn + 1, len(search.order) - 1), n_columns,
        n_problems, ahead, n_ahead, SIZE=size, DEPTH=min(DEPTH, size), TALL=TALL, WIDE=wide, PRECISION="ieee",
        LINES=_lines(n_ahead, grid), num_warps=4,
    )  # fmt: skip


def score(by_block: Any, turn: int, solution: Any, grams: Any) -> None:
    """Compute the scores of a block's rows, and prefetch the Gram matrix of the block."""
    search = solution.search
    n_problems, n_columns = solution.primal.shape
    n_parts, _, size = search.scores.shape
    per_part = n_columns // n_parts
    if solution.dual.element_size() == 8 or per_part % DEPTH:
        plain.score(by_block, turn, solution, grams)
        return
    wide = min(WIDE, size)
    grid = (size // wide, triton.cdiv(n_problems, TALL), n_parts)
    _score[grid](
        by_block, solution.primal, search.scores, search.order, turn, n_columns, n_problems, per_part, grams, SIZE=size,
        DEPTH=DEPTH, TALL=TALL, WIDE=wide, PRECISION="tf32x3", LINES=_lines(size * size, grid), num_warps=4,
    )  # fmt: skip


def score_entries(entries: Any, order: Any, turn: int, weights: Any, scores: Any) -> None:
    """Compute the scores of the sparse rows of a block, whose size is that of `scores`."""
    n_problems, size = scores.shape
    at_once = min(PROBLEMS, triton.next_power_of_2(n_problems))
    _score_entries[(size, triton.cdiv(n_problems, at_once))](
        entries.values, entries.columns, entries.ends, weights, scores, order, turn, size, n_problems,
        weights.stride(1), weights.stride(0), scores.stride(0), ENTRIES=ENTRIES, PROBLEMS=at_once, num_warps=1,
    )  # fmt: skip


def spread_entries(entries: Any, order: Any, turn: int, steps: Any, weights: Any) -> None:
    """Add the steps of a block of sparse rows, times the rows, to the weights."""
    n_problems, size = steps.shape
    at_once = min(PROBLEMS, triton.next_power_of_2(n_problems))
    grid = (entries.most_frequent + triton.cdiv(entries.most_rare, FEATURES), triton.cdiv(n_problems, at_once))
    _spread_entries[grid](
        entries.values_by_feature, entries.rows_by_feature, entries.features, entries.feature_ends, entries.block_ends,
        entries.n_frequent, steps, weights, order, turn, n_problems, entries.most_frequent, steps.stride(0),
        weights.stride(1), weights.stride(0), SIZE=size, FEATURES=FEATURES, PROBLEMS=at_once, num_warps=2,
    )  # fmt: skip


def settle(n_problems: int, block: Any, turn: int, solution: Any) -> None:
    """Update the dual variables of the block at position `turn` of the order, in all running problems."""
    search = solution.search
    size = block.grams.shape[-1]
    n_splits, _, width = search.scores.shape
    _settle[(len(solution.dual),)](
        block.grams, block.rates, solution.labels, solution.box, solution.dual, search.scores, search.steps,
        search.running, search.moves, search.order, turn, block.grams.stride(0), block.grams.stride(1),
        solution.dual.stride(0), search.scores.stride(0), search.scores.stride(1), size if width > size else 0,
        n_splits, n_problems, SIZE=size, RUN=min(RUN, size), num_warps=1,
    )  # fmt: skip
