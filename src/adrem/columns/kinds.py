"""Infer the kind of each column of two tables: numbers, text, categories, or not to be learnt from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from adrem.exceptions import InvalidDataError, ParameterError

if TYPE_CHECKING:
    from polars import DataFrame, Series

Kind = Literal["number", "text", "category", "identifier", "constant"]
LEARNT: tuple[Kind, ...] = ("number", "text", "category")
# A column of strings is text if its values have at least this many words on average.
TEXT_WORDS = 4.0
# Otherwise it is an identifier if more than MOST of its values are distinct in both files, and there are more than FEW.
MOST = 0.9
FEW = 20
DATE = r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T]\d{1,2}:\d{2}.*)?\s*$"
# Amounts with a unit, or numbers in another notation.
AMOUNT = r"^\s*([$€£¥%]|[A-Z]{3})?\s*-?\d[\d.,' ]*\s*([$€£¥%]|[A-Z]{3})?\s*$"
NUMBER_HINT = "; if they are numbers, write them as 1234.5"
SAMPLE = 10_000
# Strings that mean a missing value.
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-"]


@dataclass(frozen=True)
class Column:
    """A column: its name, its kind, the reason, and a doubt if there is one."""

    name: str
    kind: Kind
    reason: str
    doubt: str = ""

    @property
    def is_learnt(self) -> bool:
        return self.kind in LEARNT


@dataclass(frozen=True)
class Columns:
    """The columns of two tables: the shared ones with their kinds, and those of only one table."""

    shared: list[Column]
    only_source: list[str]
    only_target: list[str]

    def of_kind(self, kind: Kind) -> list[str]:
        return [column.name for column in self.shared if column.kind == kind]


def infer_kinds(
    source: DataFrame, target: DataFrame, *, text: Collection[str] = (), left_out: Collection[str] = ()
) -> Columns:
    """Decide the kind of each shared column; those in `text` are text, those in `left_out` are ignored."""
    shared = [name for name in source.columns if name in target.columns]
    for name in text:
        if name not in shared:
            raise ParameterError(f"Column {name!r} is not in both files; both have {shared}.", "text")
    names = [name for name in shared if name not in left_out]
    columns = [
        Column(name, "text", "as requested") if name in text else _kind_of(source[name], target[name]) for name in names
    ]
    if not any(column.is_learnt for column in columns):
        raise InvalidDataError(
            "\n  ".join(
                [
                    f"There is no column to learn from. The source has {source.columns}, the target {target.columns}.",
                    *(f"{column.name!r} is {column.kind}: {column.reason}." for column in columns),
                ]
            )
        )
    return Columns(columns, _only(source, target, left_out), _only(target, source, left_out))


def _only(frame: DataFrame, other: DataFrame, left_out: Collection[str]) -> list[str]:
    return [name for name in frame.columns if name not in other.columns and name not in left_out]


def _kind_of(source: Series, target: Series) -> Column:
    name = source.name
    _check_type(source, target)
    values = [as_strings(series).drop_nulls() for series in (source, target)]
    n_values = sum(map(len, values))
    if not n_values:
        return Column(name, "constant", "no values")
    numbers = [as_numbers(series) for series in (source, target)]
    n_numbers = sum(len(series) - series.null_count() for series in numbers)
    if n_numbers > MOST * n_values:
        return _kind_of_numbers(name, numbers, n_values - n_numbers)
    column = _kind_of_strings(name, values)
    return replace(column, doubt=_doubt(numbers, values, column)) if column.kind == "category" else column


def _check_type(source: Series, target: Series) -> None:
    """Raise an error for columns of dates, lists, structures or bytes."""
    import polars as pl

    types = [series.dtype for series in (source, target) if series.null_count() < series.len()]
    if any(kind.is_temporal() for kind in types):
        raise _dates(source.name)
    if any(kind.is_nested() or kind == pl.Binary for kind in types):
        raise ParameterError(
            f"Column {source.name!r} holds {types[0]}: flatten it, or name it in left_out.", "left_out"
        )


def _kind_of_numbers(name: str, numbers: list[Series], n_others: int) -> Column:
    import polars as pl

    if pl.concat(numbers).drop_nulls().n_unique() < 2:
        return Column(name, "constant", "one value")
    if all(map(_counts_rows, numbers)):
        return Column(name, "identifier", "row numbers")
    return Column(name, "number", f"{n_others} value(s) that are not numbers" if n_others else "numbers")


def _doubt(numbers: list[Series], values: list[Series], column: Column) -> str:
    """Return why a column of categories may be something else."""
    shares = [(own.len() - own.null_count()) / max(1, len(given)) for own, given in zip(numbers, values, strict=True)]
    if max(shares) > MOST and min(shares) <= MOST and all(map(len, values)):
        return "has numbers in only one file: write them as 1234.5 in both"
    if NUMBER_HINT in column.reason:
        return "looks like numbers in another notation: write them as 1234.5"
    if all(map(len, values)) and set(values[0].unique()).isdisjoint(values[1].unique()):
        return "the two files share none of its values"
    return ""


def _counts_rows(numbers: Series) -> bool:
    """Return whether each number is one more than the previous one."""
    return len(numbers) > FEW and bool((numbers.diff().slice(1) == 1).all(ignore_nulls=False))


def as_strings(series: Series) -> Series:
    """Convert to strings; those that mean a missing value become null."""
    import polars as pl

    strings = series.cast(pl.String)
    return strings.set(strings.str.strip_chars().is_in(MISSING), None)


def as_numbers(series: Series) -> Series:
    """Convert to finite numbers; other values become null."""
    import polars as pl

    numbers = series if series.dtype != pl.String else series.str.strip_chars()
    numbers = numbers.cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite(), None)


def _kind_of_strings(name: str, of_files: list[Series]) -> Column:
    import polars as pl

    values = pl.concat(of_files)
    sample = values.gather_every(max(1, len(values) // SAMPLE))
    if int(sample.str.contains(DATE).sum()) > MOST * len(sample):
        raise _dates(name)
    n_distinct = values.n_unique()
    if n_distinct < 2:
        return Column(name, "constant", "one value")
    words = int(sample.str.count_matches(r"\S+").sum()) / len(sample)
    if words >= TEXT_WORDS:
        return Column(name, "text", f"{words:.0f} words a row")
    numeric = n_distinct > FEW and int(sample.str.contains(AMOUNT).sum()) > MOST * len(sample)
    hint = NUMBER_HINT if numeric else ""
    if n_distinct > FEW and all(series.n_unique() > MOST * len(series) for series in of_files if len(series)):
        return Column(name, "identifier", f"{n_distinct} distinct values in {len(values)} rows{hint}")
    return Column(name, "category", f"{n_distinct} distinct values{hint}")


def _dates(name: str) -> ParameterError:
    return ParameterError(
        f"Column {name!r} holds dates, which can't be learnt from: turn them into numbers (a year, an age in days), "
        "or name the column in left_out.",
        "left_out",
    )
