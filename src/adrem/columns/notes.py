"""Notes on how the columns of two tables were used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adrem.columns.kinds import NUMBER_HINT, REQUESTED, Column, Columns
from adrem.columns.names import plain_name
from adrem.columns.reading import FileTable
from adrem.columns.recipe import ABSENT, OTHER, ColumnFindings, Recipe
from adrem.features.weights import model_name
from adrem.runtime.notices import NamingText
from adrem.runtime.text import MOST_NAMES, some_names

# How to use a column that was left out, by a word in the reason.
WAYS = {
    "whole numbers": "; to use it, list it in {numeric}",
    "names that repeat": "; to use it, list it in {text}",
}


def describe(
    columns: Columns,
    recipe: Recipe,
    findings: ColumnFindings,
    tables: tuple[FileTable, FileTable],
    codes: Mapping[str, Sequence[str]],
    words: Mapping[str, Sequence[str]],
) -> list[str]:
    """Describe how the columns were used; `codes` and `words` are those that were found to mark missing values."""
    marks = [f"{word!r} means missing in {some_names(names)}" for word, names in _by_value(words).items()]
    notes = [*marks, *_codes(codes), *_left_out(columns)]
    for column in columns.shared:
        if column.kind in ("text", "image"):
            notes.append(_text_or_image(column, recipe))
        elif column.is_learnt and column.doubt:
            form = "categories" if column.kind == "category" else "numbers"
            notes.append(f"column {column.name!r} is treated as {form}, but {column.doubt}")
        if OTHER in recipe.categories.get(column.name, ()):
            notes.append(_of_many_values(column, recipe.categories[column.name]))
    for kind, names in (("numbers", columns.of_kind("number")), ("categories", columns.of_kind("category"))):
        if names:
            notes.append(f"{kind}: {some_names(names)}")
    for table, names in zip(tables, (columns.only_source, columns.only_target), strict=True):
        if names:
            notes.append(f"only in {table.name}, left out: {some_names(names)}")
    return notes + _look_alikes(columns) + _gaps(columns, recipe, findings)


def _of_many_values(column: Column, kept: Sequence[str]) -> str:
    """Return the note on a category of which only some values have a feature of their own."""
    reason = column.reason.removesuffix(NUMBER_HINT)
    if reason == REQUESTED:
        reason = f"many values, of which {len({*kept} - {ABSENT, OTHER})} are common in both files"
    return f"column {column.name!r} has {reason}: the others count as one value"


def _text_or_image(column: Column, recipe: Recipe) -> str:
    """Return what was made of a column of texts or images."""
    what = "has images" if column.kind == "image" else f"is text ({column.reason})"
    encoder = recipe.encoders.get(column.name)
    if encoder is None:
        return f"column {column.name!r} {what}: {len(recipe.terms[column.name])} terms"
    return f"column {column.name!r} {what}: {encoder.n_features_out_} features by {model_name(encoder.model)}"


def cut_note(name: str, count: int, encoder: Any) -> str:
    """Return how many texts are longer than what an encoder read of them."""
    text = "{count} text(s) of {name!r} are longer than {most} tokens: the rest was not read; {chunks} reads all"
    return NamingText(text, count=count, name=name, most=encoder.n_tokens)


def _codes(codes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a note for each code that was taken for a missing value."""
    return [
        NamingText(
            "{code} means missing in {names}; if that is wrong, set {missing}, for example to none",
            code=code,
            names=some_names(names),
        )
        for code, names in _by_value(codes).items()
    ]


def _by_value(values: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the columns of each value."""
    found: dict[str, list[str]] = {}
    for name, own in values.items():
        for value in own:
            found.setdefault(value, []).append(name)
    return found


def _left_out(columns: Columns) -> list[str]:
    notes = _dates(columns)
    by_reason: dict[str, list[str]] = {}
    for column in columns.shared:
        if column.kind in ("identifier", "constant"):
            said = f"column {column.name!r} is left out: {column.kind}, {column.reason}"
            way = next((own for word, own in WAYS.items() if word in column.reason), "")
            notes.append(NamingText(f"{{said}}{way}", said=said))
        if column.kind == "left out":
            by_reason.setdefault(column.reason, []).append(column.name)
    return notes + [
        NamingText(
            "{names} left out: {reason}; to use {them}, list {them} in {numeric} or {categorical}",
            names=_are(names),
            them=_them(names),
            reason=reason,
        )
        for reason, names in by_reason.items()
    ]


def _dates(columns: Columns) -> list[str]:
    """Return what was done with columns of dates."""
    dates = [column for column in columns.shared if column.kind == "date"]
    ways = {
        "{names} left out: dates; name {them} in {numeric} to use {them} as days, or turn {them} into numbers": [
            column.name for column in dates if column.dates
        ],
        "{names} left out: dates or times that can't be read; to use {them}, write {them} as 2021-12-31, or as "
        "numbers": [column.name for column in dates if not column.dates],
    }
    return [NamingText(text, names=_are(names), them=_them(names)) for text, names in ways.items() if names]


def _are(names: Sequence[str]) -> str:
    return f"columns {some_names(names)} are" if len(names) > 1 else f"column {names[0]!r} is"


def _them(names: Sequence[str]) -> str:
    return "them" if len(names) > 1 else "it"


def _look_alikes(columns: Columns) -> list[str]:
    """Return notes on columns of the two files whose names differ only by case and spaces."""
    others = {plain_name(name): name for name in columns.only_target}
    return [
        f"{name!r} and {others[plain_name(name)]!r} look alike: use one name in both files"
        for name in columns.only_source
        if plain_name(name) in others
    ][:MOST_NAMES]


def _gaps(columns: Columns, recipe: Recipe, findings: ColumnFindings) -> list[str]:
    """Describe which values were missing, and how they were filled."""
    notes = [f"{count} text(s) of {name!r} have no word" for name, count in findings.without_words.items()]
    notes += [cut_note(name, count, recipe.encoders[name]) for name, count in findings.cut.items()]
    for name, count in list(findings.filled.items())[:MOST_NAMES]:
        marked = ", and marked" if name in recipe.indicated else ""
        notes.append(
            f"{count} missing value(s) of {name!r} were filled with the median {recipe.numbers[name]:g}{marked}"
        )
    if len(findings.filled) > MOST_NAMES:
        notes.append(f"missing values of {len(findings.filled) - MOST_NAMES} more columns were filled in the same way")
    if findings.unmarked:
        named = some_names([*findings.unmarked])
        notes.append(f"missing values of {named} are not marked, because their number tells the files apart")
    odd = [column for column in columns.shared if column.kind == "number" and "not numbers" in column.reason]
    return notes + [f"column {column.name!r} has {column.reason}: treated as missing" for column in odd[:MOST_NAMES]]
