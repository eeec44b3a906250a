"""Columns that would mislead a classifier: those that tell the domains apart, and those that give the label away."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.columns.blocks import plain_blocks
from adrem.columns.harmless import are_filled, are_mixed, keep_the_label, share_values
from adrem.columns.kinds import Column, Columns
from adrem.columns.leaks import confirmed
from adrem.columns.values import as_strings, plain_numbers
from adrem.runtime.text import without_middle

if TYPE_CHECKING:
    from polars import DataFrame, Series

# Numbers tell the domains apart if at least this share of the pairs of a source row and a target row are in one order.
# Categories and few different numbers do so if the shares of their values overlap by at most the rest. With fewer rows
# this may be chance.
APART = 0.995
LEAST_ROWS = 20
# Such numbers are left out if they are at most this part of the columns: otherwise that is how the domains differ. Such
# categories are always left out, because what is learnt from one value says nothing about another.
FEW_OF_ALL = 0.25
MOST_LISTED, MOST_LETTERS = 3, 20  # values of a column
# A column that is empty in more than this share of the rows of one file, and in less than half of that in the other.
EMPTY = 0.8
# A column gives the label away if it alone labels at least this share of the source, with at most this part of the
# errors of the most common class, and has at least this number of rows for each of its values, and of labelled rows.
GIVEN_AWAY, PART_OF_ERRORS, ROWS_PER_VALUE, MIN_LABELLED = 0.995, 0.05, 5, 50

GIVES_AWAY = "the values give the label away"
CONFIRMED = "its values give the label of the source away; the other columns confirm them in the target"
NOT_CONFIRMED = "its values give the label of the source away, and the other columns do not confirm them in the target"


def leave_out_suspects(
    columns: Columns,
    source: DataFrame,
    target: DataFrame,
    y: NDArray[Any],
    names: tuple[str, str],
    kept: Collection[str],
) -> Columns:
    """Leave columns out that would mislead a classifier, unless they are in `kept`; the reasons name the two files."""
    learnt, frames = [column for column in columns.shared if column.is_learnt], (source, target)
    labels = np.unique(y.astype(str), return_inverse=True)[1]
    harmless = _harmless(learnt, frames, labels)
    reasons: dict[str, str] = {}
    apart: dict[str, str] = {}
    for column in learnt:
        if column.name not in kept and column.name not in harmless and _has_values(column):
            _judge(column, _values_of(column, frames), labels, names, reasons, apart)
    doubts = _doubts(_with_reason(reasons, GIVES_AWAY), learnt, frames, y, kept)
    reasons = {name: reason for name, reason in reasons.items() if name not in doubts}
    if len(apart) <= max(1.0, FEW_OF_ALL * len(learnt)):
        reasons, apart = reasons | apart, {}
    if len(reasons) == len(learnt):  # something has to be learnt from
        reasons, apart = {}, reasons
    return replace(columns, shared=[_changed(column, reasons, doubts | apart) for column in columns.shared])


def _harmless(columns: list[Column], frames: tuple[DataFrame, DataFrame], labels: NDArray[np.intp]) -> set[str]:
    """Return the columns of plain numbers of which `_judge` finds nothing for certain; it looks at the others."""
    found: set[str] = set()
    for block in plain_blocks(*frames, [own.name for own in columns if own.kind == "number" and not own.dates]):
        kept, n_values = keep_the_label(block.source, labels, given_away=GIVEN_AWAY, rows_per_value=ROWS_PER_VALUE)
        many = n_values * ROWS_PER_VALUE > sum(frame.height for frame in frames)
        alike = are_mixed(block, APART) & (many | share_values(block, APART))
        found |= {*block.named(kept & alike & are_filled(block, EMPTY))}
    return found


def _doubts(
    leaks: list[str],
    columns: list[Column],
    frames: tuple[DataFrame, DataFrame],
    y: NDArray[Any],
    kept: Collection[str],
) -> dict[str, str]:
    """Return what is said of columns that give the label away and are used: those in `kept`, and those confirmed."""
    labels = np.unique(y.astype(str), return_inverse=True)[1]
    with_values = [column for column in columns if _has_values(column)]
    wanted = [column for column in with_values if column.name in kept]
    asked = [column.name for column in wanted if _gives_away(_values_of(column, frames)[0], labels)]
    if not leaks and not asked:
        return {}
    sure = confirmed([*leaks, *asked], {own.name: _values_of(own, frames) for own in with_values}, y)
    return dict.fromkeys(asked, NOT_CONFIRMED) | dict.fromkeys(sure, CONFIRMED)


def _has_values(column: Column) -> bool:
    """Return whether a column is judged by its values: those of text and of images are not."""
    return column.kind not in ("text", "image")


def _values_of(column: Column, frames: tuple[DataFrame, DataFrame]) -> list[NDArray[Any]]:
    """Return the values of a column in both tables."""
    return [_values(column, frame[column.name]) for frame in frames]


def _with_reason(reasons: dict[str, str], reason: str) -> list[str]:
    return [name for name, own in reasons.items() if own == reason]


def _judge(
    column: Column,
    pair: list[NDArray[Any]],
    labels: NDArray[np.intp],
    names: tuple[str, str],
    reasons: dict[str, str],
    apart: dict[str, str],
) -> None:
    """Add the reason to leave a column out, or how it tells the domains apart."""
    reason = _gives_away(pair[0], labels) or _is_empty(pair, names)
    difference = "" if reason else _tells_apart(pair, names)
    if reason or (difference and column.kind == "category"):
        reasons[column.name] = reason or difference
    elif difference:
        apart[column.name] = difference


def _changed(column: Column, reasons: dict[str, str], apart: dict[str, str]) -> Column:
    if column.name in reasons:
        return replace(column, kind="left out", reason=reasons[column.name])
    return replace(column, doubt=apart.get(column.name, column.doubt))


def _values(column: Column, series: Series) -> NDArray[Any]:
    """Return the filled cells as numbers, NaN for empty ones, or as strings, None for empty ones."""
    if column.kind == "number":
        plain = None if column.dates else plain_numbers((series,))
        if plain is not None:
            return plain[0]
        return column.numbers(series).fill_null(float("nan")).to_numpy()
    return as_strings(series).to_numpy().astype(object)


def _filled(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype == object:
        return np.array([value is not None for value in values], dtype=bool)
    return np.asarray(np.isfinite(values))


def _is_empty(pair: list[NDArray[Any]], names: tuple[str, str]) -> str:
    """Return that a column is nearly empty in one of the files, "" if it is not."""
    shares = [1.0 - float(_filled(own).mean()) for own in pair]
    most = int(np.argmax(shares))
    if min(map(len, pair)) < LEAST_ROWS or shares[most] <= EMPTY or shares[1 - most] >= EMPTY / 2:
        return ""
    return f"most of the values are missing in {names[most]}"


def _tells_apart(pair: list[NDArray[Any]], names: tuple[str, str]) -> str:
    """Return how a column tells the two files apart, "" if it does not."""
    first, second = (own[_filled(own)] for own in pair)
    if min(len(first), len(second)) < LEAST_ROWS:
        return ""
    if first.dtype == object:
        return _shares_nothing(first, second, names)
    order = np.sort(second)
    below = (np.searchsorted(order, first, "left") + np.searchsorted(order, first, "right")).mean() / (2 * len(second))
    if max(below, 1.0 - below) < APART:
        few = len(np.unique(np.concatenate([first, second]))) * ROWS_PER_VALUE <= len(first) + len(second)
        return _shares_nothing(first, second, names) if few else ""
    means = [f"{np.median(own):g} in {name}" for own, name in zip((first, second), names, strict=True)]
    return f"it tells the two files apart: its median is {' and '.join(means)}"


def _shares_nothing(first: NDArray[Any], second: NDArray[Any], names: tuple[str, str]) -> str:
    """Return that two files share hardly any value of a column, with the most common ones, "" if they do."""
    both = np.concatenate([first, second])
    known, codes = np.unique(both.astype(str) if both.dtype == object else both, return_inverse=True)
    parts = codes[: len(first)], codes[len(first) :]
    shares = [np.bincount(part, minlength=len(known)) / len(part) for part in parts]
    if float(np.minimum(*shares).sum()) > 1.0 - APART:
        return ""
    listed = [f"{_most_common(known, own)} in {name}" for own, name in zip(shares, names, strict=True)]
    return f"the two files share hardly any of the values: {'; '.join(listed)}"


def _most_common(known: NDArray[Any], shares: NDArray[np.float64]) -> str:
    order = np.argsort(-shares, kind="stable")[: min(MOST_LISTED, np.count_nonzero(shares))]
    more = ", ..." if np.count_nonzero(shares) > MOST_LISTED else ""
    listed = [without_middle(str(value).removesuffix(".0"), MOST_LETTERS) for value in known[order]]
    return ", ".join(map(repr, listed)) + more


def _gives_away(values: NDArray[Any], y: NDArray[np.intp]) -> str:
    """Return how a column gives the label away, as numbers from 0 up; "" if it does not."""
    filled = _filled(values)
    values, labels = values[filled], np.unique(y[filled], return_inverse=True)[1]
    if len(values) < MIN_LABELLED:
        return ""
    counts = np.bincount(labels)
    usual = 1.0 - counts.max() / len(labels)
    least = max(GIVEN_AWAY, 1.0 - PART_OF_ERRORS * usual)
    if len(counts) < 2 or usual == 0.0:
        return ""
    known, codes = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)
    if len(known) * ROWS_PER_VALUE <= len(values):
        table = np.zeros((len(known), len(counts)))
        np.add.at(table, (codes, labels), 1.0)
        right = float(table.max(axis=1).sum()) / len(values)
        return GIVES_AWAY if right >= least else ""
    if values.dtype == object:
        return ""
    if not _may_split(values, labels, len(counts), least):
        return ""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_leaf_nodes=len(counts), random_state=0).fit(values[:, None], labels)
    return GIVES_AWAY if tree.score(values[:, None], labels) >= least else ""


def _may_split(values: NDArray[Any], labels: NDArray[np.intp], n_parts: int, least: float) -> bool:
    """Return whether so many intervals may label a share of the rows: each row that is wrong ends two runs at most.

    Rows of equal values count in the order that has the fewest runs.
    """
    order = np.lexsort((labels, values))
    n_changes = int(np.count_nonzero(np.diff(labels[order])))
    n_ties = len(values) - len(np.unique(values))
    n_wrong = (n_changes - (n_parts - 1) - n_ties) / 2
    return n_wrong <= (1.0 - least) * len(values)
