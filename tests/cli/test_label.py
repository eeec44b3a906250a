"""Tests of the command label: what it refuses before it adapts. The page has its own tests."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from commands import Command

pytest.importorskip("starlette")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    values = [float(k % 2) + k / 100 for k in range(20)]
    source = pl.DataFrame({"id": range(20), "x": values, "kind": ["a", "b"] * 10})
    for name in ("labels.csv", "old.csv", "answers.jsonl"):
        source.write_ndjson(name) if name.endswith("jsonl") else source.write_csv(name)
    source.drop("kind").write_csv("new.csv")
    return tmp_path


@pytest.mark.parametrize("table", ["labels.csv", "answers.jsonl", "./labels.csv"])
def test_no_table_that_is_read_is_replaced(adrem: Command, table: str) -> None:
    before = Path(table).read_bytes()
    code, _, err = adrem("label", table, "new.csv", "--label", "kind", "--folder", ".", "--no-browser")
    assert code == 2
    assert "--folder" in err
    assert "is a table that is read" in " ".join(err.split())
    assert Path(table).read_bytes() == before


def test_files_of_others_in_the_folder_are_not_replaced(adrem: Command) -> None:
    folder = Path("mine")
    folder.mkdir()
    (folder / "report.html").write_text("of somebody")
    code, _, err = adrem("label", "old.csv", "new.csv", "--label", "kind", "--folder", "mine", "--no-browser")
    assert code == 2
    assert "report.html would be replaced" in " ".join(err.split())
    assert [path.name for path in folder.iterdir()] == ["report.html"]


@pytest.mark.parametrize("names", [["a"] * 20, [None, *map(str, range(19))], ["", *map(str, range(19))]])
def test_an_identifier_that_does_not_name_each_row_is_refused(adrem: Command, names: list[str | None]) -> None:
    pl.read_csv("new.csv").with_columns(id=pl.Series(names)).write_csv("new.csv")
    code, _, err = adrem("label", "old.csv", "new.csv", "--label", "kind", "--id", "id", "--no-browser")
    assert code == 2
    assert "--id" in err
    assert not Path("new-labels").exists()
