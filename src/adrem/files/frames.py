"""Files of text with named columns, as polars data frames: csv, tsv and JSON lines."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from adrem.exceptions import DamagedDataError, InvalidDataError
from adrem.files.budget import Budget
from adrem.files.labelled_rows import guarded, whole_polars
from adrem.runtime.notices import NamingText

if TYPE_CHECKING:
    from polars import DataFrame

# The first line by which a spreadsheet program tells what separates the columns.
SEPARATOR_LINE = re.compile(rb"\A(?:\xef\xbb\xbf)?\"?sep=([,;|\t])\"?\r?\n", re.IGNORECASE)

# A string of JSON, to its end or to that of the line, and what tells that it is a key. Nothing is looked at twice.
STRING = re.compile(rb'"((?:[^"\\\n]|\\.)*+)(?:"\s*+(:)?)?')
# With more keys than this, polars reads slower than Python.
MANY_KEYS = 1000


def read_csv(content: bytes, name: str) -> DataFrame:
    """Read a csv file, with types taken from all rows of a column."""
    polars = whole_polars()

    def read() -> Any:
        Budget().draw_cells(_n_lines(content), content.split(b"\n", 1)[0].count(b",") + 1)
        return polars.read_csv(content, infer_schema_length=None)

    frame: DataFrame = guarded(name, "a csv file", read)
    return frame


def read_text(
    content: bytes, name: str, separator: str | None = None, *, header: bool = True, budget: Budget | None = None
) -> DataFrame:
    """Read a csv or tsv file with all values as strings, and names without spaces around them."""
    _check_text(content, name)
    if b"\n" not in content:  # line ends of old Macs
        content = content.replace(b"\r", b"\n")
    separator = separator or separator_of(content)
    content = SEPARATOR_LINE.sub(b"", content, count=1)
    if header:
        _check_header(content, name, separator)
    polars, n_columns = whole_polars(), content.split(b"\n", 1)[0].count(separator.encode()) + 1

    def read() -> Any:
        (budget or Budget()).draw_cells(_n_lines(content), n_columns)
        return polars.read_csv(content, separator=separator, infer_schema=False, has_header=header)

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


def read_json_lines(content: bytes, name: str, budget: Budget | None = None) -> DataFrame:
    """Read a file with one JSON object a line."""
    _check_text(content, name)
    polars = whole_polars()

    def read() -> Any:
        left = budget or Budget()
        if _n_keys(content.lstrip().split(b"\n", 1)[0]) > MANY_KEYS:
            return _read_wide(content, polars, left)
        n_keys = _n_keys(content)
        left.draw_cells(_n_lines(content), n_keys)
        if n_keys > MANY_KEYS:
            return _read_wide(content, polars)
        return polars.read_ndjson(io.BytesIO(content), infer_schema_length=None)

    return _located(name, "JSON lines", read, partial(_line_without_object, content))


def _n_keys(content: bytes) -> int:
    """Return how many different keys JSON texts have."""
    return len({own[1] for own in STRING.finditer(content) if own[2]})


def _read_wide(content: bytes, polars: Any, budget: Budget | None = None) -> Any:
    """Read JSON lines with many keys: the time that polars takes grows with the square of their number.

    The cells of a key are drawn from the budget when it appears, if they have not been drawn before.
    """
    names: list[str] = []
    rows: list[list[Any]] = []
    n_lines, n_drawn = _n_lines(content), 0
    for line in content.splitlines():
        if not line.strip():
            continue
        own = json.loads(line)
        if [*own] != names:
            names += _new_names(names, own)
            if budget is not None:
                budget.draw_cells(n_lines, len(names) - n_drawn)
                n_drawn = len(names)
            own = {name: own.get(name) for name in names}
        rows.append([*own.values()])
    columns = zip(names, zip_longest(*rows), strict=True)  # early rows have not all keys
    return polars.DataFrame([polars.Series(name, values, strict=False) for name, values in columns])


def _new_names(names: list[str], row: dict[str, Any]) -> list[str]:
    """Return the keys of a row that are no names yet."""
    known = {*names}
    return [name for name in row if name not in known]


def _n_lines(content: bytes) -> int:
    return content.count(b"\n") + 1


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
