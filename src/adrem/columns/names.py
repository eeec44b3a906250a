"""Names of columns in messages: the nearest ones, or the first of many."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

MOST_NAMES = 5
MOST_CLOSE = 3


def some_names(names: Sequence[str]) -> str:
    """Join names; list only the first of many."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(map(repr, names[:MOST_NAMES])) + more


def describe_columns(names: Sequence[str], wanted: str = "") -> str:
    """Return the columns that the user may have meant, the most similar first, and some of all."""
    close = get_close_matches(plain_name(wanted), [*map(plain_name, names)], MOST_CLOSE) if wanted else []
    meant = [name for own in dict.fromkeys(close) for name in names if plain_name(name) == own]
    first = f"Did you mean {' or '.join(map(repr, meant))}? " if meant else ""
    return f"{first}Its columns: {some_names(names)}."


def plain_name(name: str) -> str:
    """Return a name without differences of case and spaces."""
    return " ".join(name.split()).casefold()
