"""Every value of a model file is bounded by the shape of the model, or by what is free, before it is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from adrem import AdREM, load, save
from adrem.exceptions import InvalidDataError, UnreadableModelError
from torture.models import (
    endless_directory,
    good_model,
    history_with,
    long_names,
    with_array,
    with_header,
)

Attack = Callable[[bytes, Path], bytes]
ATTACKS: dict[str, tuple[Attack, str]] = {
    "values of the header": (with_header(lambda _: b"[" + b'{"":{}},' * 1_500_000 + b"[]]"), "has 6000002 values, and"),
    "members": (endless_directory, "its directory takes 24 MB, and 1 MB are allowed"),
    "letters of a class": (
        long_names(5000, "classes_.npy", "transduction_.npy"), "has strings of 5000 letters, and 1000 are allowed"
    ),
    "letters of a label": (long_names(900, "transduction_.npy"), "transduction_ has labels longer than its classes"),
    "an iteration": (history_with(iteration=10**12), "do not fit together"),
    "an iteration that is no number": (history_with(iteration="1"), "do not fit together"),
    "a negative member": (history_with(member=-1), "do not fit together"),
    "a loss": (history_with(loss=10**400), "do not fit together"),
    "neighbours": (with_header(lambda h: h.update(neighbors_=10**12)), "do not fit together"),
    "coefficients": (with_array("coef_.npy", lambda a: np.full_like(a, 1e308)), r"coef_ has numbers .* beyond 1e\+150"),
}  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "good.adrem"
    good_model(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", ATTACKS)
def test_value_beyond_its_bound_is_refused(name: str, good: bytes, tmp_path: Path) -> None:
    attack, message = ATTACKS[name]
    (tmp_path / "m.adrem").write_bytes(attack(good, tmp_path))
    with pytest.raises(UnreadableModelError, match=message):
        load(tmp_path / "m.adrem")


def test_class_with_a_long_name_is_refused_by_save(tmp_path: Path) -> None:
    y = np.array(["a", "b" * 1001])[np.arange(12) % 2]
    model = AdREM(C=1.0, n_estimators=1, n_iter=1, random_state=0).fit(np.eye(12), y, X_target=np.eye(12))
    with pytest.raises(InvalidDataError, match="A class has a name of 1001 characters: shorten it to 1000"):
        save(model, tmp_path / "m.adrem")


def test_little_memory_is_told_as_such(good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.adrem").write_bytes(good)
    monkeypatch.setattr("adrem.persistence.models.available_memory", lambda: 10_000.0)
    with pytest.raises(UnreadableModelError, match=r"m\.adrem was not read: its arrays and a copy of them take"):
        load(tmp_path / "m.adrem")
