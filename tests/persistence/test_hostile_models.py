"""Hostile model files are rejected, with little memory and without side effects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torture.models import all_attacks, good_model, outcome_of
from torture.outcomes import ANSWERED, REFUSED

pytestmark = pytest.mark.thorough

AIMS = all_attacks()
HARMFUL = ("made to run code", "made to reach outside", "made to exhaust memory", "of other formats")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "good.adrem"
    good_model(path)
    return path.read_bytes()


@pytest.mark.parametrize(("aim", "name"), [(aim, name) for aim in HARMFUL for name in AIMS[aim]])
def test_hostile_file_is_rejected(good: bytes, aim: str, name: str) -> None:
    assert outcome_of(good, AIMS[aim][name]) == REFUSED


@pytest.mark.parametrize("aim", ["with altered arrays", "with altered headers", "cut off", "altered"])
def test_damaged_file_is_rejected_or_loads(good: bytes, aim: str) -> None:
    outcomes = {name: outcome_of(good, attack) for name, attack in list(AIMS[aim].items())[::5]}
    assert {name: outcome for name, outcome in outcomes.items() if outcome not in (REFUSED, ANSWERED)} == {}


def test_unmodified_file_loads(good: bytes) -> None:
    unchanged: Callable[[bytes, Path], bytes] = lambda content, _: content  # noqa: E731
    assert outcome_of(good, unchanged) == ANSWERED
