"""Tests of the CPU machines against liblinear and scikit-learn, and of warm starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from adrem.machines import Machine, Solution, decide, make_machine, one_vs_rest
from adrem.machines.losses import LOSSES
from adrem.runtime import memory as _memory

PATHS = ("gram", "rows")
FORMS = ("dense", "csr")
TIGHT = 1e-6


def make_problem(n_classes: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows that include a zero row and a duplicate, labels, and counts that are zero for some rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 6)) * (rng.random((50, 6)) < 0.6)
    X[3], X[4] = 0.0, X[5]
    y = np.arange(50) % n_classes
    X += 0.8 * np.eye(6)[y % 6]
    X[3] = 0.0
    return X, y.astype(np.intp), rng.integers(0, 4, 50).astype(np.float64)


def build(loss: str, path: str, form: str, X: NDArray[Any], n_classes: int, **params: Any) -> Machine:
    table = sp.csr_array(X) if form == "csr" else X
    machine = make_machine(table, n_classes, loss, path=path, **params)
    assert machine.path.startswith(path)
    return machine


def objective(machine: Machine, solution: Solution, y: NDArray[Any], weights: NDArray[Any], C: float) -> float:
    scores = machine.scores(solution)
    penalty = 0.5 * machine.squared_norms(solution, scores)[0]
    return float(penalty + C * (machine.row_losses(scores[:1], y[None])[0] @ weights))


def oracle(loss: str, X: NDArray[Any], y: NDArray[Any], C: float, intercept: bool) -> NDArray[Any]:
    """Weight vectors of liblinear, with the intercept as the last entry."""
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
    return float(0.5 * np.sum(vectors**2) + C * LOSSES[loss].losses(margins).sum())


everywhere = pytest.mark.parametrize(
    ("loss", "path", "form"), [(loss, path, form) for loss in LOSSES for path in PATHS for form in FORMS]
)


@everywhere
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_weighted_solution_equals_liblinear_on_repeated_rows(
    loss: str, path: str, form: str, n_classes: int, intercept: bool, C: float
) -> None:
    X, y, counts = make_problem(n_classes)
    copies = np.repeat(np.arange(len(y)), counts.astype(int))
    machine = build(loss, path, form, X, n_classes, fit_intercept=intercept, tol=TIGHT)
    solution = machine.solve(y, counts, C)
    coef, bias = machine.weights(solution)
    expected = oracle(loss, X[copies], y[copies], C, intercept)
    best = oracle_objective(loss, expected, X[copies], y[copies], C)
    assert solution.n_slow.tolist() == [0]  # solved by coordinate descent, not by Newton's method
    assert objective(machine, solution, y, counts, C) == pytest.approx(best, rel=1e-5)
    scores = X @ expected[:, :-1].T + expected[:, -1]
    np.testing.assert_allclose(X @ coef[0].T + bias[0], scores, atol=1e-3)
    np.testing.assert_allclose(machine.scores(solution)[0], scores, atol=1e-3)


@everywhere
def test_objective_equals_liblinear_program(loss: str, path: str, form: str) -> None:
    liblinear = pytest.importorskip("liblinear.liblinearutil", reason="liblinear-official needs a compiler to install")
    X, y, counts = make_problem(2)
    copies = np.repeat(np.arange(len(y)), counts.astype(int))
    signs = np.where(y == 1, 1.0, -1.0)[copies]
    settings = liblinear.parameter(f"-s {3 if loss == 'hinge' else 7} -c 0.02 -e 1e-9 -q")
    vector = np.array(liblinear.train(liblinear.problem(signs, X[copies]), settings).get_decfun()[0])
    vector *= np.sign(vector @ (signs @ X[copies]))  # liblinear's first label is the positive class
    machine = build(loss, path, form, X, 2, tol=TIGHT)
    solution = machine.solve(y, counts, 0.02)
    best = oracle_objective(loss, np.append(vector, 0.0)[None], X[copies], y[copies], 0.02)
    assert objective(machine, solution, y, counts, 0.02) == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(machine.scores(solution)[0, :, 0], X @ vector, atol=1e-3)


@everywhere
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_float32_input_keeps_type_and_optimum(loss: str, path: str, form: str, C: float) -> None:
    X, y, counts = make_problem(3)
    wide = build(loss, path, form, X, 3, tol=TIGHT)
    narrow = build(loss, path, form, X.astype(np.float32), 3, tol=1e-4)
    coef, bias = narrow.weights(narrow.solve(y, counts, C))
    assert coef.dtype == bias.dtype == np.float32
    expected = objective(wide, wide.solve(y, counts, C), y, counts, C)
    assert objective(narrow, narrow.solve(y, counts, C), y, counts, C) == pytest.approx(expected, rel=1e-4)


ROWS = 50
labels_of_rows = st.lists(st.integers(0, 2), min_size=ROWS, max_size=ROWS).map(lambda v: np.array(v, dtype=np.intp))
counts_of_rows = st.lists(st.integers(0, 3), min_size=ROWS, max_size=ROWS).map(lambda v: np.array(v, dtype=np.float64))


@everywhere
@settings(max_examples=15)
@given(data=st.data())
def test_warm_start_reaches_cold_start_optimum(loss: str, path: str, form: str, data: st.DataObject) -> None:
    X, y, _ = make_problem(3)
    machine = build(loss, path, form, X, 3, tol=TIGHT)
    solution = machine.solve(y, np.ones(ROWS), 0.5)
    for _ in range(data.draw(st.integers(1, 3))):
        y, weights = data.draw(labels_of_rows), data.draw(counts_of_rows)
        solution = machine.solve(y, weights, 0.5, start=solution, seed=data.draw(st.integers(1, 100)))
    cold = machine.solve(y, weights, 0.5)
    assert objective(machine, solution, y, weights, 0.5) == pytest.approx(
        objective(machine, cold, y, weights, 0.5), rel=1e-5, abs=1e-9
    )
    np.testing.assert_allclose(machine.scores(solution), machine.scores(cold), atol=1e-3)


@everywhere
@settings(max_examples=10)
@given(data=st.data())
def test_members_are_independent_of_each_other(loss: str, path: str, form: str, data: st.DataObject) -> None:
    X, _, _ = make_problem(3)
    machine = build(loss, path, form, X, 3, tol=data.draw(st.sampled_from([0.1, TIGHT])))
    n_members = data.draw(st.integers(2, 7))
    steps = [
        [(data.draw(labels_of_rows), data.draw(counts_of_rows)) for _ in range(n_members)]
        for _ in range(data.draw(st.integers(1, 2)))
    ]
    together: Solution | None = None
    alone: list[Solution | None] = [None] * n_members
    for k, step in enumerate(steps):
        labels, weights = (np.stack(column) for column in zip(*step, strict=True))
        together = machine.solve(labels, weights, 0.5, start=together, seed=k)
        alone = [machine.solve(*own, 0.5, start=start, seed=k) for own, start in zip(step, alone, strict=True)]
    assert together is not None
    for member, single in enumerate(alone):
        assert single is not None
        np.testing.assert_array_equal(machine.scores(together)[member], machine.scores(single)[0])
        np.testing.assert_array_equal(machine.weights(together)[0][member], machine.weights(single)[0][0])


@everywhere
@pytest.mark.parametrize("factor", [1.0, 10.0, 1e4])
def test_rescaled_start_fits_rescaled_problem(loss: str, path: str, form: str, factor: float) -> None:
    X, y, counts = make_problem(3)
    machine = build(loss, path, form, X, 3, tol=TIGHT)
    start = machine.solve(y, counts, 0.001)
    before = machine.weights(start)[0][0]
    machine.rescale(start, factor)
    after, C = machine.weights(start)[0][0], 0.001 * factor
    growth = np.linalg.norm(after, axis=1) / np.linalg.norm(before, axis=1)
    assert np.all((growth >= 1 - 1e-9) & (growth <= factor + 1e-9))
    np.testing.assert_allclose(after, growth[:, None] * before, atol=1e-9)
    np.testing.assert_allclose(machine.scores(start)[0], X @ after.T, atol=1e-9)
    warm, cold = machine.solve(y, counts, C, start=start), machine.solve(y, counts, C)
    np.testing.assert_allclose(machine.scores(warm), machine.scores(cold), atol=1e-3)


@pytest.mark.parametrize("path", PATHS)
def test_start_is_copied_unless_overwrite_is_set(path: str) -> None:
    X, y, counts = make_problem(3)
    machine = build("hinge", path, "dense", X, 3, tol=TIGHT)
    start = machine.solve(y, counts, 1.0)
    before = machine.scores(start)
    many = machine.solve(np.stack([y, y[::-1]]), counts, 0.1, start=start)
    np.testing.assert_array_equal(machine.scores(start), before)
    expected = machine.solve(y[::-1].copy(), counts, 0.1)
    np.testing.assert_allclose(machine.scores(many)[1], machine.scores(expected)[0], atol=1e-3)
    assert machine.solve(y, counts, 0.1, start=start, overwrite=True) is start


@pytest.mark.parametrize("path", PATHS)
def test_grows_is_false_below_box_limit(path: str) -> None:
    X = np.array([[2.0, 0.0], [-2.0, 0.0]])
    y = np.array([1, 0], dtype=np.intp)
    machine = build("hinge", path, "dense", X, 2, tol=TIGHT)
    small, large = (machine.solve(y, np.ones(2), C) for C in (0.01, 10.0))
    assert machine.grows(small)
    assert not machine.grows(large)
    huge = machine.solve(y, np.ones(2), 1000.0)
    np.testing.assert_allclose(machine.scores(large), machine.scores(huge), atol=1e-5)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.usefixtures("descent_alone")
def test_unconverged_problems_are_counted(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, counts = make_problem(3)
    monkeypatch.setattr("adrem.machines.machine.visit_budget", lambda n_rows, *_: n_rows)
    solution = build("hinge", path, "dense", X, 3, tol=1e-10).solve(np.stack([y, y]), counts, 100.0)
    assert solution.n_failed.tolist() == [3, 3]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.usefixtures("descent_alone")
def test_retry_is_flagged_after_failure(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, counts = make_problem(3)
    asked: list[bool] = []

    def impatient(n_rows: int, _tol: float, _give_up_factor: float, is_retry: bool) -> int:
        asked.append(is_retry)
        return n_rows

    monkeypatch.setattr("adrem.machines.machine.visit_budget", impatient)
    machine = build("hinge", path, "dense", X, 3, tol=1e-10)
    first = machine.solve(y, counts, 100.0)
    assert not any(asked)
    machine.solve(np.stack([y, y]), counts, 100.0, start=first)
    assert all(asked[-2:])


@everywhere
def test_rounding_measures_score_error(loss: str, path: str, form: str) -> None:
    X, y, counts = make_problem(3)
    machine = build(loss, path, form, X, 3)
    solution = machine.solve(np.stack([y, y[::-1]]), counts, 1.0)
    scores = machine.scores(solution)
    assert machine.rounding(solution, scores).max() < 1e-12
    scores[1, -1, 2] += 0.5
    error = 0.5 / max(1.0, abs(scores[1, -1, 2] - 0.5))
    np.testing.assert_allclose(machine.rounding(solution, scores), [0.0, error], atol=1e-12)


@everywhere
def test_zero_weights_give_the_zero_classifier(loss: str, path: str, form: str) -> None:
    X, y, _ = make_problem(3)
    machine = build(loss, path, form, X, 3)
    solution = machine.solve(y, np.zeros(ROWS), 1.0)
    assert solution.n_failed.tolist() == [0]
    np.testing.assert_array_equal(machine.weights(solution)[0], 0.0)


@everywhere
def test_solving_among_active_rows_equals_full_solve(loss: str, path: str, form: str) -> None:
    X, y, _ = make_problem(3)
    machine = build(loss, path, form, X, 3, tol=TIGHT)
    some = np.arange(0, ROWS, 3)
    weights = np.zeros((2, ROWS))
    weights[0, some], weights[1, some[::2]] = 1.0, 2.0
    narrow, wide = (machine.solve(y, weights, 0.5, among=among) for among in (some, None))
    np.testing.assert_allclose(machine.scores(narrow), machine.scores(wide), atol=1e-3)
    np.testing.assert_allclose(machine.scores(narrow), X @ machine.weights(narrow)[0].swapaxes(1, 2), atol=1e-9)


@everywhere
def test_kernel_budget_keeps_the_result(loss: str, path: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, counts = make_problem(3)
    machine = build(loss, path, form, X, 3)
    expected = machine.scores(machine.solve(y, counts, 1.0))
    monkeypatch.setattr(f"adrem.machines.{path}.KERNEL_BUDGET", 1)
    np.testing.assert_array_equal(machine.scores(machine.solve(y, counts, 1.0)), expected)


def test_decide_breaks_ties_towards_the_first_class() -> None:
    np.testing.assert_array_equal(decide(np.array([[0.0], [1.0], [-1.0]])), [0, 1, 0])
    np.testing.assert_array_equal(decide(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]])), [0, 2])


@pytest.mark.parametrize("path", PATHS)
def test_log_loss_converges_on_unscaled_features(path: str) -> None:
    X, y = load_wine(return_X_y=True)  # columns from 0.1 to 1700
    y = (y == 0).astype(np.intp)
    best = oracle_objective("log_loss", oracle("log_loss", X, y, 1e-4, False), X, y, 1e-4)
    machine = build("log_loss", path, "dense", X, 2, tol=1e-4)
    solution = machine.solve(y, np.ones(len(y)), 1e-4)
    assert objective(machine, solution, y, np.ones(len(y)), 1e-4) == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.usefixtures("descent_alone")
def test_warm_start_needs_fewer_visits(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, counts = make_problem(3)
    machine = build("hinge", path, "dense", X, 3, tol=1e-3)
    start = machine.solve(y, counts, 1.0)
    monkeypatch.setattr("adrem.machines.machine.visit_budget", lambda n_rows, *_: 2 * n_rows)
    assert machine.solve(y, counts, 1.0, start=start).n_failed.tolist() == [0]
    assert machine.solve(y, counts, 1.0).n_failed.tolist() == [3]


@pytest.mark.parametrize("path", PATHS)
def test_float32_weights_are_summed_in_float64(path: str) -> None:
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32)
    machine = build("hinge", path, "dense", X, 3)
    solution = machine.solve(y.astype(np.intp), np.ones(len(y)), 1e-4)
    exact = machine.multiples(solution)[0] @ X.astype(np.float64)
    np.testing.assert_array_equal(machine.weights(solution)[0][0], exact.astype(np.float32))


@pytest.mark.parametrize("path", PATHS)
def test_weights_are_independent_of_block_size(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, weights = make_problem(3)
    machine = build("hinge", path, "csr", X.astype(np.float32), 3)
    solution = machine.solve(y, weights, C=1.0)
    at_once, _ = machine.weights(solution)
    monkeypatch.setattr(_memory, "BLOCK_BYTES", 7 * 16 * 6)  # about seven rows
    by_parts, _ = machine.weights(solution)
    np.testing.assert_allclose(by_parts, at_once, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("loss", LOSSES)
def test_rescaled_scores_do_not_drift(path: str, loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 30)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    machine = build(loss, path, "dense", X, 2)
    y, C = rng.integers(0, 2, 400), 1e-3
    solution = machine.solve(y, np.ones(400), C)
    for _ in range(6):
        machine.rescale(solution, 10.0)
        C *= 10.0
        solution = machine.solve(y, np.ones(400), C, start=solution, overwrite=True)
    exact = machine.multiples(solution)[0] @ X.astype(np.float64) @ X.T
    np.testing.assert_allclose(machine.scores(solution)[0].T, exact, atol=0.02)


@pytest.mark.parametrize("path", PATHS)
def test_large_tolerance_runs_one_sweep(path: str) -> None:
    X, y, counts = make_problem(2)
    machine = build("hinge", path, "dense", X, 2, tol=10.0)
    assert np.any(machine.weights(machine.solve(y, counts, 1.0))[0] != 0)


@everywhere
def test_tiny_tolerance_terminates(loss: str, path: str, form: str) -> None:
    X, y, counts = make_problem(2)
    machine = build(loss, path, form, X, 2, tol=1e-30)
    assert machine.solve(y, counts, 0.01).n_failed.tolist() in ([0], [1])


def test_gram_path_rejects_underflowing_rows() -> None:
    with pytest.raises(ValueError, match="too small for their type"):
        build("hinge", "gram", "dense", np.full((3, 2), 1e-30, dtype=np.float32), 2)


@pytest.mark.parametrize("path", PATHS)
def test_overflowing_rows_are_rejected(path: str) -> None:
    with pytest.raises(ValueError, match="Scale the features"):
        build("hinge", path, "dense", np.array([[1e20], [1.0]], dtype=np.float32), 2)
    with pytest.raises(ValueError, match="Scale the features"):
        build("hinge", path, "csr", np.array([[1e200], [1.0]]), 2)
