"""What a page shows of a text, and which words it marks."""

from __future__ import annotations

import pytest

from adrem.reports.excerpts import LENGTH, excerpt, marked

LONG = "so it goes " * 40 + "and then it leaked on my new table " + "so it goes " * 40


def test_short_texts_are_shown_whole() -> None:
    assert excerpt(" a\n good  book ") == "a good book"
    assert marked("a good book", []) == [("a good book", False)]


def test_words_are_marked_whole_in_any_letters() -> None:
    pieces = marked("Good, not goodness: GOOD <b>", ["good"])
    assert [piece for piece, is_word in pieces if is_word] == ["Good", "GOOD"]
    assert "".join(piece for piece, _ in pieces) == "Good, not goodness: GOOD <b>"


def test_a_long_text_is_shown_around_the_strongest_word() -> None:
    pieces = marked(LONG, ["leaked", "table"])
    assert ("leaked", True) in pieces
    assert ("table", True) in pieces
    text = "".join(piece for piece, _ in pieces)
    assert len(text) <= LENGTH
    assert text.startswith("… ")


@pytest.mark.parametrize("words", [["goes"], ["nothing"]])
def test_else_its_beginning(words: list[str]) -> None:
    assert "".join(piece for piece, _ in marked(LONG, words)) == excerpt(LONG)
    assert excerpt(LONG).startswith("so it goes")


def test_words_are_no_patterns() -> None:
    assert marked("what (a) day", ["(a"]) == [("what (a) day", False)]
