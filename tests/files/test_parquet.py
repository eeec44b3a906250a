"""Tests of parquet files: every type has a rule, and what is decoded is bounded."""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from adrem.exceptions import DamagedDataError, FileTooLargeError
from adrem.files.budget import Budget
from adrem.files.parquet import read_parquet


def packed(frame: Any) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file) if isinstance(frame, pd.DataFrame) else frame.write_parquet(file)
    return file.getvalue()


TYPES: dict[str, tuple[Any, Any, list[Any]]] = {
    "category": (pl.Series(["a", None, "b"], dtype=pl.Categorical), pl.String, ["a", None, "b"]),
    "enumeration": (pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])), pl.String, ["a", None, "b"]),
    "decimal": (pl.Series([Decimal("1.25"), None, Decimal("-3.00")]), pl.Float64, [1.25, None, -3.0]),
    "duration": (pl.Series([timedelta(seconds=90.5), None, timedelta(days=-1)]), pl.Float64, [90.5, None, -86400.0]),
    "date": (pl.Series([date(2020, 1, 2), None, None]), pl.Date, [date(2020, 1, 2), None, None]),
    "time stamp": (pl.Series([datetime(2020, 1, 2), None, None]), pl.Datetime, [datetime(2020, 1, 2), None, None]),
    "time": (pl.Series([time(12, 30), None, None]), pl.Time, [time(12, 30), None, None]),
    "truth": (pl.Series([True, None, False]), pl.Boolean, [True, None, False]),
    "small": (pl.Series([1, None, 255], dtype=pl.UInt8), pl.UInt8, [1, None, 255]),
    "nothing": (pl.Series([None, None, None], dtype=pl.Null), pl.Null, [None, None, None]),
    "bytes": (pl.Series([b"\xff", None, b""]), pl.Binary, [b"\xff", None, b""]),
    "list": (pl.Series([[1], None, []]), pl.List, [[1], None, []]),
    "structure": (pl.Series([{"a": 1}, {"a": None}, {"a": 3}]), pl.Struct, [{"a": 1}, {"a": None}, {"a": 3}]),
}


def test_every_type_is_read_by_its_rule() -> None:
    frame = read_parquet(packed(pl.DataFrame({name: own[0] for name, own in TYPES.items()})), "t.parquet")
    for name, (_, kind, values) in TYPES.items():
        assert frame[name].dtype == kind, name
        assert frame[name].to_list() == values, name


def test_categories_of_pandas_are_strings() -> None:
    pytest.importorskip("pyarrow", reason="pandas writes parquet files by pyarrow")
    table = pd.DataFrame(
        {
            "kind": pd.Categorical(["x", None, "y"]),
            "n": pd.array([1, None, 3], "Int64"),
            "s": pd.array(["p", None, "q"]),
        }
    )
    table["order"] = pd.Categorical(["low", "high", "low"], ["low", "high"], ordered=True)
    frame = read_parquet(packed(table), "t.parquet")
    assert frame.schema["kind"] == frame.schema["order"] == pl.String
    assert frame.rows() == [("x", 1, "p", "low"), (None, None, None, "high"), ("y", 3, "q", "low")]


REPEATED = pl.DataFrame({"a": ["x" * 1_000_000] * 900})
NESTED = pl.DataFrame({"a": [["x" * 100_000] * 100] * 90})


@pytest.mark.parametrize("frame", [REPEATED, NESTED])
def test_repeated_values_are_counted_as_decoded(frame: pl.DataFrame) -> None:
    """Kilobytes that hold a gigabyte: one string, and many references to it."""
    content = packed(frame)
    assert len(content) < 200_000
    with pytest.raises(FileTooLargeError, match=r"t\.parquet was not read: it takes more than 200 MB, a third of"):
        read_parquet(content, "t.parquet", Budget(6e8))


def test_rows_that_a_file_states_are_bounded() -> None:
    content = packed(pl.DataFrame({"a": np.zeros(2 * 10**8, np.uint8)}))
    with pytest.raises(FileTooLargeError, match="takes more than 100 MB"):
        read_parquet(content, "t.parquet", Budget(3e8))


def test_damaged_file_is_told_as_such() -> None:
    content = bytearray(packed(REPEATED.head(3)))
    content[-20] ^= 0xFF
    with pytest.raises(DamagedDataError, match=r"t\.parquet can't be read as a parquet file"):
        read_parquet(bytes(content), "t.parquet")
