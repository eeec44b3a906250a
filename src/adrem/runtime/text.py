"""Short texts: abbreviations, lists of names, counts of rows, percentages."""

from __future__ import annotations

from collections.abc import Sequence

MOST_NAMES = 5


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
