"""Tests of the scorers that need no target labels, also in scikit-learn's searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from problems import make_blobs_shift
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adrem import AdREM, baselines, model_selection
from adrem.model_selection import (
    AgreementScorer,
    CircularScorer,
    EntropyScorer,
    ImportanceWeightedScorer,
    NeighbourhoodDensityScorer,
    NeighbourScorer,
)

pytestmark = pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
SCORERS = [getattr(model_selection, name)() for name in model_selection.__all__ if name.endswith("Scorer")]
QUICK: dict[str, Any] = {"n_estimators": 3, "n_iter": 4, "random_state": 0}


@pytest.fixture
def table() -> tuple[Any, Any, Any]:
    data = make_blobs_shift(n_source=90, n_target=90)
    X, y = np.concatenate([data.X_source, data.X_target]), np.concatenate([data.y_source, data.y_target])
    order = np.random.default_rng(0).permutation(180)
    return X[order], y[order], np.repeat([1, -2], [90, 90])[order]


@pytest.mark.parametrize("scorer", SCORERS)
def test_target_labels_are_ignored(scorer: Any, table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    model = AdREM(C=0.1, **QUICK).fit(X, y, sample_domain=domain)
    masked = np.where(domain < 0, -1, y)
    scrambled = np.where(domain < 0, (y + 1) % 3, y)
    scores = {scorer(model, X, labels, sample_domain=domain) for labels in (y, masked, scrambled)}
    assert len(scores) == 1
    assert scorer(model, X, masked) in scores
    assert np.isfinite(scores.pop())


@pytest.mark.parametrize("scorer", SCORERS)
def test_scores_agree_for_sparse_rows_and_frames(scorer: Any, table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    model = AdREM(C=0.1, **QUICK).fit(X, y, sample_domain=domain)
    score = scorer(model, X, y, sample_domain=domain)
    assert scorer(model, sp.csr_array(X), y, sample_domain=domain) == pytest.approx(score, abs=0.02)
    names = [f"f{k}" for k in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    named = AdREM(C=0.1, **QUICK).fit(frame, y, sample_domain=domain)
    assert scorer(named, frame, y, sample_domain=domain) == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("scorer", SCORERS)
def test_grid_search_works_with_marked_labels(scorer: Any, table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    masked = np.where(domain < 0, -1, y)
    search = GridSearchCV(
        AdREM(**QUICK), {"C": [1e-4, 1e-1]}, scoring=scorer, cv=StratifiedKFold(2), error_score="raise"
    )
    search.fit(X, masked)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    again = clone(search.best_estimator_).fit(X, masked)
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("scorer", SCORERS)
def test_cross_validate_works_with_routed_domains(scorer: Any, table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    pipe = make_pipeline(StandardScaler(), AdREM(C=0.1, **QUICK))
    found = cross_validate(
        pipe, X, y, scoring=scorer, cv=StratifiedKFold(2), params={"sample_domain": domain}, error_score="raise"
    )
    assert np.all(np.isfinite(found["test_score"]))


@pytest.mark.parametrize("name", baselines.__all__)
def test_scorers_support_every_estimator(name: str, table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    model = getattr(baselines, name)().fit(X, y, sample_domain=domain)
    for scorer in SCORERS:
        assert np.isfinite(scorer(model, X, y, sample_domain=domain))


class Fixed:
    """An estimator that returns fixed probabilities."""

    def __init__(self, shares: Any, rows: Any) -> None:
        self.shares, self.rows = shares, rows

    def predict_proba(self, X: Any) -> Any:
        return self.shares[[np.flatnonzero((self.rows == row).all(axis=1))[0] for row in X]]

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X).argmax(axis=1)


def test_scorers_prefer_better_predictions(table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    rng = np.random.RandomState(0)
    right = 0.9 * np.eye(3)[y] + 0.1 / 3
    hesitant = 0.2 * np.eye(3)[y] + 0.8 / 3
    guessed = right[rng.permutation(180)]

    def score(scorer: Any, shares: Any) -> float:
        return float(scorer(Fixed(shares, X), X, y, sample_domain=domain))

    assert score(CircularScorer(C=1.0), right) > score(CircularScorer(C=1.0), guessed) + 0.2
    assert score(ImportanceWeightedScorer(), right) > score(ImportanceWeightedScorer(), guessed) + 0.3
    assert score(EntropyScorer(), right) > score(EntropyScorer(), hesitant)
    assert score(AgreementScorer(), right) == pytest.approx(0.9 + 0.1 / 3)
    spread = rng.dirichlet(np.ones(3), 180)
    assert score(NeighbourScorer(), right) > score(NeighbourScorer(), guessed) + 0.2
    assert score(NeighbourhoodDensityScorer(), right) > score(NeighbourhoodDensityScorer(), spread)


def test_circular_score_of_constant_labels_is_chance(table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    assert CircularScorer()(Fixed(np.eye(3)[np.zeros(180, dtype=int)], X), X, y, domain) == pytest.approx(1 / 3)


def test_scorers_need_source_and_target_rows(table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    model = AdREM(C=0.1, **QUICK).fit(X, y, sample_domain=domain)
    with pytest.raises(ValueError, match="no target rows to score"):
        EntropyScorer()(model, X, y)
    with pytest.raises(ValueError, match="no source rows to score"):
        EntropyScorer()(model, X[domain < 0], y[domain < 0], sample_domain=domain[domain < 0])
