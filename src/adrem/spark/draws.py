"""Random draws from the target as row weights, reproducible on any executor.

A hash of the row number and the seed assigns each row to a slice. As in `adrem.algorithm.sampling`, each row is drawn
as often as its class share allows in whole numbers; the first slices of the class are drawn once more for the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from adrem.algorithm.sampling import quota

CLASS, SLICE = "class", "slice"
# The driver collects about this many counts in each iteration, one per class and slice.
N_COUNTS, MIN_SLICES = 4096, 16


def count_slices(n_classes: int) -> int:
    """Return the number of slices of each class."""
    return max(MIN_SLICES, N_COUNTS // n_classes)


def slice_of(row: Column, n_slices: int, *seeds: int) -> Column:
    """Return the slice of a row, a hash of its number and the seeds."""
    return sf.pmod(sf.xxhash64(row, *map(sf.lit, seeds)), sf.lit(n_slices)).cast("int")


def count_rows(labelled: DataFrame, n_classes: int, n_slices: int) -> NDArray[np.int64]:
    """Count rows by class and slice in a single job; a SQL query would take several."""
    place = (sf.col(CLASS) * n_slices + sf.col(SLICE)).alias("place")
    found = labelled.select(place)._jdf.toJavaRDD().countByValue().toString()
    counts = np.zeros(n_classes * n_slices, np.int64)
    for where, count in re.findall(r"\[(\d+)\]=(\d+)", found):
        counts[int(where)] = int(count)
    return counts.reshape(n_classes, n_slices)


@dataclass(frozen=True)
class SlicedDraw:
    """For each class: how often each row is drawn, and how many slices once more; and the total of drawn rows."""

    times: list[int]
    n_slices: list[int]
    total: int

    @classmethod
    def of(cls, size: float, prior: NDArray[np.float64], counts: NDArray[np.int64]) -> SlicedDraw:
        """Draw about `size` rows with the class shares `prior`, given row counts by class and slice."""
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
        """Return how often a row is drawn."""
        times, n_slices = (sf.array(*map(sf.lit, own))[sf.col(CLASS)] for own in (self.times, self.n_slices))
        return (times + (sf.col(SLICE) < n_slices).cast("int")).cast("double")
