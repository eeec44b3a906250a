"""Tests of Newton's method: the duality gap proves its solution, for features of any scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from adrem.machines.loss import Optimum
from adrem.machines.losses import LOSSES
from adrem.machines.newton import is_small

Array = NDArray[np.float64]
losses = pytest.mark.parametrize("loss", list(LOSSES))


def make_rows(seed: int, n_rows: int = 60, n_features: int = 5, scales: float = 0.0) -> Array:
    """Inseparable rows times the signs of their labels, with features from 10^-scales to 10^scales."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_rows, n_features)) + 0.5
    return rows * 10.0 ** np.linspace(-scales, scales, n_features)


def gap(loss: str, rows: Array, box: Array, found: Optimum) -> float:
    """Primal objective minus dual objective, divided by the total weight of the rows; zero at the optimum."""
    multiples = LOSSES[loss].multiples(found.dual, box)
    assert np.all((multiples >= 0) & (multiples <= box))
    weights = multiples @ rows
    np.testing.assert_allclose(found.weights, weights, rtol=1e-9, atol=1e-12)
    penalty = 0.5 * weights @ weights
    primal = penalty + box @ LOSSES[loss].losses(rows @ weights)
    shares = multiples / box
    gained = multiples.sum() if loss == "hinge" else box @ (entr(shares) + entr(1.0 - shares))
    return float((primal - (gained - penalty)) / box.sum())


def solved(loss: str, rows: Array, box: Array, tol: float = 1e-6) -> Optimum:
    return LOSSES[loss].minimize(rows, box, tol, lambda: None)


@losses
@given(
    seed=st.integers(0, 2**16),
    n_rows=st.integers(2, 80),
    n_features=st.integers(1, 12),
    scales=st.floats(0.0, 3.0),
    log_c=st.floats(-4.0, 1.0),
)
def test_minimize_closes_the_duality_gap(
    loss: str, seed: int, n_rows: int, n_features: int, scales: float, log_c: float
) -> None:
    rows = make_rows(seed, n_rows, n_features, scales)
    box = 10.0**log_c * np.random.default_rng(seed).integers(1, 4, n_rows)
    found = solved(loss, rows, box, tol=1e-3)
    assert found.width <= 1e-3
    assert gap(loss, rows, box, found) <= 1e-3


@losses
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_gap_closes_on_unscaled_features(loss: str, C: float) -> None:
    rows = make_rows(0, n_rows=300, n_features=10, scales=3.0)
    found = solved(loss, rows, np.full(300, C), tol=0.1)
    assert found.width <= 0.1
    assert gap(loss, rows, np.full(300, C), found) <= 0.1


@losses
def test_weights_equal_liblinear(loss: str) -> None:
    rows = make_rows(1)
    params: Any = {"C": 0.5, "tol": 1e-9, "max_iter": 1_000_000, "fit_intercept": False}
    model = LinearSVC(loss="hinge", **params) if loss == "hinge" else LogisticRegression(solver="liblinear", **params)
    signs = np.where(np.arange(60) % 2, 1.0, -1.0)
    model.fit(rows * signs[:, None], signs)
    np.testing.assert_allclose(solved(loss, rows, np.full(60, 0.5)).weights, model.coef_[0], atol=1e-5)


@losses
@pytest.mark.parametrize(
    "rows",
    [
        np.repeat(make_rows(2, 10), 6, axis=0),
        np.zeros((5, 3)),
        np.vstack([np.zeros((2, 5)), make_rows(3, 20)]),
        np.tile(make_rows(4, 20, 2), 3),
        make_rows(5, 1, 4),
        np.full((30, 1), 2.0),
        make_rows(6, 5, 40),
    ],
    ids=["copies", "empty rows", "some empty", "features alike", "one row", "all alike", "more features than rows"],
)
def test_gap_closes_on_degenerate_rows(loss: str, rows: Array) -> None:
    box = np.full(len(rows), 0.7)
    found = solved(loss, rows, box)
    assert found.width <= 1e-6
    assert gap(loss, rows, box, found) <= 1e-6


@losses
@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_extreme_values_raise_no_error(loss: str, size: float) -> None:
    rows = size * make_rows(7)
    found = solved(loss, rows, np.full(60, 1e3))
    assert found.width >= 0  # infinite if unknown
    assert found.dual.shape == (60,)


def test_judge_gives_zero_gap_at_optimum() -> None:
    rows = np.array([[1.0], [2.0]])
    hinge = LOSSES["hinge"]
    assert hinge.judge(rows, np.array([1.0, 0.0]), np.array([3.0, 3.0])).width == 0
    assert hinge.judge(rows, np.array([0.5, 0.0]), np.array([3.0, 3.0])).width == pytest.approx(0.5)
    assert hinge.judge(rows, np.array([0.5, 0.0]), np.array([0.5, 0.0])).width == 0


@losses
def test_minimize_can_be_interrupted(loss: str) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LOSSES[loss].minimize(make_rows(8), np.ones(60), 1e-9, stop)


@pytest.mark.parametrize(
    ("n_rows", "n_features", "small"), [(178, 13, True), (100_000, 100, False), (500, 2048, False)]
)
def test_is_small_depends_on_shape(n_rows: int, n_features: int, small: bool) -> None:
    assert is_small(n_rows, n_features) == small
