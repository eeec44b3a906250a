"""Tests of target rows that belong to no class of the source: they are found, labelled, and kept out of the draws."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import fitted, opened
from sklearn.datasets import load_breast_cancer

from adrem import AdREM, Committee, load, save
from adrem.algorithm.unknown import threshold
from adrem.base.validation import Domains
from adrem.datasets import DomainPair
from adrem.diagnostics import diagnose, estimate_accuracy
from adrem.diagnostics.unknown import with_unknown
from adrem.exceptions import InvalidDataError, ParameterError


def rejecting(**params: Any) -> AdREM:
    return AdREM(**{"C": 0.01, "n_estimators": 3, "unknown": "reject", "random_state": 0, **params})


@pytest.fixture(scope="module")
def found() -> tuple[AdREM, DomainPair]:
    data = opened()
    return fitted(rejecting(), data), data


def test_rows_of_no_class_get_the_label(found: tuple[AdREM, DomainPair]) -> None:
    model, data = found
    assert model.classes_.tolist() == ["ant", "bee", "cat", "unknown"]
    assert np.mean(model.transduction_ == data.y_target) > 0.95
    ignoring = fitted(rejecting(unknown="ignore"), data)
    assert np.mean(ignoring.transduction_ == data.y_target) < 0.6
    assert not hasattr(ignoring, "unknown_share_")


def test_the_share_has_an_interval(found: tuple[AdREM, DomainPair]) -> None:
    model, _ = found
    low, high = model.unknown_interval_
    assert low <= model.unknown_share_ <= high
    assert low <= 0.5 <= high
    [line] = model.findings()
    assert "'unknown'" in line
    assert f"{100 * model.unknown_share_:.0f} %" in line
    surest = [int(own) - 1 for own in line.partition("counted from 1, are rows ")[2].split(", ")]
    assert (model.vote_share_[surest, -1] == model.vote_share_[:, -1].max()).all()


def test_predictions_agree(found: tuple[AdREM, DomainPair]) -> None:
    model, data = found
    np.testing.assert_array_equal(model.predict(data.X_target), model.transduction_)
    for scores in (model.decision_function(data.X_target), model.predict_proba(data.X_target)):
        assert scores.shape == (len(data.y_target), 4)
        np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.transduction_)
    assert model.vote_share_.shape == (len(data.y_target), 4)
    fresh = opened(n=10)._replace(X_target=opened(n=10).X_target + 0.01)
    assert model.score(fresh.X_target, fresh.y_target) > 0.9
    assert np.mean(model.predict(data.X_source) == data.y_source) > 0.9


def test_unknown_rows_are_not_drawn(found: tuple[AdREM, DomainPair]) -> None:
    model, _ = found
    assert model.class_prior_.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0])
    assert model.missing_classes_ == {}


def test_a_closed_target_has_none() -> None:
    data = opened(n_known=3, n_classes=3)
    model = fitted(rejecting(), data)
    assert model.unknown_share_ == 0.0
    assert model.unknown_interval_.tolist() == [0.0, 1.0]
    assert "none found. There may be some nevertheless" in model.findings()[0]
    ignoring = fitted(rejecting(unknown="ignore"), data)
    np.testing.assert_array_equal(model.classes_, ignoring.classes_)
    np.testing.assert_array_equal(model.coef_, ignoring.coef_)
    np.testing.assert_array_equal(model.predict_proba(data.X_target), ignoring.predict_proba(data.X_target))
    verdicts = [diagnose(own, data.X_source, data.y_source, data.X_target).verdict for own in (model, ignoring)]
    assert verdicts[0] == verdicts[1]


def test_wide_bounds_tell_no_share(found: tuple[AdREM, DomainPair]) -> None:
    model = copy(found[0])
    model.unknown_interval_ = np.array([0.1, 0.7])
    [line] = model.findings()
    assert "some found, labelled 'unknown'; how many there are can't be told (10 to 70 %)" in line


def test_two_classes_and_unknown_rows() -> None:
    data = opened(n_known=2, n_classes=4, names=np.array([3, 7, 8, 9]))
    model = fitted(rejecting(unknown_label=-9), data)
    assert model.classes_.tolist() == [3, 7, -9]
    assert model.decision_function(data.X_target).shape == (len(data.y_target), 3)
    assert np.mean(model.transduction_ == data.y_target) > 0.9


@pytest.mark.thorough
@pytest.mark.parametrize(
    "params",
    [
        {"class_prior": "estimate"},
        {"class_prior": {"ant": 0.2, "bee": 0.2, "cat": 0.6}},
        {"loss": "log_loss"},
        {"kernel": "rbf", "C": 1.0},
        {"neighbors": 5},
        {"device": "torch-cpu"},
        {"C": "cv", "fit_intercept": True},
    ],
)
def test_other_options(params: dict[str, Any]) -> None:
    data = opened()
    model = fitted(rejecting(**params), data)
    assert np.mean(model.transduction_ == data.y_target) > 0.9
    np.testing.assert_array_equal(model.predict(data.X_target), model.transduction_)


def test_sparse_rows_and_three_ways_in() -> None:
    data = opened(n=20)
    one = fitted(rejecting(n_estimators=1), data)
    sparse = data._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_array(data.X_target))
    assert np.mean(fitted(rejecting(n_estimators=1), sparse).transduction_ == one.transduction_) > 0.98
    rows = np.concatenate([data.X_target, data.X_source])
    labels = np.concatenate([np.repeat("ant", len(data.X_target)), data.y_source])
    domain = np.repeat([-1, 0], [len(data.X_target), len(data.X_source)])
    again = rejecting(n_estimators=1).fit(rows, labels, sample_domain=domain)
    np.testing.assert_array_equal(again.coef_, one.coef_)
    np.testing.assert_array_equal(again.transduction_, one.transduction_)


def test_weights_sources_and_known_labels() -> None:
    data = opened()
    rows = np.concatenate([data.X_source, data.X_target])
    n_source = len(data.X_source)
    domain = np.concatenate([np.arange(n_source) % 2, np.full(len(data.X_target), -1)])
    labels = np.concatenate([data.y_source, np.repeat("ant", len(data.X_target))])
    model = rejecting().fit(rows, labels, sample_domain=domain, sample_weight=np.full(len(rows), 2.0))
    assert model.sources_.tolist() == [0.0, 1.0]
    assert np.mean(model.transduction_ == data.y_target) > 0.9
    known = np.full(len(data.y_target), None, dtype=object)
    known[0] = "ant"
    taught = rejecting().fit(data.X_source, data.y_source, X_target=data.X_target, y_target=known)
    assert taught.transduction_[0] == "ant"
    assert taught.known_rows_.tolist() == [0]
    assert np.mean(taught.transduction_[1:] == data.y_target[1:]) > 0.9


def test_without_a_target_there_is_no_such_class() -> None:
    data = opened()
    model = rejecting().fit(data.X_source, data.y_source)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"unknown_label": "bee"}, "is a class of the source"),
        ({"unknown_label": 4}, "give a string"),
        ({"kernel": "precomputed"}, "needs the rows"),
        ({"unknown": "find"}, "unknown 'find' is not one of 'ignore', 'reject'"),
    ],
)
def test_bad_settings_are_refused(params: dict[str, Any], message: str) -> None:
    data = opened(n=5)
    if "kernel" in params:
        both = np.concatenate([data.X_source, data.X_target])
        data = data._replace(X_source=data.X_source @ both.T, X_target=data.X_target @ both.T)
    with pytest.raises(ParameterError, match=message):
        fitted(rejecting(**params), data)


def test_numbers_need_a_number() -> None:
    data = opened(n_known=2, n_classes=4, n=5, names=np.arange(4))
    with pytest.raises(ParameterError, match=r"unknown_label='unknown' .* give an integer, such as -1"):
        fitted(rejecting(), data)


@pytest.mark.parametrize("label", [np.nan, 0.5, True, "4"])
def test_labels_of_another_kind_are_refused(label: Any) -> None:
    data = opened(n_known=2, n_classes=4, n=5, names=np.arange(4))
    with pytest.raises(ParameterError, match="unknown_label"):
        fitted(rejecting(unknown_label=label), data)


def test_truth_values_have_no_further_label() -> None:
    data = opened(n_known=2, n_classes=4, n=5)
    with pytest.raises(InvalidDataError, match="make them strings or numbers"):
        fitted(rejecting(), data._replace(y_source=data.y_source == "ant"))


def test_a_few_rows_are_refused() -> None:
    data = opened(n=5)
    with pytest.raises(InvalidDataError, match="there are only 3"):
        rejecting().fit(data.X_source, data.y_source, X_target=data.X_target[:3])


def test_a_model_is_saved(found: tuple[AdREM, DomainPair], tmp_path: Path) -> None:
    model, data = found
    save(model, tmp_path / "model.adrem")
    again = load(tmp_path / "model.adrem")
    np.testing.assert_array_equal(again.predict_proba(data.X_target), model.predict_proba(data.X_target))
    assert again.unknown_share_ == model.unknown_share_
    assert again.findings() == model.findings()


def test_a_model_is_diagnosed(found: tuple[AdREM, DomainPair]) -> None:
    model, data = found
    diagnosis = diagnose(model, data.X_source, data.y_source, data.X_target)
    assert [own.label for own in diagnosis.classes] == model.classes_.tolist()
    assert diagnosis.verdict.choice == "adapted"
    with pytest.raises(InvalidDataError, match="the accuracy is not estimated"):
        estimate_accuracy(model, data.X_source, data.y_source, data.X_target)
    assert with_unknown(model, ["ant", "wolf", ""]).tolist() == ["ant", "unknown", ""]


@pytest.mark.filterwarnings("ignore::adrem.exceptions.UnequalSharesWarning")
def test_a_diagnosis_names_rows_of_no_class() -> None:
    data = opened()
    ignoring = fitted(rejecting(n_estimators=1, unknown="ignore"), data)
    reasons = " ".join(diagnose(ignoring, data.X_source, data.y_source, data.X_target).verdict.reasons)
    assert "seem to be of no class of the source. If that is so, use unknown='reject'." in reasons
    closed = opened(n_known=3, n_classes=3)
    ignoring = fitted(rejecting(n_estimators=1, unknown="ignore"), closed)
    reasons = " ".join(diagnose(ignoring, closed.X_source, closed.y_source, closed.X_target).verdict.reasons)
    assert "no class" not in reasons


@pytest.mark.thorough
def test_the_committee_rejects_too(tmp_path: Path) -> None:
    data = opened()
    model = fitted(Committee(n_estimators=1, n_iter=5, unknown="reject", random_state=0), data)
    assert model.classes_.tolist() == ["ant", "bee", "cat", "unknown"]
    assert np.mean(model.transduction_ == data.y_target) > 0.9
    np.testing.assert_array_equal(model.predict(data.X_target), model.transduction_)
    save(model, tmp_path / "model.adrem")
    again = load(tmp_path / "model.adrem")
    np.testing.assert_array_equal(again.predict_proba(data.X_target), model.predict_proba(data.X_target))


def test_a_committee_that_finds_none_is_the_usual_one() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    data = DomainPair(X[::2], y[::2], X[1::2], y[1::2])
    kinds = ["margin", "discriminant", "source"]
    usual, model = (
        fitted(Committee(kinds, n_estimators=1, n_iter=3, unknown=own, unknown_label=-1, random_state=0), data)
        for own in ("ignore", "reject")
    )
    assert model.unknown_share_ == 0.0
    assert model.kinds_ == usual.kinds_ == kinds
    np.testing.assert_array_equal(model.home_accuracy_, usual.home_accuracy_)
    np.testing.assert_array_equal(model.transduction_, usual.transduction_)
    np.testing.assert_array_equal(model.predict_proba(X), usual.predict_proba(X))
    verdicts = [diagnose(own, data.X_source, data.y_source, data.X_target).verdict for own in (model, usual)]
    assert verdicts[0].choice == verdicts[1].choice
    assert verdicts[0].reasons == verdicts[1].reasons[: len(verdicts[0].reasons)]


def test_the_threshold_divides_two_groups() -> None:
    values = np.array([0.1, 0.2, 0.15, 0.9, 1.0, 0.95])
    assert threshold(values) == 0.2


def test_domains_count_the_classes_of_the_source() -> None:
    rows = np.zeros((2, 1))
    domains = Domains(rows, np.array([0, 1]), np.ones(2), rows, np.array(["a", "b", "unknown"]), has_unknown=True)
    assert domains.n_of_source == 2
