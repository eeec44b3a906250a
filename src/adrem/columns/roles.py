"""What each column of two tables is: numbers, text, categories, or nothing to learn from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from polars import DataFrame, Series

Kind = Literal["number", "text", "category", "identifier", "constant"]
LEARNT: tuple[Kind, ...] = ("number", "text", "category")
# A string column is text if its values have at least so many words on average.
WORDS = 4.0
# Of shorter strings, it is an identifier if its distinct values are more than this share of the rows of either file,
# and more than a handful.
UNIQUE = 0.9
FEW = 20
# A string column holds dates if nearly all of its values look like one.
DATE = r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T]\d{1,2}:\d{2}.*)?\s*$"
# And amounts with a sign of their unit, or in another way of writing numbers.
AMOUNT = r"^\s*([$€£¥%]|[A-Z]{3})?\s*-?\d[\d.,' ]*\s*([$€£¥%]|[A-Z]{3})?\s*$"
HINT = "; if they are numbers, write them as 1234.5"
SAMPLE = 10_000
# What stands for a missing value in a text file.
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-"]


@dataclass(frozen=True)
class Role:
    """A column, what it is taken for, and why, in a few words; and what makes that doubtful, if anything does."""

    column: str
    kind: Kind
    reason: str
    doubt: str = ""

    @property
    def is_learnt(self) -> bool:
        return self.kind in LEARNT


@dataclass(frozen=True)
class Roles:
    """All columns of two tables: those that both have, with their roles, and those that one of them has."""

    shared: list[Role]
    only_source: list[str]
    only_target: list[str]

    def of_kind(self, kind: Kind) -> list[str]:
        return [role.column for role in self.shared if role.kind == kind]


def assign_roles(
    source: DataFrame, target: DataFrame, *, text: Collection[str] = (), left_out: Collection[str] = ()
) -> Roles:
    """Decide what each column that both tables have is.

    Parameters
    ----------
    source, target : polars.DataFrame
        The two tables.
    text : collection of str
        Columns that are text, whatever they look like.
    left_out : collection of str
        Columns that are not looked at: the labels, row names, what the user wants dropped.

    Returns
    -------
    Roles
    """
    unknown = [name for name in text if name not in source.columns or name not in target.columns]
    if unknown:
        raise ValueError(f"There is no column {unknown[0]!r} in both files; both have {_shared(source, target)}.")
    names = [name for name in _shared(source, target) if name not in left_out]
    roles = [_role(source[name], target[name], name in text) for name in names]
    if not any(role.is_learnt for role in roles):
        taken = "; ".join(f"{role.column!r} is {role.kind}, {role.reason}" for role in roles)
        raise ValueError(
            f"There is no column to learn from. The source has {source.columns}, the target {target.columns}"
            + (f": {taken}." if taken else ".")
        )
    return Roles(
        roles,
        [name for name in source.columns if name not in target.columns and name not in left_out],
        [name for name in target.columns if name not in source.columns and name not in left_out],
    )


def _shared(source: DataFrame, target: DataFrame) -> list[str]:
    return [name for name in source.columns if name in target.columns]


def _role(source: Series, target: Series, is_text: bool) -> Role:
    import polars as pl

    name = source.name
    if is_text:
        return Role(name, "text", "as told")
    types = [series.dtype for series in (source, target) if series.null_count() < series.len()]
    if any(kind.is_temporal() for kind in types):
        raise _dates(name)
    if any(kind.is_nested() or kind == pl.Binary for kind in types):
        raise ValueError(f"Column {name!r} holds {types[0]}: flatten it, or leave it out by --drop {name}.")
    numbers = pl.concat([as_numbers(source), as_numbers(target)])
    values = [as_strings(series).drop_nulls() for series in (source, target)]
    n_values = sum(map(len, values))
    if not n_values:
        return Role(name, "constant", "no value at all")
    n_numbers = len(numbers) - numbers.null_count()
    if n_numbers > UNIQUE * n_values:
        if numbers.drop_nulls().n_unique() < 2:
            return Role(name, "constant", "one value")
        if all(_counts_rows(as_numbers(series)) for series in (source, target)):
            return Role(name, "identifier", "it counts the rows")
        odd = n_values - n_numbers
        return Role(name, "number", f"{odd} value(s) that are no numbers" if odd else "numbers")
    role = _role_of_strings(name, values)
    return replace(role, doubt=_doubt(source, target, values, role)) if role.kind == "category" else role


def _doubt(source: Series, target: Series, values: list[Series], role: Role) -> str:
    """Why a column that is taken for categories may be something else."""
    shares = [
        (own.len() - own.null_count()) / max(1, len(given))
        for own, given in zip(map(as_numbers, (source, target)), values, strict=True)
    ]
    if max(shares) > UNIQUE and min(shares) <= UNIQUE and all(map(len, values)):
        return "has numbers in one file, and not in the other: write them alike, as 1234.5"
    if HINT in role.reason:
        return "looks like numbers in another way of writing: write them as 1234.5"
    if all(map(len, values)) and set(values[0].unique()).isdisjoint(values[1].unique()):
        return "has no value that both files have"
    return ""


def _counts_rows(numbers: Series) -> bool:
    """Whether a column is the numbers of the rows: whole, and each one more than the one before."""
    return len(numbers) > FEW and bool((numbers.diff().slice(1) == 1).all(ignore_nulls=False))


def as_strings(series: Series) -> Series:
    """Values as they are written, without those that stand for a missing one."""
    import polars as pl

    strings = series.cast(pl.String)
    return strings.set(strings.str.strip_chars().is_in(MISSING), None)


def as_numbers(series: Series) -> Series:
    """Values as numbers; those that are none, or not finite, are missing."""
    import polars as pl

    numbers = series if series.dtype != pl.String else series.str.strip_chars()
    numbers = numbers.cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite(), None)


def _role_of_strings(name: str, of_files: list[Series]) -> Role:
    import polars as pl

    values = pl.concat(of_files)
    sample = values.gather_every(max(1, len(values) // SAMPLE))
    if int(sample.str.contains(DATE).sum()) > UNIQUE * len(sample):
        raise _dates(name)
    n_distinct = values.n_unique()
    if n_distinct < 2:
        return Role(name, "constant", "one value")
    words = int(sample.str.count_matches(r"\S+").sum()) / len(sample)
    if words >= WORDS:
        return Role(name, "text", f"{words:.0f} words a row")
    numeric = n_distinct > FEW and int(sample.str.contains(AMOUNT).sum()) > UNIQUE * len(sample)
    hint = HINT if numeric else ""
    if n_distinct > FEW and all(series.n_unique() > UNIQUE * len(series) for series in of_files if len(series)):
        return Role(name, "identifier", f"{n_distinct} distinct values in {len(values)} rows{hint}")
    return Role(name, "category", f"{n_distinct} distinct values{hint}")


def _dates(name: str) -> ValueError:
    return ValueError(
        f"Column {name!r} holds dates, which say nothing as they are: make numbers of them (a year, an age in days), "
        f"or leave the column out by --drop {name}."
    )
