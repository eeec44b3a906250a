"""The machines against liblinear as scikit-learn ships it, and against themselves from other starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from adrem.machines import MACHINES, HingeMachine, Machine, Solution, decide, one_vs_rest
from adrem.machines import _rows as rows_module
from adrem.machines._kernels import _solve_logit

LOSSES = ("hinge", "log_loss")
FORMS = ("dense", "csr", "gram")
TIGHT = 1e-6


def make_problem(n_classes: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows with an empty one and a duplicate, labels, and counts that leave some rows out."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 6)) * (rng.random((50, 6)) < 0.6)
    X[3], X[4] = 0.0, X[5]
    y = np.arange(50) % n_classes
    X += 0.8 * np.eye(6)[y % 6]
    X[3] = 0.0
    return X, y.astype(np.intp), rng.integers(0, 4, 50).astype(np.float64)


def make_machine(loss: str, form: str, X: NDArray[Any], n_classes: int, **params: Any) -> Machine:
    table = sp.csr_array(X) if form == "csr" else X
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "LOOKS_PER_CHANGE", 1e9 if form == "gram" else 0)
        machine = MACHINES[loss](table, n_classes, **params)
    assert machine._rows.form == form
    return machine


def objective(machine: Machine, solution: Solution, y: NDArray[Any], weights: NDArray[Any], C: float) -> float:
    penalty = 0.5 * machine.squared_norm(solution)
    return penalty + C * float(machine.row_losses(machine.scores(solution), y) @ weights)


def oracle(loss: str, X: NDArray[Any], y: NDArray[Any], C: float, intercept: bool) -> NDArray[Any]:
    """Weight vectors of liblinear, an intercept as the last entry."""
    vectors = []
    for signs in one_vs_rest(y, y.max() + 1):
        params = {"C": C, "tol": 1e-8, "max_iter": 1_000_000, "fit_intercept": intercept, "random_state": 0}
        model = (
            LinearSVC(loss="hinge", **params)
            if loss == "hinge"
            else LogisticRegression(solver="liblinear", dual=True, **params)
        )
        model.fit(X, signs)
        vectors.append(np.append(model.coef_.ravel(), model.intercept_))
    return np.array(vectors)


def oracle_objective(loss: str, vectors: NDArray[Any], X: NDArray[Any], y: NDArray[Any], C: float) -> float:
    scores = np.column_stack([X, np.ones(len(X))]) @ vectors.T
    margins = one_vs_rest(y, y.max() + 1) * scores.T
    return float(0.5 * np.sum(vectors**2) + C * MACHINES[loss].losses(margins).sum())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_counts_solve_what_liblinear_solves_on_copies(
    loss: str, form: str, n_classes: int, intercept: bool, C: float
) -> None:
    X, y, counts = make_problem(n_classes)
    copies = np.repeat(np.arange(len(y)), counts.astype(int))
    machine = make_machine(loss, form, X, n_classes, fit_intercept=intercept, tol=TIGHT)
    solution = machine.solve(y, counts, C)
    coef, bias = machine.weights(solution)
    expected = oracle(loss, X[copies], y[copies], C, intercept)
    best = oracle_objective(loss, expected, X[copies], y[copies], C)
    assert solution.n_failed == 0
    assert objective(machine, solution, y, counts, C) == pytest.approx(best, rel=1e-5)
    scores = X @ expected[:, :-1].T + expected[:, -1]
    np.testing.assert_allclose(X @ coef.T + bias, scores, atol=1e-3)
    np.testing.assert_allclose(machine.scores(solution), scores, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", FORMS)
def test_float32_rows_keep_their_type_and_the_optimum(loss: str, form: str) -> None:
    X, y, counts = make_problem(3)
    wide = make_machine(loss, form, X, 3, tol=TIGHT)
    narrow = make_machine(loss, form, X.astype(np.float32), 3, tol=1e-4)
    coef, bias = narrow.weights(narrow.solve(y, counts, 1.0))
    assert coef.dtype == bias.dtype == np.float32
    expected = objective(wide, wide.solve(y, counts, 1.0), y, counts, 1.0)
    assert objective(narrow, narrow.solve(y, counts, 1.0), y, counts, 1.0) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_any_warm_start_ends_at_the_cold_optimum(loss: str, form: str, data: st.DataObject) -> None:
    X, y, _ = make_problem(3)
    machine = make_machine(loss, form, X, 3, tol=TIGHT)
    labels = st.lists(st.integers(0, 2), min_size=50, max_size=50).map(lambda v: np.array(v, dtype=np.intp))
    counts = st.lists(st.integers(0, 3), min_size=50, max_size=50).map(lambda v: np.array(v, dtype=np.float64))
    solution = machine.solve(y, np.ones(50), 0.5)
    for _ in range(data.draw(st.integers(1, 3))):
        y, weights = data.draw(labels), data.draw(counts)
        solution = machine.solve(y, weights, 0.5, start=solution, seed=data.draw(st.integers(1, 100)))
    cold = machine.solve(y, weights, 0.5)
    assert objective(machine, solution, y, weights, 0.5) == pytest.approx(
        objective(machine, cold, y, weights, 0.5), rel=1e-5, abs=1e-9
    )
    np.testing.assert_allclose(machine.scores(solution), machine.scores(cold), atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_rescaled_start_belongs_to_the_rescaled_problem(loss: str) -> None:
    X, y, counts = make_problem(3)
    machine = make_machine(loss, "dense", X, 3, tol=TIGHT)
    start = machine.rescale(machine.solve(y, counts, 0.1), 10.0)
    multiples = machine._coefficients(start) * start.signs
    np.testing.assert_allclose(multiples @ X, start.primal, atol=1e-10)
    warm, cold = machine.solve(y, counts, 1.0, start=start), machine.solve(y, counts, 1.0)
    np.testing.assert_allclose(machine.scores(warm), machine.scores(cold), atol=1e-3)


def test_a_start_is_not_changed() -> None:
    X, y, counts = make_problem(3)
    machine = make_machine("hinge", "dense", X, 3)
    start = machine.solve(y, counts, 1.0)
    before = (start.dual.copy(), start.primal.copy())
    machine.solve(y[::-1].copy(), counts, 0.1, start=start)
    np.testing.assert_array_equal(start.dual, before[0])
    np.testing.assert_array_equal(start.primal, before[1])


def test_hinge_stops_growing_where_no_dual_variable_touches_its_box() -> None:
    X = np.array([[2.0, 0.0], [-2.0, 0.0]])
    y = np.array([1, 0], dtype=np.intp)
    machine = HingeMachine(X, 2, tol=TIGHT)
    small, large = (machine.solve(y, np.ones(2), C) for C in (0.01, 10.0))
    assert machine.grows(small)
    assert not machine.grows(large)
    huge = machine.solve(y, np.ones(2), 1000.0)
    np.testing.assert_allclose(machine.scores(large), machine.scores(huge), atol=1e-5)


def test_impatience_is_counted_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, counts = make_problem(3)
    monkeypatch.setattr("adrem.machines._machine.patience", lambda n_rows, _: n_rows)
    assert make_machine("hinge", "dense", X, 3, tol=1e-10).solve(y, counts, 100.0).n_failed == 3


def test_rows_all_of_weight_zero_give_the_zero_classifier() -> None:
    X, y, _ = make_problem(3)
    for loss in LOSSES:
        machine = make_machine(loss, "csr", X, 3)
        solution = machine.solve(y, np.zeros(50), 1.0)
        assert solution.n_failed == 0
        np.testing.assert_array_equal(machine.weights(solution)[0], 0.0)


def test_decide_breaks_ties_towards_the_first_class() -> None:
    np.testing.assert_array_equal(decide(np.array([[0.0], [1.0], [-1.0]])), [0, 1, 0])
    np.testing.assert_array_equal(decide(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]])), [0, 2])


@given(
    st.floats(-6, 9).map(lambda e: 10**e),
    st.floats(-4, 4).map(lambda e: 10**e),
    st.floats(0, 1),
    st.floats(-1e4, 1e4),
    st.floats(-1e3, 1e3),
)
@settings(max_examples=300)
def test_a_coordinate_step_of_the_log_loss_ends_at_the_root(
    norm: float, box: float, share: float, margin: float, start: float
) -> None:
    alpha = box * share

    def gradient(t: float) -> float:
        return float(t + margin + norm * (box * expit(t) - alpha))

    low, high = -margin - norm * (box - alpha), -margin + norm * alpha
    root = brentq(gradient, low - 1 - abs(low), high + 1 + abs(high), xtol=1e-13, rtol=1e-14)
    assert _solve_logit(norm, box, alpha, margin, start) == pytest.approx(root, rel=1e-6, abs=1e-6)


def test_the_log_loss_is_solved_at_any_scale() -> None:
    X, y = load_wine(return_X_y=True)  # columns from 0.1 to 1700
    y = (y == 0).astype(np.intp)
    best = oracle_objective("log_loss", oracle("log_loss", X, y, 1e-4, False), X, y, 1e-4)
    machine = make_machine("log_loss", "dense", X, 2, tol=1e-4)
    solution = machine.solve(y, np.ones(len(y)), 1e-4)
    assert objective(machine, solution, y, np.ones(len(y)), 1e-4) == pytest.approx(best, rel=1e-3)


def test_a_warm_start_saves_work(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, counts = make_problem(3)
    machine = make_machine("hinge", "dense", X, 3, tol=1e-3)
    start = machine.solve(y, counts, 1.0)
    monkeypatch.setattr("adrem.machines._machine.patience", lambda n_rows, _: 2 * n_rows)
    assert machine.solve(y, counts, 1.0, start=start).n_failed == 0
    assert machine.solve(y, counts, 1.0).n_failed == 3
