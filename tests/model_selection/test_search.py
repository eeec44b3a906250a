"""Tests of `AdREMCV`, which chooses among candidates."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from problems import make_blobs_shift
from sklearn.base import clone
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from adrem import AdREM, AdREMCV, save
from adrem.baselines import CORAL, SourceOnly
from adrem.datasets import DomainPair, load_digits_shift, make_rotated_arcs
from adrem.diagnostics import diagnose, estimate_accuracy
from adrem.exceptions import LostClassWarning
from adrem.model_selection import AgreementScorer, CircularScorer
from adrem.model_selection.candidates import DEFAULT_CANDIDATES, ELIGIBLE_ERRORS, near_the_best
from adrem.preprocessing import transform_pair

pytestmark = pytest.mark.thorough

QUICK: dict[str, Any] = {"n_estimators": 2, "n_iter": 3, "random_state": 0}


def fitted(data: DomainPair, **params: Any) -> AdREMCV:
    return AdREMCV(**{"C": 0.1, **QUICK, **params}).fit(data.X_source, data.y_source, X_target=data.X_target)


def skewed(kept: float) -> DomainPair:
    """Two overlapping classes; only a fraction of the first class is kept in the target."""
    rng = np.random.RandomState(0)
    y = np.arange(800) % 2
    source, target = (1.6 * np.eye(2, 6)[y] + rng.normal(size=(800, 6)) for _ in range(2))
    stays = (y > 0) | (rng.uniform(size=len(y)) < kept)
    return DomainPair(source, y, target[stays] + 0.3, y[stays])


@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
@parametrize_with_checks(
    [AdREMCV(C=0.1, n_estimators=2, n_iter=2)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "folds consist of rows, and training stops within tol",
        "check_sample_weight_equivalence_on_sparse_data": "folds consist of rows, and training stops within tol",
    },
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_cv_results_explain_the_choice() -> None:
    data = make_blobs_shift()
    model = fitted(data)
    results = pd.DataFrame(model.cv_results_)
    assert results["candidate"].tolist() == list(DEFAULT_CANDIDATES)
    assert (results["score"] == results["circular"] + results["neighbours"]).all()
    competing = results[results["eligible"] & (results["candidate"] != "source alone")]
    taken = competing.loc[competing["score"].idxmax(), "candidate"]
    assert model.best_name_ in (taken, "source alone")
    assert (results["fit_time"] > 0).all()
    np.testing.assert_array_equal(model.transduction_, model.best_estimator_.transduction_)
    assert model.C_ == model.best_estimator_.C_


def test_search_selects_rbf_on_digits() -> None:
    data = load_digits_shift()
    model = fitted(data, C=[0.1, 1.0, 10.0], n_estimators=3, n_iter=10)
    assert model.best_name_ == "rbf"
    plain = AdREM(C=[0.1, 1.0, 10.0], n_estimators=3, n_iter=10, random_state=0)
    plain.fit(data.X_source, data.y_source, X_target=data.X_target)
    accuracies = [np.mean(own.transduction_ == data.y_target) for own in (model, plain)]
    assert accuracies[0] > accuracies[1]


def test_search_solves_rotated_arcs() -> None:
    data = make_rotated_arcs(rotation=50, random_state=0)
    assert np.mean(fitted(data, n_iter=20, n_estimators=3).transduction_ == data.y_target) == 1.0


def test_class_prior_is_estimated_only_if_clear() -> None:
    rare, common = fitted(skewed(0.1), n_iter=10), fitted(skewed(1.0), n_iter=10)
    true = np.mean(skewed(0.1).y_target == 0)
    assert rare.class_prior_[0] == pytest.approx(true, abs=0.12)
    assert rare.class_prior_interval_.shape == (2, 2)
    np.testing.assert_allclose(rare.best_estimator_.class_prior_, rare.class_prior_)
    np.testing.assert_array_equal(common.class_prior_, [0.5, 0.5])
    told = fitted(skewed(0.1), class_prior={0: 0.2, 1: 0.8})
    np.testing.assert_array_equal(told.class_prior_, [0.2, 0.8])
    assert not hasattr(told, "class_prior_interval_")
    always = fitted(skewed(1.0), class_prior="estimate", n_iter=10)
    assert always.class_prior_interval_.shape == (2, 2)
    assert not hasattr(always.fit(skewed(1.0).X_source, skewed(1.0).y_source), "class_prior_interval_")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_predict_equals_transduction(form: Any) -> None:
    data = make_blobs_shift()
    data = data._replace(X_source=form(np.abs(data.X_source)), X_target=form(np.abs(data.X_target)))
    for name in DEFAULT_CANDIDATES:
        step, own = _defaults(data)[name]
        model = fitted(data, candidates={name: (step, own)})
        assert model.best_name_ == name
        np.testing.assert_array_equal(model.predict(data.X_target), model.transduction_)
        assert model.predict_proba(data.X_target).shape == (data.X_target.shape[0], 3)
        np.testing.assert_array_equal(
            model.classes_[model.decision_function(data.X_target).argmax(axis=1)], model.transduction_
        )


def _defaults(data: DomainPair) -> dict[str, Any]:
    from adrem.base.validation import read_domains

    model = AdREMCV(C=0.1, **QUICK)
    domains = read_domains(model, data.X_source, data.y_source, X_target=data.X_target)
    return model._default_candidates(DEFAULT_CANDIDATES, domains, np.full(3, 1 / 3), 0)


def test_input_forms_and_n_jobs_agree() -> None:
    data = make_blobs_shift()
    model = fitted(data)
    X = np.concatenate([data.X_source, data.X_target])
    domain = np.repeat([1, -2], [len(data.X_source), len(data.X_target)])
    masked = np.concatenate([data.y_source, np.full(len(data.X_target), -1)])
    for other in (
        AdREMCV(C=0.1, **QUICK).fit(X, masked),
        AdREMCV(C=0.1, **QUICK).fit(X, masked, sample_domain=domain),
        fitted(data, n_jobs=2),
    ):
        assert other.best_name_ == model.best_name_
        np.testing.assert_array_equal(other.cv_results_["score"], model.cv_results_["score"])
        np.testing.assert_array_equal(other.transduction_, model.transduction_)


def test_frames_and_string_labels_are_supported() -> None:
    data = make_blobs_shift()
    names = [f"f{k}" for k in range(data.X_source.shape[1])]
    source, target = (pd.DataFrame(rows, columns=names) for rows in (data.X_source, data.X_target))
    labels = np.array(["x", "y", "z"])[data.y_source]
    model = AdREMCV(C=0.1, **QUICK).fit(source, labels, X_target=target[names[::-1]])
    assert set(model.transduction_) <= {"x", "y", "z"}
    np.testing.assert_array_equal(model.predict(target[names[::-1]]), model.transduction_)


def test_custom_candidates_are_searched() -> None:
    data = make_blobs_shift()
    candidates = {"coral": CORAL(C=0.1), "scaled": (MaxAbsScaler(), AdREM(C=0.1, **QUICK)), "none": SourceOnly(C=0.1)}
    before = {name: clone(own[1] if isinstance(own, tuple) else own) for name, own in candidates.items()}
    model = fitted(data, candidates=candidates)
    assert model.cv_results_["candidate"] == list(candidates)
    assert not hasattr(model, "class_prior_")
    for name, own in before.items():  # the given estimators are not modified
        given_one: Any = candidates[name]
        assert repr(given_one[1] if isinstance(given_one, tuple) else given_one) == repr(own)
    for wrong in ({}, {"x": 3}, {"x": (MaxAbsScaler(),)}, {"x": MaxAbsScaler()}):
        with pytest.raises(ValueError, match="candidates must map names to estimators of adrem"):
            fitted(data, candidates=wrong)


def test_default_candidates_are_selected_by_name() -> None:
    data = make_blobs_shift()
    assert fitted(data, candidates=["log_loss", "source alone"]).cv_results_["candidate"] == [
        "log_loss",
        "source alone",
    ]
    for wrong in ([], ["hinge", "tree"]):
        with pytest.raises(ValueError, match="candidates must be some of 'hinge'"):
            fitted(data, candidates=wrong)
    with pytest.raises(ValueError, match="raise it, or give other candidates"):
        fitted(data, candidates=("rbf",), memory_limit=1000)


def test_search_avoids_harmful_adaptation() -> None:
    """The target lacks one class, and draws with equal shares split the other."""
    rng = np.random.RandomState(0)
    y, y_target = np.arange(300) % 2, np.ones(400, dtype=int)
    source, target = (2.0 * np.eye(2, 5)[own] + rng.normal(size=(len(own), 5)) for own in (y, y_target))
    data = DomainPair(source, y, target, y_target)
    adapted, alone = AdREM(C=0.01, n_estimators=3, random_state=0), SourceOnly(C=0.01)
    model = fitted(data, candidates={"adapted": adapted, "none": alone})
    assert model.best_name_ == "none"
    worse = fitted(data, candidates={"adapted": adapted})
    assert np.mean(model.transduction_ == y_target) > np.mean(worse.transduction_ == y_target) + 0.05


@pytest.mark.parametrize("scorer", [CircularScorer(C=0.1), AgreementScorer()])
def test_scoring_parameter_decides_the_choice(scorer: Any) -> None:
    data = make_blobs_shift()
    model = fitted(data, scoring=scorer)
    results = pd.DataFrame(model.cv_results_)
    eligible = results[results["eligible"]]
    assert model.best_name_ == eligible.loc[eligible["score"].idxmax(), "candidate"]
    assert "circular" not in results


def test_bad_scores_and_candidate_errors_are_named() -> None:
    data = make_blobs_shift()
    with pytest.raises(ValueError, match=r"finite numbers; for \['hinge', 'rbf'\] it returned \[nan, nan\]"):
        fitted(data, candidates=["hinge", "rbf"], scoring=lambda *_, **__: float("nan"))
    with pytest.raises(ValueError, match="The candidate 'many' can't be fitted: neighbors=500 needs"):
        fitted(data, candidates={"many": AdREM(C=0.1, neighbors=500)})


def test_unseeded_candidates_get_a_seed() -> None:
    data = make_blobs_shift()
    models = [fitted(data, candidates={"a": AdREM(C=0.1, n_estimators=2, n_iter=3)}) for _ in range(2)]
    np.testing.assert_array_equal(models[0].best_estimator_.coef_, models[1].best_estimator_.coef_)
    own = fitted(data, candidates={"a": AdREM(C=0.1, n_estimators=2, n_iter=3, random_state=7)})
    assert own.best_estimator_.random_state == 7


def test_prior_stays_uniform_for_few_target_rows() -> None:
    data = skewed(0.1)
    few = data._replace(X_target=data.X_target[:19], y_target=data.y_target[:19])
    model = fitted(few)
    np.testing.assert_array_equal(model.class_prior_, [0.5, 0.5])
    assert not hasattr(model, "class_prior_interval_")


def test_vote_share_exists_for_every_candidate() -> None:
    data = make_blobs_shift()
    for name in ("hinge", "source alone"):
        model = fitted(data, candidates=[name])
        np.testing.assert_allclose(model.vote_share_.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[model.vote_share_.argmax(axis=1)], model.transduction_)


def test_search_can_be_diagnosed_and_estimated() -> None:
    data = make_blobs_shift()
    for pair in ((StandardScaler(), AdREM(C=0.1, **QUICK)), (None, SourceOnly(C=0.1))):
        model = fitted(data, candidates={"own": pair})
        diagnosis = diagnose(model, data.X_source, data.y_source, data.X_target)
        assert diagnosis.method == type(pair[1]).__name__
        rows = (data.X_source, data.X_target)
        if pair[0] is not None:
            rows = transform_pair(pair[0], *rows)
        expected = estimate_accuracy(model.best_estimator_, rows[0], data.y_source, rows[1])
        assert estimate_accuracy(model, data.X_source, data.y_source, data.X_target) == expected


def test_only_chosen_candidate_raises_warnings() -> None:
    """Warnings of candidates that were not chosen do not concern the model."""
    data = make_blobs_shift()
    lost = data._replace(X_target=np.tile(data.X_target[:1], (30, 1)), y_target=np.repeat(data.y_target[:1], 30))
    candidates = {"none": SourceOnly(C=0.1), "adapted": AdREM(C=0.1, **QUICK)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(lost, candidates=candidates, scoring=lambda estimator, *_, **__: isinstance(estimator, AdREM))
        assert model.best_name_ == "adapted"
        assert [w.category for w in caught] == [LostClassWarning]
        caught.clear()
        fitted(lost, candidates=candidates, scoring=lambda estimator, *_, **__: not isinstance(estimator, AdREM))
        assert caught == []


def test_too_large_kernel_and_rare_class_are_handled(tmp_path: Path) -> None:
    data = make_blobs_shift()
    assert "rbf" not in fitted(data, memory_limit=1000).cv_results_["candidate"]
    single = np.concatenate([np.flatnonzero(data.y_source != 0), np.flatnonzero(data.y_source == 0)[:2]])
    rare = data._replace(X_source=data.X_source[single], y_source=data.y_source[single])
    with pytest.warns(LostClassWarning):
        model = fitted(rare)
    assert np.isnan(model.cv_results_["source_accuracy"]).all()
    assert model.cv_results_["eligible"].all()
    with pytest.raises(TypeError, match=r"AdREMCV can't be saved.*best_estimator_"):
        save(model, tmp_path / "m")


def test_source_only_fit_scores_source_accuracy() -> None:
    data = make_blobs_shift()
    model = AdREMCV(C=0.1, **QUICK).fit(data.X_source, data.y_source)
    assert len(model.transduction_) == 0
    np.testing.assert_array_equal(model.cv_results_["score"], model.cv_results_["source_accuracy"])
    assert model.score(data.X_source, data.y_source) > 0.8


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.integers(1, 10_000))
def test_near_the_best_includes_the_best(accuracies: list[float], n_rows: int) -> None:
    near = near_the_best(np.array(accuracies), n_rows)
    assert near[int(np.argmax(accuracies))]
    best = max(accuracies)
    for accuracy, kept in zip(accuracies, near, strict=True):
        distance = ELIGIBLE_ERRORS * np.sqrt(best * (1 - best) / n_rows)
        assert kept == (accuracy >= best - distance)
