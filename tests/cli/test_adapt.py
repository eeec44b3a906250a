"""Tests of the commands adapt, predict and explain: two files in, labels out."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import Command
from sklearn.datasets import dump_svmlight_file

from adrem import Committee, load
from adrem.columns import make_pair, read_file

GOOD = ["fine", "great", "lovely", "superb"]
BAD = ["awful", "poor", "broken", "sad"]
OWN = {"source": (["gripping"], ["boring"]), "target": (["sharp"], ["blunt"])}


def reviews(domain: str, n: int, seed: int) -> pl.DataFrame:
    """Reviews with words that both domains share and words of one domain only."""
    rng = np.random.RandomState(seed)
    rows = []
    for k in range(n):
        good = k % 2 == 0
        words = rng.choice(GOOD if good else BAD, 2).tolist() + rng.choice(OWN[domain][0 if good else 1], 1).tolist()
        rows.append({"id": f"{domain}{k}", "review": "it is a " + " ".join(words), "price": rng.uniform(1, 9)})
    labels = ["good" if k % 2 == 0 else "bad" for k in range(n)]
    return pl.DataFrame(rows).with_columns(verdict=pl.Series(labels))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    reviews("source", 60, 0).write_csv(tmp_path / "books.csv")
    reviews("target", 50, 1).write_csv(tmp_path / "knives.csv")
    reviews("target", 20, 2).write_csv(tmp_path / "more.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_adapt_writes_the_labels_of_the_python_api(adrem: Command, files: Path) -> None:
    code, out, err = adrem(
        "adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", "--keep", "price", "-o", "labels.csv"
    )
    assert (code, out) == (0, "")
    frame = pl.read_csv(files / "labels.csv")
    assert frame.columns == ["id", "price", "label", "confidence", "source_label", "changed"]
    target = pl.read_csv(files / "knives.csv")
    assert frame["id"].equals(target["id"])
    tables = [read_file(name) for name in ("books.csv", "knives.csv")]
    pair = make_pair(*tables, label="verdict", left_out=["id"])
    model = Committee(random_state=0).fit(pair.X_source, pair.y_source, X_target=pair.X_target)
    assert frame["label"].to_list() == model.transduction_.tolist()
    assert np.mean(frame["label"].to_numpy() == target["verdict"].to_numpy()) > 0.95
    np.testing.assert_allclose(frame["confidence"], model.predict_proba(pair.X_target).max(axis=1))
    assert frame["changed"].to_list() == (frame["label"] != frame["source_label"]).to_list()
    assert "column 'review' is text" in err
    assert "column 'verdict' of knives.csv is not used" in " ".join(err.split())
    assert "Labels: labels.csv" in err
    assert "Model:" not in err
    assert max(map(len, err.splitlines())) <= 80


def test_predict_applies_a_saved_model(adrem: Command, files: Path) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "--save", "m.adrem"]
    assert adrem(*words, "-o", "labels.csv").code == 0
    assert adrem("predict", "m.adrem", "knives.csv", "-o", "again.csv").code == 0
    first, again = (pl.read_csv(files / name) for name in ("labels.csv", "again.csv"))
    assert first.equals(again)
    code, _, err = adrem("predict", "m.adrem", "more.csv", "-o", "more_labels.parquet", "--target-label", "verdict")
    assert code == 0
    assert pl.read_parquet(files / "more_labels.parquet").height == 20
    assert "Accuracy: 100.0 % adapted" in err
    shuffled = pl.read_csv(files / "more.csv").select("verdict", "review")
    shuffled.write_csv(files / "fewer.csv")
    code, _, err = adrem("predict", "m.adrem", "fewer.csv", "-o", "-", "--keep", "verdict")
    assert code == 0
    assert "! missing in fewer.csv, but used by the model: 'price'." in err
    assert "left out" not in err
    pl.read_csv(files / "more.csv").with_columns(colour=pl.lit("red")).write_csv(files / "wider.csv")
    code, _, err = adrem("predict", "m.adrem", "wider.csv", "-o", "-", "--id", "id")
    assert "unknown to the model, left out: 'colour'" in err
    model = load(files / "m.adrem")
    assert isinstance(model, Committee)


@pytest.mark.usefixtures("files")
def test_json_option_prints_a_summary(adrem: Command) -> None:
    code, out, _ = adrem(
        "adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "--target-label", "verdict",
        "-o", "l.csv", "--json",
    )  # fmt: skip
    summary = json.loads(out)
    assert code == 0
    assert summary["rows"] == 50
    assert summary["accuracy"]["adapted"] > 0.95
    assert sum(counts["adapted"] for counts in summary["classes"].values()) == 50
    assert len(summary["source"]["sha256"]) == 64


@pytest.mark.parametrize("method", ["source", "hard-em", "coral", "flda-q", "kmm"])
def test_baseline_methods_adapt_and_predict(adrem: Command, files: Path, method: str) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "--method", method]
    assert adrem(*words, "-o", "l.csv", "--save", "m.adrem").code == 0
    assert adrem("predict", "m.adrem", "knives.csv", "-o", "again.csv").code == 0
    assert pl.read_csv(files / "l.csv").equals(pl.read_csv(files / "again.csv"))


def test_command_line_overrides_config_file(adrem: Command, files: Path) -> None:
    (files / "run.toml").write_text('label = "verdict"\ndrop = ["id"]\nmembers = 3\nseed = 5\n')
    code, out, _ = adrem(
        "adapt", "books.csv", "knives.csv", "--config", "run.toml", "-o", "l.csv", "--save", "m", "--json"
    )
    assert (code, json.loads(out)["seed"]) == (0, 5)
    assert load(files / "m").n_estimators == 3
    code, out, _ = adrem(
        "adapt", "books.csv", "knives.csv", "--config", "run.toml", "--seed", 7, "-o", "l2.csv", "--json"
    )
    assert json.loads(out)["seed"] == 7
    (files / "run.toml").write_text("colour = 1\n")
    code, _, err = adrem("adapt", "books.csv", "knives.csv", "--config", "run.toml", "-o", "l3.csv")
    assert (code, "there is no option 'colour'" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nothing.csv", "knives.csv"], 1, "There is no file nothing.csv"),
        (["books.csv", "knives.csv", "--label", "stars"], 2, "--label: books.csv has no column 'stars'"),
        (["books.csv", "knives.csv"], 2, "--label: Which column of books.csv holds the labels?"),
        (
            ["books.csv", "knives.csv", "--keep", "nope", "--label", "verdict"],
            2,
            "--keep: knives.csv has no column 'nope'",
        ),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--method", "magic"],
            2,
            "'magic' is not one of committee",
        ),
        (["books.csv", "knives.csv", "--label", "verdict", "--method", "coral", "--members", "3"], 2, "no such option"),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--method", "adrem", "--loss", "squared"],
            2,
            "--loss: --loss 'squared' is not one of",
        ),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--method", "coral", "--C", "-1"],
            2,
            "--C: The 'C' parameter of CORAL must be",
        ),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--method", "coral", "--C", "inf"],
            2,
            "--C: The 'C' parameter of CORAL must be",
        ),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--prior", "good"],
            2,
            "not one of uniform, source, estimate",
        ),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--prior", "good=.5,poor=.5"],
            2,
            "the labels are bad, good",
        ),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--protected", "poor"],
            2,
            "There is no label poor; the labels are bad, good",
        ),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--drop", "nope"],
            2,
            "--drop: Neither file has a column 'nope'",
        ),
        (
            ["books.csv", "knives.csv", "--label", "verdict", "--effort", "medium"],
            2,
            "--effort: --effort 'medium' is not one of 'auto', 'high', 'low'",
        ),
        (["books.csv", "knives.csv", "--label", "verdict", "--jobs", "0"], 2, "It must not be 0"),
        (["books.csv", "knives.csv", "--label", "verdict", "--seed", str(2**32)], 2, "--seed: The 'random_state'"),
        (["-", "-", "--label", "verdict"], 2, "Only one of the files"),
        (["empty.csv", "knives.csv", "--label", "verdict"], 1, "empty.csv is empty"),
        (["binary.csv", "knives.csv", "--label", "verdict"], 1, "is not text"),
        (["latin.csv", "knives.csv", "--label", "verdict"], 1, "iconv -f latin1 -t utf-8"),
        (["header.csv", "knives.csv", "--label", "verdict"], 1, "has a header but no rows"),
        (["one.csv", "knives.csv", "--label", "verdict"], 2, "has only one value, 'good'"),
        (["books.csv", "knives.csv", "--label", "id"], 2, "labels must repeat"),
        (["dated.csv", "dated.csv", "--label", "verdict"], 1, "'day' is date: dates, which are turned into days"),
        (["objects.npz", "objects.npz"], 1, "could run code"),
        (["books.csv", "knives.csv", "--label", "verdict", "--drop", ""], 2, "It has no names"),
        (["blank.csv", "knives.csv", "--label", "verdict"], 2, "has no label in any row"),
        (["rare.csv", "knives.csv", "--label", "verdict", "--method", "adrem"], 2, "such as C=1.0"),
        (["wide.csv", "knives.csv", "--label", "verdict"], 1, "line 3 has 3 fields, the header 2"),
        (["twice.csv", "knives.csv", "--label", "verdict"], 1, "has 2 columns named 'verdict'"),
        (["bad.jsonl", "knives.csv", "--label", "verdict"], 1, "line 2: Expecting"),
        (["sheet.csv", "knives.csv", "--label", "verdict"], 1, "is an Excel file: save the sheet as CSV"),
        (["text.npz", "text.npz"], 1, "text.npz is not a numpy archive"),
        (["plain.npz", "plain.npz", "--label", "y"], 2, "its labels are those in the file"),
        (["books.csv", "knives.csv", "--label", "verdict", "--C", "-1"], 2, "committee has no such option"),
        (["books.csv", "knives.csv", "--label", "verdict", "--unknown", "rejct"], 2, "'rejct' is not one of 'ignore',"),
        (["books.csv", "knives.csv", "--label", "verdict", "--unknown-label", "x"], 2, "needs --unknown reject"),
        (["books.csv", "knives.csv", "--label", "verdict", "--prior", "good=2,bad=-1"], 2, "sum to one"),
        (["books.csv", "knives.csv", "--label", "verdict", "--report", "-"], 2, "Only the labels can go to standard"),
        (["books.csv", "knives.csv", "--label", "verdict", "--report", "no/page.html"], 2, "There is no folder no"),
        (["books.csv", "knives.csv", "--label", "verdict", "--report", "labels.csv"], 2, "is already used"),
    ],
)
def test_bad_input_gives_one_line_and_no_files(
    adrem: Command, files: Path, words: list[Any], code: int, message: str
) -> None:
    (files / "empty.csv").write_text("")
    (files / "binary.csv").write_bytes(b"a,b\n\x00\x01")
    (files / "latin.csv").write_bytes("verdict,review\ngood,café\n".encode("latin1"))
    (files / "header.csv").write_text("verdict,review\n")
    (files / "one.csv").write_text("verdict,price\n" + "good,1\ngood,2\n")
    (files / "dated.csv").write_text("verdict,day\n" + "good,2020-01-01\nbad,2021-02-03\n" * 5)
    (files / "blank.csv").write_text("verdict,price\n,1\n,2\n")
    (files / "rare.csv").write_text("verdict,price\n" + "good,1\nbad,2\n" * 5 + "so so,3\n")
    (files / "wide.csv").write_text("verdict,review\ngood,fine\nbad,poor,thing\n")
    (files / "twice.csv").write_text("verdict,review,verdict\ngood,fine,bad\n")
    (files / "bad.jsonl").write_text('{"verdict": "good"}\n{"verdict": oops}\n')
    (files / "sheet.csv").write_bytes(b"PK\x03\x04 xl/workbook.xml ...")
    (files / "text.npz").write_text("verdict,review\ngood,fine\n")
    np.savez(files / "plain.npz", x=np.eye(4), y=np.array([0, 1, 0, 1]))
    np.savez(files / "objects.npz", x=np.eye(2), y=np.array(["a", None], dtype=object))
    before = set(files.iterdir())
    outcome = adrem("adapt", *words, "-o", "labels.csv", "--save", "m.adrem")
    assert outcome.code == code
    assert message in " ".join(outcome.err.split())
    assert "Traceback" not in outcome.err
    assert set(files.iterdir()) == before


def test_existing_output_needs_force(adrem: Command, files: Path) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "-o", "labels.csv"]
    (files / "labels.csv").write_text("precious")
    code, _, err = adrem(*words)
    assert (code, "exists: --force replaces it" in " ".join(err.split())) == (2, True)
    assert (files / "labels.csv").read_text() == "precious"
    assert adrem(*words, "--force").code == 0
    assert pl.read_csv(files / "labels.csv").height == 50
    code, _, err = adrem(*words[:-1], "nowhere/labels.csv")
    assert (code, "There is no folder nowhere" in " ".join(err.split())) == (2, True)
    code, _, err = adrem(*words[:-1], "labels.docx")
    assert (code, "should end in csv, tsv, jsonl or parquet" in " ".join(err.split())) == (2, True)


@pytest.mark.usefixtures("files")
def test_explain_lists_learnt_features(adrem: Command) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id,price", "-o", "l.csv"]
    assert adrem(*words, "--save", "m.adrem").code == 0
    code, out, _ = adrem("explain", "m.adrem", "--json")
    bad, good = json.loads(out)
    assert (code, bad["label"], good["label"]) == (0, "bad", "good")
    assert "gripping" in good["source"]
    assert "sharp" not in good["source"]
    assert "sharp" in good["gained"]
    assert "blunt" in bad["gained"]
    code, out, _ = adrem("explain", "m.adrem", "--top", "3")
    assert code == 0
    assert "gained by adapting: " in out
    assert max(map(len, out.splitlines())) <= 80
    code, _, err = adrem("explain", "books.csv")
    assert (code, "is not a model file of adrem" in err) == (1, True)
    assert adrem("explain", "m.adrem", "--top", "0").code == 2


def test_ids_and_kept_columns_are_copied_verbatim(adrem: Command, files: Path) -> None:
    for name in ("books.csv", "knives.csv"):
        frame = pl.read_csv(files / name)
        codes = pl.Series("id", [f"{k:05d}" for k in range(frame.height)])
        frame.with_columns(codes, pl.Series("price, €", codes), label=pl.lit("own")).write_csv(files / name)
    (files / "run.toml").write_text('keep = ["price, €", "label", "id"]\n')
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", "--config", "run.toml"]
    assert adrem(*words, "-o", "l.csv").code == 0
    frame = pl.read_csv(files / "l.csv", infer_schema=False)
    assert frame.columns[:4] == ["id", "price, €", "label_given", "label"]
    assert frame["id"].to_list() == [f"{k:05d}" for k in range(50)]


def test_output_must_differ_from_input_files(adrem: Command, files: Path) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--force"]
    before = (files / "knives.csv").read_bytes()
    for output, save in (("knives.csv", "m"), ("l.csv", "l.csv"), ("l.csv", "books.csv")):
        code, _, err = adrem(*words, "-o", output, "--save", save)
        assert (code, "is already used" in " ".join(err.split())) == (2, True)
    assert (files / "knives.csv").read_bytes() == before


def test_prior_option_uses_class_names(adrem: Command, files: Path) -> None:
    for name in ("books.csv", "knives.csv"):
        frame = pl.read_csv(files / name)
        frame.with_columns(verdict=pl.col("verdict") == "good").write_parquet(files / name.replace("csv", "parquet"))
    words = [
        "adapt",
        "books.parquet",
        "knives.parquet",
        "--label",
        "verdict",
        "--drop",
        "id",
        "--prior",
        "True=0.3,False=0.7",
        "--protected",
        "True",
    ]
    code, _, err = adrem(*words, "-o", "l.csv", "--save", "m.adrem", "--members", "2")
    assert code == 0
    assert "Model: m.adrem" in err
    model = load(files / "m.adrem")
    assert (model.class_prior, model.n_estimators) == ({True: 0.3, False: 0.7}, 2)
    assert "- class shares: as given, False 0.70, True 0.30" in err
    assert model.protected_classes == [True]


def test_warnings_are_printed_without_source_lines(adrem: Command, files: Path) -> None:
    target = reviews("target", 50, 1).with_columns(review=pl.lit("it is a fine great lovely gripping thing"))
    target.write_csv(files / "knives.csv")
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id,price", "--method", "adrem"]
    code, _, err = adrem(*words, "-o", "l.csv")
    assert code == 0
    assert "! At some iteration no target row was labelled with class 'bad'" in " ".join(err.split())
    assert "set --prior; otherwise check" in " ".join(err.split())
    assert "class_prior" not in err
    assert ".py" not in err


def test_report_option_writes_complete_page(adrem: Command, files: Path) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", "--target-label", "verdict"]
    code, out, err = adrem(*words, "-o", "labels.csv", "--report", "page.html", "--json")
    assert code == 0
    summary = json.loads(out)
    assert summary["verdict"]["choice"] in ("adapted", "unsure", "source")
    assert summary["report"] == "page.html"
    page = (files / "page.html").read_text("utf-8")
    assert "knives.csv, labelled from books.csv" in page
    assert summary["source"]["sha256"] in page
    assert "adrem adapt books.csv knives.csv --label verdict" in page.replace("<span>", "").replace("</span>", "")
    assert "target7, it is a" in page  # the text of a row
    assert summary["verdict"]["sentence"] in page
    assert "Traceback" not in err


@pytest.mark.thorough
def test_terminal_page_and_json_show_equal_verdict(adrem: Command, files: Path) -> None:
    """With more than 2000 target rows the verdict uses a sample, which has to be the same in all outputs."""
    rng = np.random.RandomState(0)
    for name, n_rows, shift in (("old.csv", 300, 0.0), ("new.csv", 2500, 0.6)):
        kind = rng.randint(3, size=n_rows)
        values = rng.normal(size=(n_rows, 2)) + np.array([[0, 2], [2, 0], [1.5, 1.5]])[kind] + [shift, -shift]
        pl.DataFrame({"a": values[:, 0], "b": values[:, 1], "kind": kind.astype(str)}).write_csv(files / name)
    words = ["adapt", "old.csv", "new.csv", "--label", "kind", "--members", "3", "--iterations", "5", "--force"]
    words += ["--method", "adrem"]  # faster than a committee
    told = [json.loads(adrem(*words, "-o", "l.csv", "--json")[1])["verdict"] for _ in range(2)]
    code, out, _ = adrem(*words, "-o", "l.csv", "--json", "--report", "page.html")
    assert code == 0
    verdict = json.loads(out)["verdict"]
    assert told == [verdict, verdict]
    assert verdict["reasons"]
    shown = " ".join(html.unescape((files / "page.html").read_text("utf-8")).split())
    _, _, err = adrem(*words, "-o", "l.csv", "--report", "page.html")
    for text in (verdict["sentence"], *verdict["reasons"]):
        assert text in shown
        assert text in " ".join(err.split())


def test_verdict_fits_80_columns(adrem: Command, files: Path) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "-o", "labels.csv"]
    _, _, err = adrem(*words, "--report", "page.html")
    assert "\nVerdict: " in err
    assert f"Page: {'page.html'}" in err
    assert max(map(len, err.splitlines())) <= 80
    assert (files / "page.html").stat().st_size > 10_000


def test_report_row_numbers_count_skipped_rows(adrem: Command, files: Path) -> None:
    frame = pl.read_csv(files / "books.csv")
    blank = pl.Series("verdict", [None] + frame["verdict"].to_list()[1:])
    frame.with_columns(blank).write_csv(files / "books.csv")
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", "-o", "labels.csv"]
    assert adrem(*words, "--report", "page.html").code == 0
    page = (files / "page.html").read_text("utf-8")
    assert "books.csv, row 2, bad: source1, it is a" in page
    assert "source0," not in page


def test_scoring_labels_missing_in_source_are_reported(adrem: Command, files: Path) -> None:
    frame = pl.read_csv(files / "knives.csv")
    odd = pl.Series("verdict", ["strange"] * 5 + frame["verdict"].to_list()[5:])
    frame.with_columns(odd).write_csv(files / "knives.csv")
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", "--target-label", "verdict"]
    code, _, err = adrem(*words, "-o", "labels.csv")
    assert code == 0
    assert "! 5 of the labels for scoring are not in the source, and count as wrong: strange" in " ".join(err.split())


def test_texts_without_known_words_are_counted(adrem: Command, files: Path) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id,price", "--save", "m.adrem"]
    assert adrem(*words, "-o", "labels.csv").code == 0
    (files / "odd.csv").write_text("review\n\nzzz yyy\nit is a fine great sharp thing\n")
    code, _, err = adrem("predict", "m.adrem", "odd.csv", "-o", "-")
    assert code == 0
    assert "2 text(s) of 'review' have no known word" in err


def test_row_number_columns_are_left_out(adrem: Command, files: Path) -> None:
    for name in ("books.csv", "knives.csv"):
        frame = pl.read_csv(files / name)
        frame.insert_column(0, pl.Series("", range(frame.height))).write_csv(files / name)
    code, _, err = adrem("adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", "-o", "labels.csv")
    assert code == 0
    assert "column '' is left out: identifier, row numbers" in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limit")
@pytest.mark.parametrize("option", ["--save", "--report", "--keep"])
def test_full_disk_is_reported_and_leaves_no_files(adrem: Command, files: Path, option: str) -> None:
    """A file size limit of 1000 bytes stands for a full disk: the first long write fails."""
    value = {"--save": "m.adrem", "--report": "page.html", "--keep": "review"}[option]
    for name in ("books.csv", "knives.csv"):
        frame = pl.read_csv(files / name)
        frame.with_columns(review=pl.col("review") + " padding of every row" * 20).write_csv(files / name)
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", option, value, "-o", "labels.csv"]
    words += ["--method", "adrem"]  # faster than a committee
    assert adrem(*words).code == 0  # fills the cache of compiled code
    for path in (files / "labels.csv", files / value):
        path.unlink(missing_ok=True)
    before = {path: path.read_bytes() for path in files.iterdir()}
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
        f"sys.argv = {['adrem', *words]!r}; from adrem.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "was not written. Free some space, or choose another folder" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_unwritable_output_folder_is_reported_first(adrem: Command, files: Path) -> None:
    locked = Path("/sys/kernel") if sys.platform == "linux" and os.geteuid() == 0 else files / "locked"
    if locked.parent == files:
        locked.mkdir(mode=0o500)
    code, out, err = adrem("adapt", "nothing.csv", "knives.csv", "--label", "verdict", "-o", locked / "labels.csv")
    assert (code, out) == (1, "")
    assert err.startswith(f"adrem: {locked / 'labels.csv'} can't be written: ")
    assert err.endswith("Choose another folder or name with --output.\n")
    assert err.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev/null")
@pytest.mark.parametrize("option", ["--save", "--report"])
@pytest.mark.usefixtures("files")
def test_special_files_are_not_replaced(adrem: Command, option: str) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "-o", "labels.csv", "--force"]
    code, _, err = adrem(*words, option, "/dev/null")
    assert (code, "/dev/null is not a regular file" in " ".join(err.split())) == (2, True)
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.usefixtures("files")
def test_full_standard_output_is_reported_in_one_line() -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "-o", "-"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "adrem", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "adrem: [Errno 28] No space left on device"
    assert "Exception" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_closed_streams_are_handled(files: Path) -> None:
    words = f"{sys.executable} -m adrem adapt books.csv knives.csv --label verdict --drop id --method adrem"
    quiet = subprocess.run(["/bin/sh", "-c", f"{words} -o labels.csv <&- >&- 2>&-"], capture_output=True, check=False)
    assert quiet.returncode == 0
    assert pl.read_csv(files / "labels.csv").height == 50
    refused = subprocess.run(["/bin/sh", "-c", f"{words} -o - >&-"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr == "adrem: Standard output is closed: name a file for the labels with --output.\n"


def test_lost_class_is_shown_in_verdict_and_report(adrem: Command, files: Path) -> None:
    target = reviews("target", 50, 1).with_columns(review=pl.lit("it is a fine great lovely gripping thing"))
    target.write_csv(files / "knives.csv")
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id,price", "-o", "l.csv"]
    code, _, err = adrem(*words, "--method", "adrem", "--report", "page.html")
    assert code == 0
    assert "Verdict: unsure." in err
    page = (files / "page.html").read_text("utf-8")
    assert "Warnings of the fit" in page
    assert "of the target rows have the same label" in page


def test_similar_column_names_are_reported(adrem: Command, files: Path) -> None:
    frame = pl.read_csv(files / "knives.csv").rename({"review": "Review"})
    frame.write_csv(files / "knives.csv")
    _, _, err = adrem("adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "-o", "l.csv")
    assert "'review' and 'Review' look alike" in " ".join(err.split())


def test_carriage_return_line_endings_are_read(adrem: Command, files: Path) -> None:
    for name in ("books.csv", "knives.csv"):
        (files / name).write_bytes((files / name).read_bytes().replace(b"\n", b"\r"))
    code, _, err = adrem("adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "-o", "l.csv")
    assert code == 0, err
    assert "Source books.csv: 60 labelled rows." in err


def test_long_labels_fit_80_columns(adrem: Command, files: Path) -> None:
    for name in ("books.csv", "knives.csv"):
        frame = pl.read_csv(files / name)
        frame.with_columns(verdict="a label that goes on " * 5 + pl.col("verdict")).write_csv(files / name)
    code, _, err = adrem("adapt", "books.csv", "knives.csv", "--label", "verdict", "--drop", "id", "-o", "l.csv")
    assert code == 0
    assert max(map(len, err.splitlines())) <= 80
    assert "…" in err


def test_committee_and_estimate_are_reported(adrem: Command, files: Path) -> None:
    common = ("adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", "--members", "2")
    code, _, err = adrem(*common, "--estimate", "-o", "labels.csv", "--save", "m.adrem", "--report", "page.html")
    assert code == 0
    assert max(map(len, err.splitlines())) <= 80
    told = " ".join(err.split())
    model = load(files / "m.adrem")
    assert isinstance(model, Committee)
    assert model.n_estimators == 2
    page = " ".join(html.unescape((files / "page.html").read_text("utf-8")).split())
    for line in model.findings():
        assert f"- {line}" in told
        assert f"<li>{line[0].upper()}{line[1:]}.</li>" in page
    assert "of the kinds vote for the adapted label" in page
    [told] = re.findall(r"Estimated accuracy, without labels: (\d+) %, likely (\d+) to (\d+) %\.", err)
    value, low, high = map(int, told)
    assert low <= value <= high <= 100
    frame, truth = pl.read_csv(files / "labels.csv"), pl.read_csv(files / "knives.csv")
    assert np.mean(frame["label"].to_numpy() == truth["verdict"].to_numpy()) > 0.9
    assert adrem("predict", "m.adrem", "more.csv", "-o", "more_labels.csv")[0] == 0
    assert "gained by adapting" in adrem("explain", "m.adrem")[1]
    code, out, _ = adrem(*common, "--json", "-o", "other.csv")
    summary = json.loads(out)
    assert summary["kinds"] == model.kinds_
    assert summary["left_out"] == model.left_out_
    assert summary["class_prior"] == dict(zip(model.classes_.tolist(), model.class_prior_.tolist(), strict=True))
    assert summary["findings"] == model.findings()
    pl.read_csv(files / "knives.csv").head(2).write_csv(files / "two.csv")
    code, _, err = adrem("adapt", "books.csv", "two.csv", "--label", "verdict", "--estimate", "-o", "two_labels.csv")
    assert code == 1
    assert "the target has 2. Skip the estimate" in " ".join(err.split())
    assert not (files / "two_labels.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--loss", "hinge"), "The method committee has no such option: leave it out, or use --method adrem."),
        (("--C", "1"), "The method committee has no such option: leave it out, or use --method adrem."),
        (
            ("--effort", "low", "--method", "adrem"),
            "The method adrem has no such option: leave it out, or use --method committee.",
        ),
        (("--method", "auto"), "'auto' was replaced by 'committee', the default"),
        (("--prior", "estimate"), "To rely on an estimate, use --method adrem."),
        (("--prior", "auto", "--method", "adrem"), "The method adrem does not know 'auto'; committee does."),
    ],
)
def test_options_of_other_methods_are_refused(adrem: Command, files: Path, words: tuple[str, ...], said: str) -> None:
    code, _, err = adrem("adapt", "books.csv", "knives.csv", "--label", "verdict", *words, "-o", "labels.csv")
    assert code == 2
    assert said in " ".join(err.replace("│", " ").split())
    assert not (files / "labels.csv").exists()


@pytest.mark.usefixtures("files")
def test_effort_is_that_of_the_committee(adrem: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.committee.effort.SECONDS", 1e-6)  # as if these files were long
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--members", "1", "-o", "labels.csv", "--force"]
    words += ["--json", "--no-estimate"]
    left_out = {level: json.loads(adrem(*words, "--effort", level).out)["left_out"] for level in ("low", "high")}
    assert 'the effort "high" tries it' in " ".join(left_out["low"].values())
    assert "the effort" not in " ".join(left_out["high"].values())


def test_messages_name_options(adrem: Command, files: Path) -> None:
    (files / "lists.jsonl").write_text('{"a": [1], "verdict": "x"}\n{"a": [2], "verdict": "y"}\n' * 5)
    words = ["lists.jsonl", "lists.jsonl", "--label", "verdict", "-o", "labels.csv"]
    assert "flatten it, or name it in --drop" in adrem("adapt", *words).err
    (files / "bare.csv").write_text("1,1,0\n2,3,1\n")
    assert "is no header, use --no-header" in adrem("adapt", "bare.csv", "bare.csv", "-o", "labels.csv").err


def test_predict_tells_a_classifier_of_the_source(adrem: Command, files: Path) -> None:
    from adrem.columns.bundle import load_bundle, save_bundle

    words = ["books.csv", "knives.csv", "--label", "verdict", "-o", "labels.csv", "--members", "1", "--save", "m.adrem"]
    assert adrem("adapt", *words).code == 0
    assert "classifier of the source" not in adrem("predict", "m.adrem", "more.csv", "-o", "a.csv").err
    bundle = load_bundle(files / "m.adrem")
    save_bundle(replace(bundle, model=bundle.baseline), files / "source.adrem")
    outcome = adrem("predict", "source.adrem", "more.csv", "-o", "b.csv", "--json")
    assert "the model is the classifier of the source alone" in " ".join(outcome.err.split())
    assert json.loads(outcome.out)["handed_out"] == "source"
    assert "the model is the classifier of the source alone" in " ".join(adrem("explain", "source.adrem").err.split())


def write_shares(folder: Path, shares: tuple[float, float], shift: float = 0.0) -> None:
    """Write source.csv and target.csv, of two classes that overlap, with the shares of the first one."""
    rng = np.random.RandomState(0)
    for name, share, moved in zip(("source", "target"), shares, (0.0, shift), strict=True):
        is_ill = np.arange(200) < 200 * share
        columns = {f"x{k}": rng.normal(size=200) + 1.2 * is_ill + moved for k in range(3)}
        frame = pl.DataFrame({**columns, "state": np.where(is_ill, "ill", "well").tolist()})
        frame.write_csv(folder / f"{name}.csv")


STATES = ["source.csv", "target.csv", "--label", "state", "--target-label", "state", "--method", "adrem", "--force"]


@pytest.mark.thorough
def test_labels_of_the_source_are_those_that_are_scored_and_shown(
    adrem: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_shares(tmp_path, (0.5, 0.9))
    monkeypatch.chdir(tmp_path)
    words = [*STATES, "-o", "labels.csv", "--report", "page.html"]
    summary = json.loads(adrem("adapt", *words, "--json").out)
    assert (summary["handed_out"], summary["verdict"]["choice"]) == ("source", "source")
    written, truth = (pl.read_csv(name) for name in ("labels.csv", "target.csv"))
    of_ill = written.filter(truth["state"] == "ill")["label"].value_counts().sort("label")["count"].to_list()
    assert summary["scores"]["classes"][0]["labelled_by_source"] == of_ill
    assert (written["label"] == written["source_label"]).all()
    assert (written["adapted_label"] == truth["state"]).mean() == summary["accuracy"]["adapted"]
    assert (written["adapted_label"] == "ill").sum() == summary["classes"]["ill"]["adapted"]
    told = adrem("adapt", *words).err
    assert "source as\n" in told
    assert re.search(rf"^ill .* {of_ill[0]} +{of_ill[1]}$", told, re.MULTILINE)
    plain = " ".join(told.split())
    assert "The labels that are written are those of the source alone (logistic regression)." in plain
    page = (tmp_path / "page.html").read_text()
    assert "The labels that were written are those of the source alone (logistic regression)." in page
    assert "Labels of the source alone by true label" in page
    assert "Sections 2 to 5 are about the adapted labels." in page
    assert "x0" in page
    assert "(constant)" not in page
    accuracy = f"{100 * summary['accuracy']['source']:.1f}\N{NO-BREAK SPACE}%"
    assert f"<dt>accuracy, source alone</dt><dd>{accuracy}" in page
    assert "The accuracy is estimated at" not in page  # that would be the accuracy of other labels
    assert "and the model that is saved," in " ".join(adrem("adapt", *words, "--save", "m.adrem").err.split())


@pytest.mark.parametrize(
    ("n_rows", "reason"), [(200, "of the target rows have the same label"), (2, "the target has 2")]
)
def test_accuracy_that_is_unknown_has_no_number_anywhere(
    adrem: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_rows: int, reason: str
) -> None:
    write_shares(tmp_path, (0.5, 0.5), shift=9.0)
    monkeypatch.chdir(tmp_path)
    pl.read_csv("target.csv").head(n_rows).write_csv("target.csv")
    words = [*STATES, "-o", "labels.csv", "--report", "page.html"]
    estimate = json.loads(adrem("adapt", *words, "--json").out)["estimated_accuracy"]
    assert estimate["accuracy"] is None
    assert reason in estimate["reasons"][0]
    page = (tmp_path / "page.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert reason in page
    assert "unknown <small>" in page
    assert "is estimated at" not in page
    told = " ".join(adrem("adapt", *words).err.split())
    assert "Estimated accuracy: nothing can be said without labels." in told
    assert reason in told


def test_summary_as_json_has_notes_and_warnings(
    adrem: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_shares(tmp_path, (0.5, 0.5), shift=9.0)
    monkeypatch.chdir(tmp_path)
    outcome = adrem("adapt", *STATES, "-o", "labels.csv", "--drop", "x2", "--json")
    summary = json.loads(outcome.out)
    assert "numbers: 'x0', 'x1'" in summary["notes"]
    assert any("At some iteration no target row was labelled" in text for text in summary["warnings"])


def test_files_of_numbers_may_be_several_sources(
    adrem: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.RandomState(0)
    monkeypatch.chdir(tmp_path)
    for name, n_features in (("a", 3), ("b", 4), ("target", 4)):
        y = rng.randint(0, 2, 40)
        dump_svmlight_file(rng.normal(size=(40, n_features)) + 3.0 * y[:, None], y, f"{name}.svm", zero_based=False)
    outcome = adrem("adapt", "a.svm", "b.svm", "--target", "target.svm", "--members", "1", "-o", "labels.csv", "--json")
    assert outcome.code == 0, outcome.err
    assert "Rows of each source: 40, 40." in outcome.err
    assert "- 4 features" in outcome.err
    assert json.loads(outcome.out)["accuracy"]["adapted"] > 0.8
    np.savez("wide.npz", x=np.ones((4, 5)), y=[0, 1, 0, 1])
    np.savez("narrow.npz", x=np.ones((4, 3)), y=[0, 1, 0, 1])
    np.savez("bare.npz", x=np.ones((4, 5)))
    for other, message in (
        ("narrow.npz", "narrow.npz has 3 features, and not 5"),
        ("bare.npz", "bare.npz has no labels"),
    ):
        refused = adrem("adapt", "wide.npz", other, "--target", "wide.npz", "-o", "no.csv")
        assert refused.code == 1
        assert message in refused.err


@pytest.mark.usefixtures("files")
def test_class_shares_are_told(adrem: Command) -> None:
    words = ["books.csv", "knives.csv", "--label", "verdict", "-o", "labels.csv", "--members", "1", "--force"]
    assert "- class shares: assumed equal; --prior" in adrem("adapt", *words, "--method", "adrem").err
    assert (
        "as in the source, bad 0.50, good 0.50" in adrem("adapt", *words, "--method", "adrem", "--prior", "source").err
    )


def test_several_sources_and_a_column_that_names_the_domain(adrem: Command, files: Path) -> None:
    frames = {name: pl.read_csv(files / f"{name}.csv") for name in ("books", "knives", "more")}
    frames["more"].select(pl.all().shuffle(1)).write_csv(files / "films.csv")
    words = ["--label", "verdict", "--target-label", "verdict", "--id", "id", "--members", "1", "--drop", "price"]
    out = adrem("adapt", "books.csv", "more.csv", "--target", "knives.csv", *words, "-o", "a.csv", "--json")
    assert out.code == 0, out.err
    summary = json.loads(out.out)
    assert [own["name"] for own in summary["sources"]] == ["books.csv", "more.csv"]
    assert summary["source"]["rows"] == 80
    assert "Rows of each source: 60, 20." in out.err
    assert summary["accuracy"]["adapted"] > 0.8
    pl.concat([frame.with_columns(place=pl.lit(name)) for name, frame in frames.items()]).write_csv(files / "all.csv")
    alone = adrem("adapt", "all.csv", "--domain", "place", "--target", "knives", *words, "-o", "b.csv")
    assert alone.code == 0, alone.err
    assert (files / "a.csv").read_text() == (files / "b.csv").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["books.csv"], "Name a file to label after those with labels"),
        (["-", "-"], "Only one of the files can be standard input"),
        (["books.csv", "--domain", "verdict", "--target", "best"], "has no domain 'best'; it has 'bad', 'good'"),
        (["books.csv", "--domain", "place", "--target", "x"], "books.csv has no column 'place'"),
        (["books.csv", "plain.npz", "--target", "knives.csv"], "has rows of numbers: all files need the same form"),
        (
            ["books.csv", "films.csv", "--target", "knives.csv"],
            "films.csv has no column 'verdict'. Did you mean 'verdikt'",
        ),
        (["books.csv", "--target", "bad"], "There is no file bad. If it is a domain in a column, name the column with"),
    ],
)
def test_sources_that_cannot_be_told_are_refused(adrem: Command, files: Path, words: list[str], message: str) -> None:
    np.savez(files / "plain.npz", x=np.eye(4), y=np.array([0, 1, 0, 1]))
    pl.read_csv(files / "more.csv").rename({"verdict": "verdikt"}).write_csv(files / "films.csv")
    outcome = adrem("adapt", *words, "--label", "verdict", "-o", "labels.csv")
    assert outcome.code in (1, 2)
    assert message in " ".join(outcome.err.split())


def test_scores_recall_and_confusions_are_told_alike(adrem: Command, files: Path) -> None:
    knives = pl.read_csv(files / "knives.csv")
    knives.with_columns(verdict=pl.when(pl.int_range(50) < 10).then(pl.lit("")).otherwise("verdict")).write_csv(
        files / "some.csv"
    )
    words = ["books.csv", "some.csv", "--label", "verdict", "--target-label", "verdict", "--members", "1", "--force"]
    words += ["-o", "labels.csv", "--report", "page.html"]
    told = adrem("adapt", *words).err
    summary = json.loads(adrem("adapt", *words, "--json").out)
    scores, page = summary["scores"], (files / "page.html").read_text()
    assert (scores["rows"], scores["unlabelled"]) == (40, 10)
    assert "10 of the rows have no label for scoring" in told
    assert "10 rows have no true label" in page
    shown = f"{100 * scores['balanced_accuracy']['adapted']:.1f}"
    assert f"Balanced accuracy: {shown} %" in told
    assert f"{shown}\N{NO-BREAK SPACE}%" in page
    assert sum(sum(own["labelled"]) for own in scores["classes"]) == 40
    assert summary["estimated_accuracy"]["low"] > 0
    assert "estimated accuracy" in page
    confidence = pl.read_csv(files / "labels.csv")["confidence"].to_numpy()
    np.testing.assert_array_equal(confidence, confidence.round(2))


def test_page_without_samples_has_no_row_of_the_data(adrem: Command, files: Path) -> None:
    words = ["books.csv", "knives.csv", "--label", "verdict", "--id", "id", "--members", "1", "-o", "labels.csv"]
    assert adrem("adapt", *words, "--report", "page.html", "--no-samples", "--no-estimate").code == 0
    page = (files / "page.html").read_text()
    assert "Single rows are not shown" in page
    assert not re.search(r"(source|target)\d", page)
    assert adrem("adapt", *words, "--report", "page.html", "--no-estimate", "--force").code == 0
    assert re.search(r"target\d", (files / "page.html").read_text())


def test_known_labels_are_learnt_from_and_written(adrem: Command, files: Path) -> None:
    target = pl.read_csv(files / "knives.csv")
    told = target.select("id", verdict=pl.lit("bad")).head(3)
    told.write_csv(files / "labelled.csv")
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "--id", "id", "--members", "1", "--json"]
    scored = ["--target-label", "verdict"]
    code, out, err = adrem(*words, *scored, "--known", "labelled.csv", "-o", "l.csv", "--report", "p.html")
    assert code == 0
    assert "labelled.csv has labels of 3 of the 50 rows of knives.csv: both classifiers learn from them" in " ".join(
        err.split()
    )
    assert json.loads(out)["known_labels"] == 3
    assert json.loads(out)["scores"]["rows"] == 47
    assert pl.read_csv(files / "l.csv")["label"][:3].to_list() == ["bad"] * 3
    partly = target.with_columns(verdict=pl.when(pl.int_range(50) < 3).then(pl.lit("bad")))
    partly.write_csv(files / "partly.csv")
    words[2] = "partly.csv"
    assert json.loads(adrem(*words, "-o", "again.csv").out)["known_labels"] == 3
    assert pl.read_csv(files / "again.csv").equals(pl.read_csv(files / "l.csv"))


@pytest.mark.usefixtures("files")
def test_known_labels_need_the_identifier(adrem: Command) -> None:
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "-o", "l.csv", "--known", "more.csv"]
    code, _, err = adrem(*words)
    assert code == 2
    assert "--id" in err
    assert "identifies the rows?" in " ".join(err.split())
    code, _, err = adrem(*words, "--id", "id")
    assert code == 0  # the same names


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("words", "option"), [(["--id", "nr"], "--id"), (["--keep", "nr"], "--keep")])
def test_a_column_that_is_missing_is_told_of_the_option_that_names_it(
    adrem: Command, words: list[str], option: str
) -> None:
    code, _, err = adrem("adapt", "books.csv", "knives.csv", "--label", "verdict", "-o", "l.csv", *words)
    assert code == 2
    assert f"Invalid value for {option}: " in " ".join(err.split())
    assert "has no column 'nr'" in " ".join(err.split())
