"""Tests of `Committee`: the contract of every estimator, on all kinds of rows, and that it adapts."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from numpy.random import RandomState
from problems import fitted, make_blobs_shift, without_negative_values
from sklearn.utils.estimator_checks import parametrize_with_checks

from adrem import Committee
from adrem.committee.kinds import KINDS
from adrem.datasets import DomainPair, make_rotated_arcs
from adrem.exceptions import InvalidDataError, ParameterError

# As in LinearSVC of scikit-learn: training stops within tol of the optimum, on a path that depends on the rows.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "folds consist of rows, and training stops within tol",
    "check_sample_weight_equivalence_on_sparse_data": "folds consist of rows, and training stops within tol",
}
DENSE_KINDS = ("margin", "rbf", "discriminant, centered", "source")
SPARSE_KINDS = ("log loss", "rare words", "source")
FEW_KINDS = ("source", "discriminant")


def small(**params: Any) -> Any:
    """A committee of few members."""
    return Committee(**{"n_estimators": 2, "n_iter": 2, "class_prior": "uniform", "random_state": 0, **params})


def assert_same(one: Any, other: Any, rows: Any) -> None:
    """Check that two models have the same bits."""
    names = {name for name in vars(one) if name.endswith("_") and name != "seats_"}
    assert names == {name for name in vars(other) if name.endswith("_") and name != "seats_"}
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(one.decision_function(rows), other.decision_function(rows))
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))


def assert_consistent(model: Any, rows: Any) -> None:
    """Check that all that a model says of the target rows of its fit agrees, in every row."""
    labels = model.predict(rows)
    np.testing.assert_array_equal(labels, model.transduction_)
    scores = model.decision_function(rows)
    winners = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[winners], labels)
    shares = model.predict_proba(rows)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], labels)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


@pytest.fixture
def few_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few quick kinds for dense and for sparse rows."""

    def usual(source: Any, *_: Any) -> Any:
        return (["log loss"] if sp.issparse(source) else ["rbf", "discriminant"]), {}

    monkeypatch.setattr("adrem.committee.fitting.usual_kinds", usual)


@pytest.mark.usefixtures("few_kinds")
@pytest.mark.filterwarnings("ignore::adrem.exceptions.AmbiguousLabelsWarning")
@parametrize_with_checks(
    [Committee(n_estimators=1, n_iter=2), Committee(("margin",), n_estimators=1, n_iter=2, distill=True)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::adrem.exceptions.AmbiguousLabelsWarning")
@parametrize_with_checks([Committee(n_estimators=1, n_iter=2)], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_contract_of_the_usual_kinds(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    ("make", "kinds"),
    [
        (np.asarray, DENSE_KINDS),
        (lambda X: X.astype(np.float32), FEW_KINDS),
        (sp.csr_array, SPARSE_KINDS),
        (sp.csr_matrix, ("log loss",)),
        (lambda X: pd.DataFrame(X, columns=list("abcde")), FEW_KINDS),
    ],
)
def test_input_forms_give_the_same_model(blobs: DomainPair, make: Any, kinds: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = np.concatenate([blobs.X_source, blobs.X_target]), np.concatenate([blobs.y_source, np.full(45, -1)])
    domain = np.concatenate([np.ones(60), np.full(45, -2)])
    weight = rng.uniform(0.5, 2.0, 105)
    order = rng.permutation(105)
    X, y, domain, weight = X[order], y[order], domain[order], weight[order]
    source, target = domain >= 0, domain < 0
    model = small(kinds=kinds, n_estimators=1, class_prior="auto" if kinds == FEW_KINDS else "uniform")

    two = sklearn.clone(model).fit(make(X[source]), y[source], X_target=make(X[target]), sample_weight=weight[source])
    by_domain = sklearn.clone(model).fit(make(X), y, sample_domain=domain, sample_weight=weight)
    by_mark = sklearn.clone(model).fit(make(X), y, sample_weight=weight)
    nonsense = np.where(source, y, rng.integers(0, 99, 105))
    never_read = sklearn.clone(model).fit(make(X), nonsense, sample_domain=domain, sample_weight=weight)
    for other in (by_domain, by_mark, never_read):
        assert_same(two, other, make(X[target]))
    assert_consistent(two, make(X[target]))


def test_sources_have_equal_weight(blobs: DomainPair) -> None:
    X, y = np.concatenate([blobs.X_source, blobs.X_target]), np.concatenate([blobs.y_source, np.full(45, -1)])
    domain = np.concatenate([np.where(np.arange(60) < 20, 0, 1), np.full(45, -2)])
    weight = np.concatenate([np.full(20, 1.5), np.full(40, 0.75), np.ones(45)])
    several = small(kinds=("margin",)).fit(X, y, sample_domain=domain)
    weighted = small(kinds=("margin",)).fit(X, y, sample_domain=np.minimum(domain, 0), sample_weight=weight)
    assert_same(several, weighted, blobs.X_target)


def test_the_docstring_names_every_kind() -> None:
    text = " ".join(str(Committee.__doc__).split())
    assert [name for name in KINDS if f'"{name}"' not in text] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_kind_agrees_with_itself(kind: str, n_classes: int) -> None:
    data = make_blobs_shift(n_classes)
    if "rare words" in kind:
        data = data._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_array(data.X_target))
    if "active" in kind:
        data = without_negative_values(data)
    model = fitted(small(kinds=[kind]), data)
    assert model.kinds_ == [kind]
    assert_consistent(model, data.X_target)
    # The activity of a column says little about these columns.
    assert model.score(data.X_target, data.y_target) > (0.75 if "active" in kind else 0.9)


@pytest.mark.parametrize("distill", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fitted_attributes_have_consistent_shapes_and_values(n_classes: int, distill: bool) -> None:
    data = make_blobs_shift(n_classes)
    model = fitted(small(kinds=DENSE_KINDS, distill=distill), data)
    assert_consistent(model, data.X_target)
    n_kinds, problems = len(model.kinds_), 1 if n_classes == 2 else n_classes
    assert [seat.name for seat in model.seats_] == model.kinds_
    assert model.coef_.shape == (1, problems, 5)
    assert model.intercept_.shape == (1, problems)
    assert model.vote_share_.shape == (45, n_classes)
    np.testing.assert_allclose(model.vote_share_.sum(axis=1), 1.0)
    assert model.home_accuracy_.shape == (n_kinds,)
    assert ((model.home_accuracy_ > 0.5) & (model.home_accuracy_ <= 1)).all()
    assert model.agreement_.shape == (n_kinds, n_kinds)
    np.testing.assert_array_equal(model.agreement_, model.agreement_.T)
    np.testing.assert_array_equal(np.diag(model.agreement_), 1.0)
    assert model.row_agreement_.shape == (45,)
    assert ((model.row_agreement_ >= 0) & (model.row_agreement_ <= 1)).all()
    assert model.member_agreement_.shape == (n_kinds, 45)
    assert ((model.member_agreement_ > 0) & (model.member_agreement_ <= 1)).all()
    np.testing.assert_allclose(model.class_prior_.sum(), 1.0)
    assert {entry["kind"] for entry in model.history_} == {name for name in model.kinds_ if KINDS[name].adapts}
    members = list(model.member_scores(data.X_target))
    assert [scores.shape for scores in members] == [(45, problems)] * (1 if distill else n_kinds)


def test_vote_is_the_sum_of_the_votes_of_the_kinds(blobs: DomainPair) -> None:
    model = fitted(small(kinds=DENSE_KINDS), blobs)
    shares = [seat.shares(blobs.X_target) for seat in model.seats_]
    np.testing.assert_allclose(model.decision_function(blobs.X_target), np.mean(shares, axis=0))
    winners = np.argmax(shares, axis=2)
    np.testing.assert_allclose(model.row_agreement_, np.mean(model.classes_[winners] == model.transduction_, axis=0))
    np.testing.assert_allclose(model.agreement_[0, 1], np.mean(winners[0] == winners[1]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_members_agree_with_the_label_of_their_kind(n_classes: int) -> None:
    data = mapped(
        make_blobs_shift(n_classes), lambda X: X + 3.0 * RandomState(0).normal(size=X.shape)
    )  # classes overlap
    model = fitted(small(kinds=DENSE_KINDS, n_estimators=3), data)
    assert model.member_agreement_.shape == (4, 45)
    for seat, agreement in zip(model.seats_, model.member_agreement_, strict=True):
        if seat.name == "source":
            np.testing.assert_array_equal(agreement, 1.0)
            continue
        scores = np.stack(list(seat.voter.scores(seat.view.apply(data.X_target))))
        of_members = scores.argmax(axis=2) if n_classes > 2 else (scores[..., 0] > 0).astype(int)
        label = seat.shares(data.X_target).argmax(axis=1)
        np.testing.assert_allclose(agreement, np.mean(of_members == label, axis=0))
    assert model.member_agreement_.min() < 1.0


@pytest.mark.parametrize("temperature", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_that_differ_by_a_rounding_error_are_no_tie(n_classes: int, temperature: float) -> None:
    class Stub(Committee):
        def _votes(self, rows: Any) -> Any:
            return rows

    equal = 1.0 / n_classes
    rows = np.full((40, n_classes), equal)
    rows[::2, 1] = np.nextafter(equal, 1.0)
    rows[1::2, 0] = np.nextafter(equal, 0.0)
    model = Stub()
    model.classes_, model.temperature_ = np.arange(n_classes), temperature
    np.testing.assert_array_equal(model.label_rows(rows), 1)
    shares = model.share_rows(rows)
    np.testing.assert_array_equal(shares.argmax(axis=1), 1)
    np.testing.assert_allclose(shares, equal)


def test_far_rows_have_finite_shares(blobs: DomainPair) -> None:
    model = fitted(small(kinds=DENSE_KINDS), blobs)
    for scale in (0.0, 1e6, -1e12):
        rows = scale * blobs.X_target
        shares = model.predict_proba(rows)
        assert np.isfinite(shares).all()
        np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(rows))


def test_labels_are_the_same_in_parts(blobs: DomainPair) -> None:
    model = fitted(small(kinds=DENSE_KINDS), blobs)
    parts = [model.predict(blobs.X_target[k::9]) for k in range(9)]
    np.testing.assert_array_equal(np.stack(parts, axis=1).ravel(), model.transduction_)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.thorough)])
def test_n_jobs_and_backend_keep_the_result(blobs: DomainPair, backend: str) -> None:
    kinds = ("margin", "rbf", "discriminant") if backend == "threading" else ("discriminant",)
    alone = fitted(small(kinds=kinds, n_estimators=3), blobs)
    with joblib.parallel_config(backend):
        for n_jobs in (2, -1) if backend == "threading" else (2,):
            assert_same(alone, fitted(small(kinds=kinds, n_estimators=3, n_jobs=n_jobs), blobs), blobs.X_target)


def test_random_state_controls_the_draws(blobs: DomainPair) -> None:
    first, again, other = (fitted(small(kinds=FEW_KINDS, random_state=s), blobs) for s in (0, 0, 1))
    assert_same(first, again, blobs.X_target)
    assert first.history_ != other.history_
    shared = RandomState(0)
    one, two = (fitted(small(kinds=FEW_KINDS, random_state=shared), blobs) for _ in range(2))
    assert_same(one, first, blobs.X_target)
    assert one.history_ != two.history_


def test_kind_is_independent_of_the_kinds_after_it(blobs: DomainPair) -> None:
    alone, among = (fitted(small(kinds=kinds), blobs) for kinds in (("rbf",), ("rbf", "discriminant")))
    np.testing.assert_array_equal(alone.seats_[0].shares(blobs.X_target), among.seats_[0].shares(blobs.X_target))


def test_string_labels_give_the_same_model(blobs: DomainPair) -> None:
    names = np.array(["ant", "bee", "cow"])
    plain, named, objects = (
        fitted(small(kinds=("margin", "rbf", "discriminant", "source")), blobs._replace(y_source=y))
        for y in (blobs.y_source, names[blobs.y_source], names.astype(object)[blobs.y_source])
    )
    np.testing.assert_array_equal(names[plain.transduction_], named.transduction_)
    np.testing.assert_array_equal(plain.vote_share_, named.vote_share_)
    assert objects.classes_.dtype == objects.transduction_.dtype == object
    np.testing.assert_array_equal(named.transduction_, objects.transduction_)


def test_linear_classifier_is_exact_far_from_the_origin(blobs: DomainPair) -> None:
    far = blobs._replace(X_source=blobs.X_source + 1e7, X_target=blobs.X_target + 1e7)
    near, moved = (fitted(small(kinds=("margin", "source")), data) for data in (blobs, far))
    assert moved.coef_.dtype == moved.intercept_.dtype == np.float64
    scores = [data.X_target @ own.coef_[0].T + own.intercept_[0] for data, own in ((blobs, near), (far, moved))]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-3)


def test_float32_rows_keep_their_precision(blobs: DomainPair) -> None:
    data = blobs._replace(X_source=blobs.X_source.astype(np.float32), X_target=blobs.X_target.astype(np.float32))
    model = fitted(small(kinds=("margin", "rbf", "discriminant", "source")), data)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    for seat in model.seats_:
        assert seat.view.apply(data.X_target).dtype == np.float32
        arrays = seat.voter.arrays()  # a kernel has multiples of rows in float64, as AdREM has
        kept = [arrays["vectors"]] if seat.name == "rbf" else arrays.values()
        assert {array.dtype for array in kept} == {np.dtype(np.float32)}
    assert np.mean(model.transduction_ == data.y_target) > 0.9


@pytest.mark.parametrize(("make", "kinds"), [(np.asarray, DENSE_KINDS), (sp.csr_array, SPARSE_KINDS)])
def test_fit_leaves_inputs_and_global_state_unchanged(blobs: DomainPair, make: Any, kinds: Any) -> None:
    X, X_target, y = make(blobs.X_source.copy()), make(blobs.X_target.copy()), blobs.y_source.copy()
    weight = np.ones(60)
    arrays = [y, weight, *([X.data, X_target.data] if sp.issparse(X) else [X, X_target])]
    for array in arrays:
        array.flags.writeable = False
    state, config = np.random.get_state(legacy=False), sklearn.get_config()  # noqa: NPY002 - must not change
    model = small(kinds=kinds, random_state=None).fit(X, y, X_target=X_target, sample_weight=weight)
    model.predict(X_target)
    assert sklearn.get_config() == config
    assert str(np.random.get_state(legacy=False)) == str(state)  # noqa: NPY002
    for array, original in zip(arrays[2:], (blobs.X_source, blobs.X_target), strict=True):
        np.testing.assert_array_equal(np.ravel(array), original.ravel())


def test_rows_of_weight_zero_teach_nothing(blobs: DomainPair) -> None:
    """Their labels are not used; their place in the rows is, as that of target rows is."""
    weight = np.r_[np.zeros(15), np.ones(45)]
    turned = np.r_[(blobs.y_source[:15] + 1) % 3, blobs.y_source[15:]]
    models = [
        small(kinds=(*DENSE_KINDS, "boosting")).fit(blobs.X_source, y, X_target=blobs.X_target, sample_weight=weight)
        for y in (blobs.y_source, turned)
    ]
    assert_same(models[0], models[1], blobs.X_target)
    unknown = np.r_[np.full(15, 7), blobs.y_source[15:]]
    with pytest.raises(InvalidDataError, match="zero for all source rows of a class"):
        small().fit(blobs.X_source, unknown, X_target=blobs.X_target, sample_weight=weight)


def test_weights_count(blobs: DomainPair) -> None:
    """A class with little weight is rarely predicted."""
    weight = np.where(blobs.y_source == 0, 1e-3, 1.0)
    model = small(kinds=("source", "boosting"), class_prior="source")
    light = sklearn.clone(model).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target, sample_weight=weight)
    assert light.class_prior_[0] < 0.01
    assert (light.transduction_ == 0).sum() < (fitted(model, blobs).transduction_ == 0).sum()


@pytest.mark.parametrize("distill", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_fit_without_target_gives_a_classifier_of_the_source(blobs: DomainPair, make: Any, distill: bool) -> None:
    model = small(kinds=SPARSE_KINDS if make is sp.csr_array else (*FEW_KINDS, "rbf", "boosting"), distill=distill)
    model.fit(make(blobs.X_source), blobs.y_source)
    assert len(model.transduction_) == len(model.row_agreement_) == len(model.history_) == 0
    assert model.transduction_.dtype == model.classes_.dtype
    assert model.vote_share_.shape == (0, 3)
    assert model.member_agreement_.shape == (len(model.kinds_), 0)
    np.testing.assert_array_equal(model.agreement_, 1.0)
    assert model.score(make(blobs.X_source), blobs.y_source) > 0.9
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict_proba(blobs.X_target), model.predict_proba(blobs.X_target))


def test_new_fit_forgets_the_earlier_one(blobs: DomainPair) -> None:
    model = fitted(small(kinds=("source",), class_prior="auto"), blobs)
    assert hasattr(model, "class_prior_check_")
    assert hasattr(model, "home_accuracy_")
    few = np.r_[0:3, 3:60:3]
    model.fit(blobs.X_source[few], blobs.y_source[few], X_target=blobs.X_target)
    assert not hasattr(model, "class_prior_check_")
    assert not hasattr(model, "home_accuracy_")


def few_of_class_1(data: DomainPair, n: int) -> DomainPair:
    kept = np.concatenate([np.flatnonzero(data.y_source != 1), np.flatnonzero(data.y_source == 1)[:n]])
    return data._replace(X_source=data.X_source[kept], y_source=data.y_source[kept])


def constant_column(data: DomainPair) -> DomainPair:
    columns = np.arange(5) == 0
    return data._replace(X_source=np.where(columns, 7.0, data.X_source), X_target=np.where(columns, 7.0, data.X_target))


def mapped(data: DomainPair, function: Any) -> DomainPair:
    return data._replace(X_source=function(data.X_source), X_target=function(data.X_target))


MATRIX = RandomState(0).normal(size=(5, 130))
ODD: dict[str, Callable[[DomainPair], DomainPair]] = {
    "a class of one row": lambda data: few_of_class_1(data, 1),
    "a class of two rows": lambda data: few_of_class_1(data, 2),
    "one row of each class": lambda data: data._replace(X_source=data.X_source[:3], y_source=data.y_source[:3]),
    "three target rows": lambda data: data._replace(X_target=data.X_target[:3]),
    "one target row": lambda data: data._replace(X_target=data.X_target[:1]),
    "a constant column": constant_column,
    "a column that is constant in the target": lambda data: data._replace(X_target=constant_column(data).X_target),
    "one column": lambda data: mapped(data, lambda X: X[:, :1]),
    "all rows equal": lambda data: mapped(data, np.ones_like),
    "all rows zero": lambda data: mapped(data, np.zeros_like),
    "tiny values": lambda data: mapped(data, lambda X: 1e-6 * X),
    "huge values": lambda data: mapped(data, lambda X: 1e6 * X),
    "columns of unequal scales": lambda data: mapped(data, lambda X: X * np.array([1e-6, 1.0, 1e6, 1.0, 1e-3])),
    "more columns than rows": lambda data: mapped(data, lambda X: X @ MATRIX),
    "no negative value": lambda data: mapped(data, np.abs),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("distill", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_odd_tables_give_a_consistent_model(blobs: DomainPair, two_blobs: DomainPair, name: str, distill: bool) -> None:
    kinds = ("margin", "rbf, unit rows", "discriminant", "discriminant, centered", "source")
    data = ODD[name](two_blobs if distill else blobs)
    model = fitted(small(kinds=kinds, n_estimators=1, distill=distill), data)
    assert_consistent(model, data.X_target)
    sparse = mapped(data, sp.csr_array)
    assert_consistent(fitted(small(kinds=SPARSE_KINDS, n_estimators=1, distill=distill), sparse), sparse.X_target)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_usual_kinds_take_odd_tables(blobs: DomainPair, name: str, precision: Any) -> None:
    data = mapped(ODD[name](blobs), lambda X: X.astype(precision))
    assert_consistent(fitted(small(class_prior="auto"), data), data.X_target)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scaled_kinds_ignore_the_scale(blobs: DomainPair, scale: float) -> None:
    model = small(kinds=("margin", "rbf", "discriminant", "source"))
    one, other = fitted(sklearn.clone(model), blobs), fitted(model, mapped(blobs, lambda X: scale * X))
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    np.testing.assert_allclose(one.vote_share_, other.vote_share_, atol=1e-6)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kinds": "margin"}, "'kinds' parameter"),
        ({"n_estimators": 0}, "'n_estimators' parameter"),
        ({"n_iter": 0}, "'n_iter' parameter"),
        ({"tol": 0}, "'tol' parameter"),
        ({"distill": "yes"}, "'distill' parameter"),
        ({"class_prior": "estimate"}, "'class_prior' parameter"),
        ({"class_prior": [0.5, 0.6, 0.1]}, "must be a distribution, shares of at least 0 that sum to 1"),
        ({"class_prior": {0: 0.5, 9: 0.5}}, r"names the classes \[0, 9\], the source has \[0, 1, 2\]"),
        ({"n_jobs": 0}, "n_jobs == 0"),
        ({"device": "tpu"}, "device 'tpu' is not one of 'auto', 'cpu', 'cuda'"),
    ],
)
def test_fit_rejects_bad_parameters(blobs: DomainPair, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(small(**{"kinds": ["margin"], **params}), blobs)


@pytest.mark.parametrize("kind", ["rbf", "rbf, by domain", "discriminant", "boosting"])
def test_dense_kinds_reject_sparse_rows(blobs: DomainPair, kind: str) -> None:
    with pytest.raises(ParameterError, match=f"The kind '{kind}' needs dense rows: leave it out") as info:
        fitted(small(kinds=["log loss", kind]), mapped(blobs, sp.csr_array))
    assert info.value.parameter == "kinds"


def test_rare_words_need_sparse_rows(blobs: DomainPair) -> None:
    with pytest.raises(ParameterError, match="The kind 'rare words' needs sparse rows: leave it out, or give CSR") as e:
        fitted(small(kinds=["rare words"]), blobs)
    assert e.value.parameter == "kinds"


def test_active_kinds_need_rows_without_negative_values(blobs: DomainPair) -> None:
    with pytest.raises(ParameterError, match="'discriminant, active' needs rows without negative values: leave it out"):
        fitted(small(kinds=["discriminant, active"]), blobs)


def test_committee_solves_the_rotated_arcs() -> None:
    data = make_rotated_arcs(100, 100, random_state=0)
    model = small(n_estimators=3, n_iter=20)
    source = sklearn.clone(model).fit(data.X_source, data.y_source)
    assert source.score(data.X_target, data.y_target) < 0.8
    assert np.mean(fitted(model, data).transduction_ == data.y_target) > 0.9


def test_committee_adapts_to_the_digits(digits: DomainPair) -> None:
    model = small(n_estimators=1, n_iter=10, kinds=("log loss", "rbf", "discriminant"))
    source = sklearn.clone(model).fit(digits.X_source, digits.y_source)
    model = fitted(model, digits)
    assert model.score(digits.X_target, digits.y_target) > source.score(digits.X_target, digits.y_target) + 0.05


def test_committee_follows_a_change_of_the_class_shares() -> None:
    data = changed_shares()
    model = fitted(small(kinds=("margin", "log loss", "source"), class_prior="auto"), data)
    np.testing.assert_allclose(model.class_prior_, [0.8, 0.2], atol=0.07)
    equal = fitted(small(kinds=("margin", "log loss", "source"), class_prior="uniform"), data)
    np.testing.assert_array_equal(equal.class_prior_, 0.5)
    accuracies = [np.mean(own.transduction_ == data.y_target) for own in (model, equal)]
    assert accuracies[0] > accuracies[1] + 0.01


def changed_shares() -> DomainPair:
    """Two overlapping classes of other widths, half and half in the source, and four to one in the target."""
    rng = RandomState(0)
    y_source, y_target = np.arange(600) % 2, (np.arange(600) % 5 == 0).astype(int)

    def draw(y: Any) -> Any:
        return rng.normal(size=(len(y), 3)) * np.where(y[:, None] == 1, [1.0, 3.0, 0.3], 1.0) + 1.6 * y[:, None]

    return DomainPair(draw(y_source), y_source, draw(y_target), y_target)
