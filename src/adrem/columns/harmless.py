"""Which columns of plain numbers mislead no classifier for certain, found for many columns at once.

`suspects` looks at the others one by one, and the bounds here are never above what it finds there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.columns.blocks import Block

N_SHARED = 3  # values of the source that are looked for in the target


def are_filled(block: Block, most_empty: float) -> NDArray[np.bool_]:
    """Return which columns are not empty in more than a share of the rows of a file."""
    shares = [np.isnan(own).mean(axis=1) for own in (block.source, block.target)]
    return np.asarray(np.maximum(*shares) <= most_empty)


def are_mixed(block: Block, apart: float) -> NDArray[np.bool_]:
    """Return which columns can't have a share `apart` of the pairs of a source row and a target row in one order.

    Where a share a of the source is below the mean of the target, and a share b of the target is not, at least ab of
    the pairs have the row of the source first; so the other order has less than `apart` if ab is above the rest.
    """
    n_source, n_target = (np.isfinite(own).sum(axis=1) for own in (block.source, block.target))
    with np.errstate(invalid="ignore", divide="ignore"):  # columns that are empty in a file are not mixed
        middle = (np.nansum(block.target, axis=1) / n_target)[:, None]
        below = (block.source < middle).sum(axis=1) / n_source
        above = (block.source > middle).sum(axis=1) / n_source
        not_below = (block.target >= middle).sum(axis=1) / n_target
        not_above = (block.target <= middle).sum(axis=1) / n_target
    return np.asarray((below * not_below > 1.0 - apart) & (above * not_above > 1.0 - apart))


def share_values(block: Block, apart: float) -> NDArray[np.bool_]:
    """Return in which columns one of the first values of the source is in so many rows that the files share it."""
    found = np.zeros(len(block.names), dtype=bool)
    for k in range(min(N_SHARED, block.source.shape[1])):
        value = block.source[:, k, None]
        shares = [(own == value).sum(axis=1) / np.maximum(1, np.isfinite(own).sum(axis=1)) for own in _both(block)]
        found |= np.minimum(*shares) > 1.0 - apart
    return found


def keep_the_label(
    values: NDArray[np.float64], labels: NDArray[np.intp], *, given_away: float, rows_per_value: int
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which columns label less than a share `given_away` of the rows, and how many values each has.

    Columns of many values label rows by as many intervals as there are classes. Each row that is wrong ends two runs of
    equal labels at most, in the order of the numbers; rows of equal values stand in the order that has the fewest runs.
    """
    n_classes = int(labels.max()) + 1
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    rises = ordered[:, 1:] > ordered[:, :-1]
    places = np.hstack([np.zeros((len(values), 1), dtype=np.intp), np.cumsum(rises, axis=1)])
    # The place of the value and the label in one number, which is sorted by both; empty cells come last.
    both = np.where(np.isnan(ordered), np.iinfo(np.intp).max, places * n_classes + labels[order])
    both.sort(axis=1)
    n_known = np.isfinite(values).sum(axis=1)
    n_values = rises.sum(axis=1) + (n_known > 0)
    few = n_values * rows_per_value <= n_known
    kept = np.empty(len(values), dtype=bool)
    kept[few] = _n_right(both[few], n_classes) < given_away * n_known[few]
    n_wrong = _least_wrong(both[~few], n_classes, n_known[~few] - n_values[~few])
    kept[~few] = n_wrong > (1.0 - given_away) * n_known[~few]
    return kept, n_values


def _least_wrong(both: NDArray[np.intp], n_classes: int, n_ties: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how many rows are wrong at least if so many intervals as there are classes label them."""
    known = both[:, 1:] < np.iinfo(np.intp).max
    labels = both % n_classes
    n_changes = ((labels[:, 1:] != labels[:, :-1]) & known).sum(axis=1)
    return np.asarray((n_changes - (n_classes - 1) - n_ties) / 2)


def _n_right(both: NDArray[np.intp], n_classes: int) -> NDArray[Any]:
    """Return how many rows are right if each value has its most common label: the longest of its runs of labels."""
    n_columns, n_rows = both.shape
    if not both.size:
        return np.zeros(n_columns)
    edges = np.ones((n_columns, n_rows), dtype=bool)
    edges[:, 1:] = both[:, 1:] != both[:, :-1]
    begins = np.flatnonzero(edges)
    lengths = np.diff(np.append(begins, both.size))
    columns, codes = begins // n_rows, both.ravel()[begins]
    lengths[codes == np.iinfo(np.intp).max] = 0  # empty cells
    values = codes // n_classes
    first = np.ones(len(begins), dtype=bool)
    first[1:] = (values[1:] != values[:-1]) | (columns[1:] != columns[:-1])
    longest = np.maximum.reduceat(lengths, np.flatnonzero(first))
    return np.bincount(columns[first], weights=longest, minlength=n_columns)


def _both(block: Block) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return block.source, block.target
