"""Two tables of any form become labels in one call, the same as on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from PIL import Image
from small_networks import image_model, text_model

from adrem import AdREM, adapt_tables
from adrem.columns import FileTable
from adrem.columns.bundle import load_bundle
from adrem.columns.labelling import label_rows, make_rows
from adrem.exceptions import InvalidDataError, InvalidTypeError, ParameterError
from adrem.features import ImageEncoder, TextEncoder


def quick() -> AdREM:
    return AdREM(C=0.1, n_estimators=2, n_iter=3, random_state=0)


def table(thing: str, n: int = 40) -> dict[str, list[Any]]:
    labels = [("good", "bad")[k % 2] for k in range(n)]
    return {"review": [f"a {own} {thing} bought in {k}" for k, own in enumerate(labels)], "liked": labels}


def test_files_and_frames_give_the_same(tmp_path: Path) -> None:
    books, knives = table("book"), table("knife")
    for name, own in (("books", books), ("knives", knives)):
        pl.DataFrame(own).write_csv(tmp_path / f"{name}.csv")
    forms = [
        (tmp_path / "books.csv", str(tmp_path / "knives.csv")),
        (pl.DataFrame(books), pl.DataFrame(knives)),
        (pd.DataFrame(books), pd.DataFrame(knives)),
        (FileTable("books", "", pl.DataFrame(books)), pl.DataFrame(knives)),
    ]
    for source, target in forms:
        adapted = adapt_tables(source, target, label="liked", target_label="liked", text=["review"], model=quick())
        assert adapted.labels.label.tolist() == knives["liked"]
        assert adapted.pair.truth is not None
        assert adapted.predict(target).label.tolist() == knives["liked"]
    adapted.save(tmp_path / "model.adrem")
    bundle = load_bundle(tmp_path / "model.adrem")
    rows, _ = make_rows(bundle, FileTable("knives", "", pl.DataFrame(knives)))
    assert label_rows(bundle, rows).label.tolist() == knives["liked"]


def test_texts_are_encoded(tmp_path: Path) -> None:
    encoder = TextEncoder(text_model(tmp_path / "tiny"), cache=tmp_path / "cache")
    target = pl.DataFrame(table("knife"))
    adapted = adapt_tables(
        pl.DataFrame(table("book")), target, label="liked", text=["review"], encoder=encoder, model=quick()
    )
    assert adapted.pair.X_source.shape == (40, 5)  # and a constant
    assert (adapted.labels.label == target["liked"].to_numpy()).all()


def test_columns_beside_encoded_texts_are_used(tmp_path: Path) -> None:
    encoder = TextEncoder(text_model(tmp_path / "tiny"), cache=tmp_path / "cache")
    frames = [
        pl.DataFrame(table(thing)).with_columns(
            price=pl.Series(np.random.RandomState(0).uniform(1, 9, 40)), colour=pl.Series(["red", "blue"] * 20)
        )
        for thing in ("book", "knife")
    ]
    adapted = adapt_tables(*frames, label="liked", text=["review"], encoder=encoder, model=quick())
    names = adapted.pair.feature_names
    assert names[:2] == ["price", "review: tiny_0"]
    assert names[5] == "(constant)"
    rows = adapted.pair.X_target
    assert rows.shape == (40, len(names))
    both = np.concatenate([adapted.pair.X_source, rows])
    np.testing.assert_allclose(both[:, :5].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(both[:, :5].std(axis=0), 1, atol=1e-6)


def test_folders_of_images_are_read(tmp_path: Path) -> None:
    encoder = ImageEncoder(image_model(tmp_path / "means.onnx"), size=32, cache=tmp_path / "cache")
    rng = np.random.RandomState(0)
    for name, classes in (("studio", True), ("phone", False)):
        for colour, value in (("red", (200, 30, 30)), ("blue", (30, 30, 200))):
            for k in range(12):
                file = tmp_path / name / (f"{colour}/{k}.png" if classes else f"{colour}-{k}.png")
                file.parent.mkdir(parents=True, exist_ok=True)
                noisy = np.clip(np.array(value) + rng.normal(0, 20, 3), 0, 255).astype(np.uint8)
                Image.new("RGB", (8, 8), tuple(noisy.tolist())).save(file)
    adapted = adapt_tables(tmp_path / "studio", tmp_path / "phone", encoder=encoder, model=quick())
    assert adapted.labels.label.tolist() == ["blue"] * 12 + ["red"] * 12
    assert adapted.predict(tmp_path / "phone/red-3.png").label.tolist() == ["red"]
    texts = TextEncoder(text_model(tmp_path / "tiny"), cache=False)
    with pytest.raises(ParameterError, match="needs an encoder of images, and not of texts"):
        adapt_tables(tmp_path / "studio", tmp_path / "phone", encoder=texts)
    with pytest.raises(InvalidDataError, match="has images: both need the same form"):
        adapt_tables(tmp_path / "studio", pl.DataFrame({"a": [1]}), encoder=encoder)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InvalidTypeError, match="The target is ndarray: pass a file, a folder of images, or a frame"):
        adapt_tables(pl.DataFrame(table("book")), np.zeros((3, 2)), label="liked")
