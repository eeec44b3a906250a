"""The words that speak for a label are those without which the model is less sure of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_networks import text_model

from adrem import AdREM
from adrem.columns import adapt_tables
from adrem.columns.words import speaking_words
from adrem.features import TextEncoder

SOURCE = pl.DataFrame({"said": ["a good book", "a bad book", "good", "bad bad"] * 5, "liked": [1, 0, 1, 0] * 5})
TARGET = pl.DataFrame({"said": ["a Good sharp knife, good for book and knife", "a bad dull knife", "", None]})


def words_of(encoder: Any = None) -> dict[int, list[str]]:
    model = AdREM(C=1.0, loss="log_loss", n_estimators=3, random_state=0)
    adapted = adapt_tables(SOURCE, TARGET, label="liked", text=["said"], encoder=encoder, model=model)
    bundle = adapted.bundle
    assert bundle.recipe is not None
    return speaking_words(adapted.examination.model, bundle.recipe, TARGET, [0, 1, 2, 3], [1, 0, 1, 0])


def test_words_that_speak_for_the_label() -> None:
    words = words_of()
    assert words[0][0] == "good"
    assert words[1][0] == "bad"
    assert words[2] == words[3] == []


def test_an_encoder_reads_the_text_without_each_word(tmp_path: Path) -> None:
    words = words_of(TextEncoder(text_model(tmp_path / "small"), cache=False))
    assert "good" in words[0]
    assert "bad" in words[1]
    assert words[2] == words[3] == []


def test_words_for_one_label_speak_against_the_other() -> None:
    model = AdREM(C=1.0, loss="log_loss", n_estimators=3, random_state=0)
    adapted = adapt_tables(SOURCE, TARGET, label="liked", text=["said"], model=model)
    recipe = adapted.bundle.recipe
    assert recipe is not None
    for label, word in ((1, "good"), (0, "bad")):
        mixed = pl.DataFrame({"said": ["good or bad"]})
        assert speaking_words(adapted.examination.model, recipe, mixed, [0], [label])[0] == [word]


@pytest.mark.parametrize("rows", [[], [1]])
def test_tables_without_text_have_none(rows: list[int]) -> None:
    source = pl.DataFrame({"size": [1.0, 2.0, 8.0, 9.5] * 5, "liked": [1, 1, 0, 0] * 5})
    model = AdREM(C=1.0, n_estimators=3, random_state=0)
    adapted = adapt_tables(source, source.select("size"), label="liked", model=model)
    recipe = adapted.bundle.recipe
    assert recipe is not None
    assert speaking_words(adapted.examination.model, recipe, source.select("size"), rows, [1] * len(rows)) == {}
