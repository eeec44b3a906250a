"""Run the command line in the process of the tests."""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest

from adrem.cli import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


class Command:
    """Runs a command from the words after `adrem`."""

    def __init__(self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self._patch = patch
        self._capture = capture

    def __call__(self, *words: object) -> Outcome:
        self._patch.setattr(sys, "argv", ["adrem", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = self._capture.readouterr()
        code = caught.value.code
        return Outcome(code if isinstance(code, int) else 0, out, err)
