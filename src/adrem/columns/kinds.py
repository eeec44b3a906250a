"""Infer the kind of each column of two tables: numbers, text, categories, or not to be learnt from."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from adrem.columns.blocks import sure_numbers
from adrem.columns.names import describe_columns
from adrem.columns.values import as_days, as_numbers, as_strings, date_format, plain_numbers
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.runtime.notices import NamingText
from adrem.runtime.text import some_names

if TYPE_CHECKING:
    from polars import DataFrame, Series

Kind = Literal["number", "text", "category", "date", "identifier", "constant", "left out", "image"]
LEARNT: tuple[Kind, ...] = ("number", "text", "category", "image")
# A column of strings is text if its values have at least this many words on average.
TEXT_WORDS = 4.0
# Short texts are names if less than this part of them is distinct in a file, with enough rows to tell.
NAME_WORDS, NAMES_REPEAT, LEAST_NAMES = 20.0, 0.98, 100
# Otherwise it is an identifier if more than MOST of its values are distinct in both files, and there are more than FEW.
MOST = 0.9
FEW = 20
# Numbers that grow from row to row, all with the same number of digits and at least this many, are identifiers too.
MIN_DIGITS = 4
# So are whole numbers of which none repeats, where at least BY_CHANCE repetitions are expected by chance; and distinct
# ones that are evenly spread over all numbers with as many digits, by Kolmogorov's test at 5 % (EVEN is its bound), in
# at least EVEN_ROWS rows and with at least EVEN_DIGITS digits.
BY_CHANCE, EVEN_ROWS, EVEN_DIGITS, EVEN = 10, 200, 5, 1.36
IDENTIFIER = re.compile(r"(?:^|[_\-\s.])(?i:id|uuid|guid|key|index|nr|no|number)$|[a-z]I[dD]$")
# Of more than MANY_VALUES categories, only those are kept that are in both files and in at least LEAST_ROWS rows.
MANY_VALUES, LEAST_ROWS = 40, 5
# Amounts with a unit, or numbers in another notation.
AMOUNT = r"^\s*([$€£¥%]|[A-Z]{3})?\s*-?\d[\d.,' ]*\s*([$€£¥%]|[\p{L}°µ]{1,4}[²³]?)?\s*$"
NUMBER_HINT = "; if they are numbers, write them as 1234.5"
SAMPLE = 10_000
MOST_STRAYS = 3  # strings among numbers that are listed
# A column also has numbers if at least this part of the cells of each file are numbers, with more than FEW different
# values, and the others are at most FEW_WORDS different words.
HALF, FEW_WORDS = 0.5, 3
REQUESTED = "as requested"


@dataclass(frozen=True)
class Wishes:
    """The columns that were named: as text, numbers, categories or files of images, or to be left out."""

    text: Collection[str] = ()
    numeric: Collection[str] = ()
    categorical: Collection[str] = ()
    left_out: Collection[str] = ()
    images: Collection[str] = ()

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each named column."""
        return {
            **dict.fromkeys(self.text, "text"),
            **dict.fromkeys(self.numeric, "number"),
            **dict.fromkeys(self.categorical, "category"),
            **dict.fromkeys(self.images, "image"),
        }

    def check(self, shared: list[str]) -> None:
        """Raise an error for a column that is not in both tables, or has two kinds."""
        seen: set[str] = set()
        known = {*shared}
        for parameter, names in (("text", self.text), ("numeric", self.numeric), ("categorical", self.categorical)):
            for name in names:
                if name not in known:
                    described = describe_columns(shared, name, "Columns of both")
                    raise ParameterError(f"Column {name!r} is not in both files. {described}", parameter)
                if name in seen:
                    raise ParameterError(f"Column {name!r} is named as two kinds: choose one.", parameter)
            seen |= {*names}


@dataclass(frozen=True)
class Column:
    """A column: its name, its kind, the reason, and a doubt if there is one.

    `dates` is the format of its dates, "" if they have none that can be read, None for columns without dates.
    """

    name: str
    kind: Kind
    reason: str
    doubt: str = ""
    dates: str | None = None

    @property
    def is_learnt(self) -> bool:
        return self.kind in LEARNT

    def numbers(self, series: Series) -> Series:
        """Return the numbers of the column in a table, for dates their days."""
        return as_days(series, self.dates) if self.dates else as_numbers(series)


@dataclass(frozen=True)
class Columns:
    """The columns of two tables: the shared ones with their kinds, and those of only one table."""

    shared: list[Column]
    only_source: list[str]
    only_target: list[str]

    def of_kind(self, kind: Kind) -> list[str]:
        return [column.name for column in self.shared if column.kind == kind]


def infer_kinds(source: DataFrame, target: DataFrame, wishes: Wishes | None = None) -> Columns:
    """Decide the kind of each shared column; those that were named are what they were named."""
    wishes = wishes or Wishes()
    theirs, left_out = {*target.columns}, {*wishes.left_out}
    shared = [name for name in source.columns if name in theirs]
    wishes.check(shared)
    kinds = wishes.kinds
    used = [name for name in shared if name not in left_out]
    sure = sure_numbers(source, target, [name for name in used if name not in kinds], MOST, FEW)

    def column(name: str) -> Column:
        if name in sure:
            return Column(name, "number", "numbers")
        if name in kinds:
            return _as_requested(source[name], target[name], kinds[name])
        return _kind_of(source[name], target[name])

    columns = [column(name) for name in used]
    check_learnt(columns, source, target)
    return Columns(columns, _only(source, target, wishes.left_out), _only(target, source, wishes.left_out))


def check_learnt(columns: list[Column], source: DataFrame, target: DataFrame) -> None:
    """Raise an error if there is no column to learn from."""
    if any(column.is_learnt for column in columns):
        return
    names = [some_names(frame.columns) for frame in (source, target)]
    raise InvalidDataError(
        "\n  ".join(
            [
                f"There is no column to learn from. The source has {names[0]}, the target {names[1]}.",
                *(f"{column.name!r} is {column.kind}: {column.reason}." for column in columns),
            ]
        )
    )


def _only(frame: DataFrame, other: DataFrame, left_out: Collection[str]) -> list[str]:
    theirs = {*other.columns, *left_out}
    return [name for name in frame.columns if name not in theirs]


def _as_requested(source: Series, target: Series, kind: Kind) -> Column:
    name = source.name
    _check_type(source, target)
    if kind != "number":
        return Column(name, kind, REQUESTED)
    strings, dates = [as_strings(series).drop_nulls() for series in (source, target)], _dates_of(source, target)
    column = Column(name, "number", "numbers" if dates is None else "days since 1970", dates=dates)
    if dates == "":
        raise ParameterError(
            f"Column {name!r} holds dates or times that can't be read: write them as 2021-12-31, or as numbers.",
            "numeric",
        )
    numbers = [column.numbers(series) for series in (source, target)]
    if not sum(own.count() for own in numbers):
        raise ParameterError(
            f"Column {name!r} has no numbers: write them as 1234.5, or leave it out of those named.", "numeric"
        )
    return replace(column, reason=_with_strays(column.reason, strings, numbers))


def _kind_of(source: Series, target: Series) -> Column:
    _check_type(source, target)
    plain = plain_numbers((source, target))
    if plain is not None and not all(np.isnan(own).all() for own in plain):
        return _kind_of_plain(source.name, plain, [as_numbers(series) for series in (source, target)])
    return _kind_of_cells(source, target)


def _kind_of_cells(source: Series, target: Series) -> Column:
    """Return the kind of a column that may have dates and words."""
    name = source.name
    values = [as_strings(series).drop_nulls() for series in (source, target)]
    if not any(map(len, values)):
        return Column(name, "constant", "no values")
    dates = _dates_of(source, target)
    if dates is not None:
        return Column(name, "date", "dates, which are turned into days if they are named as numbers", dates=dates)
    return _kind_of_values(name, values, [as_numbers(series) for series in (source, target)])


def _kind_of_values(name: str, values: list[Series], numbers: list[Series]) -> Column:
    """Return the kind of a column of strings, some of which are numbers."""
    n_numbers = sum(series.count() for series in numbers)
    if n_numbers > MOST * sum(map(len, values)) or _are_numbers_and_words(numbers, values):
        return _kind_of_numbers(name, numbers, values)
    column = _kind_of_strings(name, values)
    return replace(column, doubt=_doubt(numbers, values, column)) if column.kind == "category" else column


def _kind_of_plain(name: str, plain: list[NDArray[np.float64]], numbers: list[Series]) -> Column:
    """Return the kind of a column that has numbers alone; most of them are broken or negative, or many repeat."""
    both = np.concatenate(plain)
    known = both[~np.isnan(both)]
    if np.ptp(known) > 0 and (known != np.round(known)).any() and not all(_are_steps(own) for own in plain):
        return Column(name, "number", "numbers")
    return _kind_of_numbers(name, numbers, [own.drop_nulls() for own in numbers])


def _are_steps(values: NDArray[np.float64]) -> bool:
    """Return whether each number is one more than the previous one."""
    return len(values) > FEW and bool((np.diff(values) == 1).all())


def _check_type(source: Series, target: Series) -> None:
    """Raise an error for columns of lists, structures or bytes."""
    forms = [own.dtype for own in (source, target) if own.null_count() < own.len() and not is_plain(own)]
    if forms:
        raise ParameterError(
            NamingText(
                "Column {name!r} holds {form}: flatten it, or name it in {left_out}.", name=source.name, form=forms[0]
            ),
            "left_out",
        )


def is_plain(series: Series) -> bool:
    """Return whether each cell of a column is one number, string, date or truth value."""
    import polars as pl

    return not (series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object))


def _dates_of(source: Series, target: Series) -> str | None:
    """Return the format of a column of dates, "" for dates without a format or of several; None for others."""
    import polars as pl

    filled = [series for series in (source, target) if series.null_count() < series.len()]
    if any(series.dtype.is_temporal() for series in filled):
        return "%Y-%m-%d" if all(series.dtype in (pl.Date, pl.Datetime) for series in filled) else ""
    strings = pl.concat([as_strings(series).drop_nulls() for series in filled]) if filled else pl.Series([""])
    return date_format(strings.gather_every(max(1, len(strings) // SAMPLE)), MOST)


def _kind_of_numbers(name: str, numbers: list[Series], values: list[Series]) -> Column:
    import polars as pl

    known = pl.concat(numbers).drop_nulls()
    if known.n_unique() < 2:
        return Column(name, "constant", "one value")
    if all(map(_counts_rows, numbers)):
        return Column(name, "identifier", "row numbers")
    if all(_are_identifiers(name, own.drop_nulls()) for own in numbers) or _are_drawn(known):
        reason = f"{known.n_unique()} distinct whole numbers in {len(known)} rows"
        return Column(name, "identifier", reason)
    return Column(name, "number", _with_strays("numbers", values, numbers))


def _are_numbers_and_words(numbers: list[Series], values: list[Series]) -> bool:
    """Return whether columns hold numbers, and a few words such as "pending" where one is missing."""
    import polars as pl

    if any(own.count() < HALF * len(given) for own, given in zip(numbers, values, strict=True)):
        return False
    return pl.concat(numbers).n_unique() > FEW and len(_strays(values)) <= FEW_WORDS


def _strays(values: list[Series]) -> list[str]:
    """Return the strings that are not numbers."""
    import polars as pl

    strings = pl.concat(values)
    strays: list[str] = strings.filter(as_numbers(strings).is_null()).unique(maintain_order=True).to_list()
    return strays


def _with_strays(reason: str, values: list[Series], numbers: list[Series]) -> str:
    """Return the reason, or how many cells are not numbers, and which."""
    n_others = sum(map(len, values)) - sum(series.count() for series in numbers)
    if n_others <= 0:
        return reason
    strays = _strays(values)
    listed = ", ".join(repr(stray if len(stray) <= FEW else f"{stray[:FEW]}...") for stray in strays[:MOST_STRAYS])
    more = ", ..." if len(strays) > MOST_STRAYS else ""
    return f"{n_others} value(s) that are not numbers ({listed}{more})"


def _are_identifiers(name: str, numbers: Series) -> bool:
    """Return whether numbers look like identifiers: by the name of the column, or by their form and order."""
    whole = len(numbers) > FEW and bool((numbers == numbers.round()).all())
    if not whole or numbers.n_unique() <= MOST * len(numbers):
        return False
    digits = numbers.abs().cast(int).cast(str).str.len_bytes()
    numbered = digits.n_unique() == 1 and digits[0] >= MIN_DIGITS and bool((numbers.diff().slice(1) > 0).all())
    return numbered or _never_repeat(numbers) or IDENTIFIER.search(name.strip()) is not None


def _never_repeat(numbers: Series) -> bool:
    """Return whether no number repeats, although some would be expected to by chance, for their number and range."""
    steps = numbers.sort().diff().slice(1)
    is_grid = steps.n_unique() == 1 and steps[0] > 1  # such as times of measurement
    span = float(steps.sum()) + 1.0
    return bool(numbers.n_unique() == len(numbers) and not is_grid and len(numbers) ** 2 > 2 * BY_CHANCE * span)


def _are_drawn(numbers: Series) -> bool:
    """Return whether numbers are distinct and evenly spread over all with as many digits, or with at most as many."""
    if len(numbers) < EVEN_ROWS or numbers.n_unique() < len(numbers) or not bool((numbers == numbers.round()).all()):
        return False
    ordered = numbers.sort().to_numpy()
    n_digits = len(str(int(ordered[-1])))
    if n_digits < EVEN_DIGITS or ordered[0] < 0:
        return False
    return any(_lie_evenly(ordered, least, 10.0**n_digits) for least in (0.0, 10.0 ** (n_digits - 1)))


def _lie_evenly(ordered: NDArray[np.float64], least: float, most: float) -> bool:
    """Return whether numbers are evenly spread between two bounds (Kolmogorov's test)."""
    places = (ordered - least) / (most - least)
    steps = np.arange(len(places) + 1) / len(places)
    return bool(max((steps[1:] - places).max(), (places - steps[:-1]).max()) < EVEN / np.sqrt(len(places)))


def _doubt(numbers: list[Series], values: list[Series], column: Column) -> str:
    """Return why a column of categories may be something else."""
    shares = [own.count() / max(1, len(given)) for own, given in zip(numbers, values, strict=True)]
    if max(shares) > MOST and min(shares) <= MOST and all(map(len, values)):
        return "has numbers in only one file: write them as 1234.5 in both"
    if NUMBER_HINT in column.reason:
        return "looks like numbers in another notation: write them as 1234.5"
    return ""


def _counts_rows(numbers: Series) -> bool:
    """Return whether each number is one more than the previous one."""
    return len(numbers) > FEW and bool((numbers.diff().slice(1) == 1).all(ignore_nulls=False))


def _kind_of_strings(name: str, of_files: list[Series]) -> Column:
    import polars as pl

    values = pl.concat(of_files)
    sample = values.gather_every(max(1, len(values) // SAMPLE))
    n_distinct = values.n_unique()
    if n_distinct < 2:
        return Column(name, "constant", "one value")
    words = int(sample.str.count_matches(r"\S+").sum()) / len(sample)
    if words >= TEXT_WORDS:
        return _kind_of_text(name, of_files, words)
    numeric = n_distinct > FEW and int(sample.str.contains(AMOUNT).sum()) > MOST * len(sample)
    hint = NUMBER_HINT if numeric else ""
    if n_distinct > FEW and all(series.n_unique() > MOST * len(series) for series in of_files if len(series)):
        return Column(name, "identifier", f"{n_distinct} distinct values in {len(values)} rows{hint}")
    if n_distinct > MANY_VALUES and all(map(len, of_files)):
        n_kept = len(common_values(of_files))
        if not n_kept:
            return Column(name, "identifier", f"none of its {n_distinct} values is common in both files{hint}")
        return Column(
            name, "category", f"{n_distinct} distinct values, of which {n_kept} are common in both files{hint}"
        )
    return Column(name, "category", f"{n_distinct} distinct values{hint}")


def _kind_of_text(name: str, of_files: list[Series], words: float) -> Column:
    if _are_names(of_files, words):
        return Column(name, "identifier", "names that repeat, and none of them is in both files")
    return Column(name, "text", f"{words:.0f} words a row")


def _are_names(of_files: list[Series], words: float) -> bool:
    """Return whether short texts are names, such as those of products: they repeat, and no name is in both files.

    Their words tell little about other names, and many of them tell the files apart.
    """
    repeat = any(own.n_unique() < NAMES_REPEAT * len(own) for own in of_files)
    if words > NAME_WORDS or not repeat or min(map(len, of_files)) < LEAST_NAMES:
        return False
    return set(of_files[0].unique()).isdisjoint(of_files[1].unique())


def common_values(of_files: list[Series]) -> list[str]:
    """Return the values of a column that are in both files and in enough rows; of few values, all."""
    import polars as pl

    counts = pl.concat(of_files).drop_nulls().rename("value").value_counts()
    if counts.height <= MANY_VALUES or not all(own.count() for own in of_files):
        return sorted(counts["value"].to_list())
    in_all = set.intersection(*(set(own.drop_nulls().to_list()) for own in of_files))
    frequent = counts.filter(pl.col("count") >= LEAST_ROWS)["value"].to_list()
    return sorted(in_all.intersection(frequent))
