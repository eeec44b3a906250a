"""Texts and folders of images, straight to labels, with the small networks of the tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Command
from PIL import Image
from small_networks import image_model, text_model

QUICK = ("--method", "adrem", "--members", "2", "--iterations", "5")
COLOURS = {"red": (220, 40, 40), "green": (40, 180, 60)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    text_model(tmp_path / "models" / "tiny")
    image_model(tmp_path / "models" / "means.onnx")
    monkeypatch.setenv("ADREM_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("ADREM_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_texts(folder: Path) -> None:
    """Write reviews whose words the small network knows, one of them long."""
    rng = np.random.RandomState(0)
    for name, thing in (("books", "book"), ("knives", "knife")):
        labels = [("good", "bad")[k % 2] for k in range(60)]
        texts = [
            f"it is a {label} {thing} {rng.choice(['sharp', 'dull'])} indeed {k}" for k, label in enumerate(labels)
        ]
        texts[7] += " indeed" * 300
        pl.DataFrame({"review": texts, "stars": labels, "pages": rng.uniform(size=60)}).write_csv(
            folder / f"{name}.csv"
        )


def write_photos(folder: Path, *, with_classes: bool, shade: int, n: int = 20) -> None:
    """Write photos of two colours, in a folder for each class or in one."""
    rng = np.random.RandomState(shade)
    for name, colour in COLOURS.items():
        for k in range(n):
            own = folder / name / f"{k}.png" if with_classes else folder / f"{name}-{k}.png"
            own.parent.mkdir(parents=True, exist_ok=True)
            noisy = np.clip(np.array(colour) + shade + rng.normal(0, 25, 3), 0, 255).astype(np.uint8)
            Image.new("RGB", (12, 9), tuple(noisy.tolist())).save(own)


def test_texts_are_encoded_and_the_model_names_the_encoder(adrem: Command, folder: Path) -> None:
    write_texts(folder)
    code, out, err = adrem(
        "adapt", *QUICK, "books.csv", "knives.csv", "--label", "stars", "--text", "review", "--encoder", "tiny",
        "--target-label", "stars", "-o", "labels.csv", "--save", "m.adrem", "--report", "page.html", "--json",
    )  # fmt: skip
    assert code == 0, err
    summary = json.loads(out)
    assert "column 'review' is text (as requested): 4 features by tiny" in summary["notes"]
    assert any("2 text(s) of 'review' are longer than 64 tokens" in note for note in summary["notes"]), summary["notes"]
    assert any("--chunks mean reads all" in note for note in summary["notes"])
    assert summary["accuracy"]["adapted"] > 0.9
    assert (folder / "m.adrem").stat().st_size < 100_000  # the network is not in it
    page = (folder / "page.html").read_text("utf-8")
    assert "Marked words speak for the label" in page
    texts = " ".join(pl.read_csv("knives.csv")["review"])
    assert {*re.findall("<mark>(.*?)</mark>", page)} <= {*texts.split()}
    assert "<mark>" in page
    code, _, err = adrem("predict", "m.adrem", "knives.csv", "-o", "again.csv")
    assert code == 0, err
    assert pl.read_csv("again.csv").equals(pl.read_csv("labels.csv"))


def test_chunks_read_all_of_a_long_text(adrem: Command, folder: Path) -> None:
    write_texts(folder)
    words = ("adapt", *QUICK, "books.csv", "knives.csv", "--label", "stars", "--text", "review")
    code, _, err = adrem(*words, "--encoder", "tiny", "--chunks", "mean", "-o", "labels.csv")
    assert code == 0, err
    assert "longer than" not in err
    code, _, err = adrem(*words, "--chunks", "mean", "-o", "others.csv")
    assert code == 2
    assert "needs a network for texts: --encoder gte-small" in " ".join(err.split())


def test_a_model_without_its_encoder_says_how_to_get_it(
    adrem: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(folder)
    words = (
        "adapt", *QUICK, "books.csv", "knives.csv", "--label", "stars", "--text", "review", "--encoder", "models/tiny",
    )  # fmt: skip
    code, _, err = adrem(*words, "-o", "labels.csv", "--save", "m.adrem")
    assert code == 0, err
    monkeypatch.setenv("ADREM_MODELS", str(folder / "elsewhere"))
    code, _, err = adrem("predict", "m.adrem", "knives.csv", "-o", "again.csv")
    assert code == 1
    assert "There is no model 'tiny'" in err
    assert "elsewhere" in err
    assert not (folder / "again.csv").exists()


def test_an_unknown_encoder_is_an_error_before_any_work(adrem: Command, folder: Path) -> None:
    write_texts(folder)
    for name, message in (("nothing", "no model 'nothing': known by name are gte-small"), ("../tiny", "is no name")):
        code, _, err = adrem(
            "adapt", *QUICK, "books.csv", "knives.csv", "--label", "stars", "--encoder", name, "-o", "l.csv"
        )
        assert code in (1, 2)
        assert message in " ".join(err.split())


def test_folders_of_photos_become_labels(adrem: Command, folder: Path) -> None:
    write_photos(folder / "studio", with_classes=True, shade=0)
    write_photos(folder / "phone", with_classes=False, shade=25)
    (folder / "phone" / "broken.jpg").write_bytes(b"no image")
    (folder / "phone" / "notes.txt").write_text("not mine")
    (folder / "phone" / ".hidden.png").write_bytes(b"")
    code, out, err = adrem(
        "adapt", *QUICK, "studio", "phone", "--encoder", "means", "-o", "labels.csv", "--save", "m.adrem", "--report",
        "page.html", "--json",
    )  # fmt: skip
    assert code == 0, err
    notes = json.loads(out)["notes"]
    broken = "1 image(s) of phone can't be read and are left out: broken.jpg: it is of no known format"
    assert any(note.startswith(broken) for note in notes), notes
    assert "1 file(s) of phone are no images" in notes
    assert "column 'photo' has images: 3 features by means" in notes
    page = (folder / "page.html").read_text()
    assert page.count("data:image/webp;base64,") >= 40
    assert "Pictures of each label" in page
    assert "This model has no feature weights" in page  # none that tell a person anything
    labels = pl.read_csv("labels.csv")
    assert labels.columns[:2] == ["photo", "label"]
    names = [Path(path).name.split("-")[0] for path in labels["photo"]]
    assert np.mean(np.array(names) == labels["label"].to_numpy()) > 0.95
    code, _, err = adrem("predict", "m.adrem", "phone", "-o", "again.csv")
    assert code == 0, err
    assert "broken.jpg" in err
    assert pl.read_csv("again.csv").equals(labels)
    code, _, err = adrem("predict", "m.adrem", "phone/red-3.png", "-o", "one.csv")
    assert code == 0, err
    assert pl.read_csv("one.csv")["label"].to_list() == ["red"]


def test_several_folders_and_classes_of_the_target(adrem: Command, folder: Path) -> None:
    for name, shade in (("studio", 0), ("web", 10), ("phone", 25)):
        write_photos(folder / name, with_classes=True, shade=shade)
    code, out, err = adrem(
        "adapt",
        *QUICK,
        "studio",
        "web",
        "phone",
        "--encoder",
        "means",
        "--target-label",
        "class",
        "-o",
        "l.csv",
        "--json",
    )
    assert code == 0, err
    assert json.loads(out)["accuracy"]["adapted"] > 0.9


def test_folders_that_can_not_be_used_are_told(adrem: Command, folder: Path) -> None:
    write_photos(folder / "flat", with_classes=False, shade=0, n=3)
    write_photos(folder / "studio", with_classes=True, shade=0, n=3)
    (folder / "empty").mkdir()
    write_texts(folder)
    (folder / "bad").mkdir()
    (folder / "bad" / "a.jpg").write_bytes(b"")
    for words, message in (
        (("flat", "studio"), "flat has no subfolders: put the images of each class into one that has its name"),
        (("studio", "empty"), "empty has no image: they end in .bmp"),
        (("studio", "bad"), "bad has no image that can be read: 1 image(s) of bad can't be read"),
        (("studio", "books.csv"), "books.csv is no folder of images, and the others are"),
        (("studio", "flat", "--chunks", "mean"), "Only texts have chunks"),
        (("books.csv", "studio", "--label", "stars"), "studio is a folder"),
    ):
        code, _, err = adrem("adapt", *QUICK, *words, "--encoder", "means", "-o", "labels.csv")
        assert code in (1, 2), words
        said = " ".join(err.split())
        assert message in said or "tokenizer.json" in said, said
