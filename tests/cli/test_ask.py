"""Tests of the command ask: rows to label, in a file that goes into adapt --known when it is filled."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import Command

from adrem.columns.bundle import load_bundle, save_bundle


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


def fill(asked: Path, filled: Path, others: dict[str, str] | None = None) -> None:
    """Fill in the true labels, or other ones for some rows."""
    truth = dict(zip(*(table(80, 1, 0.5)[name].to_list() for name in ("id", "kind")), strict=True)) | (others or {})
    frame = pl.read_csv(asked)
    frame.with_columns(kind=pl.Series([truth[name] for name in frame["id"]])).write_csv(filled)


def estimate(adrem: Command, *words: str) -> tuple[dict[str, Any], str]:
    few = ("--method", "adrem", "--members", "2", "--label", "kind", "--id", "id", "--estimate", "--json")
    code, out, err = adrem("adapt", "old.csv", "new.csv", *few, "-o", "l.csv", "--force", *words)
    assert code == 0, err
    return json.loads(out), " ".join(err.split())


def test_an_unfilled_file_is_refused(adrem: Command) -> None:
    assert adrem("ask", "m.adrem", "new.csv", "--id", "id", "-n", "4", "-o", "ask.csv").code == 0
    few = ("--method", "adrem", "--members", "2", "--label", "kind", "--id", "id", "-o", "l2.csv")
    code, _, err = adrem("adapt", "old.csv", "new.csv", *few, "--known", "ask.csv")
    assert code == 2
    assert "column 'kind' of ask.csv is empty in all 4 rows" in " ".join(err.replace("│", " ").split())


def test_a_label_of_no_class_counts_as_an_error(adrem: Command) -> None:
    assert adrem("ask", "m.adrem", "new.csv", "--id", "id", "-n", "30", "--random", "30", "-o", "ask.csv").code == 0
    fill(Path("ask.csv"), Path("right.csv"))
    right, _ = estimate(adrem, "--known", "right.csv")
    strangers = dict.fromkeys(pl.read_csv("ask.csv")["id"][:15], "kiwi")
    fill(Path("ask.csv"), Path("kiwis.csv"), strangers)
    wrong, err = estimate(adrem, "--known", "kiwis.csv")
    assert "15 labels are of no class of the source ('kiwi')" in err
    assert wrong["known_labels"] == 15
    assert wrong["estimated_accuracy"]["n_labels"] == 30
    assert right["estimated_accuracy"]["accuracy"] > 0.8
    assert wrong["estimated_accuracy"]["accuracy"] < right["estimated_accuracy"]["accuracy"] - 0.35


def test_labels_of_two_rounds_are_given_together(adrem: Command) -> None:
    for name, words in (("one", ()), ("two", ("--known", "one.csv"))):
        assert adapt(adrem, *words) == 0
        assert adrem("ask", "m.adrem", "new.csv", "--id", "id", "-n", "10", "-o", f"{name}_ask.csv").code == 0
        fill(Path(f"{name}_ask.csv"), Path(f"{name}.csv"), {pl.read_csv(f"{name}_ask.csv")["id"][0]: "kiwi"})
    assert not {*pl.read_csv("one.csv")["id"]} & {*pl.read_csv("two.csv")["id"]}
    told, _ = estimate(adrem, "--known", "one.csv", "--known", "two.csv")
    assert (told["known_labels"], told["estimated_accuracy"]["n_labels"]) == (18, 20)


def test_labels_of_rows_that_are_not_random_are_not_used_with_a_reason(adrem: Command) -> None:
    table(80, 1, 0.5).select("id", "kind").head(9).write_csv("some.csv")
    Path("run.toml").write_text('known = "some.csv"\n')
    told, _ = estimate(adrem, "--config", "run.toml")
    assert told["estimated_accuracy"]["n_labels"] == 0
    assert told["estimated_accuracy"]["unused_labels"].startswith(
        "The 9 known labels are not used for the estimate: it is not known that their rows are random"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--id"),
        (["--id", "nothing"], "nothing"),
        (
            ["--id", "id", "-n", "81"],
            "-n: new.csv has 80 rows, of which 0 are labelled already: at most 80",
        ),
        (["--id", "id", "-n", "3", "--random", "4"], "--random: 4 is more than -n, which is 3"),
        (["--id", "id", "-o", "new.csv"], "already used"),
    ],
)
def test_what_can_not_be_asked_is_refused(adrem: Command, files: Path, words: list[str], message: str) -> None:
    output = [] if "-o" in words else ["-o", "ask.csv"]
    code, _, err = adrem("ask", "m.adrem", "new.csv", *words, *output)
    assert code in (1, 2)
    assert message in " ".join(err.replace("│", " ").split())
    assert not (files / "ask.csv").exists()


def test_the_rows_have_to_be_those_of_the_fit(adrem: Command) -> None:
    frame = pl.read_csv("new.csv")
    frame.with_columns(more=1).write_parquet("same.parquet")
    frame.sample(fraction=1.0, shuffle=True, seed=0).write_csv("shuffled.csv")
    table(80, 2, 0.5).with_columns(id="other" + pl.col("id")).write_csv("other.csv")
    frame.head(70).write_csv("fewer.csv")
    assert adrem("ask", "m.adrem", "same.parquet", "--id", "id", "-n", "4", "-o", "ask.csv").code == 0
    for name in ("shuffled.csv", "other.csv", "fewer.csv"):
        code, _, err = adrem("ask", "m.adrem", name, "--id", "id", "-n", "4", "-o", "no.csv")
        assert code == 1
        message = f"{name} is not the table that the model was adapted to, or its rows are in another order"
        assert message in " ".join(err.split())


def test_a_model_of_an_earlier_version_asks(adrem: Command) -> None:
    bundle = load_bundle("m.adrem")
    target = {name: bundle.about["target"][name] for name in ("name", "sha256", "rows")}
    save_bundle(replace(bundle, about={**bundle.about, "target": target}), "older.adrem")
    assert adrem("ask", "older.adrem", "new.csv", "--id", "id", "-n", "4", "-o", "ask.csv").code == 0


def test_it_is_told_how_the_answers_are_used(adrem: Command) -> None:
    _, _, err = adrem("ask", "m.adrem", "new.csv", "--id", "id", "-n", "4", "-o", "ask.csv")
    assert "add --known ask.csv --id id --estimate to the adrem adapt command" in " ".join(err.split())
