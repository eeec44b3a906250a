"""Draws from the target as weights of its rows, the same wherever and however often they are computed.

A row's number and the seed put it into one of many slices, at random. As in `adrem._sampling` each row of a class is
drawn as many whole times as fit into the share of its class. The rest is drawn slice by slice: the first slices of the
class once more, so many of them as come nearest to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from adrem._sampling import quota

CLASS, SLICE = "class", "slice"
# Numbers that come to the driver in each iteration: the rows in every slice of every class.
N_COUNTS, FEWEST_SLICES = 4096, 16


def count_slices(n_classes: int) -> int:
    """How many slices the rows of a class are put into."""
    return max(FEWEST_SLICES, N_COUNTS // n_classes)


def slice_of(row: Column, n_slices: int, *seeds: int) -> Column:
    """The slice of a row, by its number and the seeds."""
    return sf.pmod(sf.xxhash64(row, *map(sf.lit, seeds)), sf.lit(n_slices)).cast("int")


def count_rows(labelled: DataFrame, n_classes: int, n_slices: int) -> NDArray[np.int64]:
    """Count rows by class and slice, in one job: one of rows, where a query would be cut into several."""
    place = (sf.col(CLASS) * n_slices + sf.col(SLICE)).alias("place")
    found = labelled.select(place)._jdf.toJavaRDD().countByValue().toString()
    counts = np.zeros(n_classes * n_slices, np.int64)
    for where, count in re.findall(r"\[(\d+)\]=(\d+)", found):
        counts[int(where)] = int(count)
    return counts.reshape(n_classes, n_slices)


@dataclass(frozen=True)
class Draw:
    """For every class how many times each row is drawn, from how many slices once more, and how many that makes."""

    times: list[int]
    n_slices: list[int]
    total: int

    @classmethod
    def of(cls, size: float, prior: NDArray[np.float64], counts: NDArray[np.int64]) -> Draw:
        """Draw so many rows, whose classes have these shares, from rows counted by class and slice."""
        times, n_slices, total = [], [], 0
        for share, own in zip(prior, counts, strict=True):
            n_rows = int(own.sum())
            whole, rest = quota(size * share, max(n_rows, 1))
            in_first = np.append(0, np.cumsum(own))
            nearest = int(np.argmin(np.abs(in_first - rest)))
            times.append(whole)
            n_slices.append(nearest)
            total += whole * n_rows + int(in_first[nearest])
        return cls(times, n_slices, total)

    def weight(self) -> Column:
        """How often a row is drawn."""
        times, n_slices = (sf.array(*map(sf.lit, own))[sf.col(CLASS)] for own in (self.times, self.n_slices))
        return (times + (sf.col(SLICE) < n_slices).cast("int")).cast("double")
