"""Tests of the codes for missing values."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from adrem.columns.codes import find_codes
from adrem.columns.values import as_strings, without_codes

N = 60


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([-9 if k % 5 == 0 else k for k in range(N)], ["-9"]),
        ([-9.0 if k % 5 == 0 else k % 2 for k in range(N)], ["-9"]),
        (["-9.0" if k % 5 == 0 else str(k) for k in range(N)], ["-9"]),
        ([999 if k % 7 == 0 else k for k in range(N)], ["999"]),
        ([99 if k % 7 == 0 else 1 + k % 5 for k in range(N)], ["99"]),
        ([0 if k % 7 == 0 else 200 + 3 * k for k in range(N)], ["0"]),
        ([k - 30 for k in range(N)], []),  # -9 among its neighbours
        ([-1 if k % 2 else k % 3 for k in range(N)], []),
        ([-1 if k % 2 else 1 + k for k in range(N)], []),
        ([-1 if k % 7 == 0 else 200 + 3 * k for k in range(N)], ["-1"]),
        ([40 + k for k in range(N)], []),  # 99 is the oldest
        ([0 if k % 3 else 100 * 1.2**k for k in range(N)], []),  # amounts
        ([0 if k % 2 else 1 for k in range(N)], []),
        (["-9" if k % 5 == 0 else "abc" for k in range(N)], []),
    ],
)
def test_codes_are_found_where_no_other_value_is_near(values: list[Any], codes: list[str]) -> None:
    frame = pl.DataFrame({"x": values})
    assert find_codes(frame[:30], frame[30:], ["x"], None) == ({"x": codes} if codes else {})


def test_named_codes_replace_those_that_are_found() -> None:
    frame = pl.DataFrame({"x": ["-9.0", "7", "-9", "8"], "y": ["x", "?", "a", "-9"]})
    assert find_codes(frame, frame, ["x"], ["none"]) == {}
    codes = find_codes(frame, frame, ["x", "y"], ["-9", "x"])
    empty = without_codes(frame, codes)
    assert empty["x"].to_list() == [None, "7", None, "8"]
    assert empty["y"].to_list() == [None, "?", "a", None]
    assert as_strings(empty["y"]).to_list() == [None, None, "a", None]


def test_whole_numbers_have_one_form() -> None:
    assert as_strings(pl.Series(["3.0", "3", "3.10", "007", "-2.00"])).to_list() == ["3", "3", "3.10", "007", "-2"]
    assert as_strings(pl.Series([3.0, 2.5])).to_list() == ["3", "2.5"]


def test_code_of_one_column_may_be_in_another_only_once() -> None:
    once = [-9 if k == 5 else k % 3 for k in range(N)]
    frame = pl.DataFrame({"often": [-9 if k % 5 == 0 else k for k in range(N)], "once": once})
    assert find_codes(frame[:30], frame[30:], ["often", "once"], None) == {"often": ["-9"], "once": ["-9"]}
    assert find_codes(frame[:30], frame[30:], ["once"], None) == {}
