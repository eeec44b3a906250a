"""Tests of `AdREM`: the scikit-learn contract and the properties of the method."""

from __future__ import annotations

import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import make_blobs_shift
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from adrem import AdREM, adapt
from adrem.datasets import DomainPair, make_rotated_arcs
from adrem.exceptions import LostClassWarning, PrecisionWarning
from adrem.machines.regularization import select_c

# As in LinearSVC of scikit-learn: training stops within tol of the optimum, on a path that depends on the rows.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "folds consist of rows, and training stops within tol",
    "check_sample_weight_equivalence_on_sparse_data": "folds consist of rows, and training stops within tol",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::adrem.exceptions.AmbiguousLabelsWarning")
@parametrize_with_checks(
    [AdREM(), AdREM(loss="log_loss"), AdREM(unknown="reject")], expected_failed_checks=lambda _: EXPECTED_FAILURES
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def assert_same_model(a: AdREM, b: AdREM) -> None:
    assert a.C_ == b.C_
    assert a.history_ == b.history_
    for name in ("classes_", "coef_", "intercept_", "transduction_", "vote_share_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_input_forms_give_the_same_model(blobs: DomainPair, make: Any, loss: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = np.concatenate([blobs.X_source, blobs.X_target]), np.concatenate([blobs.y_source, np.full(45, -1)])
    domain = np.repeat([1, -2], [60, 45])
    weight = rng.uniform(0.5, 2.0, 105)
    order = rng.permutation(105)
    X, y, domain, weight = X[order], y[order], domain[order], weight[order]
    model = AdREM(loss=loss, C=[1e-3, 1e-2, 1e-1], n_estimators=3, n_iter=5, random_state=0)
    source, target = domain > 0, domain < 0

    two_tables = sklearn.clone(model).fit(
        make(X[source]), y[source], X_target=make(X[target]), sample_weight=weight[source]
    )
    by_domain = sklearn.clone(model).fit(make(X), y, sample_domain=domain, sample_weight=weight)
    by_mark = sklearn.clone(model).fit(make(X), y, sample_weight=weight)
    nonsense = np.where(source, y, rng.integers(0, 99, 105))
    never_read = sklearn.clone(model).fit(make(X), nonsense, sample_domain=domain, sample_weight=weight)
    for other in (by_domain, by_mark, never_read):
        assert_same_model(two_tables, other)


def test_fit_equals_transcribed_algorithm_1(blobs: DomainPair) -> None:
    """One member equals a direct transcription of algorithm 1 with liblinear on repeated rows and the same draws."""
    model = AdREM(C=0.1, n_iter=5, n_estimators=1, tol=1e-7, random_state=3, store_path=True)
    model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)

    seed = int(np.random.RandomState(3).randint(2**31 - 1))
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1])
    svm = LinearSVC(loss="hinge", C=0.1, tol=1e-8, fit_intercept=False, max_iter=1_000_000, random_state=0)
    labels = svm.fit(blobs.X_source, blobs.y_source).predict(blobs.X_target)
    for k in range(1, 6):
        drawn: list[int] = []
        for c in range(3):
            rows = np.flatnonzero(labels == c)
            n = int(np.ceil(round(k / 5 * 45 / 3, 9)))
            drawn += rows.tolist() * (n // len(rows)) + rng.choice(rows, n % len(rows), replace=False).tolist()
        X, y = np.concatenate([blobs.X_source, blobs.X_target[drawn]]), np.concatenate([blobs.y_source, labels[drawn]])
        labels = svm.fit(X, y).predict(blobs.X_target)
        np.testing.assert_allclose(model.coef_path_[0, k], svm.coef_, atol=1e-4)
    np.testing.assert_array_equal(model.transduction_, labels)


def test_fit_solves_the_rotated_arcs() -> None:
    data = make_rotated_arcs(200, 200, random_state=0)
    source = AdREM(random_state=0).fit(data.X_source, data.y_source)
    model = AdREM(random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
    assert source.score(data.X_target, data.y_target) < 0.7
    assert np.mean(model.transduction_ == data.y_target) == 1.0
    new = make_rotated_arcs(10, 500, random_state=1)
    assert model.score(new.X_target, new.y_target) > 0.97


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_fitted_attributes_have_consistent_shapes_and_values(n_classes: int, intercept: bool) -> None:
    data = make_blobs_shift(n_classes)
    model = AdREM(C=0.05, n_estimators=4, n_iter=3, fit_intercept=intercept, random_state=0, store_path=True)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    problems = 1 if n_classes == 2 else n_classes
    assert model.coef_.shape == (4, problems, 5)
    assert model.intercept_.shape == (4, problems)
    assert np.any(model.intercept_) == intercept
    assert model.coef_path_.shape == (4, 4, problems, 5)
    assert model.intercept_path_.shape == (4, 4, problems)
    np.testing.assert_array_equal(model.coef_path_[:, -1], model.coef_)
    labels = model.predict(data.X_target)
    np.testing.assert_array_equal(labels, model.transduction_)
    shares = model.predict_proba(data.X_target)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], labels)
    decision = model.decision_function(data.X_target)
    by_decision = decision.argmax(axis=1) if n_classes > 2 else (decision > 0).astype(int)
    np.testing.assert_array_equal(model.classes_[by_decision], labels)
    np.testing.assert_allclose(model.vote_share_.sum(axis=1), 1.0)
    winners = np.take_along_axis(model.vote_share_, np.searchsorted(model.classes_, labels)[:, None], axis=1)
    np.testing.assert_array_equal(winners[:, 0], model.vote_share_.max(axis=1))


def test_history_converts_to_a_data_frame(blobs: DomainPair) -> None:
    model = AdREM(C=0.05, n_estimators=2, n_iter=3, random_state=0)
    table = pd.DataFrame(model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target).history_)
    assert list(table.columns) == [
        "member", "iteration", "n_drawn", "class_counts", "n_changed", "loss", "balanced_loss",
    ]  # fmt: skip
    assert table.groupby("member")["iteration"].apply(list).tolist() == [[0, 1, 2, 3]] * 2
    assert table["class_counts"].map(sum).eq(45).all()


def test_fit_without_target_equals_linear_svc(blobs: DomainPair) -> None:
    model = AdREM(C=0.1, tol=1e-7, store_path=True).fit(blobs.X_source, blobs.y_source)
    svm = LinearSVC(loss="hinge", C=0.1, tol=1e-8, fit_intercept=False, max_iter=1_000_000, random_state=0)
    svm.fit(blobs.X_source, blobs.y_source)
    assert model.coef_.shape == (1, 3, 5)
    np.testing.assert_allclose(model.coef_[0], svm.coef_, atol=1e-4)
    np.testing.assert_array_equal(model.predict(blobs.X_target), svm.predict(blobs.X_target))
    assert len(model.transduction_) == len(model.history_) == 0
    assert model.transduction_.dtype == model.classes_.dtype
    assert model.vote_share_.shape == (0, 3)
    assert model.coef_path_.shape == (1, 1, 3, 5)
    model.set_params(store_path=False).fit(blobs.X_source, blobs.y_source)
    assert not hasattr(model, "coef_path_")
    assert not hasattr(model, "intercept_path_")


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000), st.sampled_from(["hinge", "log_loss"]))
def test_order_preserving_label_renaming_keeps_the_model(seed: int, loss: Any) -> None:
    data = make_blobs_shift(seed=seed)
    names = np.array(["ant", "bee", "cow"])
    model = AdREM(loss=loss, C=0.1, n_iter=3, n_estimators=2, random_state=0)
    with np.errstate(all="raise"), joblib.parallel_config("sequential"):
        plain = _quiet_fit(sklearn.clone(model), data)
        named = _quiet_fit(sklearn.clone(model), data._replace(y_source=names[data.y_source]))
    np.testing.assert_array_equal(plain.coef_, named.coef_)
    np.testing.assert_array_equal(names[plain.transduction_], named.transduction_)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000), st.sampled_from(["hinge", "log_loss"]), st.booleans())
def test_sparse_input_gives_the_same_scores(seed: int, loss: Any, intercept: bool) -> None:
    data = make_blobs_shift(seed=seed)
    sparse = data._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_array(data.X_target))
    model = AdREM(loss=loss, C=0.1, sampling="all", n_iter=2, n_estimators=1, tol=1e-6, fit_intercept=intercept)
    dense, csr = _quiet_fit(sklearn.clone(model), data), _quiet_fit(sklearn.clone(model), sparse)
    np.testing.assert_allclose(dense.coef_, csr.coef_, atol=1e-4)
    np.testing.assert_array_equal(csr.predict(sparse.X_target), csr.predict(data.X_target))


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000), st.sampled_from(["hinge", "log_loss"]), st.booleans())
def test_row_order_changes_weights_within_tolerance(seed: int, loss: Any, target: bool) -> None:
    data = make_blobs_shift(seed=seed)
    rng = np.random.default_rng(seed)
    there, here = rng.permutation(60), rng.permutation(45)
    turned = DomainPair(data.X_source[there], data.y_source[there], data.X_target[here], data.y_target[here])
    model = AdREM(loss=loss, C=0.1, sampling="all", n_iter=2, n_estimators=1, tol=1e-6)
    one, other = (_quiet_fit(sklearn.clone(model), pair, target=target) for pair in (data, turned))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-4)


def _quiet_fit(model: AdREM, data: Any, target: bool = True) -> AdREM:
    with sklearn.utils._testing.ignore_warnings(category=LostClassWarning):
        return model.fit(data.X_source, data.y_source, X_target=data.X_target if target else None)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_n_jobs_and_backend_keep_the_result(blobs: DomainPair, backend: str) -> None:
    model = AdREM(n_estimators=5, n_iter=4, random_state=7)
    alone = sklearn.clone(model).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    for n_jobs in (2, 3, -1):
        with joblib.parallel_config(backend):
            many = sklearn.clone(model).set_params(n_jobs=n_jobs)
            many.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
        assert_same_model(alone, many)


def test_member_is_independent_of_n_estimators(blobs: DomainPair) -> None:
    few, many = (
        AdREM(n_estimators=n, random_state=0).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
        for n in (2, 4)
    )
    np.testing.assert_array_equal(few.coef_, many.coef_[:2])
    assert not np.array_equal(many.coef_[0], many.coef_[1])


def test_random_state_controls_the_draws(blobs: DomainPair) -> None:
    arguments = (blobs.X_source, blobs.y_source)
    first, second = (AdREM(random_state=s).fit(*arguments, X_target=blobs.X_target) for s in (0, 1))
    assert not np.array_equal(first.coef_, second.coef_)
    shared = np.random.RandomState(0)
    one, two = (AdREM(random_state=shared).fit(*arguments, X_target=blobs.X_target) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, first.coef_)
    assert not np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_fit_leaves_inputs_and_global_state_unchanged(blobs: DomainPair, make: Any) -> None:
    X, X_target, y = make(blobs.X_source.copy()), make(blobs.X_target.copy()), blobs.y_source.copy()
    weight = np.ones(60)
    arrays = [y, weight, *([X.data, X_target.data] if sp.issparse(X) else [X, X_target])]
    for array in arrays:
        array.flags.writeable = False
    state, config = np.random.get_state(legacy=False), sklearn.get_config()  # noqa: NPY002 - must not change
    model = AdREM(n_iter=3).fit(X, y, X_target=X_target, sample_weight=weight)
    model.predict(X_target)
    assert sklearn.get_config() == config
    assert str(np.random.get_state(legacy=False)) == str(state)  # noqa: NPY002
    for array, original in zip(arrays[2:], (blobs.X_source, blobs.X_target), strict=True):
        np.testing.assert_array_equal(np.ravel(array), original.ravel())


def test_sample_weight_scales_c(blobs: DomainPair) -> None:
    model = AdREM(C=0.1, tol=1e-8)
    doubled = sklearn.clone(model).fit(blobs.X_source, blobs.y_source, sample_weight=np.full(60, 2.0))
    larger = AdREM(C=0.2, tol=1e-8).fit(blobs.X_source, blobs.y_source)
    np.testing.assert_allclose(doubled.coef_, larger.coef_, atol=1e-5)
    weight = np.r_[np.zeros(15), np.ones(45)]
    without = sklearn.clone(model).fit(blobs.X_source, blobs.y_source, sample_weight=weight)
    fewer = sklearn.clone(model).fit(blobs.X_source[15:], blobs.y_source[15:])
    np.testing.assert_allclose(without.coef_, fewer.coef_, atol=1e-5)


def test_class_prior_sets_draw_sizes(two_blobs: DomainPair) -> None:
    arguments = (two_blobs.X_source, two_blobs.y_source)
    for prior in ([0.8, 0.2], {0: 0.8, 1: 0.2}):
        model = AdREM(C=0.1, class_prior=prior, n_iter=2, n_estimators=1, random_state=0)
        history = model.fit(*arguments, X_target=two_blobs.X_target).history_
        assert [entry["n_drawn"] for entry in history] == [0, 18 + 5, 36 + 9]


def test_lost_classes_raise_one_warning() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(4 * np.eye(3)[c], 0.5, (10, 3)) for c in range(3)])
    y = np.repeat(["a", "b", "c"], 10)
    target = X[:20]
    with pytest.warns(LostClassWarning, match=r"labelled with class 'c' \(in 2 of 2 members\)") as caught:
        AdREM(C=1.0, n_estimators=2, n_iter=3, random_state=0).fit(X, y, X_target=target)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    prior = {"a": 0.5, "b": 0.5, "c": 0.0}
    AdREM(C=1.0, class_prior=prior, n_estimators=2, n_iter=3, random_state=0).fit(X, y, X_target=target)


def test_only_the_first_of_many_lost_classes_are_listed() -> None:
    X, y = np.repeat(np.eye(9), 4, axis=0) + np.random.default_rng(0).normal(0, 0.1, (36, 9)), np.repeat(range(9), 4)
    with pytest.warns(LostClassWarning, match=r"class 1 \(.*, 5 \(in 1 of 1 members\) and 3 more\. If the target"):
        AdREM(C=1.0, n_estimators=1, n_iter=1, random_state=0).fit(X, y, X_target=X[:4])


@pytest.mark.usefixtures("descent_alone")
def test_unconverged_trainings_raise_one_warning(blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.machines.machine.visit_budget", lambda n_rows, *_: n_rows)
    model = AdREM(C=100.0, tol=1e-9, n_estimators=2, n_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"15 of 15 trainings .* give a smaller C \(it was 100\)") as caught:
        model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_random_state_seeds_the_cross_validation_folds(blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def record(machine: Any, labels: Any, weights: Any, candidates: Any, seed: int) -> float:
        seeds.append(seed)
        return float(select_c(machine, labels, weights, candidates, seed))

    monkeypatch.setattr("adrem.machines.linear.select_c", record)
    for random_state in (0, 0, 1):
        AdREM(C=[0.01, 0.1], random_state=random_state).fit(blobs.X_source, blobs.y_source)
    assert seeds[0] == seeds[1] != seeds[2]


def test_adapt_returns_the_transduction(blobs: DomainPair) -> None:
    model = AdREM(C=0.1, random_state=0).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    labels = adapt(blobs.X_source, blobs.y_source, blobs.X_target, C=0.1, random_state=0)
    np.testing.assert_array_equal(labels, model.transduction_)
    with pytest.raises(ValueError, match="pass X_target"):
        adapt(blobs.X_source, blobs.y_source, None)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("machine", ["gram", "rows"])
def test_uninformative_tables_raise_no_numerical_warnings(loss: Any, machine: Any) -> None:
    iris = load_iris()
    model = AdREM(loss=loss, machine=machine, random_state=0)
    for X, y in (
        (iris.data.astype(np.float32), iris.target),
        (np.ones((60, 1)), np.arange(60) % 2),
        (np.zeros((60, 2)), np.arange(60) % 2),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert np.isfinite(model.fit(X, y).coef_).all()


def test_fit_rejects_n_jobs_0(blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.algorithm.estimator.fit_members", None)
    with pytest.raises(ValueError, match="n_jobs == 0"):
        AdREM(n_jobs=0).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_c_is_selected_for_extreme_sample_weights(blobs: DomainPair, weight: float) -> None:
    model = AdREM(C=[1e-3 / weight, 1.0 / weight], random_state=0)
    model.fit(blobs.X_source, blobs.y_source, sample_weight=np.full(60, weight))
    assert model.C_ * weight == pytest.approx(
        AdREM(C=[1e-3, 1.0], random_state=0).fit(blobs.X_source, blobs.y_source).C_
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_warns_about_rounding_errors(blobs: DomainPair) -> None:
    X = blobs.X_source.astype(np.float32)
    X[0, 0] = 1e7
    model = AdREM(C=1.0, n_iter=3, n_estimators=2, random_state=0, machine="gram")
    with pytest.warns(PrecisionWarning, match=r"Rounding errors .* Scale the features, give float64"):
        model.fit(X, blobs.y_source, X_target=blobs.X_target.astype(np.float32))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
def test_precision_warning_skips_float64_advice_for_float64(blobs: DomainPair) -> None:
    X = blobs.X_source.copy()
    X[0, 0] = 1e14
    model = AdREM(C=1.0, n_iter=3, n_estimators=2, random_state=0, machine="gram")
    with pytest.warns(PrecisionWarning, match=r"Scale the features, or give a smaller C \(it was 1\)"):
        model.fit(X, blobs.y_source, X_target=blobs.X_target)


def test_prior_estimate_rejects_rare_source_class(blobs: DomainPair) -> None:
    labels = np.where(np.arange(60) == 2, 2, blobs.y_source % 2)
    with pytest.raises(ValueError, match=r"class 2 has only 1 row\(s\) there. Give the class shares"):
        AdREM(C=1.0, class_prior="estimate").fit(blobs.X_source, labels, X_target=blobs.X_target)
