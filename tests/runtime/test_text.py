"""Tests of short texts: percentages, shortened strings and row counts."""

from __future__ import annotations

import pytest

from adrem.runtime.text import percent, rows, without_middle


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(0, 9, "0 %"), (1, 3, "33 %"), (9, 9, "100 %"), (1, 1000, "< 1 %"), (999, 1000, "> 99 %"), (0, 0, "0 %")],
)
def test_percent_reserves_0_and_100_for_extremes(part: int, whole: int, said: str) -> None:
    assert percent(part, whole) == said


def test_without_middle_keeps_both_ends() -> None:
    assert without_middle("a mug", 5) == "a mug"
    assert [without_middle(f"drawing of an office, {k}", 9) for k in "ab"] == ["draw…e, a", "draw…e, b"]


def test_rows_formats_row_counts() -> None:
    assert [rows(count) for count in (0, 1, 2, 12345)] == ["0 rows", "1 row", "2 rows", "12,345 rows"]
