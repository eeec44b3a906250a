"""Tests of columns that tell the domains apart, or that give the label away."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from adrem.columns import FileTable, make_pair
from adrem.columns.pair import Pair

N = 100
RNG = np.random.RandomState(0)
LABELS = RNG.randint(0, 2, 2 * N)
# Codes that are the labels in the first table, and mean nothing in the second.
LEAK = np.where(np.arange(2 * N) < N, LABELS, RNG.randint(0, 2, 2 * N))


def pair_of(column: Any, **options: Any) -> Pair:
    """A pair of two tables with three innocent columns, and one more."""
    rng = np.random.RandomState(1)  # the same whatever tests ran before
    columns = {f"n{k}": rng.normal(size=2 * N) + 1.5 * LABELS for k in range(3)}
    frame = pl.DataFrame({**columns, "odd": column, "label": LABELS})
    parts = frame[:N], frame[N:].drop("label")
    return make_pair(
        *(FileTable(name, "", own) for name, own in zip(("a", "b"), parts, strict=True)), label="label", **options
    )


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (np.arange(2 * N) + RNG.normal(size=2 * N) + 50.0 * (np.arange(2 * N) >= N), "its median is"),
        (np.where(np.arange(2 * N) < N, "north", "south").tolist(), "any of the values: 'north' in a; 'south' in b"),
        (np.where(LEAK == 1, "good", "bad").tolist(), "give the label away"),
        (np.where(LEAK == 1, 7.0, 2.0) + RNG.normal(size=2 * N) / 10, "give the label away"),
        (np.where(np.arange(2 * N) < N, LABELS, 1).tolist(), "give the label away"),
        ((2 * RNG.randint(0, 3, 2 * N) + (np.arange(2 * N) >= N)).tolist(), "share hardly any of the values"),
        ([1.5 * k if k < N or k % 20 == 0 else None for k in range(2 * N)], "most of the values are missing in b"),
    ],
)
def test_misleading_columns_are_left_out_unless_named(column: Any, said: str) -> None:
    pair = pair_of(column)
    assert pair.feature_names == ["n0", "n1", "n2", "(constant)"]
    assert any("'odd' is left out:" in note and said in note for note in pair.notes)
    kind = "categorical" if isinstance(column, list) and isinstance(column[0], str) else "numeric"
    assert any("odd" in name for name in pair_of(column, **{kind: ["odd"]}).feature_names)


@pytest.mark.parametrize("column", [RNG.normal(size=2 * N) + 2.0 * LABELS, [f"{k % 4}x" for k in range(2 * N)]])
def test_honest_columns_stay(column: Any) -> None:
    assert any("odd" in name for name in pair_of(column).feature_names)


@pytest.mark.parametrize(
    "column",
    [np.where(LABELS == 1, "good", "bad").tolist(), np.where(LABELS == 1, 7.0, 2.0) + RNG.normal(size=2 * N) / 10],
)
def test_column_that_gives_the_label_away_stays_if_others_confirm_it(column: Any) -> None:
    pair = pair_of(column)
    assert any("odd" in name for name in pair.feature_names)
    assert any("'odd'" in note and "the other columns confirm them" in note for note in pair.notes)


def test_columns_stay_if_most_tell_the_domains_apart() -> None:
    shift = np.repeat([0.0, 50.0], N)
    frame = pl.DataFrame({f"n{k}": RNG.normal(size=2 * N) + LABELS + shift for k in range(3)})
    source, target = frame[:N].with_columns(label=pl.Series(LABELS[:N])), frame[N:]
    pair = make_pair(FileTable("a", "", source), FileTable("b", "", target), label="label")
    assert pair.feature_names[:3] == ["n0", "n1", "n2"]
    assert sum("tells the two files apart" in note for note in pair.notes) == 3


def test_categories_of_one_file_are_left_out_however_many_there_are() -> None:
    site = np.repeat(["Basel", "Bern"], N)
    sex = np.where(LABELS == 1, "m", "f").astype(object)
    sex[::7] = "f"
    sex[N:] = np.char.upper(sex[N:].astype(str))
    frame = pl.DataFrame({"n": RNG.normal(size=2 * N) + LABELS, "site": site, "sex": sex.tolist(), "label": LABELS})
    pair = make_pair(FileTable("a", "", frame[:N]), FileTable("b", "", frame[N:].drop("label")), label="label")
    assert pair.feature_names == ["n", "(constant)"]
    assert sum("share hardly any of the values" in note for note in pair.notes) == 2
    only = frame.drop("n")
    pair = make_pair(FileTable("a", "", only[:N]), FileTable("b", "", only[N:].drop("label")), label="label")
    assert "sex = M" in pair.feature_names  # there is nothing else to learn from, and that is said
    assert sum("but the two files share hardly any of the values" in note for note in pair.notes) == 2


@pytest.mark.parametrize(("known", "said"), [(LABELS, "the other columns confirm"), (LEAK, "do not confirm")])
def test_named_column_that_gives_the_label_away_is_noticed(known: np.ndarray, said: str) -> None:
    pair = pair_of(np.where(known == 1, 7.0, 2.0), numeric=["odd"])
    assert "odd" in pair.feature_names
    assert any("'odd' is treated as numbers" in note and said in note for note in pair.notes)
