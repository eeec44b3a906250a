"""Find the codes by which a column marks a missing value, such as -9 or 999."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adrem.columns.blocks import plain_blocks
from adrem.columns.values import as_numbers, as_strings, plain_numbers

if TYPE_CHECKING:
    from polars import DataFrame, Series

# Numbers that are used as codes. Few nines above zero are common values too.
NEGATIVE_CODES = (-9.0, -99.0, -999.0, -9999.0, -99999.0, -8.0, -88.0, -888.0, -7.0, -77.0, -777.0)
POSITIVE_CODES = (99.0, 999.0, 9999.0, 99999.0, 999999.0, 888.0, 8888.0)
COMMON = (0.0, -1.0)  # codes that are common values too
CODES = (*NEGATIVE_CODES, *POSITIVE_CODES, *COMMON)
# A code is in at least this many rows, and the column holds at least this share of numbers.
LEAST_ROWS, LEAST_SHARE = 2, 0.9
# A common value is a code only in a column of many others, that far from the nearest one and from the median, in
# standard deviations as the middle 90 % of the values suggest them.
MANY, FROM_NEAREST, FROM_MEDIAN, MIDDLE = 20, 1.0, 3.0, 3.29
NONE = "none"


def find_codes(
    source: DataFrame, target: DataFrame, names: Collection[str], wanted: Collection[str] | None
) -> dict[str, list[str]]:
    """Return the codes for a missing value in each column: those that were named, else those that stand out."""
    if wanted is not None and [word.casefold() for word in wanted] == [NONE]:
        return {}
    if wanted is not None:
        return {name: list(wanted) for name in names}
    without = _without_candidates(source, target, names)
    numbers = {name: _numbers_of([source[name], target[name]]) for name in names if name not in without}
    found = _codes_in_numbers(numbers)
    return {name: [f"{code:g}" for code in codes] for name, codes in found.items() if codes}


def _without_candidates(source: DataFrame, target: DataFrame, names: Collection[str]) -> set[str]:
    """Return the columns of plain numbers in which no number may be a code."""
    found: set[str] = set()
    for block in plain_blocks(source, target, [*names]):
        may_be = np.asarray((block.both == np.round(block.both)).any(axis=1))  # codes are whole numbers
        may_be[may_be] = np.isin(block.both[may_be], CODES).any(axis=1)
        found |= {*block.named(~may_be)}
    return found


def _codes_in_numbers(numbers: dict[str, NDArray[np.float64]]) -> dict[str, list[float]]:
    """Return the codes of each column; a code of one column may be in another only once."""
    found = {name: _codes_of(values, CODES, LEAST_ROWS) for name, values in numbers.items()}
    known = {code for codes in found.values() for code in codes} - {*COMMON}
    return {name: sorted({*found[name], *_codes_of(values, known, 1)}) for name, values in numbers.items()}


def _codes_of(values: NDArray[np.float64], candidates: Collection[float], least: int) -> list[float]:
    """Return the numbers that are in enough rows and far from all others."""
    if not np.isin(values, [*candidates]).any():
        return []
    codes = [code for code in candidates if np.count_nonzero(values == code) >= least]
    others = values[~np.isin(values, codes)]
    return [code for code in codes if len(others) and _stands_out(code, others)]


def _numbers_of(columns: list[Series]) -> NDArray[np.float64]:
    """Return all numbers of a column in both tables, none if it is not a column of numbers."""
    plain = plain_numbers(columns)
    if plain is not None:
        both = np.concatenate(plain)
        return both[~np.isnan(both)]
    if any(column.dtype.is_temporal() or column.dtype.is_nested() for column in columns):
        return np.zeros(0)
    n_values = sum(as_strings(column).drop_nulls().len() for column in columns)
    values = np.concatenate([as_numbers(column).drop_nulls().to_numpy() for column in columns])
    return values if len(values) >= LEAST_SHARE * n_values else np.zeros(0)


def _stands_out(code: float, others: NDArray[np.float64]) -> bool:
    """Return whether a code is beyond all other values, and far from them."""
    low, high = float(others.min()), float(others.max())
    if low <= code <= high:
        return False
    tenth, middle, most = np.quantile(others, [0.05, 0.5, 0.95])
    nearest = low - code if code < low else code - high
    if code in COMMON:
        spread = float(most - tenth) / MIDDLE
        far = nearest > FROM_NEAREST * spread and abs(middle - code) > FROM_MEDIAN * spread
        return bool(far and len(np.unique(others)) > MANY)
    if code < 0:
        return low >= 0 or nearest > most - tenth
    return nearest > max(high - low, 1.0)
