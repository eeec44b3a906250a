"""Tests of draws by slices against local draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sparks import FAULTS_OF_PYSPARK, needs_spark

from adrem.algorithm.sampling import draw_balanced

needs_spark()
pytestmark = [pytest.mark.thorough, FAULTS_OF_PYSPARK]


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=5),
    st.floats(0.01, 1.0),
    st.integers(1, 200),
    st.integers(0, 1000),
)
def test_draw_sizes_equal_local_within_half_slice(n_rows: list[int], fraction: float, n_slices: int, seed: int) -> None:
    from adrem.spark.draws import SlicedDraw

    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(len(n_rows)))
    size = fraction * sum(n_rows)
    labels = np.repeat(np.arange(len(n_rows)), n_rows)
    slices = rng.integers(0, n_slices, len(labels))
    counts = np.zeros((len(n_rows), n_slices), np.int64)
    np.add.at(counts, (labels, slices), 1)
    draw = SlicedDraw.of(size, prior, counts)
    wanted = draw_balanced(labels, size, prior, rng)
    drawn = np.array(draw.times)[labels] + (slices < np.array(draw.n_slices)[labels])
    assert draw.total == drawn.sum()
    for c, largest in enumerate(counts.max(axis=1)):
        assert abs(drawn[labels == c].sum() - wanted[labels == c].sum()) <= largest / 2


def test_rows_are_counted_per_class_and_slice(spark: Any) -> None:
    from pyspark.sql import functions as sf

    from adrem.spark.draws import count_rows, count_slices, slice_of

    n_slices = count_slices(3)
    rows = spark.range(5000).select((sf.col("id") % 3).cast("int").alias("class"), "id")
    sliced, again, other = (
        rows.withColumn("slice", slice_of(sf.col("id"), n_slices, *seeds))
        for seeds in ((0, 1, 2), (0, 1, 2), (0, 1, 3))
    )
    counts = count_rows(sliced, 3, n_slices)
    assert counts.sum(axis=1).tolist() == [1667, 1667, 1666]
    assert counts.max() < 12  # 1.2 on average
    assert [row.slice for row in sliced.collect()] == [row.slice for row in again.collect()]
    assert np.any(count_rows(other, 3, n_slices) != counts)
    nothing = count_rows(sliced.where("class = 7"), 3, n_slices)
    assert nothing.shape == (3, n_slices)
    assert nothing.sum() == 0
