from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from problems import make_blobs_shift

from adrem.algorithm.em import EMOptions, randomized_em
from adrem.algorithm.recorder import Member
from adrem.algorithm.task import Task
from adrem.machines import decide, make_machine
from adrem.machines.linear import TrainingSet
from adrem.runtime.progress import Ticker


def run(
    sampling: str = "balanced", loss: str = "hinge", ticker: Ticker | None = None, **params: Any
) -> tuple[Task, Member, Any]:
    data = make_blobs_shift(seed=3)
    table = np.concatenate([data.X_source, data.X_target])
    machine = make_machine(table, 3, loss, tol=1e-6)
    prior = np.array([0.5, 0.25, 0.25])
    task = Task(TrainingSet(machine, data.y_source.astype(np.intp), np.ones(60), 45, 0.1), prior)
    rngs = [np.random.default_rng(0)]
    return (
        task,
        randomized_em(task, task.rows.train_source(), rngs, EMOptions(4, sampling, **params), ticker=ticker)[0],
        data,
    )


def test_draw_sizes_grow_to_target_size() -> None:
    for sampling, expected in (
        ("random", [0, 12, 23, 34, 45]),
        ("all", [0, 45, 45, 45, 45]),
        ("balanced", [0, 6 + 3 + 3, 12 + 6 + 6, 17 + 9 + 9, 23 + 12 + 12]),
    ):
        _, member, _ = run(sampling)
        assert [entry["n_drawn"] for entry in member.history] == expected


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_history_losses_equal_the_formulas(loss: str) -> None:
    task, member, data = run(loss=loss, store_path=True)
    functions: dict[str, Any] = {"hinge": lambda m: np.maximum(0, 1 - m), "log_loss": lambda m: np.log1p(np.exp(-m))}
    pointwise = functions[loss]
    for entry, (coef, _) in zip(member.history, member.path, strict=True):
        labels = decide(data.X_target @ coef.T)
        signs = [2 * (y[:, None] == np.arange(3)) - 1 for y in (data.y_source, labels)]
        on_source = pointwise(signs[0] * (data.X_source @ coef.T)).sum(axis=1)
        on_target = pointwise(signs[1] * (data.X_target @ coef.T)).sum(axis=1)
        counts = np.bincount(labels, minlength=3)
        share = (task.prior * 45 / np.maximum(counts, 1))[labels]
        penalty = 0.5 * np.sum(coef**2)
        assert entry["class_counts"] == counts.tolist()
        assert entry["loss"] == pytest.approx(penalty + 0.1 * (on_source.sum() + on_target.sum()))
        assert entry["balanced_loss"] == pytest.approx(penalty + 0.1 * (on_source.sum() + (share * on_target).sum()))


def test_history_counts_changed_labels() -> None:
    _, member, data = run(store_path=True)
    labels = [decide(data.X_target @ coef.T) for coef, _ in member.path]
    changed = [0] + [int((a != b).sum()) for a, b in pairwise(labels)]
    assert [entry["n_changed"] for entry in member.history] == changed


def test_ticker_counts_every_training() -> None:
    steps: list[int] = []
    run(ticker=Ticker(steps.append))
    assert steps == [1, 2, 3, 4]


def test_path_starts_with_the_source_classifier() -> None:
    task, member, _ = run(store_path=True)
    np.testing.assert_array_equal(member.path[0][0], task.machine.weights(task.rows.train_source())[0][0])


def test_path_keeps_last_classifier_by_default() -> None:
    _, every, _ = run(store_path=True)
    _, last, _ = run()
    assert len(every.path) == 5
    assert len(last.path) == 1
    np.testing.assert_array_equal(last.path[0][0], every.path[-1][0])


@pytest.mark.parametrize("path", ["gram", "rows"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_joint_training_equals_single_member_training(path: str, loss: str, n_classes: int) -> None:
    data = make_blobs_shift(n_classes, seed=3)
    machine = make_machine(np.concatenate([data.X_source, data.X_target]), n_classes, loss, path=path)
    rows = TrainingSet(machine, data.y_source.astype(np.intp), np.ones(60), 45, 0.1)
    task = Task(rows, np.full(n_classes, 1 / n_classes))
    source = task.rows.train_source()

    def members(seeds: range) -> list[Member]:
        return randomized_em(task, source, [np.random.default_rng(s) for s in seeds], EMOptions(4))

    together = members(range(5))
    for seed, member in enumerate(together):
        [alone] = members(range(seed, seed + 1))
        assert alone.history == member.history
        np.testing.assert_array_equal(alone.path[0][0], member.path[0][0])


def test_em_records_lost_classes() -> None:
    X = np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0], [-1.0, 0.1], [1.0, 0.5], [2.0, 0.5]])
    machine = make_machine(X, 2, "hinge")
    labels = np.array([1, 1, 0, 0], dtype=np.intp)
    for prior, lost in (([0.5, 0.5], {0}), ([0.0, 1.0], set())):
        task = Task(TrainingSet(machine, labels, np.ones(4), 2, 1.0), np.array(prior))
        rngs = [np.random.default_rng(0)]
        [member] = randomized_em(task, task.rows.train_source(), rngs, EMOptions(2))
        assert member.lost == lost
