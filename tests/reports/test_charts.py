"""Tests of the charts: positions, sizes and labels of their marks."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from adrem.diagnostics import Bin, Spread
from adrem.reports.charts import (
    BOTTOM,
    HEIGHT,
    TOP,
    confidence_chart,
    line_chart,
    map_place,
    member_chart,
    nice_ticks,
    short,
)

numbers = st.floats(-1e9, 1e9, allow_nan=False)


@given(numbers, st.floats(1e-3, 1e9))
def test_ticks_cover_the_span_in_equal_steps(low: float, span: float) -> None:
    ticks = nice_ticks(low, low + span)
    assert ticks[0] <= low + 1e-6 * span
    assert ticks[-1] >= low + span - 1e-6 * span
    assert 2 <= len(ticks) <= 8
    steps = [b - a for a, b in pairwise(ticks)]
    assert max(steps) - min(steps) <= 1e-6 * max(abs(low), span)


def test_zero_span_has_one_tick() -> None:
    assert nice_ticks(3.0, 3.0) == [3.0]
    assert nice_ticks(0.0, math.inf) == [0.0]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_lines_stay_inside_the_frame(values: list[float]) -> None:
    chart = line_chart([("loss", "after", [Spread(v, v, v) for v in values])], "iteration", "loss")
    assert len(chart.marks) == len(values)
    assert all(TOP - 1 <= mark.y <= HEIGHT - BOTTOM + 1 for mark in chart.marks)
    highest, lowest = (pick(range(len(values)), key=values.__getitem__) for pick in (max, min))
    assert chart.marks[highest].y <= chart.marks[lowest].y


def test_bar_heights_are_proportional_to_counts() -> None:
    bins = [Bin(0.0, 0.5, 10, 0), Bin(0.5, 1.0, 20, 10)]
    chart = confidence_chart(bins, by_votes=True)
    heights = {bar.tip: bar.height for bar in chart.bars}
    assert len(heights) == 3
    ten = heights["1 of 2 votes: 10 rows, label unchanged"]
    assert heights["2 of 2 votes: 20 rows, label unchanged"] == 2 * ten
    assert heights["2 of 2 votes: 10 rows, label changed"] == ten
    assert chart.bars[2].y + chart.bars[2].height == chart.bars[1].y  # bars are stacked


def test_empty_bins_have_no_bars() -> None:
    assert confidence_chart([Bin(0.0, 1.0, 0, 0)], by_votes=False).bars == []


def test_members_are_numbered_from_one() -> None:
    chart = member_chart([0.5, 1.0])
    assert [bar.tip.split(":")[0] for bar in chart.bars] == ["member 1", "member 2"]
    assert chart.bars[1].height == 2 * chart.bars[0].height


@given(st.tuples(st.floats(-1, 1), st.floats(-1, 1)))
def test_points_stay_inside_the_map(point: tuple[float, float]) -> None:
    assert all(0 < place < 420 for place in map_place(point))


def test_numbers_are_abbreviated() -> None:
    assert [short(v) for v in (0, 0.5, 12345, 1234567, 1e-5)] == ["0", "0.5", "12,345", "1.23e+06", "1e-05"]
