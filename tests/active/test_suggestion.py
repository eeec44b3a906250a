"""Tests of the rows that are chosen to be labelled: uncertain, unlike each other, and some at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from problems import make_blobs_shift
from scipy.spatial.distance import cdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adrem import AdREM
from adrem.active import ask, suggest
from adrem.active.suggestion import coordinates, farthest_first, margins
from adrem.baselines import SourceOnly
from adrem.datasets import load_digits_shift
from adrem.exceptions import InvalidDataError, InvalidTypeError, ParameterError

BLOBS = make_blobs_shift()
DIGITS = load_digits_shift()


@pytest.fixture(scope="module")
def model() -> AdREM:
    return AdREM(C=0.1, n_estimators=2, n_iter=3, random_state=0).fit(
        BLOBS.X_source, BLOBS.y_source, X_target=BLOBS.X_target
    )


def test_suggested_rows_are_uncertain_and_unlike_each_other() -> None:
    fitted = SourceOnly(C=0.01, random_state=0).fit(DIGITS.X_source, DIGITS.y_source)
    rows = suggest(fitted, DIGITS.X_target, 15, random_state=0)
    assert len(set(rows.tolist())) == 15
    margin = margins(fitted, DIGITS.X_target)
    assert margin[rows].max() <= np.sort(margin)[149]
    assert rows[0] == margin.argmin()
    places = coordinates(DIGITS.X_target, 0)
    closest = np.argsort(margin)[:15]
    assert nearest_distance(places[rows]) > nearest_distance(places[closest])
    np.testing.assert_array_equal(rows, suggest(fitted, DIGITS.X_target, 15, random_state=0))


def nearest_distance(places: NDArray[np.float64]) -> float:
    far = cdist(places, places) + np.diag([np.inf] * len(places))
    return float(far.min(axis=1).mean())


def test_rows_lie_farthest_apart_and_each_is_there_once() -> None:
    places = np.array([[0.0], [1.0], [10.0], [6.0], [6.0]])
    assert farthest_first(places, 3).tolist() == [0, 2, 3]
    assert sorted(farthest_first(places, 5).tolist()) == [0, 1, 2, 3, 4]


def test_more_rows_than_are_compared_are_each_suggested_once(model: AdREM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.active.suggestion.MOST_COMPARED", 10)
    assert len({*suggest(model, BLOBS.X_target, 30, random_state=0).tolist()}) == 30


def test_excluded_rows_are_not_suggested(model: AdREM) -> None:
    first = suggest(model, BLOBS.X_target, 10, random_state=0)
    second = suggest(model, BLOBS.X_target, 10, random_state=0, exclude=first)
    assert not set(first.tolist()) & set(second.tolist())
    every = suggest(model, BLOBS.X_target, 35, random_state=0, exclude=first)
    assert sorted([*every.tolist(), *first.tolist()]) == [*range(45)]


def test_sparse_rows_frames_and_pipelines_give_rows() -> None:
    sparse = sp.csr_array(np.abs(DIGITS.X_target))
    fitted = SourceOnly(C=0.01, random_state=0).fit(sp.csr_array(np.abs(DIGITS.X_source)), DIGITS.y_source)
    assert len(suggest(fitted, sparse, 5, random_state=0)) == 5
    piped = make_pipeline(StandardScaler(), SourceOnly(C=0.01, random_state=0)).fit(BLOBS.X_source, BLOBS.y_source)
    assert len(suggest(piped, BLOBS.X_target, 5, random_state=0)) == 5


def test_equal_rows_are_each_suggested_once() -> None:
    fitted = SourceOnly(C=0.1, random_state=0).fit(BLOBS.X_source, BLOBS.y_source)
    rows = suggest(fitted, np.repeat(BLOBS.X_target[:2], 4, axis=0), 6, random_state=0)
    assert len(set(rows.tolist())) == 6


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"n": 0}, ParameterError),
        ({"n": 46}, InvalidDataError),
        ({"n": 5, "exclude": [45]}, ParameterError),
        ({"n": 5, "exclude": [0.5]}, ParameterError),
        ({"n": 40, "exclude": range(10)}, InvalidDataError),
    ],
)
def test_what_can_not_be_chosen_is_refused(model: AdREM, params: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        suggest(model, BLOBS.X_target, **params)


def test_a_model_of_another_package_is_refused() -> None:
    with pytest.raises(InvalidTypeError):
        suggest(StandardScaler(), BLOBS.X_target, 3)


def test_random_rows_are_drawn_alike_from_those_that_are_not_suggested(model: AdREM) -> None:
    counts = np.zeros(45)
    for seed in range(300):
        asked = ask(model, BLOBS.X_target, 10, n_random=5, random_state=seed, exclude=[0, 1])
        assert len(set(asked.rows.tolist())) == 10
        assert not {0, 1} & set(asked.rows.tolist())
        assert (asked.probability[~asked.is_random] == 1).all()
        np.testing.assert_allclose(asked.probability[asked.is_random], 5 / 38)
        counts[asked.rows[asked.is_random]] += 1
    assert counts.sum() == 1500
    assert counts[2:].max() < 75  # 35 are expected


def test_all_rows_can_be_random_and_all_can_be_suggested(model: AdREM) -> None:
    assert ask(model, BLOBS.X_target, 8, n_random=8, random_state=0).is_random.all()
    assert not ask(model, BLOBS.X_target, 8, random_state=0).is_random.any()
    with pytest.raises(ParameterError, match="n_random"):
        ask(model, BLOBS.X_target, 3, n_random=4)
