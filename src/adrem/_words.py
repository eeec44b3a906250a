"""Texts that fit where room is short."""

from __future__ import annotations


def without_middle(text: str, length: int) -> str:
    """A text that is still told apart by its end."""
    left = (length - 1) // 2
    return text if len(text) <= length else f"{text[:left]}…{text[len(text) - (length - 1 - left) :]}"


def rows(count: int) -> str:
    """So many rows."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def percent(part: float, whole: float) -> str:
    """A share in whole percent, which is said to be none or all only where it is."""
    text = f"{100.0 * part / max(whole, 1):.0f} %"
    if text == "0 %" and part > 0:
        return "< 1 %"
    return "> 99 %" if text == "100 %" and part < whole else text
