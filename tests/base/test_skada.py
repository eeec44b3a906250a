"""Tests of `AdREM` in pipelines, scorers and splitters of skada and scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from problems import make_blobs_shift
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from adrem import AdREM

pytestmark = pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")


@pytest.fixture(scope="module")
def skada() -> Iterator[Any]:
    """Importing skada enables metadata routing for the whole process; this restores the configuration."""
    config = sklearn.get_config()
    module = pytest.importorskip("skada", reason="skada is not installed")
    sklearn.set_config(**config)
    yield module
    sklearn.set_config(**config)


@pytest.fixture
def table() -> tuple[Any, Any, Any]:
    """Both domains in one table, interleaved, with masked target labels."""
    data = make_blobs_shift(n_source=90, n_target=90)
    X, y = np.concatenate([data.X_source, data.X_target]), np.concatenate([data.y_source, data.y_target])
    domain = np.repeat([1, -2], [90, 90])
    order = np.random.default_rng(0).permutation(180)
    return X[order], np.where(domain > 0, y, -1)[order], domain[order]


@pytest.mark.usefixtures("routing")
def test_skada_pipeline_equals_manual_scaling(skada: Any, table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    pipe = skada.make_da_pipeline(StandardScaler(), AdREM(C=0.1, n_estimators=3, n_iter=5, random_state=0))
    pipe.fit(X, y.copy(), sample_domain=domain)
    target = X[domain < 0]
    alone = AdREM(C=0.1, n_estimators=3, n_iter=5, random_state=0)
    scaled = StandardScaler().fit_transform(X)
    alone.fit(scaled, y, sample_domain=domain)
    np.testing.assert_array_equal(pipe.predict(target, sample_domain=domain[domain < 0]), alone.transduction_)
    np.testing.assert_array_equal(pipe.predict(target), alone.transduction_)
    assert pipe.predict_proba(target).shape == (90, 3)


@pytest.mark.usefixtures("routing")
@pytest.mark.filterwarnings("ignore::adrem.exceptions.MissingClassWarning")  # with the smallest C
@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("splitter", ["ShuffleSplit", "SourceTargetShuffleSplit", "StratifiedDomainShuffleSplit"])
def test_grid_search_by_circular_validation(
    skada: Any, table: tuple[Any, Any, Any], splitter: str, wrapped: bool
) -> None:
    from skada import model_selection
    from skada.metrics import CircularValidation

    X, y, domain = table
    model: Any = AdREM(n_estimators=3, n_iter=5, random_state=0)
    name = "C"
    if wrapped:
        model, name = skada.make_da_pipeline(StandardScaler(), model), "adrem__C"
    splitters = ShuffleSplit if splitter == "ShuffleSplit" else getattr(model_selection, splitter)
    cv = splitters(n_splits=2, test_size=0.4, random_state=0)
    search = GridSearchCV(model, {name: [1e-4, 1e-1]}, scoring=CircularValidation(), cv=cv, error_score="raise")
    search.fit(X, y.copy(), sample_domain=domain)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    again = clone(model).set_params(**search.best_params_).fit(X, y.copy(), sample_domain=domain)
    np.testing.assert_array_equal(search.predict(X[domain < 0]), again.predict(X[domain < 0]))


@pytest.mark.usefixtures("skada", "routing")
def test_skada_scorers_give_finite_scores(table: tuple[Any, Any, Any]) -> None:
    from skada.metrics import ImportanceWeightedScorer, PredictionEntropyScorer, SoftNeighborhoodDensity

    X, y, domain = table
    for scorer in (ImportanceWeightedScorer(), PredictionEntropyScorer(), SoftNeighborhoodDensity()):
        scores = cross_validate(
            AdREM(C=0.1, n_estimators=3, n_iter=5, random_state=0).set_score_request(sample_weight=True),
            X, y, params={"sample_domain": domain}, scoring=scorer,
            cv=ShuffleSplit(2, test_size=0.4, random_state=0), error_score="raise",
        )  # fmt: skip
        assert np.all(np.isfinite(scores["test_score"]))


def test_scikit_learn_pipeline_accepts_sample_domain(table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    pipe = make_pipeline(StandardScaler(), AdREM(C=0.1, n_estimators=3, random_state=0))
    pipe.fit(X, np.where(domain > 0, y, 0), adrem__sample_domain=domain)
    assert len(pipe[-1].transduction_) == 90
    np.testing.assert_array_equal(pipe.predict(X[domain < 0]), pipe[-1].transduction_)


@pytest.mark.usefixtures("routing")
def test_metadata_routing_passes_domain_and_weight(table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    pipe = Pipeline([("scale", StandardScaler()), ("adrem", AdREM(C=0.1, n_estimators=3, random_state=0))])
    pipe.fit(X, y, sample_domain=domain)
    target = domain < 0
    assert pipe.predict(X[target], sample_domain=domain[target]).shape == (90,)
    scale = StandardScaler().set_fit_request(sample_weight=False)
    weighted = AdREM(C=0.1).set_fit_request(sample_weight=True)
    make_pipeline(scale, weighted).fit(X, y, sample_domain=domain, sample_weight=np.ones(180))


def test_grid_search_accepts_sample_domain(table: tuple[Any, Any, Any]) -> None:
    X, y, domain = table
    search = GridSearchCV(
        AdREM(n_estimators=3, n_iter=5, random_state=0), {"C": [0.01, 0.1]}, cv=2, error_score="raise"
    )
    search.fit(X, y, sample_domain=domain)
    alone = AdREM(n_estimators=3, n_iter=5, random_state=0, **search.best_params_).fit(X, y, sample_domain=domain)
    np.testing.assert_array_equal(search.best_estimator_.transduction_, alone.transduction_)
    assert len(alone.transduction_) == 90
