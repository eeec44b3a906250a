"""What is asked of blocks of columns must be what is asked of each column."""

# ruff: noqa: ARG005 - all makers of columns have the same arguments

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from adrem.columns import make_pair
from adrem.columns.blocks import n_distinct_of, plain_blocks
from adrem.columns.reading import FileTable
from adrem.exceptions import AdremError

Column = Callable[[np.random.Generator, Any, int], Any]
# By its generator, the labels of the rows, and whether it is of the target.
COLUMNS: dict[str, Column] = {
    "numbers": lambda rng, y, side: rng.normal(size=len(y)).round(3) + side,
    "few": lambda rng, y, side: rng.integers(0, 5, len(y)),
    "whole": lambda rng, y, side: rng.integers(0, 1000, len(y)),
    "holes": lambda rng, y, side: np.where(rng.random(len(y)) < 0.2, np.nan, rng.random(len(y)).round(2)),
    "row numbers": lambda rng, y, side: np.arange(len(y)) + side * len(y),
    "broken row numbers": lambda rng, y, side: np.arange(len(y)) + 0.5,
    "label": lambda rng, y, side: y * 1.0 + (rng.random(len(y)) < 0.002),
    "label in intervals": lambda rng, y, side: y + 0.01 * rng.normal(size=len(y)),
    "apart": lambda rng, y, side: rng.normal(size=len(y)) + 20 * side,
    "nearly apart": lambda rng, y, side: rng.normal(size=len(y)) + 3.5 * side,
    "other values": lambda rng, y, side: rng.integers(0, 3, len(y)) + 3 * side,
    "empty in one": lambda rng, y, side: np.where(rng.random(len(y)) < 0.95 * side, np.nan, rng.random(len(y))),
    "codes": lambda rng, y, side: np.where(rng.random(len(y)) < 0.1, -9, rng.integers(1, 60, len(y))),
    "one value": lambda rng, y, side: np.full(len(y), 3.0),
    "identifiers": lambda rng, y, side: rng.permutation(len(y)) * 17 + 1000,
    "nothing": lambda rng, y, side: np.full(len(y), np.nan),
    "large": lambda rng, y, side: rng.normal(size=len(y)) * 1e9,
    "infinite": lambda rng, y, side: np.where(rng.random(len(y)) < 0.01, np.inf, rng.random(len(y))),
    "dates": lambda rng, y, side: rng.integers(20200101, 20200128, len(y)),
}


def tables(seed: int) -> tuple[FileTable, FileTable]:
    """Two tables of columns that are drawn, as numbers or as they are written."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice([*COLUMNS], rng.choice([1, 4, 12, 30]))
    n_classes, written = int(rng.choice([2, 3, 5])), rng.random() < 0.5
    made = []
    for side, n_rows in enumerate((int(rng.choice([30, 80, 300])), int(rng.choice([15, 100, 300])))):
        y = np.append(rng.integers(0, n_classes, n_rows - n_classes), np.arange(n_classes))
        values = {f"{name} {k}": COLUMNS[name](rng, y, side) for k, name in enumerate(chosen)}
        frame = pl.DataFrame({**values, "text": [("a b", "c d", "e")[k % 3] for k in y]}, nan_to_null=bool(seed % 2))
        frame = frame.select(pl.all().cast(pl.String)) if written else frame
        made.append(FileTable(f"{side}.csv", "", frame.with_columns(answer=pl.Series(y))))
    return made[0], made[1]


def result(pair: tuple[FileTable, FileTable]) -> list[object]:
    try:
        made = make_pair(*pair, label="answer")
    except AdremError as error:
        return [str(error)]
    assert made.recipe is not None
    rows = [np.asarray(X).tobytes() for X in (made.X_source, made.X_target)]
    return [*rows, made.feature_names, made.scales.tobytes(), [*map(str, made.notes)], made.recipe.to_dict()]


@pytest.mark.parametrize("seeds", [range(5), pytest.param(range(5, 60), marks=pytest.mark.thorough)])
def test_blocks_of_columns_are_used_as_columns_one_by_one(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    together = {seed: result(tables(seed)) for seed in seeds}
    for module in ("blocks", "codes", "learning", "suspects"):
        monkeypatch.setattr(f"adrem.columns.{module}.plain_blocks", lambda *_: ())
    assert together == {seed: result(tables(seed)) for seed in seeds}


def test_blocks_have_the_columns_that_are_plain_numbers_in_both_tables() -> None:
    source = pl.DataFrame({"a": [1, None], "b": ["1", "2"], "c": [1.5, np.nan], "d": [1e9, 0.0], "^e$": [1, 2]})
    target = source.with_columns(c=pl.lit(3), a=pl.lit(True)).rename({"d": "f"}).with_columns(d=pl.lit(0.0))
    [block] = plain_blocks(source, target, ["^e$", "b", "c", "d", "a"])
    assert block.names == ["^e$", "c"]  # the others are strings, too large, or truth values
    np.testing.assert_array_equal(block.both, [[1, 2, 1, 2], [1.5, np.nan, 3, 3]])


def test_distinct_numbers_are_counted_without_missing_ones() -> None:
    values = np.array([[1.0, np.nan, 1.0, 2.0], [np.nan] * 4, [0.0, -0.0, 0.0, 0.0], [3.0, 1.0, 2.0, 4.0]])
    assert n_distinct_of(values).tolist() == [2, 0, 1, 4]
