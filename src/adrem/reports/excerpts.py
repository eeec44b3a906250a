"""What a page shows of a text: a part of it, with the words that speak for the label."""

from __future__ import annotations

import re
from collections.abc import Sequence

LENGTH = 160  # characters
BEFORE = 50  # of these before the first word that is marked


def excerpt(text: str, first: int = 0) -> str:
    """Return a text in one line, or a part of it from about a place on.

    Examples
    --------
    >>> from adrem.reports.excerpts import excerpt
    >>> excerpt("good  book")
    'good book'
    >>> excerpt("a word " * 50, 200)[:10], excerpt("a word " * 50)[-3:]
    ('… word a w', 'or…')
    """
    flat = " ".join(str(text).split())
    if len(flat) <= LENGTH:
        return flat
    if first > LENGTH - 1:
        start = flat.rfind(" ", 0, first - BEFORE) + 1
        flat = f"… {flat[start:]}"
    return flat if len(flat) <= LENGTH else f"{flat[: LENGTH - 1]}…"


def marked(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """Return an excerpt of a text in pieces, each with whether it is one of some words.

    The excerpt is the beginning of the text, or the part around the strongest word if there is none in the beginning.

    Examples
    --------
    >>> from adrem.reports.excerpts import marked
    >>> marked("A good book", ["good"])
    [('A ', False), ('good', True), (' book', False)]
    """
    flat = " ".join(str(text).split())
    if not words:
        return [(excerpt(flat), False)]
    pattern = re.compile(rf"(?i)\b({'|'.join(map(re.escape, words))})\b")
    shown = excerpt(flat)
    if pattern.search(shown) is None:
        strongest = re.search(rf"(?i)\b{re.escape(words[0])}\b", flat)
        shown = excerpt(flat, strongest.start() if strongest else 0)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pattern.split(shown)) if piece]
