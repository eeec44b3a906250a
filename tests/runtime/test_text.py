"""Tests of short texts: percentages, shortened strings and row counts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adrem.runtime.text import one_line, percent, printable, rows, without_middle


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


@pytest.mark.parametrize("text", ["plain", "ça, 语言, 🙂", "a\tb\nc", "می‌شود", "10 %"])
def test_printable_keeps_what_is_no_control(text: str) -> None:
    assert printable(text) == text


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]", printable(text))
    assert "\n" not in one_line(text)
