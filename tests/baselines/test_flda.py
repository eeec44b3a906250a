from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from adrem.baselines import FLDA
from adrem.baselines.flda import dropout_rates, presence

rng = np.random.RandomState(0)
Y = np.arange(40) % 2
SIGNS = 2.0 * Y - 1.0


def counts(n_features: int) -> tuple[Any, Any]:
    """Term counts; terms are rarer in the target, and some are absent there."""
    X_source = rng.poisson(1.0, (40, n_features)) * (rng.rand(n_features) + 0.5)
    X_source[:, : n_features // 2] += Y[:, None]
    kept = rng.rand(30, n_features) < np.linspace(0.2, 1.0, n_features)
    X_target = rng.poisson(1.0, (30, n_features)) * kept
    X_target[:, 1] = 0.0
    return X_source, X_target


WIDE, NARROW = counts(70), counts(12)


def written_out(loss: str, w: Any, X_source: Any, X_target: Any, C: float) -> float:
    """The expected loss of the docstring, computed per feature; w is zero for features absent from the target."""
    s, t = np.mean(X_source != 0, axis=0), np.mean(X_target != 0, axis=0)
    rates = np.maximum(0.0, 1.0 - t / s)
    variances = np.where(rates < 1, X_source**2 * rates / np.where(rates < 1, 1 - rates, 1.0), 0.0) @ w**2
    scores = X_source @ w
    if loss == "squared":
        losses = (SIGNS - scores) ** 2 + variances
    else:
        p = 1 / (1 + np.exp(-scores))
        losses = np.log1p(np.exp(-SIGNS * scores)) + 0.5 * p * (1 - p) * variances
    return float(C * losses.sum() + 0.5 * w @ w)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("loss", ["squared", "log_loss"])
def test_weights_minimize_the_expected_loss(loss: Any, wide: bool, make: Any) -> None:
    X_source, X_target = WIDE if wide else NARROW
    model = FLDA(loss, C=0.5, tol=1e-10).fit(make(X_source), Y, X_target=make(X_target))
    w = model.coef_[0, 0]
    absent = np.all(X_target == 0, axis=0)
    assert absent[1]
    np.testing.assert_array_equal(w[absent], 0.0)
    kept = np.flatnonzero(~absent)

    def value(free: Any) -> float:
        full = np.zeros(len(w))
        full[kept] = free
        return written_out(loss, full, X_source, X_target, 0.5)

    scale = np.abs(approx_fprime(np.zeros(len(kept)), value, 1e-7)).max()
    assert np.abs(approx_fprime(w[kept], value, 1e-7)).max() < 1e-5 * scale
    best = minimize(value, w[kept], method="BFGS").fun
    assert value(w[kept]) <= best + 1e-8 * abs(best)


def test_dropout_rates_follow_feature_presence() -> None:
    source = np.array([[1.0, 2.0, 0.0, 1.0], [3.0, 0.0, 0.0, 1.0]])
    target = np.array([[5.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    rates = dropout_rates(presence(source), presence(target))
    np.testing.assert_allclose(rates, [0.5, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(presence(source, np.array([3.0, 1.0])), [1.0, 0.75, 0.0, 1.0])


def test_flda_without_dropout_equals_logistic_regression() -> None:
    X_source = rng.standard_normal((40, 5)) + Y[:, None]
    X_target = rng.standard_normal((30, 5))
    model = FLDA(C=0.3, tol=1e-9).fit(X_source, Y, X_target=X_target)
    plain = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10).fit(X_source, Y)
    np.testing.assert_array_equal(model.dropout_, 0.0)
    np.testing.assert_allclose(model.coef_[0], plain.coef_, atol=1e-5)


@pytest.mark.parametrize("loss", ["squared", "log_loss"])
def test_dropout_shrinks_the_feature_weight(loss: Any) -> None:
    X_source = np.repeat(SIGNS[:, None], 2, axis=1)
    X_target = np.array([[1.0, 1.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, -1.0]])
    model = FLDA(loss, C=1.0, tol=1e-8).fit(X_source, Y, X_target=X_target)
    assert 0 < model.coef_[0, 0, 1] < model.coef_[0, 0, 0]
    np.testing.assert_array_equal(model.dropout_, [0.0, 0.5])


def test_fit_leaves_sparse_input_unchanged() -> None:
    data, indices = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 1, 1])  # unsorted, with one duplicate entry
    X = sp.csr_matrix((np.tile(data, 4), np.tile(indices, 4), np.arange(0, 17, 2)), shape=(8, 3))
    kept = X.indices.copy(), X.data.copy()
    FLDA(C=1.0).fit(X, np.arange(8) % 2, X_target=X)
    np.testing.assert_array_equal(X.indices, kept[0])
    np.testing.assert_array_equal(X.data, kept[1])


@pytest.mark.parametrize("loss", ["squared", "log_loss"])
def test_disjoint_features_give_zero_weights(loss: Any) -> None:
    X_source = np.hstack([np.ones((40, 2)), np.zeros((40, 2))])
    model = FLDA(loss, C=1.0).fit(X_source, Y, X_target=X_source[:, ::-1])
    np.testing.assert_array_equal(model.coef_, 0.0)


def test_flda_warns_when_not_converged() -> None:
    X_source = NARROW[0] * np.logspace(-3, 3, 12)
    with pytest.warns(ConvergenceWarning, match="FLDA did not converge"):
        FLDA(C=1e4, tol=1e-12).fit(X_source, Y, X_target=NARROW[1])
    with pytest.raises(ValueError, match=r"penalty vanishes .* Scale the features"):
        FLDA("squared", C=1e4).fit(np.hstack([X_source, X_source]) * 1e6, Y, X_target=np.ones((3, 24)))


def test_c_is_selected_on_the_source() -> None:
    X_source, X_target = NARROW
    for loss in ("squared", "log_loss"):
        model = FLDA(loss, C=[1e-6, 1.0], random_state=0).fit(X_source, Y, X_target=X_target)
        assert model.C_ in (1e-6, 1.0)
    with pytest.raises(ValueError, match=r"class 1 has only 2 row"):
        FLDA().fit(X_source[:5], Y[:5], X_target=X_target)
