"""Tests of the fallback from coordinate descent to Newton's method in the CPU machines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_wine

from adrem import AdREM
from adrem.machines import Machine, make_machine, one_vs_rest
from adrem.machines.losses import LOSSES
from adrem.machines.tables import add_bias

Array = NDArray[np.float64]
everywhere = pytest.mark.parametrize(
    ("loss", "path", "form"),
    [(loss, path, form) for loss in LOSSES for path in ("gram", "rows") for form in ("dense", "csr")],
)


@pytest.fixture(scope="module")
def wine() -> tuple[Array, NDArray[np.intp]]:
    """Unscaled features with values from 0.1 to 1680."""
    X, y = load_wine(return_X_y=True)
    return X, y


def build(loss: str, path: str, form: str, rows: Array, **params: Any) -> Machine:
    return make_machine(sp.csr_array(rows) if form == "csr" else rows, 3, loss, path=path, **params)


@everywhere
@pytest.mark.parametrize("intercept", [False, True])
def test_newton_solves_unscaled_features(
    loss: str, path: str, form: str, intercept: bool, wine: tuple[Array, NDArray[np.intp]]
) -> None:
    X, y = wine
    machine = build(loss, path, form, X, fit_intercept=intercept)
    counts = np.random.default_rng(0).integers(0, 3, len(y)).astype(np.float64)
    solution = machine.solve(y, counts, 1.0)
    assert solution.n_slow.tolist() == [3]
    assert solution.n_failed.tolist() == [0]
    table = add_bias(X) if intercept else X
    used = counts > 0
    multiples = np.abs(machine.multiples(solution))[0][:, used]
    for signs, own in zip(one_vs_rest(y, 3), multiples, strict=True):
        dual = LOSSES[loss].dual(own, counts[used])
        assert LOSSES[loss].judge((table * signs[:, None])[used], dual, counts[used]).width <= 0.11
    scores = machine.scores(solution)
    assert machine.rounding(solution, scores).max() < 1e-6
    coef, bias = machine.weights(solution)
    np.testing.assert_allclose(X @ coef[0].T + bias[0], scores[0], rtol=1e-6, atol=1e-6)


@everywhere
def test_members_are_independent_of_each_other(
    loss: str, path: str, form: str, wine: tuple[Array, NDArray[np.intp]]
) -> None:
    X, y = wine
    machine = build(loss, path, form, X)
    counts = np.random.default_rng(1).integers(0, 3, (3, len(y))).astype(np.float64)
    together = machine.scores(machine.solve(y, counts, 1.0))
    for own, scores in zip(counts, together, strict=True):
        np.testing.assert_array_equal(machine.scores(machine.solve(y, own, 1.0))[0], scores)


@everywhere
def test_warm_start_reaches_cold_start_loss(
    loss: str, path: str, form: str, wine: tuple[Array, NDArray[np.intp]]
) -> None:
    X, y = wine
    machine = build(loss, path, form, X)
    start = machine.solve(y, np.ones(len(y)), 1.0)
    labels = np.where(np.arange(len(y)) % 10 == 0, (y + 1) % 3, y)
    counts = (np.arange(len(y)) % 4 > 0).astype(np.float64)
    then = machine.solve(labels, counts, 1.0, start=start)
    anew = machine.solve(labels, counts, 1.0)
    assert then.n_failed.tolist() == [0]
    losses = [
        0.5 * machine.squared_norms(one, machine.scores(one))[0]
        + machine.row_losses(machine.scores(one), labels[None])[0] @ counts
        for one in (then, anew)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)


@everywhere
def test_overflowing_values_count_as_failures(
    loss: str, path: str, form: str, wine: tuple[Array, NDArray[np.intp]]
) -> None:
    X, y = wine
    machine = build(loss, path, form, 1e145 * X)
    assert machine.solve(y, np.ones(len(y)), 1e4).n_failed.tolist() == [3]


@pytest.mark.parametrize("loss", list(LOSSES))
def test_adrem_fits_unscaled_table(loss: Any, wine: tuple[Array, NDArray[np.intp]]) -> None:
    X, y = wine
    is_source = np.random.default_rng(0).random(len(y)) < 0.5
    target = X[~is_source]
    fits = [
        AdREM(loss, n_estimators=3, n_iter=5, n_jobs=n_jobs, random_state=0).fit(
            X[is_source], y[is_source], X_target=target
        )
        for n_jobs in (1, 2)
    ]
    assert np.mean(fits[0].transduction_ == y[~is_source]) > 0.9
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
