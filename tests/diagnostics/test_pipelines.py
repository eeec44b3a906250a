"""Diagnoses of pipelines whose last step is a model of the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import adrem
from adrem import AdREM
from adrem.datasets import make_rotated_arcs
from adrem.diagnostics import diagnose, estimate_accuracy
from adrem.exceptions import InvalidDataError
from adrem.preprocessing import DomainStandardScaler, JointStdScaler

X_SOURCE, Y_SOURCE, X_TARGET, _ = make_rotated_arcs(20, 20, rotation=60, random_state=0)
X = np.concatenate([X_SOURCE, X_TARGET])
Y = np.concatenate([Y_SOURCE, np.full(len(X_TARGET), -1)])


def small_model() -> AdREM:
    return AdREM(C=0.1, n_estimators=3, n_iter=5, random_state=0)


@pytest.mark.parametrize("scaler", [JointStdScaler(), DomainStandardScaler()])
def test_pipeline_is_diagnosed_like_its_last_step(scaler: Any) -> None:
    pipe = make_pipeline(scaler, small_model()).fit(X, Y)
    domain = np.repeat([1.0, -2.0], [len(X_SOURCE), len(X_TARGET)])
    rows = pipe[0].transform(X, sample_domain=domain) if hasattr(scaler, "domains_") else pipe[0].transform(X)
    alone = diagnose(pipe[-1], rows[: len(X_SOURCE)], Y_SOURCE, rows[len(X_SOURCE) :])
    found = diagnose(pipe, X_SOURCE, Y_SOURCE, X_TARGET)
    assert found.evidence == alone.evidence
    assert found.verdict == alone.verdict
    estimate = estimate_accuracy(pipe, X_SOURCE, Y_SOURCE, X_TARGET)
    assert 0.0 < estimate.low <= estimate.accuracy <= estimate.high <= 1.0
    assert "<title>Arcs</title>" in adrem.report(pipe, X_SOURCE, Y_SOURCE, X_TARGET, title="Arcs").html


@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
def test_pipeline_of_texts_has_the_names_of_words() -> None:
    books = ["a gripping plot", "dull and flat", "a gripping tale", "dull plot"] * 5
    knives = ["a sharp knife", "dull and blunt", "sharp", "blunt and dull"] * 5
    y = np.array([1, 0, 1, 0] * 5 + [-1] * 20)
    pipe = make_pipeline(CountVectorizer(), small_model()).fit(books + knives, y)
    found = diagnose(pipe, books, y[:20], knives)
    assert "gripping" in found.class_features[1].source


def test_several_sources_of_a_scaler_are_refused() -> None:
    domain = np.repeat([0, 1, -1], [10, len(X_SOURCE) - 10, len(X_TARGET)])
    pipe = make_pipeline(DomainStandardScaler(), small_model())
    pipe.fit(X, Y, domainstandardscaler__sample_domain=domain, adrem__sample_domain=domain)
    with pytest.raises(InvalidDataError, match="was fitted to 2 sources"):
        diagnose(pipe, X_SOURCE, Y_SOURCE, X_TARGET)
