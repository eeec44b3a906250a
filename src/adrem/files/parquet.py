"""Parquet files, read in a subprocess: some kilobytes of them may hold gigabytes, and damaged ones crash the reader."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

from adrem.exceptions import FileTooLargeError
from adrem.files.apart import read_apart, serve
from adrem.files.budget import Budget
from adrem.files.labelled_rows import guarded, whole_polars

if TYPE_CHECKING:
    from polars import DataFrame, Series


def read_parquet(content: bytes, name: str, budget: Budget | None = None) -> DataFrame:
    """Read a parquet file that fits into memory, with columns of plain types where there are such.

    Categories and enumerations are read as strings, decimals and integers of 128 bits as floats, durations as seconds.
    Dates, lists, structures and bytes stay what they are.
    """
    polars, budget = whole_polars(), budget or Budget()
    frame: DataFrame = guarded(
        name, "a parquet file", lambda: polars.read_ipc_stream(read_apart("adrem.files.parquet", content, budget))
    )
    return frame


def _serve(content: bytes, _: list[str], most: float) -> None:
    """Write the columns of a parquet file to standard output."""
    import polars as pl

    file = io.BytesIO(content)
    n_values = len(pl.read_parquet_schema(file)) * _height(content)
    if n_values > most:  # a byte each at least
        raise FileTooLargeError("it is more than may be taken")
    frame = pl.DataFrame([_plain(column) for column in pl.read_parquet(io.BytesIO(content)).get_columns()])
    if frame.estimated_size() > most:
        raise FileTooLargeError("it is more than may be taken")
    frame.write_ipc_stream(sys.stdout.buffer)


def _height(content: bytes) -> int:
    """Return the number of rows that a file states; zero if this version of polars scans only files with a path."""
    import polars as pl

    try:
        return int(pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item())
    except (TypeError, ValueError):
        return 0


def _plain(column: Series) -> Any:
    import polars as pl

    kind = column.dtype
    if kind in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if kind == pl.Decimal or str(kind) in ("Int128", "UInt128", "Float16"):
        return column.cast(pl.Float64)
    return column.dt.total_microseconds() / 1e6 if kind == pl.Duration else column


if __name__ == "__main__":
    serve(_serve, whole_polars)
