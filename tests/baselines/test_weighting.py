from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from adrem import AdREM
from adrem.baselines import KMM, ImportanceWeighting
from adrem.baselines.weighting import _duality_gap, match_means, project
from adrem.datasets import DomainPair


def shifted(seed: int = 0) -> DomainPair:
    """A label that depends on x equally in both domains, and a target shifted to larger x."""
    rng = np.random.RandomState(seed)
    X_source, X_target = rng.normal(0, 1, (300, 1)), rng.normal(1, 0.7, (300, 1))
    X_source, X_target = (np.hstack([X, np.ones_like(X)]) for X in (X_source, X_target))
    return DomainPair(X_source, (X_source[:, 0] > 0.5) * 1, X_target, (X_target[:, 0] > 0.5) * 1)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("model", [KMM(C=1.0), ImportanceWeighting(C=1.0, flattening=1.0, random_state=0)], ids=str)
def test_weights_move_source_mean_towards_target(model: Any, make: Any) -> None:
    data = shifted()
    model.fit(make(data.X_source), data.y_source, X_target=make(data.X_target))
    assert model.source_weight_.shape == (300,)
    before = abs(data.X_source[:, 0].mean() - data.X_target[:, 0].mean())
    after = abs(np.average(data.X_source[:, 0], weights=model.source_weight_) - data.X_target[:, 0].mean())
    assert after < 0.35 * before
    by_hand = AdREM(C=1.0).fit(data.X_source, data.y_source, sample_weight=model.source_weight_)
    np.testing.assert_allclose(model.coef_, by_hand.coef_, atol=1e-9)


def test_importance_weights_multiply_sample_weight() -> None:
    data = shifted()
    weights = np.where(np.arange(300) % 3 == 0, 2.0, 0.5)
    model = KMM(C=1.0).fit(data.X_source, data.y_source, X_target=data.X_target, sample_weight=weights)
    by_hand = AdREM(C=1.0).fit(data.X_source, data.y_source, sample_weight=weights * model.source_weight_)
    np.testing.assert_array_equal(model.coef_, by_hand.coef_)


def test_flattening_zero_gives_unit_weights() -> None:
    data = shifted()
    model = ImportanceWeighting(C=1.0, flattening=0.0, random_state=0)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    np.testing.assert_allclose(model.source_weight_, 1.0)
    spreads = [
        ImportanceWeighting(C=1.0, flattening=power, random_state=0)
        .fit(data.X_source, data.y_source, X_target=data.X_target)
        .source_weight_.std()
        for power in (0.3, 0.6, 1.0)
    ]
    assert spreads == sorted(spreads)


def test_domain_classifier_scores_held_out_rows() -> None:
    """Domains without a difference but with many features: only a classifier scored on its training rows finds one."""
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((200, 300)), np.arange(100) % 2
    model = ImportanceWeighting(C=0.01, flattening=1.0, random_state=0).fit(X[:100], y, X_target=X[100:])
    assert model.domain_C_ == 1e-3
    assert model.source_weight_.std() < 0.5
    known = AdREM("log_loss", C=1.0).fit(X, np.repeat([0, 1], 100))
    assert np.all(X[:100] @ known.coef_[0, 0] < 0)  # it separates all source rows


def test_importance_weighting_rejects_single_row_domain() -> None:
    data = shifted()
    with pytest.raises(ValueError, match=r"needs two rows of each domain: there are 300 .* and 1 of the target"):
        ImportanceWeighting(C=1.0).fit(data.X_source, data.y_source, X_target=data.X_target[:1])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), largest=st.floats(1.0, 5.0), low=st.floats(0.1, 0.9), high=st.floats(1.1, 2.0))
def test_match_means_reaches_the_optimum(seed: int, largest: float, low: float, high: float) -> None:
    rng = np.random.RandomState(seed)
    n = 8
    A = rng.standard_normal((n, n + 2))
    K, pull = A @ A.T, 3.0 * rng.standard_normal(n)
    bounds = (low * n, min(high, largest) * n)
    ours, reached = match_means(K, pull, largest, bounds)
    assert reached

    def value(b: Any) -> float:
        return float(0.5 * b @ K @ b - pull @ b)

    best = minimize(
        value,
        np.ones(n),
        jac=lambda b: K @ b - pull,
        bounds=[(0.0, largest)] * n,
        constraints=[LinearConstraint(np.ones(n), *bounds)],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert np.all((ours >= 0) & (ours <= largest))
    assert bounds[0] - 1e-6 <= ours.sum() <= bounds[1] + 1e-6
    # At most a thousandth of the initial duality gap remains.
    start = project(np.ones(n), largest, bounds)
    gain = _duality_gap(K @ start - pull, start, largest, bounds)
    assert value(start) - best.fun <= gain + 1e-9
    assert value(ours) <= best.fun + 1e-3 * gain + 1e-9


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.floats(0.1, 100.0))
def test_project_returns_the_nearest_feasible_point(seed: int, scale: float) -> None:
    rng = np.random.RandomState(seed)
    point = scale * rng.standard_normal(6)
    found = project(point, 2.0, (3.0, 8.0))
    assert np.all((found >= 0) & (found <= 2.0))
    assert 3.0 - 1e-9 <= found.sum() <= 8.0 + 1e-9
    for _ in range(20):
        other = project(rng.uniform(-1, 3, 6), 2.0, (3.0, 8.0))
        assert (point - found) @ (other - found) <= 1e-6 * scale


def test_weights_near_zero_for_a_class_are_accepted() -> None:
    """The target lacks the second class: its source rows get weights near zero, but stay in the model."""
    rng = np.random.RandomState(0)
    X_source = np.concatenate([rng.normal(-5, 0.3, (30, 2)), rng.normal(5, 0.3, (30, 2))])
    y = np.repeat([0, 1], 30)
    X_target = rng.normal(-5, 0.3, (40, 2))
    for model in (KMM(), ImportanceWeighting(flattening=1.0)):
        fitted = model.set_params(random_state=0).fit(X_source, y, X_target=X_target)
        assert np.all(fitted.transduction_ == 0)
        assert fitted.predict([[5.0, 5.0]]) == [1]


def test_kmm_matches_means_of_offset_features() -> None:
    rng = np.random.RandomState(0)
    X_source, X_target = (np.stack([rng.normal(m, 1, 300), np.full(300, 10.0)], axis=1) for m in (0.0, 1.0))
    model = KMM(C=1.0, kernel="linear").fit(X_source, X_source[:, 0] > 0, X_target=X_target)
    matched = np.average(X_source[:, 0], weights=model.source_weight_)
    assert matched == pytest.approx(X_target[:, 0].mean(), abs=0.1)


def test_kmm_handles_columns_that_sum_to_zero() -> None:
    X = np.sign(np.arange(250) - 124.5)[:, None] * np.ones((1, 2))
    for kernel in ("linear", "rbf"):
        model = KMM(C=1.0, kernel=kernel).fit(X, np.arange(250) % 2, X_target=X[:20])
        assert np.isfinite(model.source_weight_).all()


@pytest.mark.parametrize(("n_source", "n_target"), [(300, 300), (100, 1000), (1000, 100)])
def test_equal_distributions_give_nearly_uniform_weights(n_source: int, n_target: int) -> None:
    rng = np.random.RandomState(0)
    X_source, X_target = (np.abs(rng.normal(3, 1, (n, 2))) for n in (n_source, n_target))
    model = ImportanceWeighting(C=1.0, flattening=1.0, random_state=0)
    model.fit(X_source, np.arange(n_source) % 2, X_target=X_target)
    weights = model.source_weight_
    assert weights.sum() ** 2 / (n_source * (weights**2).sum()) > 0.9  # large effective sample size


@pytest.mark.parametrize("domain_C", [[], [-1.0], ["a"], [[1.0]]])
def test_invalid_domain_c_is_rejected(domain_C: Any) -> None:
    data = shifted()
    with pytest.raises(ValueError, match=r"domain_C must be 'cv', a positive number or a list"):
        ImportanceWeighting(C=1.0, domain_C=domain_C).fit(data.X_source, data.y_source, X_target=data.X_target)
