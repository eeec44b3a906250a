"""Tests of ensembles drawn from a pool of members, and of the cells of the two sensitivity figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from adrem import AdREM
from adrem.algorithm.voting import tally
from adrem.base.scoring import by_class
from adrem.benchmark import curves
from adrem.benchmark.curves import (
    ITERATIONS,
    PANELS,
    SIZES,
    ensemble_accuracy,
    ensemble_cells,
    iteration_cells,
    run_ensemble_cell,
    run_iteration_cell,
)
from adrem.benchmark.protocols import find_protocols
from adrem.benchmark.store import Cell
from adrem.datasets import DataSet, Domain, Provenance


@pytest.mark.parametrize("n_problems", [1, 3, 4])
@pytest.mark.parametrize("sizes", [(1, 2, 3, 7), (4,), (1, 3, 5), (7,)])
def test_ensemble_accuracy_equals_tally(n_problems: int, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(n_problems)
    raw = rng.normal(size=(7, 50, n_problems))
    scores = np.stack([by_class(member) for member in raw])
    truth = rng.integers(0, scores.shape[2], 50)
    accuracy = ensemble_accuracy(scores, truth, sizes, 6, np.random.default_rng(1))
    draws = np.random.default_rng(1)
    for k in range(6):
        members = draws.permutation(7)
        expected = [100 * np.mean(tally(raw[members[:size]]).winners == truth) for size in sizes]
        np.testing.assert_allclose(accuracy[k], expected)


def test_ensemble_of_full_pool_is_always_equal() -> None:
    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(5, 40, 3)), rng.integers(0, 3, 40)
    accuracy = ensemble_accuracy(scores, truth, (1, 5), 20, rng)
    assert set(accuracy[:, 1]) == {100 * np.mean(tally(scores).winners == truth)}
    assert len(set(accuracy[:, 0])) > 1


class Rotations:
    """A generator whose permutations put every member first once."""

    def __init__(self) -> None:
        self.first = 0

    def permutation(self, n: int) -> NDArray[np.intp]:
        self.first += 1
        return np.roll(np.arange(n), -self.first)


def test_ensembles_of_size_one_are_the_members() -> None:
    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(9, 30, 4)), rng.integers(0, 4, 30)
    accuracy = ensemble_accuracy(scores, truth, (1, 3), 9, cast("np.random.Generator", Rotations()))
    members = [100 * np.mean(member.argmax(axis=1) == truth) for member in scores]
    assert sorted(accuracy[:, 0]) == pytest.approx(sorted(members))
    assert accuracy[:, 0].mean() == pytest.approx(np.mean(members))


def make_data() -> DataSet:
    """Two classes in four domains, each shifted a little from the one before."""
    rng = np.random.default_rng(0)
    domains = {}
    for k, letter in enumerate("BDEK"):
        y = np.arange(40) % 2
        X = rng.normal(size=(40, 4)) + np.outer(2 * y - 1, [0.8, 0.4, 0.0, 0.2]) + 0.3 * k
        domains[letter] = Domain(letter, X, y)
    return DataSet("amazon-reviews", "made", domains, None, Provenance("nobody"))


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """Small data for the panel of the reviews, and small settings for the figures."""
    made = make_data()
    monkeypatch.setattr(curves, "load_cached", lambda name, home: {"amazon-reviews": made}[name])  # noqa: ARG005
    monkeypatch.setattr(curves, "PANELS", {"amazon-reviews": PANELS["amazon-reviews"]})
    monkeypatch.setattr(curves, "POOL", 5)
    monkeypatch.setattr(curves, "SIZES", (1, 3, 5))
    monkeypatch.setattr(curves, "RESAMPLES", 8)
    monkeypatch.setattr(curves, "MEMBERS", 3)
    return made


def fit_by_hand(cell: Cell, made: DataSet, **params: Any) -> tuple[AdREM, Any, Any]:
    (protocol,) = find_protocols("amazon-full")
    X_source, y_source, X_target, y_target = protocol.make_pair(made, cell.pair, 0)
    model = AdREM(class_prior=[0.5, 0.5], random_state=0, **params).fit(X_source, y_source, X_target=X_target)
    return model, X_target, y_target


def test_run_ensemble_cell_returns_accuracy_per_size(data: DataSet) -> None:
    cells, skipped = ensemble_cells(None)
    assert skipped == {}
    cell = next(cell for cell in cells if cell.pair == "B-K")
    values, seconds = run_ensemble_cell(cell, None)
    model, X_target, y_target = fit_by_hand(cell, data, n_estimators=5)
    members = [100 * np.mean((X_target @ coef[0] > 0) == y_target) for coef in model.coef_]
    assert len(values["mean"]) == len(values["std"]) == 3
    assert min(members) <= values["mean"][0] <= max(members)
    assert values["mean"][2] == pytest.approx(100 * np.mean(model.transduction_ == y_target))
    assert values["std"][2] == 0.0
    assert values["C"] == model.C_
    assert seconds > 0.0


def test_run_iteration_cell_averages_single_members(data: DataSet) -> None:
    cells, _ = iteration_cells(None)
    for n_iter in (1, 5):
        cell = next(cell for cell in cells if cell.pair == "D-B" and cell.repetition == n_iter)
        values, _ = run_iteration_cell(cell, None)
        model, X_target, y_target = fit_by_hand(cell, data, n_estimators=3, n_iter=n_iter)
        members = [100 * np.mean((X_target @ coef[0] > 0) == y_target) for coef in model.coef_]
        assert values["mean"] == pytest.approx(np.mean(members))
        assert values["std"] == pytest.approx(np.std(members, ddof=1))


def test_curve_cells_cover_all_pairs_and_iterations(data: DataSet) -> None:
    (protocol,) = find_protocols("amazon-full")
    for make, figure, repetitions in (
        (ensemble_cells, "ensemble-size", (0,)),
        (iteration_cells, "iterations", ITERATIONS[::-1]),
    ):
        cells, _ = make(None)
        assert [(cell.pair, cell.repetition) for cell in cells] == [(p, r) for r in repetitions for p in protocol.pairs]
        assert {(cell.task, cell.features, cell.method, cell.data) for cell in cells} == {
            (figure, "amazon-reviews", "adrem-svm", data.checksum)
        }


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (ensemble_cells, "POOL", 6),
        (ensemble_cells, "SIZES", (1, 5)),
        (ensemble_cells, "RESAMPLES", 9),
        (iteration_cells, "MEMBERS", 4),
    ],
)
@pytest.mark.usefixtures("data")
def test_changed_settings_change_the_cells(make: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before, _ = make(None)
    assert make(None)[0] == before
    monkeypatch.setattr(curves, name, value)
    assert not set(make(None)[0]) & set(before)


@pytest.mark.parametrize("make", [ensemble_cells, iteration_cells])
def test_panels_without_data_are_skipped_with_reason(make: Any, tmp_path: Path) -> None:
    cells, skipped = make(tmp_path)
    assert cells == []
    assert skipped == {
        name: f"the files of {name} are missing; `adrem datasets info {name}` says where to put them."
        for name in ("amazon-reviews", "office-caltech-resnet50")
    }


def test_ensemble_sizes_are_odd_and_below_pool_size() -> None:
    assert list(SIZES) == sorted(SIZES)
    assert all(size % 2 == 1 for size in SIZES)
    assert SIZES[-1] < curves.POOL
    assert 11 in SIZES
