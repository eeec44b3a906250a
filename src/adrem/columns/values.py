"""The cells of a column: strings, numbers, dates, and what marks a missing value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series

# Strings that mark a missing value in any column: those of pandas and skrub, and dashes and dots.
MISSING = [
    "", "?", "??", "-", "--", ".", "..", "...", "NA", "N/A", "na", "n/a", "n.a.", "#N/A", "#NA", "#N/A N/A", "<NA>",
    "NaN", "nan", "-nan", "-NaN", "NaT", "NULL", "null", "#NULL!", "None", "none", "1.#QNAN", "-1.#QNAN", "1.#IND",
    "-1.#IND", "#DIV/0!", "#VALUE!", "#REF!",
]  # fmt: skip
# Numbers with a decimal comma, and with commas between thousands, that can be nothing else.
DECIMAL_COMMA = r"^[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,})|0,\d+)$"
THOUSANDS = r"^[+-]?\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})$"
SPACES = r"[\s'\u{2019}]"  # marks of thousands that can be nothing else
SPACED = rf"^[+-]?\d{{1,3}}(?:{SPACES}\d{{3}})+(?:[.,]\d+)?$"
WHOLE = r"^([+-]?\d+)\.0+$"  # a whole number, written with a decimal point
TRUE, FALSE = r"(?i)^true$", r"(?i)^false$"  # the numbers 1 and 0

LEAST_DATE = 19_000_000.0  # a smaller number is no date, such as 19000101
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
TIME = r"(?:[T ,]+\d{1,2}:\d{2}.*)?"
CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
# Each form of a date, and how polars reads it after `_plain_date`; some are not read.
DATES = {
    rf"(?i)^\s*\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}{TIME}\s*$": ("%Y-%m-%d",),
    rf"(?i)^\s*\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}{TIME}\s*$": ("%d-%m-%Y", "%m-%d-%Y"),
    rf"(?i)^\s*\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2}}{TIME}\s*$": ("%d-%m-%y", "%m-%d-%y"),
    rf"(?i)^\s*{WEEKDAY}\d{{1,2}}(?:st|nd|rd|th)?[-/. ]*{MONTH}[-/,. ]*\d{{4}}{TIME}\s*$": ("%d-%b-%Y",),
    rf"(?i)^\s*{WEEKDAY}\d{{1,2}}(?:st|nd|rd|th)?[-/. ]*{MONTH}[-/,. ]*\d{{2}}{TIME}\s*$": ("%d-%b-%y",),
    rf"(?i)^\s*{WEEKDAY}{MONTH}[-/. ]+\d{{1,2}}(?:st|nd|rd|th)?[-/,. ]+\d{{4}}{TIME}\s*$": ("%b-%d-%Y",),
    rf"(?i)^\s*{WEEKDAY}{MONTH}\s+\d{{1,2}}\s+{CLOCK}(?:\s+[A-Z]{{2,4}})?\s+\d{{4}}\s*$": ("%b-%d-%Y",),
    r"^\s*(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T?\d{4}(?:\d{2})?Z?)?\s*$": ("%Y%m%d",),
    # Months and quarters, which are read as their first day.
    r"(?i)^\s*(?:19|20)\d{2}(?:[-/](?:0?[1-9]|1[0-2])|[-/ ]?Q[1-4])\s*$": ("%Y-%m",),
    r"(?i)^\s*(?:(?:0?[1-9]|1[0-2])[-/]|Q[1-4][-/ ]?)(?:19|20)\d{2}\s*$": ("%m-%Y",),
    rf"(?i)^\s*{MONTH}[-/,. ]+\d{{4}}\s*$": ("%b-%Y",),
    rf"(?i)^\s*{MONTH}[-/,.' ]+\d{{2}}\s*$": ("%b-%y",),
    # Weeks, months in other languages, and times of the day.
    r"(?i)^\s*(?:19|20)\d{2}[-/ ]?W(?:0?[1-9]|[1-4]\d|5[0-3])\s*$": (),
    rf"(?i)^\s*\d{{1,2}}\.?\s+(?:de\s+)?\p{{L}}{{3,12}}\.?,?\s+(?:de\s+)?(?:19|20)\d{{2}}{TIME}\s*$": (),
    rf"(?i)^\s*{CLOCK}\s*(?:[ap]\.?m\.?)?\s*$": (),
}


def as_strings(series: Series) -> Series:
    """Convert to strings without spaces around them. Missing values become null, and ``3.0`` becomes ``3``."""
    import polars as pl

    def strings(cells: Expr) -> Expr:
        stripped = cells.cast(pl.String).str.strip_chars()
        return pl.when(~stripped.is_in(MISSING)).then(stripped).str.replace(WHOLE, "$1")

    return _computed(series, strings)


def _computed(series: Series, expression: Callable[[Expr], Expr]) -> Series:
    """Return an expression of a column: for thousands of columns, one takes less time than its parts one by one."""
    import polars as pl

    return series.alias("cells").to_frame().select(expression(pl.col("cells"))).to_series().alias(series.name)


def with_numbers(frame: DataFrame, names: Collection[str]) -> DataFrame:
    """Return a table whose columns of strings that are all plain numbers, or missing, are numbers.

    All columns are converted at once: one at a time takes most of the time for a table of thousands of columns.
    """
    import polars as pl

    wanted = {*names}
    known = [name for name, kind in frame.schema.items() if kind == pl.String and name in wanted]
    numbers = _whole_numbers(frame, known, as_written=True)
    numbers |= _whole_numbers(frame, [name for name in known if name not in numbers], as_written=False)
    return frame.with_columns([*numbers.values()])


def _whole_numbers(frame: DataFrame, names: list[str], *, as_written: bool) -> dict[str, Series]:
    """Return the columns of strings that are all plain numbers or missing; as written, only empty cells are missing."""
    import polars as pl

    if not names:
        return {}
    strings = frame[names]
    if as_written:
        missing = strings.null_count()
    else:
        strings = strings.select(pl.all().str.strip_chars())
        missing = strings.select((pl.all().is_null() | pl.all().is_in(MISSING)).sum())
    numbers = strings.select(pl.all().cast(pl.Float64, strict=False))
    if not as_written:
        numbers = numbers.select(pl.all().fill_nan(None))
    unread, finite = numbers.null_count(), numbers.select(pl.all().is_finite().all())
    counts = zip(strings.columns, missing.row(0), unread.row(0), finite.row(0), strict=True)
    return {name: numbers[name] for name, own, other, is_plain in counts if own == other and is_plain}


def plain_numbers(columns: Sequence[Series]) -> list[NDArray[np.float64]] | None:
    """Return columns of numbers as arrays with NaN for missing ones; None if some may be dates, infinite or strings."""
    found = []
    for column in columns:
        if not column.dtype.is_numeric():
            return None
        values = column.to_numpy().astype(np.float64)
        if np.nanmax(np.abs(values), initial=0.0) >= LEAST_DATE:  # infinity too
            return None
        found.append(values)
    return found


def missing_words_of(
    frames: Sequence[DataFrame], read: Sequence[DataFrame], names: Sequence[str]
) -> dict[str, list[str]]:
    """Return the words by which columns mark a missing value, before and after `with_numbers` read them."""
    empty = [dict(zip(own.columns, own.null_count().row(0), strict=True)) for own in (*frames, *read)]

    def has_words(name: str) -> bool:
        """Return whether a cell that is written was read as missing, or may be: it is still a string."""
        is_read = all(own[name].dtype.is_numeric() for own in read)
        n_before, n_after = (sum(own[name] for own in part) for part in (empty[: len(frames)], empty[len(frames) :]))
        return not is_read or n_before != n_after

    return {name: missing_words([own[name] for own in frames]) if has_words(name) else [] for name in names}


def missing_words(columns: Sequence[Series]) -> list[str]:
    """Return the words by which columns mark a missing value, beside empty cells."""
    import polars as pl

    found: set[str] = set()
    for column in columns:
        if column.dtype == pl.String:
            found |= {word.strip() for word in {*column.to_list()} - {None}} & {*MISSING}
    return sorted(found - {""})


def as_numbers(series: Series) -> Series:
    """Convert to finite numbers, also those like 1.234,5 and 1,234.5, true and false; other values become null."""
    import polars as pl

    if series.dtype.is_temporal():
        return series.cast(pl.Null).cast(pl.Float64)
    if series.dtype == pl.Float64 and np.count_nonzero(~np.isfinite(series.to_numpy())) == series.null_count():
        return series
    numbers = series if series.dtype.is_numeric() else _written_plainly(series.cast(pl.String).str.strip_chars())
    numbers = numbers.cast(pl.Float64, strict=False)
    finite = numbers.is_finite()
    return numbers if finite.all() else numbers.set(~finite, None)


def _written_plainly(strings: Series) -> Series:
    """Return truth values as 1 and 0, and numbers with decimal points and without marks of thousands."""
    truth = strings.str.replace(TRUE, "1").str.replace(FALSE, "0")
    return _with_points(_without_spaces(truth))


def _without_spaces(strings: Series) -> Series:
    """Return numbers without the spaces and apostrophes between their thousands."""
    spaced = strings.str.contains(SPACED).fill_null(False)
    return strings.zip_with(~spaced, strings.str.replace_all(SPACES, "")) if spaced.any() else strings


def _with_points(strings: Series) -> Series:
    """Return numbers with decimal commas or marked thousands in plain notation, unless it may be either: 1,234."""
    import polars as pl

    if not strings.str.contains(",", literal=True).any():
        return strings
    decimal = strings.str.contains(DECIMAL_COMMA).fill_null(False)
    thousands = strings.str.contains(THOUSANDS).fill_null(False)
    commas = strings.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    points = strings.str.replace_all(",", "", literal=True)
    plain = pl.select(pl.when(decimal).then(commas).when(thousands).then(points).otherwise(strings)).to_series()
    return plain.alias(strings.name)


def without_codes(frame: DataFrame, codes: Mapping[str, Collection[str]]) -> DataFrame:
    """Empty the cells of each column that hold one of its codes for a missing value."""
    return frame.with_columns(
        [
            frame[name].set(_holds(frame[name], own), None)
            for name, own in codes.items()
            if own and name in frame.columns
        ]
    )


def _holds(series: Series, codes: Collection[str]) -> Series:
    """Return which cells hold one of some codes: numbers by their value, other codes as they are written."""
    import polars as pl

    written = series.cast(pl.String).str.strip_chars()
    numbers = as_numbers(pl.Series([*codes]))
    return (written.is_in([*codes]) | as_numbers(series).is_in(numbers.drop_nulls().to_list())).fill_null(False)


def date_format(strings: Series, share: float) -> str | None:
    """Return the format of dates, if more than a share of the strings are dates; "" for dates of no one format."""
    import polars as pl

    least, n_dates = share * len(strings), 0
    forms = [pl.col("cells").str.contains(form).sum().alias(form) for form in DATES]
    counts = strings.alias("cells").to_frame().select(forms).row(0)
    for n_own, formats in zip(counts, DATES.values(), strict=True):
        n_dates += n_own
        if n_own > least:
            read = {own: int(_parsed(strings, own).is_not_null().sum()) for own in formats}
            best = max(read, key=lambda own: read[own], default="")
            return best if read.get(best, 0) > least else ""
    return "" if n_dates > least else None


def as_days(series: Series, form: str) -> Series:
    """Convert dates to days since the beginning of 1970, those with a type of their own or written in a format."""
    import polars as pl

    dates = series.cast(pl.Date) if series.dtype.is_temporal() else _parsed(series.cast(pl.String), form)
    return dates.cast(pl.Int32).cast(pl.Float64)


def _parsed(strings: Series, form: str) -> Series:
    import polars as pl

    plain, form = _plain_date(strings), form or "%Y-%m-%d"
    if "%d" not in form:  # a month or a quarter
        plain, form = plain.str.replace("$", "-01"), f"{form}-%d"
    return plain.str.to_date(form, strict=False).cast(pl.Date)


def _plain_date(strings: Series) -> Series:
    """Return dates without weekdays and times, with dashes between their parts."""
    plain = strings.str.strip_chars().str.replace(rf"(?i)^{WEEKDAY}", "")
    plain = plain.str.replace(r"^(\d{8})T?\d{4,6}Z?$", "$1")
    plain = plain.str.replace(rf"\s+{CLOCK}(?:\s+[A-Z]{{2,4}})?(\s+\d{{4}})$", "$1")
    plain = plain.str.replace(r"(?i)[T ,]+\d{1,2}:\d{2}.*$", "").str.replace(r"(?i)(\d)(?:st|nd|rd|th)\b", "$1")
    plain = plain.str.replace_all(r"(?i)(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*", "-$1-")
    for quarter in range(1, 5):  # by its first month
        plain = plain.str.replace(rf"(?i)^(\d{{4}})[-/ ]?Q{quarter}$", f"${{1}}-{3 * quarter - 2}")
        plain = plain.str.replace(rf"(?i)^Q{quarter}[-/ ]?(\d{{4}})$", f"{3 * quarter - 2}-$1")
    return plain.str.replace_all(r"[-/,.' ]+", "-").str.strip_chars("-")
