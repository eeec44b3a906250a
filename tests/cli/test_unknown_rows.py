"""Tests of `adrem adapt --unknown reject`: rows of no class of the source, in files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Command
from problems import opened

from adrem.datasets import DomainPair

FILES = ["adapt", "old.csv", "new.csv", "--label", "kind"]
WORDS = [*FILES, "--method", "adrem", "--members", "1", "--C", "0.01", "--unknown", "reject"]
pytestmark = pytest.mark.thorough


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DomainPair:
    data = opened()
    names = [f"x{k}" for k in range(data.X_source.shape[1])]
    pl.DataFrame(data.X_source, names).with_columns(kind=pl.Series(data.y_source)).write_csv(tmp_path / "old.csv")
    truth = np.where(data.y_target == "unknown", "zebra", data.y_target)
    pl.DataFrame(data.X_target, names).with_columns(truth=pl.Series(truth)).write_csv(tmp_path / "new.csv")
    monkeypatch.chdir(tmp_path)
    return data


def test_files_with_rows_of_no_class(adrem: Command, pair: DomainPair, tmp_path: Path) -> None:
    files = ("-o", "l.csv", "--save", "m.adrem", "--report", "p.html", "--target-label", "truth")
    code, out, err = adrem(*WORDS, "--unknown-label", "other", *files, "--json")
    assert code == 0, err
    found = pl.read_csv(tmp_path / "l.csv")["label"].to_numpy()
    right = np.where(pair.y_target == "unknown", "other", pair.y_target)
    assert np.mean(found == right) > 0.9
    summary = json.loads(out)
    unknown = summary["unknown"]
    assert unknown["label"] == "other"
    assert unknown["low"] <= unknown["share"] <= unknown["high"]
    assert summary["accuracy"]["adapted"] == pytest.approx(np.mean(found == right))
    assert summary["classes"]["other"]["source"] == 0
    assert summary["estimated_accuracy"]["accuracy"] is None
    told = " ".join(err.split())
    assert "- rows of no class of the source: about" in told
    assert "counted from 1, are rows" in told
    again = " ".join(adrem(*WORDS, "--unknown-label", "other", *files, "--force").err.split())
    assert "Estimated accuracy: not estimated: with --unknown reject, neither with nor without labels." in again
    page = (tmp_path / "p.html").read_text()
    assert "Rows of no class of the source: about" in page
    assert adrem("predict", "m.adrem", "new.csv", "-o", "again.csv").code == 0
    assert (pl.read_csv(tmp_path / "again.csv")["label"].to_numpy() == found).all()


@pytest.mark.usefixtures("pair")
def test_a_label_that_does_not_fit_is_refused(adrem: Command) -> None:
    code, _, err = adrem(*WORDS, "--unknown-label", "bee", "-o", "l.csv")
    assert code == 2
    assert "--unknown-label" in err
    assert "is a class of the source" in " ".join(err.split())
