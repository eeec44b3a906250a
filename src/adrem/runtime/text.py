"""Short texts: abbreviations, lists of names, counts of rows, percentages, and texts that are safe on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

MOST_NAMES = 5
# Control characters, marks that turn the direction of text, halves of surrogates, separators of lines and paragraphs.
UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")
JOINERS = "\u200c\u200d"  # needed to write some languages


def printable(text: str, kept: str = "\n\t") -> str:
    r"""Return a text whose control characters are escapes, so that a terminal shows them and does not obey them.

    Examples
    --------
    >>> from adrem.runtime.text import printable
    >>> print(printable("\x1b[2Jgood\u202e"))
    \x1b[2Jgood\u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(own) if _is_unsafe(own) and own not in kept else own for own in text)


def one_line(text: str) -> str:
    """Return a name as a part of one line of a terminal."""
    return printable(text, kept="")


def _is_unsafe(character: str) -> bool:
    return unicodedata.category(character) in UNSAFE and character not in JOINERS


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def some_names(names: Sequence[object]) -> str:
    """Join names; list only the first of many."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(map(repr, names[:MOST_NAMES])) + more


def without_middle(text: str, length: int) -> str:
    """Shorten a text to `length` by an ellipsis in its middle."""
    left = (length - 1) // 2
    return text if len(text) <= length else f"{text[:left]}…{text[len(text) - (length - 1 - left) :]}"


def rows(count: int) -> str:
    """Format a number of rows."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def percent(part: float, whole: float) -> str:
    """Format a share in whole percent; 0 % and 100 % are exact."""
    text = f"{100.0 * part / max(whole, 1):.0f} %"
    if text == "0 %" and part > 0:
        return "< 1 %"
    return "> 99 %" if text == "100 %" and part < whole else text
