"""The block step on a GPU: one warp a problem, all problems at once, compiled by Triton.

A block's rows are settled in runs that a warp holds in its registers. The number of the row whose turn it is has to
reach all threads of the warp, which is what a turn takes its time for; the next row of the Gram matrix is on its way
meanwhile. What a run has moved is told to the rows of the next run before their first turn.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

# Rows that a warp holds at a time, two a thread.
RUN = 64
# Rows of runs before it that a run hears of at a time.
SOME = 32
NEWTON_STEPS = 50


@triton.jit
def _sign_of(labels, p, n_problems, i):
    """+1 for rows of the class that a problem separates from the rest, which is the second one of two."""
    positive = tl.where(n_problems > 1, p % n_problems, 1)
    return tl.where(tl.load(labels + i) == positive, 1.0, -1.0)


@triton.jit
def _scores_of(scores, split_stride, n_splits, gram, gram_stride, to, first, i, SOME: tl.constexpr):
    """Scores of a run: parts of a sum, and what the runs before it in the block have moved."""
    total = tl.load(scores + i)
    for split in range(1, n_splits):
        total += tl.load(scores + split * split_stride + i)
    for k in range(0, first, SOME):
        others = k + tl.arange(0, SOME)
        part = tl.load(gram + others[:, None] * gram_stride + i[None, :])
        total += tl.sum(tl.load(to + others)[:, None] * part, 0)
    return total


@triton.jit
def _settle_hinge(
    gram, rates, labels, box, dual, scores, steps, running, moves, order, turn, gram_block, gram_stride, row_stride,
    split_stride, score_stride, score_block, n_splits, n_problems, SIZE: tl.constexpr, RUN: tl.constexpr,
    SOME: tl.constexpr,
):  # fmt: skip
    """In signed multiples: a row moves against its gradient, over its norm, as far as its box allows."""
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
            score = _scores_of(scores, split_stride, n_splits, gram, gram_stride, to, first, i, SOME)
            wish = (sign - score) * rate
            row = tl.load(gram + first * gram_stride + i)
            for j in range(RUN):
                following = tl.load(gram + (first + tl.minimum(j + 1, RUN - 1)) * gram_stride + i)
                whose = tl.zeros([RUN], tl.int32) + j
                move = tl.minimum(tl.maximum(tl.gather(wish, whose, 0), tl.gather(low, whose, 0)), tl.gather(high, whose, 0))
                wish -= move * (rate * row)
                step = tl.where(place == j, move, step)
                row = following
            # An end of the box is met to the last bit.
            stop = tl.where(step >= high, highest, tl.where(step <= low, lowest, start + step))
            step = stop - start
            tl.store(dual + i, tl.abs(stop))
            n_moves += tl.sum((step != 0.0).to(tl.int32), 0)
        tl.store(to + i, step)
        tl.debug_barrier()
    tl.store(moves + p, tl.load(moves + p) - n_moves)


@triton.jit
def _sigmoid(t):
    return 1.0 / (1.0 + tl.exp(-t))


@triton.jit
def _solve_logit(norm, box, alpha, margin, start, NEWTON_STEPS: tl.constexpr, CLOSE: tl.constexpr):
    """Root of t + margin + norm * (box * sigmoid(t) - alpha), a rising function, by Newton steps kept in a bracket."""
    low, high = -margin - norm * (box - alpha), -margin + norm * alpha
    t = tl.minimum(tl.maximum(start, low), high)
    k = 0
    while k < NEWTON_STEPS:
        share = _sigmoid(t)
        value = t + margin + norm * (box * share - alpha)
        high, low = tl.where(value > 0.0, t, high), tl.where(value > 0.0, low, t)
        step = value / (1.0 + norm * box * share * (1.0 - share))
        done = tl.abs(step) <= CLOSE * tl.maximum(1.0, tl.abs(t))
        inside = ((t - step > low) & (t - step < high)) | done
        t = tl.where(inside, t - step, 0.5 * (low + high))
        k = tl.where(done, NEWTON_STEPS, k + 1)
    return t


@triton.jit
def _settle_logistic(
    gram, norms, labels, box, dual, scores, steps, running, moves, order, turn, gram_block, gram_stride, row_stride,
    split_stride, score_stride, score_block, n_splits, n_problems, SIZE: tl.constexpr, RUN: tl.constexpr,
    SOME: tl.constexpr,
    NEWTON_STEPS: tl.constexpr, CLOSE: tl.constexpr,
):  # fmt: skip
    """In logits: a row takes the one that is best while all others stand still."""
    p = tl.program_id(0).to(tl.int64)
    block = tl.load(order + turn)
    to = steps + p * SIZE
    place = tl.arange(0, RUN)
    runs = tl.load(running + p) != 0
    n_moves = 0
    labels += (p // n_problems) * row_stride + block * SIZE
    box += (p // n_problems) * row_stride + block * SIZE
    dual += p * row_stride + block * SIZE
    norms += block * SIZE
    gram += block * gram_block
    scores += p * score_stride + block * score_block
    for first in range(0, SIZE, RUN):
        i = first + place
        step = tl.zeros([RUN], steps.dtype.element_ty)
        if runs:
            norm, limit, logit = tl.load(norms + i), tl.load(box + i), tl.load(dual + i)
            sign = _sign_of(labels, p, n_problems, i).to(norm.dtype)
            alpha = limit * _sigmoid(logit)
            score = _scores_of(scores, split_stride, n_splits, gram, gram_stride, to, first, i, SOME)
            for j in range(RUN):
                own = place == j
                room = tl.sum(tl.where(own, limit, 0.0), 0)
                if room > 0.0:
                    row = tl.load(gram + (first + j) * gram_stride + i)
                    its_sign = tl.sum(tl.where(own, sign, 0.0), 0)
                    margin = its_sign * tl.sum(tl.where(own, score, 0.0), 0)
                    its_alpha = tl.sum(tl.where(own, alpha, 0.0), 0)
                    its_logit = tl.sum(tl.where(own, logit, 0.0), 0)
                    its_norm = tl.sum(tl.where(own, norm, 0.0), 0)
                    begin = tl.where(its_logit > -float("inf"), its_logit, -margin)
                    found = _solve_logit(its_norm, room, its_alpha, margin, begin, NEWTON_STEPS, CLOSE)
                    move = its_sign * (room * _sigmoid(found) - its_alpha)
                    logit = tl.where(own, found, logit)
                    step = tl.where(own, move, step)
                    score += move * row
            tl.store(dual + i, logit)
            n_moves += tl.sum((step != 0.0).to(tl.int32), 0)
        tl.store(to + i, step)
        tl.debug_barrier()
    tl.store(moves + p, tl.load(moves + p) - n_moves)


def settle(is_logistic: bool, n_problems: int, block: Any, turn: int, solution: Any) -> None:
    """Settle the block whose number stands at a place of the order, in all problems that are running."""
    search = solution.search
    size = block.grams.shape[-1]
    n_splits, _, width = search.scores.shape
    arguments = (
        solution.labels, solution.box, solution.dual, search.scores, search.steps, search.running, search.moves,
        search.order, turn, block.grams.stride(0), block.grams.stride(1), solution.dual.stride(0),
        search.scores.stride(0), search.scores.stride(1), size if width > size else 0, n_splits, n_problems,
    )  # fmt: skip
    grid = (len(solution.dual),)
    run = min(RUN, size)
    if is_logistic:
        close = 1e-5 if solution.dual.element_size() == 4 else 1e-9
        _settle_logistic[grid](
            block.grams, block.norms, *arguments, SIZE=size, RUN=run, SOME=min(SOME, run), NEWTON_STEPS=NEWTON_STEPS, CLOSE=close, num_warps=1
        )
    else:
        _settle_hinge[grid](block.grams, block.rates, *arguments, SIZE=size, RUN=run, SOME=min(SOME, run), num_warps=1)
