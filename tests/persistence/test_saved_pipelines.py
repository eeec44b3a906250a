"""Pipelines that end with a model of the package are saved and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from small_networks import text_model

from adrem import AdREM, load, save
from adrem.exceptions import EncoderNotFoundError, InvalidTypeError
from adrem.features import TextEncoder
from adrem.preprocessing import DomainStandardScaler, JointStdScaler, Rectifier, RowSumScaler

RNG = np.random.RandomState(0)
Y = np.append(np.arange(40) % 2, [-1] * 30)
X = np.abs(RNG.normal(size=(70, 4))) + np.where(Y == 1, 1.0, 0.0)[:, None]
TEXTS = [f"{'good' if k % 2 else 'bad'} thing number {k % 7} indeed" for k in range(70)]


def small_model() -> AdREM:
    return AdREM(C=0.1, n_estimators=2, n_iter=3, random_state=0)


@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
@pytest.mark.parametrize(
    "steps",
    [
        [JointStdScaler()],
        [DomainStandardScaler()],
        [RowSumScaler(), Rectifier(), "passthrough"],
        [StandardScaler(), PCA(3)],
        [StandardScaler(with_mean=False), MinMaxScaler()],
        [RobustScaler(), MaxAbsScaler(), Normalizer()],
        [CountVectorizer(ngram_range=(1, 2)), TfidfTransformer()],
        [TfidfVectorizer(stop_words=["thing"]), TruncatedSVD(3, random_state=0)],
    ],
    ids=str,
)
def test_saved_pipeline_labels_alike(steps: list[Any], tmp_path: Path) -> None:
    rows: Any = TEXTS if isinstance(steps[0], CountVectorizer) else X
    pipe = make_pipeline(*steps, small_model()).fit(rows, Y)
    save(pipe, tmp_path / "pipe.adrem")
    again = load(tmp_path / "pipe.adrem")
    assert [name for name, _ in again.steps] == [name for name, _ in pipe.steps]
    new = rows[40:]
    np.testing.assert_array_equal(again.predict_proba(new), pipe.predict_proba(new))


def test_steps_that_cannot_be_saved_are_named(tmp_path: Path) -> None:
    pipe = make_pipeline(FunctionTransformer(), small_model()).fit(X, Y)
    with pytest.raises(InvalidTypeError, match=r"The step FunctionTransformer .* can't be saved; these can"):
        save(pipe, tmp_path / "pipe.adrem")
    pipe = make_pipeline(CountVectorizer(tokenizer=str.split, token_pattern=None), small_model()).fit(TEXTS, Y)
    with pytest.raises(InvalidTypeError, match="CountVectorizer can't be saved with tokenizer"):
        save(pipe, tmp_path / "pipe.adrem")
    assert not [*tmp_path.iterdir()]


def test_a_pipeline_names_its_encoder_by_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network is not in the file: without it, or with another one, an error says what to do."""
    homes = [tmp_path / "here", tmp_path / "there"]
    text_model(homes[0] / "tiny")
    monkeypatch.setenv("ADREM_MODELS", str(homes[0]))
    encoder = TextEncoder("tiny", max_tokens=8, cache=tmp_path / "cache")
    texts = [f"{word} book" for word in ("good", "bad")] * 8
    model = make_pipeline(encoder, StandardScaler(), small_model()).fit(texts, [1, 0] * 6 + [-1] * 4)
    save(model, tmp_path / "pipeline.adrem")
    again = load(tmp_path / "pipeline.adrem")
    assert again.predict(texts).tolist() == model.predict(texts).tolist()
    assert again[0].cache is None  # a file does not say where to write
    monkeypatch.setenv("ADREM_MODELS", str(homes[1]))
    with pytest.raises(EncoderNotFoundError, match=r"There is no model 'tiny'.* in .*there"):
        load(tmp_path / "pipeline.adrem").predict(texts)
    (text_model(homes[1] / "tiny") / "config.json").write_text("{}")
    with pytest.raises(EncoderNotFoundError, match="its checksum differs"):
        load(tmp_path / "pipeline.adrem").predict(texts)
