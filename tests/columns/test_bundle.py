"""Tests of bundles: a model saved together with its columns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from adrem import AdREM, load, save
from adrem.columns import FileTable, make_pair
from adrem.columns.bundle import load_bundle, save_bundle
from adrem.columns.labelling import adapt_pair, label_rows, make_rows
from adrem.exceptions import UnreadableModelError
from adrem.persistence.models import HEADER

DATA = Path(__file__).parents[1] / "data"


def table(name: str, seed: int) -> FileTable:
    rng = np.random.RandomState(seed)
    kind = np.arange(30) % 2
    values = rng.normal(size=30) + 2 * kind
    words = ["good book" if k else "bad book" for k in kind]
    frame = pl.DataFrame({"length": values, "text": words, "kind": np.where(kind, "yes", "no").tolist()})
    return FileTable(name, "", frame=frame)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pair = make_pair(table("old", 0), table("new", 1), label="kind", text=["text"])
    bundle, _ = adapt_pair(pair, AdREM(C=0.1, n_estimators=2, n_iter=2, random_state=0), {"label": "kind"})
    save_bundle(bundle, tmp_path / "model.adrem")
    return tmp_path / "model.adrem"


def rewrite(path: Path, change: Any) -> None:
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(bytes(arrays[HEADER]))
    change(header, arrays)
    arrays[HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_bundle_round_trip_keeps_the_predictions(path: Path) -> None:
    bundle, model = load_bundle(path), load(path)
    rows, _ = make_rows(bundle, table("more", 2))
    np.testing.assert_array_equal(bundle.model.predict_proba(rows), model.predict_proba(rows))
    assert bundle.about == {"label": "kind"}
    assert bundle.baseline.predict(rows).shape == (30,)
    assert bundle.baseline.coef_.shape == (1, 1, model.n_features_in_)


def test_format_2_bundle_still_loads() -> None:
    frame = pl.DataFrame({"length": [-1.0, 1.0], "text": ["book not plot good", "book not not bad"]})
    bundle = load_bundle(DATA / "bundle-format-2.adrem")
    rows, report = make_rows(bundle, FileTable("new rows", "", frame=frame))
    assert report.missing_columns == []
    assert bundle.model.predict(rows).tolist() == ["0", "1"]


def test_load_bundle_rejects_model_without_columns(path: Path) -> None:
    save(load(path), path)
    with pytest.raises(UnreadableModelError, match="holds a model without columns"):
        load_bundle(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _, a: a.update(bundle_scales=-a["bundle_scales"]), "do not fit together"),
        (lambda _, a: a.update(bundle_scales=a["bundle_scales"][:-1]), "do not fit together|damaged"),
        (lambda _, a: a.update(bundle_baseline_coef_=a["bundle_baseline_coef_"] * np.nan), "that are not finite"),
        (lambda _, a: a.update(bundle_more=np.zeros(1)), "damaged"),
        (lambda _, a: a.pop("bundle_centres"), "damaged"),
        (lambda h, _: h["bundle"].update(more=1), "damaged"),
        (lambda h, _: h["bundle"].pop("about"), "damaged"),
        (lambda h, _: h.pop("bundle"), "holds the arrays"),
    ],
)
def test_damaged_bundle_is_rejected(path: Path, change: Any, message: str) -> None:
    rewrite(path, change)
    with pytest.raises(UnreadableModelError, match=message):
        load_bundle(path)


def test_classifier_of_the_source_may_be_what_is_saved(path: Path) -> None:
    bundle = load_bundle(path)
    rows, _ = make_rows(bundle, table("more", 2))
    save_bundle(replace(bundle, model=bundle.baseline), path)
    again = load_bundle(path)
    assert again.model is again.baseline
    labels = label_rows(again, rows)
    np.testing.assert_array_equal(labels.label, bundle.baseline.predict(rows))
    assert not labels.changed.any()
