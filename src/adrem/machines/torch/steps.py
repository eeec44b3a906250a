"""Block coordinate descent in plain PyTorch, for all problems at once.

It is the reference for the kernels of `triton`, and runs where there is no Triton.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch


class Blocks(NamedTuple):
    """The Gram matrix of every block, and the reciprocal squared norms of all rows."""

    grams: Any
    rates: Any


def blocks_of(grams: Any, norms: Any) -> Blocks:
    """Return blocks. The loss of an empty row is always 1: a very large rate moves it to the upper end of its box."""
    at_once = torch.full_like(norms, 1e30)
    return Blocks(grams, torch.where(norms > 0, 1.0 / norms, at_once))


def signs_of(labels: Any, n_problems: int, dtype: Any) -> Any:
    """Return the signs of the binary problems (members * problems x rows) from labels (members x rows)."""
    positives = torch.arange(n_problems, device=labels.device) if n_problems > 1 else labels.new_ones(1)
    hits = labels[:, None, :] == positives[None, :, None]
    one = torch.ones((), dtype=dtype, device=labels.device)
    return torch.where(hits, one, -one).reshape(-1, labels.shape[1])


def violations(margins: Any, dual: Any, box: Any) -> Any:
    """Return the projected gradients, which are zero for rows of weight zero."""
    zero = torch.zeros((), dtype=margins.dtype, device=margins.device)
    gradients = margins - 1.0
    may_grow = torch.where(dual < box, gradients.clamp(max=0.0), zero)
    return may_grow + torch.where(dual > 0, gradients.clamp(min=0.0), zero)


def extremes(n_problems: int, solution: Any, scores: Any) -> tuple[Any, Any]:
    """Return the smallest and largest violation of every problem."""
    margins = signs_of(solution.labels, n_problems, scores.dtype) * scores
    found = violations(margins, solution.dual, solution.box.repeat_interleave(n_problems, 0))
    return found.amin(1), found.amax(1)


def moved(dual: Any, flipped: Any, box: Any) -> Any:
    """Return dual variables for new labels and boxes: clipped to the box, zero where the sign of the label flipped."""
    return torch.minimum(dual, box).masked_fill(flipped, 0.0)


def settle(n_problems: int, block: Blocks, turn: int, solution: Any) -> None:
    """Update the dual variables of the block at position `turn` of the order, in all running problems."""
    search = solution.search
    number, size = int(search.order[turn]), block.grams.shape[-1]
    part = slice(number * size, (number + 1) * size)
    dual = solution.dual[:, part]
    box = solution.box[:, part].repeat_interleave(n_problems, 0)
    signs = signs_of(solution.labels[:, part], n_problems, dual.dtype)
    scores = search.scores.sum(0)
    scores = scores[:, part] if scores.shape[1] > size else scores
    turns = torch.nonzero((box > 0).any(0)).ravel().tolist()
    new, steps = _settled(block.grams[number], block.rates[part], dual, box, signs, scores, turns)
    runs = search.running[:, None] > 0
    dual.copy_(torch.where(runs, new, dual))
    search.steps.copy_(steps * runs)
    search.moves -= (search.steps != 0).sum(1)


def spread(by_block: Any, turn: int, solution: Any, ahead: Any) -> None:  # noqa: ARG001 - no prefetch here
    """Add the steps of a block, times its rows (or rows of the Gram matrix), to the weights (or scores)."""
    search = solution.search
    rows = by_block.index_select(0, search.order[turn : turn + 1])[0]
    solution.primal.addmm_(search.steps, rows)


def score(by_block: Any, turn: int, solution: Any, grams: Any) -> None:  # noqa: ARG001 - no prefetch here
    """Compute the scores of a block's rows, as partial sums over ranges of columns."""
    search = solution.search
    n_parts, n_problems, size = search.scores.shape
    rows = by_block.index_select(0, search.order[turn : turn + 1])
    weights_by_part = solution.primal.view(n_problems, n_parts, -1).transpose(0, 1)
    torch.bmm(weights_by_part, rows.view(size, n_parts, -1).permute(1, 2, 0), out=search.scores)


def score_entries(entries: Any, order: Any, turn: int, weights: Any, scores: Any) -> None:
    """Compute the scores of the sparse rows of a block, whose size is that of `scores`."""
    rows, values, columns = _entries_of_block(entries, int(order[turn]), scores.shape[1])
    scores.zero_().index_add_(1, rows, weights[:, columns] * values)


def spread_entries(entries: Any, order: Any, turn: int, steps: Any, weights: Any) -> None:
    """Add the steps of a block of sparse rows, times the rows, to the weights."""
    rows, values, columns = _entries_of_block(entries, int(order[turn]), steps.shape[1])
    weights.index_add_(1, columns, steps[:, rows] * values)


def _entries_of_block(entries: Any, number: int, size: int) -> tuple[Any, Any, Any]:
    ends = entries.ends[number * size : (number + 1) * size + 1]
    rows = torch.repeat_interleave(torch.arange(size, device=ends.device), ends.diff())
    part = slice(int(ends[0]), int(ends[-1]))
    return rows, entries.values[part], entries.columns[part]


def _settled(gram: Any, rates: Any, dual: Any, box: Any, signs: Any, scores: Any, turns: list[int]) -> tuple[Any, Any]:
    """Return new dual variables and signed steps: minus the gradient over the squared norm, clipped to the box."""
    start, end = signs * dual, signs * box
    lowest, highest = end.clamp(max=0.0), end.clamp(min=0.0)
    low, high = lowest - start, highest - start
    wish, steps, effects = (signs - scores) * rates, torch.zeros_like(start), gram * rates
    columns = [tensor.unbind(1) for tensor in (wish, low, high, steps)]
    for j in turns:
        own_wish, own_low, own_high, step = (column[j] for column in columns)
        torch.clamp(own_wish, own_low, own_high, out=step)
        wish.addr_(step, effects[j], alpha=-1.0)
    # Set an end of the box exactly, without rounding errors.
    stop = torch.where(steps >= high, highest, torch.where(steps <= low, lowest, start + steps))
    return stop.abs(), stop - start
