"""The command line gives the results of the Python API on real files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from commands import Command
from reviews import write_reviews
from sklearn.datasets import dump_svmlight_file

from adrem import AdREM
from adrem.datasets import DomainPair, load
from adrem.preprocessing import JointStdScaler, transform_pair


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def accuracy_of_python(data: DomainPair) -> float:
    X_source, X_target = transform_pair(JointStdScaler(), data.X_source, data.X_target)
    model = AdREM(random_state=0).fit(X_source, data.y_source, X_target=X_target)
    return float(np.mean(model.transduction_ == data.y_target))


def adapted(adrem: Command, *words: object) -> dict[str, Any]:
    code, out, err = adrem("adapt", *words, "--method", "adrem", "-o", "labels.csv", "--json")
    assert code == 0, err
    summary: dict[str, Any] = json.loads(out)
    return summary


def test_amazon_text_files_equal_python_route(adrem: Command, folder: Path) -> None:
    """Reviews as a text column in which each word is repeated by its count."""
    write_reviews(folder)
    summary = adapted(
        adrem, "books.csv", "kitchen.csv", "--label", "stars", "--target-label", "stars", "--report", "page.html"
    )
    assert summary["accuracy"]["adapted"] > 0.79
    assert summary["accuracy"]["adapted"] > summary["accuracy"]["source"] + 0.03
    assert summary["verdict"]["choice"] == "adapted"
    # The Python API on the same texts.
    from sklearn.feature_extraction.text import CountVectorizer

    frames = [pl.read_csv(folder / name) for name in ("books.csv", "kitchen.csv")]
    counter = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b", dtype=np.float64)  # noqa: S106
    counter.fit([text or "" for frame in frames for text in frame["review"]])
    rows = [counter.transform([text or "" for text in frame["review"]]) for frame in frames]
    python = DomainPair(rows[0], frames[0]["stars"].to_numpy(), rows[1], frames[1]["stars"].to_numpy())
    assert summary["accuracy"]["adapted"] == pytest.approx(accuracy_of_python(python), abs=0.002)


def test_amazon_svmlight_files_equal_python_route(adrem: Command, folder: Path) -> None:
    pair = load("amazon-reviews").pair("E", "D", preprocess=False)
    assert pair.X_source.shape[1] == 473_856
    for name, X, y in (("e.svmlight", pair.X_source, pair.y_source), ("d.svmlight", pair.X_target, pair.y_target)):
        matrix = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
        dump_svmlight_file(matrix, np.unique(y, return_inverse=True)[1], str(folder / name), zero_based=True)
    summary = adapted(adrem, "e.svmlight", "d.svmlight")
    assert summary["accuracy"]["adapted"] == pytest.approx(accuracy_of_python(pair), abs=0.002)
    assert summary["accuracy"]["adapted"] > summary["accuracy"]["source"] + 0.03


def test_office_caltech_npz_files_equal_python_route(adrem: Command, folder: Path) -> None:
    pair = load("office-caltech-resnet50").pair("A", "W", preprocess=False)
    rectified = pair._replace(X_source=np.maximum(pair.X_source, 0), X_target=np.maximum(pair.X_target, 0))
    np.savez(folder / "amazon.npz", x=rectified.X_source, y=pair.y_source)
    np.savez(folder / "webcam.npz", x=rectified.X_target, y=pair.y_target)
    summary = adapted(adrem, "amazon.npz", "webcam.npz", "--save", "m.adrem", "--report", "page.html")
    assert summary["accuracy"]["adapted"] == pytest.approx(accuracy_of_python(rectified), abs=0.002)
    assert summary["accuracy"]["adapted"] > 0.95
    code, _, err = adrem("predict", "m.adrem", "webcam.npz", "-o", "again.csv")
    assert code == 0, err
    assert pl.read_csv("again.csv").equals(pl.read_csv("labels.csv"))
    assert (folder / "page.html").stat().st_size < 2_000_000


def test_mixed_columns_parquet_file_is_adapted(adrem: Command, folder: Path) -> None:
    """SURF features as a table with missing numbers, categories, text and row names."""
    pair = load("office-caltech-surf").pair("D", "W", preprocess=False)
    rng = np.random.RandomState(0)
    for name, X, y in (
        ("dslr.parquet", pair.X_source, pair.y_source),
        ("webcam.parquet", pair.X_target, pair.y_target),
    ):
        rows = np.asarray(X, dtype=float)
        shares = rows / rows.sum(axis=1, keepdims=True)
        numbers = {f"n{k}": np.where(rng.uniform(size=len(y)) < 0.05, np.nan, shares[:, k]) for k in range(600)}
        texts = [" ".join(f"w{k}" for k in np.flatnonzero(row[600:])) for row in rows]
        largest = [f"bin {k}" for k in rows.argmax(axis=1) // 100]
        names = [f"image-{k}" for k in range(len(y))]
        kind = [str(label) for label in y]
        frame = pl.DataFrame({"name": names, "words": texts, "largest": largest, "kind": kind, **numbers})
        frame.write_parquet(folder / name)
    summary = adapted(
        adrem, "dslr.parquet", "webcam.parquet", "--label", "kind", "--target-label", "kind", "--save", "m.adrem",
        "--report", "page.html",
    )  # fmt: skip
    assert summary["accuracy"]["adapted"] > 0.7
    code, out, _ = adrem("explain", "m.adrem", "--json", "--top", "300")
    features = {word for voice in json.loads(out) for word in voice["adapted"]}
    assert code == 0
    assert any(word.startswith("words: w") for word in features), features
    assert any(word.startswith("n") for word in features), features
    shuffled = pl.read_parquet(folder / "webcam.parquet").select(pl.all().shuffle(seed=0)).select("words", "largest")
    shuffled.write_parquet(folder / "fewer.parquet")
    code, _, err = adrem("predict", "m.adrem", "fewer.parquet", "-o", "fewer.csv")
    assert code == 0
    assert "! missing in fewer.parquet, but used by the model: 'n0', 'n1'" in " ".join(err.split())
