"""The words that speak for a label are those without which the model is less sure of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_networks import text_model

from adrem import AdREM
from adrem.columns import adapt_tables
from adrem.columns.words import speaking_words
from adrem.features import TextEncoder

SOURCE = pl.DataFrame({"said": ["a good book", "a bad book", "good", "bad bad"] * 5, "liked": [1, 0, 1, 0] * 5})
TARGET = pl.DataFrame({"said": ["a Good sharp knife, good for book and knife", "a bad dull knife", "", None]})


def quick() -> AdREM:
    return AdREM(C=1.0, loss="log_loss", n_estimators=3, random_state=0)


def words_of(texts: list[str | None], labels: list[int]) -> dict[int, list[str]]:
    """Return the words that speak for the labels of some texts, by counts of words."""
    adapted = adapt_tables(SOURCE, TARGET, label="liked", text=["said"], model=quick())
    assert adapted.bundle.recipe is not None
    frame = pl.DataFrame({"said": texts})
    return speaking_words(adapted.examination.model, adapted.bundle.recipe, frame, range(len(texts)), labels)


def test_words_that_speak_for_the_label() -> None:
    words = words_of(TARGET["said"].to_list(), [1, 0, 1, 0])
    assert words[0][0] == "good"
    assert words[1][0] == "bad"
    assert words[2] == words[3] == []


def test_an_encoder_reads_the_text_without_each_word(tmp_path: Path) -> None:
    encoder = TextEncoder(text_model(tmp_path / "small"), cache=False)
    adapted = adapt_tables(SOURCE, TARGET, label="liked", text=["said"], encoder=encoder, model=quick())
    recipe, model = adapted.bundle.recipe, adapted.examination.model
    assert recipe is not None
    words = ["good", "sharp", "book", "dull", "knife"]
    without = [" ".join(own for own in words if own != left_out) for left_out in ("", *words)]
    whole, *others = model.decision_function(recipe.apply(pl.DataFrame({"said": without}))[0])
    by_effect = [word for effect, word in sorted(zip(whole - np.array(others), words, strict=True), reverse=True)]
    found = speaking_words(model, recipe, pl.DataFrame({"said": [" ".join(words)]}), [0], [1])[0]
    assert found
    assert found == by_effect[: len(found)]


def test_words_for_one_label_speak_against_the_other() -> None:
    assert words_of(["good or bad"] * 2, [1, 0]) == {0: ["good"], 1: ["bad"]}


def test_the_neighbours_of_a_word_become_no_pair() -> None:
    """Without "fine", "bad bad" would be a pair that the model knows."""
    assert words_of(["bad fine bad"], [1])[0] == []


@pytest.mark.parametrize("rows", [[], [1]])
def test_tables_without_text_have_none(rows: list[int]) -> None:
    source = pl.DataFrame({"size": [1.0, 2.0, 8.0, 9.5] * 5, "liked": [1, 1, 0, 0] * 5})
    adapted = adapt_tables(source, source.select("size"), label="liked", model=quick())
    recipe = adapted.bundle.recipe
    assert recipe is not None
    assert speaking_words(adapted.examination.model, recipe, source.select("size"), rows, [1] * len(rows)) == {}
