"""Learn a recipe from two tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adrem.columns.blocks import plain_blocks
from adrem.columns.intervals import learn_edges
from adrem.columns.kinds import Column, Columns, common_values
from adrem.columns.recipe import ABSENT, OTHER, WEIGHT_BESIDE_TEXT, ColumnFindings, Recipe, floats_of, strings_of
from adrem.columns.terms import learn_terms
from adrem.columns.values import as_strings
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.preprocessing import JointStdScaler
from adrem.runtime.notices import NamingText
from adrem.types import Matrix

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.features.encoder import Encoder

# Missing values mean something else in the two domains if their shares differ by more than this, and by more than so
# many standard errors.
RATE_GAP, STANDARD_ERRORS = 0.1, 3.0
LARGEST_NUMBER = 1e100  # its square is computed


def make_recipe(
    columns: Columns,
    source: DataFrame,
    target: DataFrame,
    missing: Mapping[str, list[str]] | None = None,
    encoder: Encoder | None = None,
) -> tuple[Recipe, Matrix, Matrix, ColumnFindings]:
    """Learn a recipe from both tables, and apply it to them; findings are counted over both.

    The tables have no cells any more that hold one of the codes in `missing`, which the recipe keeps for others. The
    features of images, and with an `encoder` of texts, are made by it.
    """
    frames = (source, target)
    learnt = [column for column in columns.shared if column.is_learnt]
    findings = ColumnFindings(unmarked=_unmarked(learnt, frames))
    counted = columns.of_kind("text") if encoder is None else []
    texts = {name: learn_terms([*strings_of(source, name), *strings_of(target, name)]) for name in counted}
    recipe = _learn_cells(learnt, frames, findings.unmarked, beside_text=bool(texts))
    recipe.encoders = _encoders(columns, encoder)
    recipe.terms = {name: terms for name, (terms, _) in texts.items()}
    recipe.missing = {name: list(codes) for name, codes in (missing or {}).items() if name in recipe.columns}
    for name, (_, counts) in texts.items():
        findings.count_empty(name, counts)
    both = _joined(recipe, frames)
    rows = recipe.joined(both, [counts for _, counts in texts.values()], recipe.encoded(both, findings), findings)
    findings.unknown_values.clear()  # here they are rare values, which are counted as one
    if not rows.shape[1]:
        raise InvalidDataError(f"Neither file has a word to learn from in {', '.join(map(repr, texts))}.")
    recipe.centres = np.asarray(rows[:, : recipe.n_centred].mean(axis=0)).ravel()
    recipe.centres[-1:] = 0.0  # the constant is not centred
    recipe.scales = JointStdScaler().fit(rows).scale_
    recipe.scales[: recipe.n_beside_text] /= WEIGHT_BESIDE_TEXT
    scaled = recipe.scaled(rows)
    return recipe, scaled[: source.height], scaled[source.height :], findings


def _encoders(columns: Columns, encoder: Encoder | None) -> dict[str, Encoder]:
    """Return the encoder of each column of texts and images."""
    return {} if encoder is None else dict.fromkeys([*columns.of_kind("image"), *columns.of_kind("text")], encoder)


def _learn_cells(
    columns: list[Column], frames: tuple[DataFrame, DataFrame], unmarked: Collection[str], *, beside_text: bool
) -> Recipe:
    """Return a recipe of the columns of numbers and categories."""
    dates = {column.name: column.dates for column in columns if column.dates is not None}
    names = [column.name for column in columns if column.kind == "number"]
    numbers, indicated = _learn_numbers(names, frames, dates, unmarked)
    categories = {
        column.name: _learn_categories(column.name, frames, unmarked) for column in columns if column.kind == "category"
    }
    intervals: dict[str, list[float]] = {}
    if beside_text:
        intervals = {n: learn_edges(np.concatenate([floats_of(f, n, dates) for f in frames])) for n in names}
        numbers = {}
    return Recipe(numbers, indicated, categories, {}, dates=dates, intervals=intervals)


def _joined(recipe: Recipe, frames: tuple[DataFrame, DataFrame]) -> DataFrame:
    """Return the rows of both tables, with the columns of the recipe as numbers or strings."""
    import polars as pl

    def column(frame: DataFrame, name: str) -> Any:
        if name in recipe.numbers or name in recipe.intervals:
            return pl.Series(name, floats_of(frame, name, recipe.dates), nan_to_null=True)
        return as_strings(frame[name])

    names = recipe.columns
    return pl.concat([pl.DataFrame([column(frame, name) for name in names]) for frame in frames])


def _unmarked(columns: list[Column], frames: tuple[DataFrame, DataFrame]) -> dict[str, tuple[float, float]]:
    """Return the columns whose missing values tell the domains apart, with their shares in both."""
    found = {}
    alike = _missing_alike(columns, frames)
    for column in columns:
        if column.kind in ("text", "image") or column.name in alike:
            continue
        read = column.numbers if column.kind == "number" else as_strings
        shares = [read(frame[column.name]).null_count() / max(1, frame.height) for frame in frames]
        n_rows = [frame.height for frame in frames]
        middle = float(np.average(shares, weights=n_rows))
        error = np.sqrt(middle * (1.0 - middle) * sum(1.0 / n for n in n_rows))
        if abs(shares[0] - shares[1]) > max(RATE_GAP, STANDARD_ERRORS * error):
            found[column.name] = (shares[0], shares[1])
    return found


def _missing_alike(columns: list[Column], frames: tuple[DataFrame, DataFrame]) -> set[str]:
    """Return the columns of plain numbers of which about the same share is missing in both tables."""
    found: set[str] = set()
    for block in plain_blocks(*frames, [column.name for column in columns if column.kind == "number"]):
        shares = [np.isnan(own).mean(axis=1) for own in (block.source, block.target)]
        found |= {*block.named(np.abs(shares[0] - shares[1]) < RATE_GAP)}
    return found


def _medians(names: list[str], frames: tuple[DataFrame, DataFrame]) -> dict[str, float]:
    """Return the medians of the columns of plain numbers of which none is missing."""
    found: dict[str, float] = {}
    for block in plain_blocks(*frames, names):
        whole = np.asarray(~np.isnan(block.both).any(axis=1))
        found |= zip(block.named(whole), np.median(block.both[whole], axis=1).tolist(), strict=True)
    return found


def _learn_numbers(
    names: list[str], frames: tuple[DataFrame, DataFrame], dates: Mapping[str, str], unmarked: Collection[str]
) -> tuple[dict[str, float], list[str]]:
    """Return the median of each column, and the columns with missing values that are marked."""
    numbers, indicated = {}, []
    whole = _medians(names, frames)
    for name in names:
        if name in whole and name not in dates:
            numbers[name] = whole[name]
            continue
        given = np.concatenate([floats_of(frame, name, dates) for frame in frames])
        known = given[np.isfinite(given)]
        if np.abs(known).max(initial=0.0) > LARGEST_NUMBER:
            raise ParameterError(
                NamingText(
                    "Column {name!r} has values beyond {limit:g}: rescale it, or name it in {left_out}.",
                    name=name,
                    limit=LARGEST_NUMBER,
                ),
                "left_out",
            )
        numbers[name] = float(np.median(known)) if len(known) else 0.0
        if len(known) < len(given) and name not in unmarked:
            indicated.append(name)
    return numbers, indicated


def _learn_categories(name: str, frames: tuple[DataFrame, DataFrame], unmarked: Collection[str]) -> list[str]:
    """Return the values of a column, of many only the common ones; the others count as one."""
    values = [as_strings(frame[name]) for frame in frames]
    known = common_values(values)
    distinct = {value for own in values for value in own.drop_nulls().to_list()}
    others = [OTHER] if len(known) < len(distinct) else []
    absent = [ABSENT] if any(own.null_count() for own in values) and name not in unmarked else []
    return sorted({*known, *others, *absent})
