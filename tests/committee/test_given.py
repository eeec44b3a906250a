"""Tests of kinds that are estimators of the caller: what they are fitted to, how they vote, what they are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.random import RandomState
from problems import fitted
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from adrem import AdREM, Committee, load, save
from adrem.base import DomainClassifier
from adrem.baselines import CORAL
from adrem.committee.given import Given, find_kinds, read_kinds, with_names
from adrem.datasets import DomainPair
from adrem.diagnostics import estimate_accuracy
from adrem.exceptions import InvalidDataError, ParameterError

NAMES = np.array(["ant", "bee", "cow"])


def small(kinds: Any, **params: Any) -> Any:
    return Committee(kinds, **{"n_estimators": 2, "n_iter": 2, "class_prior": "uniform", "random_state": 0, **params})


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier of the nearest class mean that keeps what it was given."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.X_, self.y_, self.weight_ = X, y, sample_weight
        self.means_ = np.stack([X[y == c].mean(axis=0) for c in np.unique(y)])
        return self

    def predict(self, X: Any) -> Any:
        return ((X[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)


class Broken(Recorder):
    """A classifier whose probabilities are not numbers."""

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 3), np.nan)


class Refuses(Recorder):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: ARG002 - as all classifiers have it
        raise ValueError("no rows, thank you")


def test_classifier_is_fitted_to_the_source_as_it_is_given(blobs: DomainPair) -> None:
    model = fitted(small([Recorder(), "rbf"], class_prior="auto"), blobs._replace(y_source=NAMES[blobs.y_source]))
    own = model.seats_[0].voter.estimator
    np.testing.assert_array_equal(own.X_, blobs.X_source)
    np.testing.assert_array_equal(own.y_, blobs.y_source)  # positions of classes
    assert own.weight_ is None
    assert model.kinds_ == ["Recorder", "rbf"]
    assert set(model.transduction_) <= set(NAMES)
    np.testing.assert_array_equal(model.seats_[0].shares(blobs.X_target), np.eye(3)[own.predict(blobs.X_target)])


def test_weights_are_passed_where_they_are_taken(blobs: DomainPair) -> None:
    weight = np.r_[np.zeros(10), np.full(50, 2.0)]
    model = small([Recorder(), KNeighborsClassifier()]).fit(
        blobs.X_source, blobs.y_source, X_target=blobs.X_target, sample_weight=weight
    )
    recorder, neighbors = (seat.voter.estimator for seat in model.seats_)
    np.testing.assert_array_equal(recorder.X_, blobs.X_source[10:])
    np.testing.assert_array_equal(recorder.weight_, np.full(50, 2.0))
    assert neighbors.n_samples_fit_ == 50


@pytest.mark.parametrize("name", ["bare", "in a pipeline"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_models_that_adapt_see_both_domains(blobs: DomainPair, name: str, make: Any) -> None:
    own = AdREM(C=1.0, n_estimators=2, n_iter=3, random_state=5)
    scaler = StandardScaler(with_mean=False)
    data = blobs._replace(X_source=make(blobs.X_source), X_target=make(blobs.X_target))
    if name == "bare":
        model = fitted(small([own]), data)
        alone = fitted(clone(own), data)
        np.testing.assert_array_equal(model.transduction_, alone.transduction_)
        np.testing.assert_allclose(model.seats_[0].shares(data.X_target), alone.predict_proba(data.X_target))
    else:
        model = fitted(small([make_pipeline(scaler, own)]), data)
        scaler.fit(make(np.concatenate([blobs.X_source, blobs.X_target])))
        scaled = data._replace(X_source=scaler.transform(data.X_source), X_target=scaler.transform(data.X_target))
        np.testing.assert_array_equal(model.transduction_, fitted(clone(own), scaled).transduction_)
    assert model.history_ == []
    assert model.score(data.X_target, data.y_target) > 0.9


def test_models_that_adapt_are_tested_without_the_target(blobs: DomainPair) -> None:
    """Rows of the target that are far away change the model, but not its accuracy on held-out source rows."""
    far = blobs._replace(X_target=blobs.X_target + 100.0)
    near, moved = (fitted(small([CORAL(C=1.0)]), data) for data in (blobs, far))
    np.testing.assert_array_equal(near.home_accuracy_, moved.home_accuracy_)
    assert not np.array_equal(near.seats_[0].shares(far.X_target), moved.seats_[0].shares(far.X_target))


@pytest.mark.parametrize(
    "classifier",
    [
        LinearDiscriminantAnalysis(),  # probabilities
        RidgeClassifier(),  # scores
        Recorder(),  # labels
        SVC(),
        SVC(decision_function_shape="ovo"),
        make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo")),
        OneVsRestClassifier(GaussianNB()),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_follow_the_labels_of_the_classifier(
    blobs: DomainPair, two_blobs: DomainPair, classifier: Any, n_classes: int
) -> None:
    data = two_blobs if n_classes == 2 else blobs
    model = fitted(small([("mine", classifier)]), data)
    shares = model.seats_[0].shares(data.X_target)
    assert shares.shape == (45, n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    alone = clone(classifier).fit(data.X_source, data.y_source)
    np.testing.assert_array_equal(model.transduction_, alone.predict(data.X_target))
    np.testing.assert_array_equal(model.predict(data.X_target), model.transduction_)
    np.testing.assert_array_equal(model.member_agreement_, 1.0)


def test_probabilities_are_the_votes(blobs: DomainPair) -> None:
    model = fitted(small([GaussianNB(), "source"]), blobs)
    alone = GaussianNB().fit(blobs.X_source, blobs.y_source)
    np.testing.assert_allclose(model.seats_[0].shares(blobs.X_target), alone.predict_proba(blobs.X_target))
    hits = model.seats_[0].held_out.argmax(axis=1) == blobs.y_source
    recalls = [hits[blobs.y_source == c].mean() for c in range(3)]
    assert model.home_accuracy_[0] == pytest.approx(np.mean(recalls))


def test_bad_classifiers_are_left_out() -> None:
    """Classes that an ellipse separates: a line is as good as chance."""
    rng = RandomState(0)
    X, X_target = rng.normal(size=(2, 300, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1774).astype(int)
    model = small([LogisticRegression(), KNeighborsClassifier()]).fit(X, y, X_target=X_target)
    assert model.kinds_ == ["KNeighborsClassifier"]
    assert model.left_out_["LogisticRegression"].startswith("held-out accuracy 0.")


def test_random_states_that_are_none_follow_the_seed(blobs: DomainPair) -> None:
    kinds = [DecisionTreeClassifier(max_features=1), ("fixed", RandomForestClassifier(3, random_state=7))]
    one, again, other = (fitted(small(kinds, random_state=seed), blobs) for seed in (0, 0, 1))
    trees = [model.seats_[0].voter.estimator for model in (one, again, other)]
    assert trees[0].random_state == trees[1].random_state != trees[2].random_state
    np.testing.assert_array_equal(one.vote_share_, again.vote_share_)
    assert one.seats_[1].voter.estimator.random_state == 7
    assert kinds[0].random_state is None
    nested = fitted(small([make_pipeline(StandardScaler(), DecisionTreeClassifier())]), blobs)
    assert isinstance(nested.seats_[0].voter.estimator[-1].random_state, int)


def test_estimators_stay_as_they_are_where_each_domain_is_scaled_by_itself() -> None:
    rng = RandomState(0)
    y = np.arange(600) % 3
    rows, X_target = (rng.normal(size=(600, 2)) + np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[y] for _ in range(2))
    data = DomainPair(rows, y, X_target * [0.3, 2.0] + [-2.0, 3.0], y)
    model = fitted(small(["margin", Recorder(), GaussianNB()], class_prior="auto"), data)
    assert model.by_domain_
    assert model.kinds_ == ["margin", "Recorder", "GaussianNB"]
    np.testing.assert_array_equal(model.seats_[1].voter.estimator.X_, rows)


def test_fit_without_target_trains_on_the_source(blobs: DomainPair) -> None:
    model = small([Recorder(), AdREM(C=1.0, n_iter=2)]).fit(blobs.X_source, blobs.y_source)
    assert model.score(blobs.X_source, blobs.y_source) > 0.8


def test_names() -> None:
    forest, tree = RandomForestClassifier(), DecisionTreeClassifier()
    pairs = with_names(["rbf", forest, tree, ("mine", tree), forest])
    names = ["rbf", "RandomForestClassifier-1", "DecisionTreeClassifier", "mine", "RandomForestClassifier-2"]
    assert [name for name, _ in pairs] == names
    kinds = read_kinds(["rbf", forest, ("coral", CORAL())])
    assert [kind.name for kind in kinds] == ["rbf", "RandomForestClassifier", "coral"]
    assert [isinstance(kind, Given) for kind in kinds] == [False, True, True]
    assert [kind.adapts for kind in kinds] == [True, False, True]


def test_kinds_are_found_again_by_name() -> None:
    forest = RandomForestClassifier()
    assert find_kinds(["rbf", "source"], "auto") == ["rbf", "source"]
    kinds = ["source", "rbf", forest, ("mine", GaussianNB())]
    assert find_kinds(["rbf", "RandomForestClassifier"], kinds) == ["rbf", ("RandomForestClassifier", forest)]


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ([], "kinds is empty: name some of 'margin', .*'boosting', or set kinds='auto'"),
        (
            ["margin", "svm"],
            "kinds has 'svm', which is no kind: name some of 'margin', .*'boosting', or give a classif",
        ),
        (["margin", "margin"], "two of the name 'margin'"),
        (
            [("rbf", GaussianNB())],
            r"two of the name 'rbf', or a classifier with the name of a kind: .* \('mine', classif",
        ),
        ([("a", GaussianNB()), ("a", Recorder())], "two of the name 'a'"),
        ([1], "kinds has 1, which is neither the name of a kind nor a classifier"),
        ([["margin"]], r"kinds has \['margin'\], which is neither"),
        ([GaussianNB], "kinds has <class .*GaussianNB'>, which is neither .* instances of classifiers"),
        ([LinearRegression()], r"kinds has LinearRegression\(\), which is neither"),
        ([("mine", "margin")], "kinds has 'margin', which is neither"),
        ([(GaussianNB(), "mine")], "kinds has 'mine', which is neither"),
        ([("mine",)], r"kinds has \('mine',\), which is neither"),
        (["margin", None], "kinds has None, which is neither"),
    ],
)
def test_wrong_kinds_are_refused_before_any_work(blobs: DomainPair, kinds: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as info:
        fitted(small(kinds), blobs)
    assert info.value.parameter == "kinds"


def test_errors_of_a_classifier_name_it(blobs: DomainPair) -> None:
    with pytest.raises(ValueError, match="no rows, thank you") as info:
        fitted(small(["margin", ("mine", Refuses())]), blobs)
    assert info.value.__notes__ == ["It comes from the kind 'mine' of the committee."]
    with pytest.raises(InvalidDataError, match="Broken does not give 3 finite numbers a row: leave it out of kinds"):
        fitted(small(["margin", Broken()]), blobs)


def test_committee_with_classifiers_is_cloned(blobs: DomainPair) -> None:
    forest = RandomForestClassifier(3)
    model = small(["margin", ("forest", forest)])
    assert model.get_params()["kinds"][1] == ("forest", forest)
    copy = clone(model)
    assert copy.kinds[1][1] is not forest
    np.testing.assert_array_equal(fitted(copy, blobs).vote_share_, fitted(model, blobs).vote_share_)
    assert not hasattr(forest, "estimators_")


def test_accuracy_of_a_committee_with_classifiers_is_estimated(blobs: DomainPair) -> None:
    class Counted(Recorder):
        n_fits = 0

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            Counted.n_fits += 1
            return super().fit(X, y, sample_weight)

    model = fitted(small(["rbf", ("mine", Counted())]), blobs)
    assert ("mine", model.kinds[1][1]) in model.refit_params(45)["kinds"]
    before = Counted.n_fits
    assert estimate_accuracy(model, blobs.X_source, blobs.y_source, blobs.X_target).accuracy > 0.7
    assert Counted.n_fits > before


def test_only_the_distilled_committee_is_saved(blobs: DomainPair, tmp_path: Path) -> None:
    kinds = ["rbf", KNeighborsClassifier(), ("mine", GaussianNB())]
    model = fitted(small(kinds), blobs)
    with pytest.raises(
        TypeError, match=r"'KNeighborsClassifier', 'mine' among its kinds: leave them out, or set distill"
    ):
        save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    model = fitted(small(kinds, distill=True), blobs)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model")
    assert copy.kinds == ["rbf", "KNeighborsClassifier", "mine"]
    np.testing.assert_array_equal(copy.predict(blobs.X_target), model.transduction_)
    save(copy, tmp_path / "again")
    with pytest.raises(
        ParameterError, match="A model file has the names of classifiers, not the classifiers: give them"
    ):
        estimate_accuracy(copy, blobs.X_source, blobs.y_source, blobs.X_target)
    copy.set_params(kinds=kinds)
    assert estimate_accuracy(copy, blobs.X_source, blobs.y_source, blobs.X_target).accuracy > 0.7


def test_committee_without_the_classifiers_votes_is_saved(tmp_path: Path) -> None:
    rng = RandomState(0)
    X, X_target = rng.normal(size=(2, 300, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1774).astype(int)
    model = small(["rbf", LogisticRegression()]).fit(X, y, X_target=X_target)
    assert model.kinds_ == ["rbf"]
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X_target), model.transduction_)


def test_committee_takes_a_committee(blobs: DomainPair) -> None:
    inner = small(["margin", "rbf"])
    model = fitted(small([inner, "source"]), blobs)
    assert isinstance(model.seats_[0].voter.estimator, DomainClassifier)
    assert model.kinds_[0] == "Committee"
    assert model.score(blobs.X_target, blobs.y_target) > 0.9
