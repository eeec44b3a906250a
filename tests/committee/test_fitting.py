"""Tests of the fit: which kinds vote, which are left out, and the class shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.random import RandomState
from problems import fitted, make_blobs_shift

from adrem import Committee
from adrem.base.validation import Domains
from adrem.committee import fitting
from adrem.committee.kinds import KINDS, radial_gamma, usual_kinds
from adrem.committee.seats import Seat, held_out_by
from adrem.committee.views import View
from adrem.committee.voters import LinearMembers, LinearProbabilities
from adrem.datasets import DomainPair

WIDE = RandomState(0).normal(size=(5, 300))


def small(**params: Any) -> Any:
    return Committee(**{"n_estimators": 1, "n_iter": 2, "class_prior": "uniform", "random_state": 0, **params})


def test_rows_decide_which_kinds_sit() -> None:
    few, left_out = usual_kinds(np.ones((2, 5)), np.ones((2, 5)), 2, 2**30)
    assert set(few) <= set(KINDS)
    assert left_out == {}
    active, _ = usual_kinds(np.ones((2, 5000)), np.ones((2, 5000)), 2, 2**30)
    signed, _ = usual_kinds(np.ones((2, 5000)), -np.ones((2, 5000)), 2, 2**30)
    sparse, _ = usual_kinds(sp.csr_array((2, 5)), sp.csr_array((2, 5)), 2, 2**30)
    assert len({tuple(names) for names in (few, active, signed, sparse)}) == 4
    assert "boosting" not in active + signed
    assert "discriminant, active" in active
    assert all(KINDS[name].classifier in ("hinge", "log_loss", "logistic") for name in sparse)
    boosted, left_out = usual_kinds(np.ones((2, 200)), np.ones((2, 200)), 20, 2**30)
    assert "boosting" not in boosted
    assert "columns times classes are more than" in left_out["boosting"]


def test_memory_limit_leaves_kernels_out(blobs: DomainPair) -> None:
    names, left_out = usual_kinds(np.ones((500, 5)), np.ones((500, 5)), 2, 4 * 1000**2 - 1)
    assert not [name for name in names if KINDS[name].classifier == "rbf"]
    assert {"rbf", "rbf, unit rows"} <= set(left_out)
    assert "rbf" in usual_kinds(np.ones((500, 5)), np.ones((500, 5)), 2, 4 * 1000**2)[0]
    model = fitted(small(memory_limit=1000), blobs)
    assert "memory_limit" in model.left_out_["rbf"]
    assert not set(model.left_out_) & set(model.kinds_)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_wide_rows_of_any_form_are_fitted(blobs: DomainPair, make: Any) -> None:
    data = blobs._replace(X_source=make(blobs.X_source @ WIDE), X_target=make(blobs.X_target @ WIDE))
    model = fitted(small(class_prior="auto"), data)
    assert hasattr(model, "class_prior_check_") == sp.issparse(data.X_source)  # only text has an estimate if it is wide
    np.testing.assert_allclose(model.class_prior_, 1 / 3)
    assert np.mean(model.transduction_ == data.y_target) > 0.9


def test_discriminants_sit_only_where_the_classes_are_equally_common(two_blobs: DomainPair) -> None:
    kinds = ("margin", "discriminant")
    assert fitted(small(kinds=kinds, class_prior=[0.4, 0.6]), two_blobs).kinds_ == list(kinds)
    model = fitted(small(kinds=kinds, class_prior=[0.2, 0.8]), two_blobs)
    assert model.kinds_ == ["margin"]
    assert model.left_out_ == {"discriminant": "the class shares are not equal"}
    assert fitted(small(kinds=kinds[1:], class_prior=[0.2, 0.8]), two_blobs).kinds_ == ["discriminant"]


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.0, 1.0]])
def test_given_shares_are_told_as_given(two_blobs: DomainPair, shares: list[float]) -> None:
    model = fitted(small(kinds=["source"], class_prior=shares), two_blobs)
    assert "class shares: as given, " in model.findings()[-1]
    assert f"{shares[0]:.2f}" in model.findings()[-1]


def test_each_domain_is_scaled_by_itself_where_only_scales_differ() -> None:
    rng = RandomState(0)
    y = np.arange(600) % 3
    rows, X_target = (rng.normal(size=(600, 2)) + np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[y] for _ in range(2))
    data = DomainPair(rows, y, X_target * [0.3, 2.0] + [-2.0, 3.0], y)
    kinds = ("margin", "rbf", "rbf, unit rows", "rbf, by domain", "source")
    model = fitted(small(kinds=kinds, class_prior="auto"), data)
    assert model.by_domain_
    assert model.kinds_ == ["margin", "rbf", "rbf, unit rows", "source"]
    assert model.left_out_ == {
        "rbf, by domain": "the same as 'rbf, unit rows' where each domain is scaled by itself",
    }
    assert any("scaled by itself" in line for line in model.findings())
    assert model.score(data.X_target, y) > 0.9
    joint = fitted(small(kinds=kinds[:1]), data)  # without a classifier of the source nothing is compared
    assert not joint.by_domain_
    assert joint.score(data.X_target, y) < 0.8
    np.testing.assert_array_equal(model.predict(data.X_target), model.transduction_)
    guess = (data.X_target @ model.coef_[0].T + model.intercept_[0]).argmax(axis=1)
    assert np.mean(guess == model.transduction_) > 0.95


def test_incompetent_kinds_lose_their_seat() -> None:
    """Classes that an ellipse separates: a line is as good as chance."""
    rng = RandomState(0)
    X, X_target = rng.normal(size=(2, 300, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1774).astype(int)
    model = small(kinds=("margin", "rbf", "source")).fit(X, y, X_target=X_target)
    assert model.kinds_ == ["rbf"]
    assert set(model.left_out_) == {"margin", "source"}
    assert model.left_out_["margin"].startswith("held-out accuracy 0.")
    assert sum(seat.weight for seat in model.seats_) == 1.0
    assert model.home_accuracy_[0] > 0.9


def seat_of(name: str, accuracy: float) -> Seat:
    voter = LinearMembers(np.ones((1, 1, 1)), np.ones((1, 1)))
    return Seat(name, View(), voter, accuracy, np.full((200, 2), 0.5))


@pytest.mark.parametrize(
    ("accuracies", "kept"),
    [
        ((0.9, 0.85, 0.52), "ab"),
        ((0.9, 0.9, 0.9), "abc"),
        ((0.5, 0.48, 0.52), "abc"),  # nobody is better than chance
        ((0.9, float("nan"), 0.5), "abc"),  # unknown
        ((0.9, 0.0, 0.9), "ac"),
    ],
)
def test_competence_is_relative_to_the_best(accuracies: Any, kept: str) -> None:
    domains = Domains(np.ones((200, 1)), np.arange(200) % 2, np.ones(200), np.ones((5, 1)), np.arange(2))
    seats = [seat_of(name, accuracy) for name, accuracy in zip("abc", accuracies, strict=True)]
    found, lost = fitting._competent(seats, domains)
    assert "".join(seat.name for seat in found) == kept
    assert "".join(sorted([*lost, *kept])) == "abc"


def test_held_out_accuracy_is_over_the_classes_of_the_source() -> None:
    labels = np.repeat([0, 1, 2], 3)
    rows = np.eye(3)[labels]
    domains = Domains(rows, labels, np.ones(9), rows, np.array(["a", "b", "unknown"]), has_unknown=True)
    takes_b_for_a = LinearProbabilities(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3))
    assert held_out_by(lambda _: takes_b_for_a, domains, 0)[1] == 0.5


def test_temperature_fits_the_held_out_labels() -> None:
    labels = np.arange(200) % 2
    domains = Domains(np.ones((200, 1)), labels, np.ones(200), np.ones((5, 1)), np.arange(2))
    right = np.where(np.arange(200) < 160, 0.6, 0.4)  # 80 % are right, but the shares say 60 %
    held_out = np.where(labels[:, None] == np.arange(2), right[:, None], 1 - right[:, None])
    temperature = fitting._temperature(held_out, domains)
    calibrated = 0.6**temperature / (0.6**temperature + 0.4**temperature)
    assert calibrated == pytest.approx(0.8, abs=1e-3)


def test_probabilities_are_about_right_without_a_shift() -> None:
    data = make_blobs_shift(3, n_source=240, seed=3)
    model = fitted(small(kinds=("margin", "source"), n_estimators=2), data)
    likely = model.predict_proba(data.X_source)[np.arange(240), data.y_source]
    accuracy = np.mean(model.predict(data.X_source) == data.y_source)
    assert np.exp(np.mean(np.log(likely))) > 0.4
    assert abs(model.predict_proba(data.X_source).max(axis=1).mean() - accuracy) < 0.1


def test_equal_rows_have_a_scale() -> None:
    assert radial_gamma(np.ones((3, 2)), np.ones((3, 2))) == 1.0
    rows = RandomState(0).normal(size=(50, 3))
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    assert radial_gamma(rows[:20], rows[20:]) == pytest.approx(0.5 / distances.mean())


def test_linear_classifier_of_a_committee_agrees_with_it(blobs: DomainPair) -> None:
    model = fitted(small(kinds=("rbf",), n_estimators=2), blobs)
    scores = blobs.X_target @ model.coef_[0].T + model.intercept_[0]
    assert np.mean(model.classes_[scores.argmax(axis=1)] == model.transduction_) > 0.9
    distilled = fitted(small(kinds=("rbf",), n_estimators=2, distill=True), blobs)
    np.testing.assert_array_equal(distilled.coef_, model.coef_)
    np.testing.assert_array_equal(distilled.predict(blobs.X_target), model.classes_[scores.argmax(axis=1)])
