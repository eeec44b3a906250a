"""Tests of `estimate_accuracy`: an accuracy estimate without target labels, with bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from problems import make_blobs_shift

from adrem import AdREM, baselines
from adrem.datasets import DomainPair, load_digits_shift
from adrem.diagnostics import AccuracyEstimate, estimate_accuracy
from adrem.diagnostics.accuracy import check_rows, estimate_examined, interval_of
from adrem.diagnostics.diagnosis import examine

pytestmark = pytest.mark.thorough


def overlapping(spread: float, seed: int, n_classes: int = 3) -> DomainPair:
    """Classes whose overlap grows with the spread, and a slightly shifted target."""
    rng = np.random.RandomState(seed)
    y = np.arange(600) % n_classes
    centres = 3.0 * np.eye(n_classes, 8)
    source, target = (centres[y] + spread * rng.normal(size=(600, 8)) for _ in range(2))
    return DomainPair(source, y, target + 0.3, y)


def judged(data: DomainPair, model: Any = None, **params: Any) -> tuple[float, AccuracyEstimate]:
    model = AdREM(C=0.01, n_estimators=5, random_state=0, **params) if model is None else model
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    found = estimate_accuracy(model, data.X_source, data.y_source, data.X_target)
    return float(np.mean(model.transduction_ == data.y_target)), found


def test_estimate_is_close_from_easy_to_hard() -> None:
    """The estimate is within a few points of the true accuracy, whether that is high or low."""
    for n_classes in (2, 3):
        found = [judged(overlapping(spread, seed, n_classes)) for spread in (0.5, 1.5, 3.0, 5.0) for seed in range(3)]
        errors = [abs(estimate.accuracy - truth) for truth, estimate in found]
        assert np.mean(errors) < 0.03
        assert max(truth for truth, _ in found) > 0.99
        assert min(truth for truth, _ in found) < 0.75
        held = [estimate.low <= truth <= estimate.high for truth, estimate in found]
        assert np.mean(held) >= 0.9


def test_estimate_interval_covers_digits_accuracy() -> None:
    truth, found = judged(load_digits_shift(), AdREM(C=0.1, n_estimators=3, random_state=0))
    assert found.low <= truth <= found.high
    assert found.high - found.low < 0.5


@pytest.mark.parametrize("name", ["SourceOnly", "CORAL", "HardEM", "SoftEM", "DASVM"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_estimate_is_close_for_baselines(name: str, n_classes: int) -> None:
    truth, found = judged(overlapping(1.5, 0, n_classes), getattr(baselines, name)(C=0.01))
    assert abs(found.accuracy - truth) < 0.08


def test_estimate_supports_sparse_rows_kernels_and_options() -> None:
    data = overlapping(1.5, 0)
    dense = judged(data)[1]
    sparse = data._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_array(data.X_target))
    assert judged(sparse)[1].accuracy == pytest.approx(dense.accuracy, abs=0.01)
    truth, found = judged(data, kernel="rbf", class_prior="estimate", neighbors=5, refine=5, fit_intercept=True)
    assert abs(found.accuracy - truth) < 0.08


def test_estimate_leaves_the_model_unchanged() -> None:
    data = overlapping(1.5, 0)
    model = AdREM(C=[0.01, 0.1], n_estimators=3, random_state=0)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    before, params = model.coef_.copy(), model.get_params()
    twice = [estimate_accuracy(model, data.X_source, data.y_source, data.X_target) for _ in range(2)]
    assert twice[0] == twice[1]
    np.testing.assert_array_equal(model.coef_, before)
    assert model.get_params() == params


def test_estimate_rejects_too_few_rows() -> None:
    data = make_blobs_shift()
    few = data._replace(X_target=data.X_target[:2], y_target=data.y_target[:2])
    model = AdREM(C=0.1, n_estimators=2, random_state=0)
    with pytest.warns():
        model.fit(few.X_source, few.y_source, X_target=few.X_target)
    with pytest.raises(ValueError, match="3 rows of the target and of each class of the source, but the target has 2"):
        estimate_accuracy(model, few.X_source, few.y_source, few.X_target)
    with pytest.raises(ValueError, match=r"'b' has 1\. Skip the estimate, or add rows"):
        check_rows(np.array(["a", "a", "a", "b"]), 9)


def test_source_only_has_no_drift() -> None:
    assert abs(judged(overlapping(1.5, 0), baselines.SourceOnly(C=0.01))[1].drift) < 0.02


def test_estimate_limits_neighbors_to_fold_size() -> None:
    data = overlapping(1.5, 0)
    truth, found = judged(data, neighbors=500)
    assert abs(found.accuracy - truth) < 0.1


@given(st.floats(0.0, 1.0), st.integers(1, 10**6), st.floats(0.0, 1.0))
def test_bounds_contain_the_estimate(accuracy: float, n_rows: int, distance: float) -> None:
    low, high = interval_of(accuracy, n_rows, distance)
    assert 0.0 <= low <= accuracy <= high <= 1.0
    assert low < high
    assert high - low <= np.diff(interval_of(accuracy, n_rows, min(1.0, distance + 0.2)))[0] + 1e-12


def test_estimate_of_other_labels_of_the_same_rows() -> None:
    data = overlapping(1.5, 0)
    model = AdREM(C=0.01, n_estimators=3, random_state=0)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    examined = examine(model, data.X_source, data.y_source, data.X_target)
    of_model = estimate_examined(examined)
    assert estimate_examined(examined, labels=examined.after) == of_model
    wrong = (examined.after + 1) % 3
    assert estimate_examined(examined, labels=wrong).accuracy < 0.5 < of_model.accuracy


def test_estimate_is_unknown_if_the_source_can_not_be_learnt() -> None:
    data = overlapping(1.5, 0)
    labels = np.random.default_rng(0).permutation(data.y_source)
    found = judged(data._replace(y_source=labels))[1]
    assert (found.low, found.high, found.is_known) == (0.0, 1.0, False)
    assert "hardly better than always giving the most common label" in found.reasons[0]


def test_estimate_is_unknown_for_few_rows() -> None:
    data = overlapping(1.5, 0)
    found = judged(data._replace(X_target=data.X_target[:15], y_target=data.y_target[:15]))[1]
    assert found.reasons == ["The target has only 15 rows."]
