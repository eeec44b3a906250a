"""Files with named columns, as polars data frames: csv, tsv, JSON lines and parquet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from adrem.exceptions import DamagedDataError, FileTooLargeError, InvalidDataError, MissingImportError
from adrem.files.labelled_rows import guarded
from adrem.runtime.memory import available_memory, size_of
from adrem.runtime.notices import NamingText

if TYPE_CHECKING:
    from polars import DataFrame

# The first line by which a spreadsheet program tells what separates the columns.
SEPARATOR_LINE = re.compile(rb"\A(?:\xef\xbb\xbf)?\"?sep=([,;|\t])\"?\r?\n", re.IGNORECASE)


def read_csv(content: bytes, name: str) -> DataFrame:
    """Read a csv file, with types taken from all rows of a column."""
    frame: DataFrame = guarded(name, "a csv file", lambda: _polars().read_csv(content, infer_schema_length=None))
    return frame


def read_parquet(content: bytes, name: str) -> DataFrame:
    """Read a parquet file whose values fit into memory; durations are read as seconds."""
    frame: DataFrame = guarded(name, "a parquet file", lambda: _read_parquet(content, name))
    return frame


def _read_parquet(content: bytes, name: str) -> Any:
    file = io.BytesIO(content)
    polars = _polars()
    try:
        n_values = (
            len(polars.read_parquet_schema(file)) * polars.scan_parquet(file).select(polars.len()).collect().item()
        )
    except ValueError:  # older versions scan only files with a path
        n_values = 0
    needed, free = 8 * n_values, available_memory()
    if needed > free:
        raise FileTooLargeError(
            f"{name} holds {n_values} values, which take {size_of(needed)}; {size_of(free)} are free."
        )
    frame = polars.read_parquet(io.BytesIO(content))
    durations = [column for column in frame.get_columns() if column.dtype == polars.Duration]
    return frame.with_columns([column.dt.total_microseconds() / 1e6 for column in durations])


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise MissingImportError("csv and parquet files are read by polars: pip install 'adrem[cli]'.") from error
    return polars


def read_text(content: bytes, name: str, separator: str | None = None, *, header: bool = True) -> DataFrame:
    """Read a csv or tsv file with all values as strings, and names without spaces around them."""
    _check_text(content, name)
    if b"\n" not in content:  # line ends of old Macs
        content = content.replace(b"\r", b"\n")
    separator = separator or separator_of(content)
    content = SEPARATOR_LINE.sub(b"", content, count=1)
    if header:
        _check_header(content, name, separator)
    read = partial(_polars().read_csv, content, separator=separator, infer_schema=False, has_header=header)
    frame = _located(name, "a table of text", read, partial(_longer_line, content, separator))
    if not header:  # the names differ between versions of polars
        frame.columns = [f"column_{k}" for k in range(1, frame.width + 1)]
    bare = [column.strip() for column in frame.columns]
    if len(set(bare)) == len(bare):
        frame.columns = bare
    return frame


def separator_of(content: bytes) -> str:
    """Return what separates the columns of a text: a comma, semicolon, tab or bar."""
    told = SEPARATOR_LINE.match(content)
    if told:
        return told[1].decode()
    first = content.replace(b"\r", b"\n").split(b"\n", 1)[0] if b"\n" not in content else content.split(b"\n", 1)[0]
    return max((",", ";", "\t", "|"), key=lambda mark: first.count(mark.encode()))


def read_json_lines(content: bytes, name: str) -> DataFrame:
    """Read a file with one JSON object a line."""
    _check_text(content, name)
    read = partial(_polars().read_ndjson, io.BytesIO(content), infer_schema_length=None)
    return _located(name, "JSON lines", read, partial(_line_without_object, content))


def _located(name: str, form: str, read: Callable[[], Any], locate: Callable[[], str | None]) -> DataFrame:
    """Call a reader; if it fails, name the first bad line if one is found."""
    try:
        frame: DataFrame = guarded(name, form, read)
    except DamagedDataError as error:
        where = locate()
        if where is None:
            raise
        raise DamagedDataError(f"{name} can't be read as {form}: {where}.") from error
    return frame


def _check_header(content: bytes, name: str, separator: str) -> None:
    names = next(csv.reader(_lines(content), delimiter=separator))
    twice = [column for column, count in Counter(names).items() if count > 1]
    if "" in twice:
        raise InvalidDataError(
            NamingText(
                "{name} has {count} columns without a name: name or delete them, and remove lines above the header. If "
                "its first line is no header, use {header}.",
                name=name,
                count=names.count(""),
            )
        )
    if twice:
        raise InvalidDataError(
            NamingText(
                "{name} has {count} columns named {column!r}: give each its own name. If its first line is no header, "
                "use {header}.",
                name=name,
                count=names.count(twice[0]),
                column=twice[0],
            )
        )


def _longer_line(content: bytes, separator: str) -> str | None:
    """Describe the first line with more fields than the header."""
    reader = csv.reader(_lines(content), delimiter=separator)
    try:
        wanted = len(next(reader))
        for row in reader:
            if len(row) > wanted:
                return f"line {reader.line_num} has {len(row)} fields, the header {wanted}"
    except csv.Error as error:
        return f"line {reader.line_num}: {error}"
    return None


def _lines(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")


def _check_text(content: bytes, name: str) -> None:
    if b"\x00" in content[:65536]:
        raise DamagedDataError(f"{name} is not text: give it the suffix of its format, or save it as UTF-8.")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedDataError(
            f'{name} is not UTF-8 (byte {error.start}): save it as "CSV UTF-8" in your spreadsheet program, or convert '
            f"it by `iconv -f latin1 -t utf-8 {name} > new.csv`."
        ) from error


def _line_without_object(content: bytes) -> str | None:
    """Describe the first line that is not a JSON object."""
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            if line.strip() and not isinstance(json.loads(line), dict):
                return f"line {number} is no object {{...}}"
        except (ValueError, RecursionError) as error:
            return f"line {number}: {error}"
    return None
