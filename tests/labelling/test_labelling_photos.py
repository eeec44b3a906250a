"""Tests of the labelling of photos: the page shows a picture of each row."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from small_networks import image_model
from starlette.testclient import TestClient

from adrem import AdREM
from adrem.columns import make_pair, read_photos
from adrem.features import ImageEncoder
from adrem.labelling.desk import Desk
from adrem.labelling.journal import Journal
from adrem.labelling.project import Project
from adrem.labelling.server import make_app

COLOURS = {"red": (220, 40, 40), "green": (40, 180, 60)}
HOME, TOKEN = "http://127.0.0.1:8765", "the-token"


def write_photos(folder: Path, form: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for name, colour in COLOURS.items():
        for k in range(15):
            path = folder / form.format(name=name, k=k)
            path.parent.mkdir(parents=True, exist_ok=True)
            noisy = np.clip(np.array(colour) + rng.normal(0, 20, 3), 0, 255).astype(np.uint8)
            Image.new("RGB", (900, 600), tuple(noisy.tolist())).save(path)


def test_photos_are_shown_small_and_their_labels_are_known_by_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADREM_CACHE", str(tmp_path / "cache"))
    image_model(tmp_path / "means.onnx")
    write_photos(tmp_path / "studio", "{name}/{k}.png", 0)
    write_photos(tmp_path / "phone", "{name}-{k}.png", 1)
    encoder = ImageEncoder(tmp_path / "means.onnx").fit([])
    tables = [read_photos(str(tmp_path / name), encoder) for name in ("studio", "phone")]
    pair = make_pair(*tables, label="class", encoder=encoder)
    about = {"label": "class", "seed": 0}
    project = Project(pair, lambda: AdREM(C=0.1, n_estimators=2, n_iter=3, random_state=0), about, "photo", {})
    with Journal(tmp_path / "answers.jsonl", {}) as journal:
        app = make_app(Desk(project, journal), tmp_path, token=TOKEN, port=8765)
        client = TestClient(app, base_url=f"{HOME}/{TOKEN}/", headers={"Origin": HOME})
        row = client.get("state").json()["row"]
        assert row["picture"]
        assert row["cells"] == []
        sent = client.get(f"picture/{row['row']}")
        assert sent.headers["content-type"] == "image/webp"
        assert max(Image.open(io.BytesIO(sent.content)).size) == 512
        assert client.get("picture/30").status_code == 404
        client.post("answer", json={"kind": "label", "row": row["row"], "label": row["name"].split("-")[0]})
        known = pl.read_csv(client.get("export/labelled.csv").content)
    assert known["photo"].to_list() == [str(tmp_path / "phone" / row["name"])]
    assert known["class"].to_list() == [row["name"].split("-")[0]]
