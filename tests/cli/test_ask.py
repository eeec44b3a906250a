"""Tests of the command ask: rows to label, in a file that goes into adapt --known when it is filled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Command


def table(n: int, seed: int, shift: float) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 2
    places = rng.normal(size=(n, 3)) + 2 * kinds[:, None] + shift
    columns = {f"x{k}": places[:, k] for k in range(3)}
    return pl.DataFrame({"id": [f"r{k}" for k in range(n)], **columns, "kind": np.array(["apple", "pear"])[kinds]})


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adrem: Command) -> Path:
    monkeypatch.chdir(tmp_path)
    table(60, 0, 0.0).write_csv("old.csv")
    table(80, 1, 0.5).drop("kind").write_csv("new.csv")
    assert adapt(adrem) == 0
    return tmp_path


def adapt(adrem: Command, *words: str) -> int:
    few = ("--method", "adrem", "--members", "2", "--label", "kind", "--id", "id")
    return adrem("adapt", "old.csv", "new.csv", *few, "-o", "l.csv", "--save", "m.adrem", "--force", *words).code


def test_a_filled_file_is_known_and_its_rows_are_not_asked_again(adrem: Command) -> None:
    code, _, err = adrem("ask", "m.adrem", "new.csv", "--id", "id", "-n", "12", "-o", "ask.csv")
    assert code == 0, err
    asked = pl.read_csv("ask.csv")
    assert asked.columns == ["id", "kind", "guess", "second_guess", "chosen", "probability", "x0", "x1", "x2"]
    assert (asked["chosen"] == "random").sum() == 6
    assert set(asked.filter(pl.col("chosen") == "random")["probability"].round(6)) == {round(6 / 74, 6)}
    assert (asked["guess"] != asked["second_guess"]).all()
    assert asked["kind"].null_count() == 12
    truth = dict(zip(*(table(80, 1, 0.5)[name].to_list() for name in ("id", "kind")), strict=True))
    asked.with_columns(kind=pl.Series([truth[name] for name in asked["id"]])).write_csv("filled.csv")
    assert adapt(adrem, "--known", "filled.csv", "--estimate", "--report", "page.html") == 0
    assert "by 12 labels of the target" in Path("page.html").read_text("utf-8")
    labels = dict(zip(*(pl.read_csv("l.csv")[name].to_list() for name in ("id", "label")), strict=True))
    assert all(labels[name] == truth[name] for name in asked["id"])
    code, _, err = adrem("ask", "m.adrem", "new.csv", "--id", "id", "-n", "60", "-o", "more.csv")
    assert code == 0, err
    assert not {*pl.read_csv("more.csv")["id"]} & {*asked["id"]}


def test_an_unfilled_file_can_be_given_to_known(adrem: Command) -> None:
    assert adrem("ask", "m.adrem", "new.csv", "--id", "id", "-n", "4", "-o", "ask.csv").code == 0
    assert adapt(adrem, "--known", "ask.csv") == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--id"),
        (["--id", "nothing"], "nothing"),
        (["--id", "id", "-n", "81"], "81"),
        (["--id", "id", "-n", "3", "--random", "4"], "n_random"),
        (["--id", "id", "-o", "new.csv"], "already used"),
    ],
)
def test_what_can_not_be_asked_is_refused(adrem: Command, files: Path, words: list[str], message: str) -> None:
    output = [] if "-o" in words else ["-o", "ask.csv"]
    code, _, err = adrem("ask", "m.adrem", "new.csv", *words, *output)
    assert code in (1, 2)
    assert message in err
    assert not (files / "ask.csv").exists()
