from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from adrem import AdREM
from adrem.baselines import HardEM, SoftEM
from adrem.datasets import DomainPair


def overlapping(seed: int, n_classes: int = 3) -> DomainPair:
    """Overlapping classes, so that labels change, and a shifted and stretched target."""
    rng = np.random.RandomState(seed)
    means = rng.standard_normal((n_classes, 4))
    y_source, y_target = np.arange(60) % n_classes, np.arange(45) % n_classes
    X_source = means[y_source] + rng.standard_normal((60, 4))
    X_target = 1.5 * means[y_target] + rng.standard_normal((45, 4)) + 0.5
    return DomainPair(X_source, y_source, X_target, y_target)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_hard_em_equals_adrem_with_all_rows(loss: Any) -> None:
    data = overlapping(4)
    model = HardEM(loss, C=0.1, tol=1e-3).fit(data.X_source, data.y_source, X_target=data.X_target)
    last = model.n_iter_ - 1
    assert model.termination_condition_ == "no label changed"
    assert [entry["n_changed"] for entry in model.history_][-1] == 0
    assert all(entry["n_changed"] > 0 for entry in model.history_[1:-1])
    assert last > 1
    same = AdREM(loss, C=0.1, tol=1e-3, n_iter=last, n_estimators=1, sampling="all")
    same.fit(data.X_source, data.y_source, X_target=data.X_target)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert model.history_ == same.history_
    # A fixed point: training on these labels gives the same labels.
    both = np.concatenate([data.X_source, data.X_target]), np.concatenate([data.y_source, model.transduction_])
    again = AdREM(loss, C=0.1, tol=1e-3).fit(*both)
    np.testing.assert_array_equal(again.predict(data.X_target), model.transduction_)


@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), loss=st.sampled_from(["hinge", "log_loss"]), n_classes=st.integers(2, 4))
def test_hard_em_never_raises_the_loss(seed: int, loss: Any, n_classes: int) -> None:
    data = overlapping(seed, n_classes)
    model = HardEM(loss, C=1.0, tol=1e-6).fit(data.X_source, data.y_source, X_target=data.X_target)
    losses = [entry["loss"] for entry in model.history_]
    assert np.all(np.diff(losses) <= 1e-4 * losses[0])


def test_hard_em_warns_when_max_iter_is_reached() -> None:
    data = overlapping(4)
    with pytest.warns(ConvergenceWarning, match=r"HardEM did not converge: max_iter=1 was reached\. Raise max_iter"):
        model = HardEM(C=0.1, max_iter=1).fit(data.X_source, data.y_source, X_target=data.X_target)
    assert (model.n_iter_, model.termination_condition_) == (2, "max_iter=1 was reached")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_soft_em_at_temperature_1_keeps_source_solution(n_classes: int) -> None:
    data = overlapping(3, n_classes)
    model = SoftEM(C=0.5, temperature=1.0, tol=1e-8, max_iter=5)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    source = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=1000).fit(data.X_source, data.y_source)
    np.testing.assert_allclose(model.coef_[0], source.coef_, atol=1e-5)
    assert model.n_iter_ == 2


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    temperature=st.floats(0.05, 1.0),
    weight=st.floats(0.0, 3.0),
    n_classes=st.integers(2, 4),
)
def test_soft_em_never_raises_its_objective(seed: int, temperature: float, weight: float, n_classes: int) -> None:
    data = overlapping(seed, n_classes)
    model = SoftEM(C=1.0, target_weight=weight, temperature=temperature, tol=1e-6)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    objectives = [entry["objective"] for entry in model.history_]
    assert np.all(np.diff(objectives) <= 1e-9 * abs(objectives[0]))
    assert objectives[-1] == pytest.approx(written_out(model, data, weight, temperature), rel=1e-9)


def written_out(model: SoftEM, data: DomainPair, weight: float, temperature: float) -> float:
    """The objective of the docstring, with every entropy computed directly."""

    def scores(X: Any) -> Any:
        own = X @ model.coef_[0].T
        return np.hstack([np.zeros_like(own), own]) if own.shape[1] == 1 else own

    def log_shares(s: Any) -> Any:
        return s - np.logaddexp.reduce(s, axis=1, keepdims=True)

    on_source = -log_shares(scores(data.X_source))[np.arange(len(data.y_source)), data.y_source].sum()
    log_p, log_q = log_shares(scores(data.X_target)), log_shares(scores(data.X_target) / temperature)
    q = np.exp(log_q)
    on_target = np.sum(-q * log_p + temperature * q * log_q)
    return float(on_source + weight * on_target + 0.5 * np.sum(model.coef_**2))


def test_lower_temperature_raises_confidence() -> None:
    data = overlapping(5)
    confidence = []
    for temperature in (1.0, 0.5, 0.1):
        model = SoftEM(C=1.0, temperature=temperature).fit(data.X_source, data.y_source, X_target=data.X_target)
        shares = np.sort(model.decision_function(data.X_target), axis=1)
        confidence.append(np.mean(shares[:, -1] - shares[:, -2]))
    assert confidence[0] < confidence[1] < confidence[2]


def test_target_weight_zero_gives_source_solution() -> None:
    data = overlapping(5)
    params: dict[str, Any] = {"C": 1.0, "tol": 1e-8}
    model = SoftEM(target_weight=0.0, **params).fit(data.X_source, data.y_source, X_target=data.X_target)
    alone = SoftEM(**params).fit(data.X_source, data.y_source)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-4)


def test_default_tol_nearly_reaches_optimum_for_large_c() -> None:
    data = overlapping(7)
    values = [
        SoftEM(C=100.0, tol=tol, max_iter=1000)
        .fit(data.X_source, data.y_source, X_target=data.X_target)
        .history_[-1]["objective"]
        for tol in (1e-4, 1e-9)
    ]
    assert values[0] <= 1.02 * values[1]


def test_soft_em_predict_proba_is_the_softmax() -> None:
    for n_classes in (2, 3):
        data = overlapping(5, n_classes)
        model = SoftEM(C=1.0).fit(data.X_source, data.y_source, X_target=data.X_target)
        scores = data.X_target @ model.coef_[0].T
        scores = np.hstack([np.zeros_like(scores), scores]) if n_classes == 2 else scores
        expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(data.X_target), expected)
