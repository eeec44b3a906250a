"""Warnings that point at the line of the user's code."""

from __future__ import annotations

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def warn_user(message: str | Warning, category: type[Warning]) -> None:
    """Warn, with the first caller outside of the package as the place."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(names: dict[str, object]) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] == PACKAGE
