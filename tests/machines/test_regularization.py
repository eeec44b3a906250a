from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import make_blobs_shift
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from adrem.machines import make_machine
from adrem.machines.regularization import GRID, select_c


def test_grid_equals_the_papers() -> None:
    np.testing.assert_allclose(GRID, [1e-3, 1e-2, 1e-1, 1, 10, 100, 1000, 10000])


def test_selected_c_equals_liblinear_cross_validation() -> None:
    candidates = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    for seed in range(5):
        data = make_blobs_shift(n_source=90, seed=seed)
        folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(data.X_source, data.y_source))
        hits = [
            sum(
                (
                    _svc(C).fit(data.X_source[train], data.y_source[train]).predict(data.X_source[test])
                    == data.y_source[test]
                ).sum()
                for train, test in folds
            )
            for C in candidates
        ]
        machine = make_machine(data.X_source, 3, "hinge", tol=1e-6)
        chosen = select_c(machine, data.y_source.astype(np.intp), np.ones(90), candidates, seed)
        accuracy = np.array(hits) / 90
        error = np.sqrt(accuracy.max() * (1 - accuracy.max()) / 90)
        assert chosen == candidates[int(np.flatnonzero(accuracy >= accuracy.max() - error)[0])]


def _svc(C: float) -> LinearSVC:
    return LinearSVC(loss="hinge", C=C, tol=1e-6, fit_intercept=False, max_iter=1_000_000, random_state=0)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_ties_select_the_first_candidate(loss: str) -> None:
    X = np.array([[1.0], [-1.0]] * 6)
    labels = np.array([1, 0] * 6, dtype=np.intp)
    machine = make_machine(X, 2, loss)
    for candidates in ((1.0, 0.1, 10.0), (0.1, 1.0), (10.0, 0.1)):
        assert select_c(machine, labels, np.ones(12), candidates, 0) == candidates[0]


def test_rows_of_weight_zero_are_ignored() -> None:
    data = make_blobs_shift(n_source=90)
    rng = np.random.default_rng(0)
    X = np.concatenate([data.X_source, 100 * rng.standard_normal((30, 5))])
    y = np.concatenate([data.y_source, rng.integers(0, 3, 30)]).astype(np.intp)
    weights = np.concatenate([np.ones(90), np.zeros(30)])
    alone = select_c(make_machine(data.X_source, 3, "hinge", tol=1e-6), y[:90], weights[:90], GRID[:5], 0)
    assert select_c(make_machine(X, 3, "hinge", tol=1e-6), y, weights, GRID[:5], 0) == alone


def test_weights_affect_training_and_accuracy() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([0, 1] * 30, dtype=np.intp)
    X = np.where(labels == 1, 1.0, -1.0)[:, None] + 0.1 * rng.standard_normal((60, 1))
    X, noise = np.column_stack([X, np.ones(60)]), np.arange(60) < 20
    flipped = np.where(noise, 1 - labels, labels)
    light = np.where(noise, 1e-3, 1.0)
    accuracy = {}
    for name, weights in (("light", light), ("heavy", np.where(noise, 1.0, 1e-3))):
        machine = make_machine(X, 2, "hinge", tol=1e-4)
        solution = machine.solve(flipped, weights, select_c(machine, flipped, weights, GRID[:5], 0))
        hits = machine.scores(solution)[0, :, 0] > 0
        accuracy[name] = np.mean(hits == labels)
    assert accuracy["light"] == 1.0
    assert accuracy["heavy"] == 0.0


def test_perfect_weighted_accuracy_is_accepted() -> None:
    rng = np.random.default_rng(3)
    labels = (np.arange(60) % 6 == 0).astype(np.intp)
    X = np.column_stack([np.ones(60), np.where(labels == 1, 0.7, -0.7) + 0.02 * rng.standard_normal(60)])
    for seed in range(50):
        weights = np.random.default_rng(seed).uniform(0.1, 1.0, 60)
        assert select_c(make_machine(X, 2, "hinge"), labels, weights, GRID, 0) > 1e-3


def test_search_stops_at_first_failed_c(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_blobs_shift(n_source=90)
    machine = make_machine(data.X_source, 3, "hinge", tol=1e-9)
    tried: list[float] = []
    solve = machine.solve

    def noted(labels: Any, weights: Any, C: float, **options: Any) -> Any:
        tried.append(C)
        solution = solve(labels, weights, C, **options)
        if C > 0.05:
            solution.n_failed[:] = 1
        return solution

    monkeypatch.setattr(machine, "solve", noted)
    chosen = select_c(machine, data.y_source.astype(np.intp), np.ones(90), GRID, 0)
    assert tried == [1e-3, 1e-2, 1e-1]
    assert chosen in tried
