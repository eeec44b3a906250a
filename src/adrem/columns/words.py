"""The words of a text that speak for its label: those without which the model is less sure of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.columns.recipe import strings_of
from adrem.columns.terms import WORD

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.columns.recipe import Recipe

SHOWN = 4
LEAST = 0.3  # of the effect of the strongest word
# Words of a text that are tried. A network has to read the text again without each of them.
MOST_WORDS, MOST_ENCODED = 300, 40
GAP = "leftoutword"  # in its place where words are counted, so that its neighbours become no pair


def speaking_words(
    model: Any, recipe: Recipe, frame: DataFrame, rows: Sequence[int], labels: Sequence[Any]
) -> dict[int, list[str]]:
    """Return the words that speak most for a label of each row, the strongest first.

    Each word is left out of the text, and the decision of the model is compared with that on the whole text. This
    holds for words and for encoders, and for models of all kinds.

    Parameters
    ----------
    model : estimator
        The adapted model.
    recipe : Recipe
        What makes the rows of the model.
    frame : polars.DataFrame
        The table.
    rows : sequence of int
        The rows to look at.
    labels : sequence
        The label of each of them.

    Returns
    -------
    dict of int to list of str
        The words of each row; none for a table without text.
    """
    gaps = {name: gap for name, gap in _gaps(recipe).items() if name in frame.columns}
    if not gaps or not len(rows):
        return {}
    most = MOST_ENCODED if recipe.encoders else MOST_WORDS
    shown = frame[list(rows)]
    words = [_words(texts, most) for texts in zip(*(strings_of(shown, name) for name in gaps), strict=True)]
    places = np.repeat(np.arange(len(rows)), [1 + len(own) for own in words])
    left_out = [word for own in words for word in ("", *own)]
    effects = _effects(model, recipe, _without(shown, gaps, places, left_out), places, labels)
    found = [_strongest(own, effects[places == place][1:]) for place, own in enumerate(words)]
    return dict(zip(rows, found, strict=True))


def _gaps(recipe: Recipe) -> dict[str, str]:
    """Return the columns of text, each with what stands in place of a word."""
    encoded = {name: " " for name, own in recipe.encoders.items() if own.kind == "text"}
    return {**dict.fromkeys(recipe.terms, f" {GAP} "), **encoded}


def _words(texts: Sequence[str | None], most: int) -> list[str]:
    """Return the different words of some texts in order, in small letters."""
    found = (word.lower() for text in texts for word in re.findall(WORD, text or ""))
    return list(dict.fromkeys(found))[:most]


def _without(frame: DataFrame, gaps: dict[str, str], places: NDArray[np.intp], left_out: list[str]) -> DataFrame:
    """Return rows of a table, each without a word; `gaps` has what stands in its place, by column."""
    import polars as pl

    many: DataFrame = frame[places.tolist()]
    changed = []
    for name, gap in gaps.items():
        texts = strings_of(many, name)
        shorter = [_drop(word, text, gap) if word else text for word, text in zip(left_out, texts, strict=True)]
        changed.append(pl.Series(name, shorter, dtype=pl.String))
    made: DataFrame = many.with_columns(changed)
    return made


def _drop(word: str, text: str | None, gap: str) -> str | None:
    return None if text is None else re.sub(rf"(?i)\b{re.escape(word)}\b", gap, text)


def _effects(
    model: Any, recipe: Recipe, frame: DataFrame, places: NDArray[np.intp], labels: Sequence[Any]
) -> NDArray[np.float64]:
    """Return by how much a row speaks less for its label than the first of the same place."""
    scores = np.asarray(model.decision_function(recipe.apply(frame)[0]), np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    classes = model.classes_.tolist()
    own = np.array([classes.index(label) for label in labels])[places]
    rows = np.arange(len(scores))
    support = scores[rows, own].copy()
    scores[rows, own] = -np.inf
    support -= scores.max(axis=1)
    first = np.searchsorted(places, places)  # places are sorted
    return np.asarray(support[first] - support)


def _strongest(words: list[str], effects: NDArray[np.float64]) -> list[str]:
    order = np.argsort(-effects, kind="stable")[:SHOWN]
    return [words[k] for k in order if effects[k] > 0 and effects[k] >= LEAST * effects[order[0]]]
