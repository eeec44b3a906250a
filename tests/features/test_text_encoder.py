"""Texts become the features of a network, whatever is cut, cached or missing."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from small_networks import text_model

from adrem.exceptions import EncoderNotFoundError, InvalidTypeError, ParameterError
from adrem.features import TextEncoder

TEXTS = ["good book", "bad", "sharp knife", "dull dull knife", ""]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return text_model(tmp_path / "tiny")


@pytest.fixture
def encoder(model: Path, tmp_path: Path) -> TextEncoder:
    return TextEncoder(model, max_tokens=8, cache=tmp_path / "cache")


def test_features_are_the_mean_over_tokens_with_unit_length(encoder: TextEncoder) -> None:
    good_book, good, book = encoder.fit_transform(["good book", "good", "book"])
    vectors = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
    mean = vectors[[2, 4]].mean(axis=0)
    np.testing.assert_allclose(good_book, mean / np.linalg.norm(mean), rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm([good, book], axis=1), 1, rtol=1e-6)
    assert good_book.dtype == np.float32


def test_all_forms_of_columns_give_the_same(encoder: TextEncoder) -> None:
    expected = encoder.fit_transform(TEXTS)
    missing: list[Any] = [*TEXTS[:-1], None]
    forms = [
        np.array(TEXTS), np.array(missing, object), pl.Series(missing), pd.Series(missing),
        pd.Series([*TEXTS[:-1], np.nan]),
        tuple(TEXTS), np.array(TEXTS)[:, None], iter(TEXTS),
    ]  # fmt: skip
    for form in forms:
        np.testing.assert_array_equal(encoder.transform(form), expected)


def test_batches_change_nothing_but_rounding(model: Path) -> None:
    one, many = (TextEncoder(model, max_tokens=8, batch_size=n, cache=False).fit_transform(TEXTS) for n in (1, 3))
    np.testing.assert_allclose(one, many, atol=1e-6)


def test_it_is_a_transformer(encoder: TextEncoder) -> None:
    copied = clone(encoder)
    assert copied.get_params() == encoder.get_params()
    pipeline = make_pipeline(copied, LogisticRegression()).fit(TEXTS, [1, 0, 1, 0, 0])
    assert pipeline.predict(["good sharp book"]).tolist() == pipeline.predict(pl.Series(["good sharp book"])).tolist()
    assert copied.get_feature_names_out().tolist() == ["tiny_0", "tiny_1", "tiny_2", "tiny_3"]
    again = pickle.loads(pickle.dumps(copied))  # noqa: S301 - made here
    np.testing.assert_array_equal(again.transform(TEXTS), copied.transform(TEXTS))
    frame = again.set_output(transform="pandas").transform(pd.Series(TEXTS))
    assert frame.columns.tolist() == copied.get_feature_names_out().tolist()


def test_what_is_cut_off_is_counted(encoder: TextEncoder) -> None:
    long = "good " * 8 + "bad bad"
    encoded = encoder.fit([]).encode([long, "good", " ".join(["good"] * 8)])
    assert encoded.cut.tolist() == [True, False, False]
    np.testing.assert_array_equal(encoded.features[0], encoded.features[1])  # the rest was not read
    assert encoder.encode([long]).cut.tolist() == [True]  # from the cache, too


def test_chunks_are_averaged_over_all_tokens(encoder: TextEncoder, model: Path) -> None:
    long = "good " * 8 + "bad bad"
    whole = TextEncoder(model, max_tokens=64, cache=False).fit_transform([long])
    parts = encoder.set_params(chunks="mean").fit([]).encode([long])
    np.testing.assert_allclose(parts.features, whole, atol=1e-6)
    assert not parts.cut.any()


def test_the_cache_is_by_content_and_by_settings(encoder: TextEncoder, model: Path, tmp_path: Path) -> None:
    first = encoder.fit_transform(TEXTS)
    files = {*(tmp_path / "cache").glob("*.sqlite")}
    assert len(files) == 1
    other = TextEncoder(model, max_tokens=16, cache=tmp_path / "cache").fit(TEXTS)
    other.transform(TEXTS)
    assert len({*(tmp_path / "cache").glob("*.sqlite")}) == 2
    other._network.session = None  # the network is not asked again
    np.testing.assert_array_equal(other.transform([*TEXTS[::-1]]), first[::-1])


def test_a_damaged_cache_is_made_anew(encoder: TextEncoder, tmp_path: Path) -> None:
    first = encoder.fit_transform(TEXTS)
    [file] = (tmp_path / "cache").glob("*.sqlite")
    for beside in (tmp_path / "cache").glob("*.sqlite-*"):
        beside.unlink()
    file.write_bytes(b"this is no table at all " * 100)
    np.testing.assert_array_equal(encoder.transform(TEXTS), first)


KILLED = """
import os, signal, sys
from adrem.features import TextEncoder
from adrem.features.text import TextEncoder as Own
made = []
run = Own._encode_texts
def counted(self, texts):
    if len(made) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    made.append(len(texts))
    return run(self, texts)
Own._encode_texts = counted
TextEncoder(sys.argv[1], cache=sys.argv[2], max_tokens=64).fit_transform([f"good {k}" for k in range(100)])
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signal")
def test_a_killed_run_goes_on_where_it_was(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    killed = subprocess.run([sys.executable, "-c", KILLED, model, cache], check=False)
    assert killed.returncode == -signal.SIGKILL
    made: list[int] = []
    run = TextEncoder._encode_texts

    def counted(self: TextEncoder, texts: list[str]) -> Any:
        made.append(len(texts))
        return run(self, texts)

    monkeypatch.setattr(TextEncoder, "_encode_texts", counted)
    texts = [f"good {k}" for k in range(100)]
    features = TextEncoder(str(model), cache=cache, max_tokens=64).fit_transform(texts)
    assert sum(made) == 100 - 64
    np.testing.assert_array_equal(features, TextEncoder(model, cache=False, max_tokens=64).fit_transform(texts))


def test_names_are_looked_up_and_their_absence_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADREM_MODELS", str(tmp_path / "models"))
    with pytest.raises(
        EncoderNotFoundError, match=r"Put gte-small-int8/config.json.* into .*models, or set ADREM_MODELS"
    ):
        TextEncoder().fit([])
    with pytest.raises(EncoderNotFoundError, match="no model 'tiny': known by name are gte-small"):
        TextEncoder("tiny").fit([])
    text_model(tmp_path / "models" / "tiny")
    by_name = TextEncoder("tiny", max_tokens=8, cache=False).fit([])
    assert by_name.checksum_ == TextEncoder(tmp_path / "models/tiny", max_tokens=8, cache=False).fit([]).checksum_


def test_another_model_than_that_of_the_fit_is_refused(encoder: TextEncoder, model: Path) -> None:
    encoder.fit([])
    again = pickle.loads(pickle.dumps(encoder))  # noqa: S301 - made here
    with (model / "config.json").open("a") as file:
        file.write(" ")
    os.utime(model / "config.json", (1, 1))
    with pytest.raises(EncoderNotFoundError, match="its checksum differs"):
        again.transform(["good"])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_tokens": 65}, "max_tokens is 65, and tiny takes 64 at most"),
        ({"max_tokens": 0}, "'max_tokens' parameter of TextEncoder"),
        ({"chunks": "all"}, "chunks 'all' is not one of 'first', 'mean'"),
        ({"device": "cuda"}, "onnxruntime finds no GPU here"),
        ({"model": "resnet50"}, "resnet50 encodes images"),
        ({"cache": True}, "'cache' parameter"),
    ],
)
def test_wrong_parameters_are_named(encoder: TextEncoder, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        encoder.set_params(**params).fit(TEXTS)
    assert caught.value.parameter in params


def test_texts_are_as_long_as_the_network_takes(model: Path) -> None:
    assert TextEncoder(model, cache=False).fit([]).n_tokens == 64
    (model / "config.json").unlink()
    assert TextEncoder(model, cache=False).fit([]).n_tokens == 256


def test_what_is_no_text_is_refused(encoder: TextEncoder) -> None:
    with pytest.raises(InvalidTypeError, match="X is one text"):
        encoder.fit("good")
    with pytest.raises(InvalidTypeError, match=r"X\[1\] is int, and no text"):
        encoder.fit(["good", 1])
