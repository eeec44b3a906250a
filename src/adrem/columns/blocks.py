"""Columns of plain numbers, many at once: what is asked of each of thousands of columns is asked of a block of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adrem.columns.values import LEAST_DATE

if TYPE_CHECKING:
    from polars import DataFrame

N_NUMBERS = 1 << 20  # of a block, so that it stays in the cache of the processor


@dataclass(frozen=True)
class Block:
    """Columns that hold plain numbers alone in both tables: a row for each column, with NaN for missing numbers."""

    names: list[str]
    source: NDArray[np.float64]
    target: NDArray[np.float64]

    @property
    def both(self) -> NDArray[np.float64]:
        """The numbers of both tables."""
        return np.hstack([self.source, self.target])

    def named(self, chosen: NDArray[np.bool_]) -> list[str]:
        """Return the names of some columns."""
        return [self.names[k] for k in np.flatnonzero(chosen)]

    def vary(self) -> NDArray[np.bool_]:
        """Return which columns have two different numbers."""
        least, most = np.fmin.reduce(self.both, axis=1), np.fmax.reduce(self.both, axis=1)
        return np.asarray(most > least)  # false for NaN, of columns without a number

    def are_broken(self) -> NDArray[np.bool_]:
        """Return which columns have a number that is not whole."""
        return np.asarray((np.abs(self.both - np.round(self.both)) > 0).any(axis=1))

    def repeat(self, most: float) -> NDArray[np.bool_]:
        """Return in which columns at most a share of the numbers of a file are different, so that some repeat."""
        found = np.zeros(len(self.names), dtype=bool)
        for own in (self.source, self.target):
            n_distinct, n_known = n_distinct_of(own), np.isfinite(own).sum(axis=1)
            found |= (n_known > 0) & (n_distinct < n_known) & (n_distinct <= most * n_known)
        return found

    def may_count_rows(self, few: int) -> NDArray[np.bool_]:
        """Return in which columns the second number of both files is one more than the first; of few rows, all."""
        if min(self.source.shape[1], self.target.shape[1]) < few:
            return np.ones(len(self.names), dtype=bool)
        source, target = (own[:, 1] - own[:, 0] == 1 for own in (self.source, self.target))
        return np.asarray(source & target)


def plain_blocks(source: DataFrame, target: DataFrame, names: Sequence[str]) -> Iterator[Block]:
    """Yield the columns among `names` for which `plain_numbers` has numbers, in their order."""
    kinds = dict(source.schema), dict(target.schema)
    numeric = [name for name in names if all(own[name].is_numeric() for own in kinds)]
    n_columns = max(1, N_NUMBERS // max(1, source.height + target.height))
    for start in range(0, len(numeric), n_columns):
        own = numeric[start : start + n_columns]
        tables = [table_of_numbers(frame, own).T for frame in (source, target)]
        most = [np.fmax.reduce(np.abs(table), axis=1, initial=0.0) for table in tables]
        plain = np.maximum(*most) < LEAST_DATE
        yield Block([own[k] for k in np.flatnonzero(plain)], tables[0][plain], tables[1][plain])


def sure_numbers(source: DataFrame, target: DataFrame, names: Sequence[str], most: float, few: int) -> set[str]:
    """Return the columns that are numbers for certain: neither constants, nor row numbers, nor identifiers.

    Identifiers are whole numbers of which more than a share `most` are different; row numbers are more than `few`.
    """
    found: set[str] = set()
    for block in plain_blocks(source, target, names):
        found |= {*block.named(block.vary() & (block.are_broken() | block.repeat(most)) & ~block.may_count_rows(few))}
    return found


def table_of_numbers(frame: DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Return columns of numbers as a table, NaN for missing ones; each column lies together in memory."""
    import polars as pl

    table = np.empty((frame.height, len(names)), order="F")
    for k, name in enumerate(names):
        own = frame[name]
        table[:, k] = (own if own.dtype == pl.Float64 else own.cast(pl.Float64)).to_numpy()
    return table


def n_distinct_of(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return how many different numbers each column has."""
    ordered = np.sort(values, axis=1)  # NaN comes last, and is not above any number
    if not ordered.shape[1]:
        return np.zeros(len(ordered), dtype=np.intp)
    return np.asarray((ordered[:, 1:] > ordered[:, :-1]).sum(axis=1) + np.isfinite(ordered[:, 0]))
