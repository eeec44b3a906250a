"""Names of columns in messages: the nearest ones, or the first of many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from adrem.runtime.notices import NamingText
from adrem.runtime.text import some_names

MOST_CLOSE = 3
MOST_WORDS = 20  # of a name
FRACTION_OR_DATE = re.compile(r"\s*[+-]?(?:\d+[.,]\d+|\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].*)?)\s*$")


def describe_columns(names: Sequence[str], wanted: str = "", title: str = "Its columns") -> str:
    """Return the columns that the user may have meant, the most similar first, and some of all."""
    close = get_close_matches(plain_name(wanted), [*map(plain_name, names)], MOST_CLOSE) if wanted else []
    meant = [name for own in dict.fromkeys(close) for name in names if plain_name(name) == own]
    first = f"Did you mean {' or '.join(map(repr, meant))}? " if meant else ""
    return f"{first}{title}: {some_names(names)}."


def plain_name(name: str) -> str:
    """Return a name without differences of case and spaces."""
    return " ".join(name.split()).casefold()


def with_header_hint(text: str, names: Sequence[str], wanted: str = "", separator: str = "") -> str:
    """Return a text about columns, and what may be wrong with a table whose names do not look like names."""
    described = f"{text} {describe_columns(names, wanted)}"
    if len(names) == 1 and len(names[0].split()) > 1:
        return f"{described} Are its columns separated by spaces? Separate them by commas or tabs."
    if 2 * sum(map(_is_value, names)) > len(names) or any(map(_is_cell, names)):
        hint = "Is it tab-separated without a header?" if separator == "\t" else "Is its first line no header?"
        hint += " {header} names the columns column_1, column_2 and so on."
        return NamingText("{text} " + hint, text=described)
    return described


def _is_cell(name: str) -> bool:
    """Return whether a name looks like a cell of the first row: a number with a fraction, a date, or a text.

    Whole numbers and questions of a form can be names.
    """
    return bool(FRACTION_OR_DATE.match(name)) or len(name.split()) > MOST_WORDS


def _is_value(name: str) -> bool:
    """Return whether a name looks like a number or an empty cell, perhaps with what makes it unique."""
    try:
        float(name.partition("_duplicated_")[0])
    except ValueError:
        return name in ("", "?")
    return True
