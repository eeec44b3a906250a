"""How much is tried: the usual, or a part of it."""

from __future__ import annotations

import os

NAME = "ADREM_TORTURE_QUICK"
EVERY = 8  # of so many cases one is tried


def is_quick() -> bool:
    return NAME in os.environ


def set_quick() -> None:
    os.environ[NAME] = "1"


def usual_or(usual: int, quick: int) -> int:
    """A number for the usual run, or for the quick one."""
    return quick if is_quick() else usual


def part_of(names: list[str]) -> list[str]:
    """All cases, or some of them, never none."""
    return names[:: EVERY if is_quick() else 1]
