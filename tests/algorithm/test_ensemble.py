from __future__ import annotations

import sys
from dataclasses import replace

import joblib
import numpy as np
import pytest
from problems import make_blobs_shift
from terminals import Terminal
from threadpoolctl import threadpool_info, threadpool_limits

from adrem import AdREM
from adrem.algorithm.em import EMOptions
from adrem.algorithm.ensemble import Ensemble, Group, n_jobs_here
from adrem.algorithm.task import Task
from adrem.datasets import DomainPair
from adrem.machines import make_machine
from adrem.machines.linear import TrainingSet
from adrem.runtime.progress import Ticker
from adrem.types import FloatArray

SEEDS = np.random.SeedSequence(0).spawn(5)


def make_ensemble() -> Ensemble:
    data = make_blobs_shift()
    machine = make_machine(np.concatenate([data.X_source, data.X_target]), 3, "hinge")
    task = Task(TrainingSet(machine, data.y_source.astype(np.intp), np.ones(60), 45, 0.1), np.full(3, 1 / 3))
    return Ensemble(task, task.rows.train_source(), EMOptions(4))


def test_training_a_group_twice_gives_equal_history() -> None:
    ensemble, group = make_ensemble(), Group(0, SEEDS)
    first, second = (ensemble.train(group) for _ in range(2))
    assert [member.history for member in first] == [member.history for member in second]


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
def test_members_keep_seed_order(n_jobs: int) -> None:
    ensemble = make_ensemble()
    expected = [ensemble.train(Group(0, [seed]))[0].history for seed in SEEDS]
    assert [member.history for member in ensemble.members(SEEDS, n_jobs, Ticker())] == expected


def test_group_training_uses_one_blas_thread() -> None:
    seen: set[int] = set()

    def look(scores: FloatArray) -> FloatArray:
        seen.update(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return scores

    ensemble = make_ensemble()
    watched = replace(ensemble, task=replace(ensemble.task, mixing=look))
    with threadpool_limits(2, user_api="blas"):
        watched.train(Group(0, SEEDS))
    assert seen == {1}


def test_progress_counts_steps_of_worker_processes(blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with joblib.parallel_config("loky"):
        model = AdREM(C=0.1, n_iter=3, n_estimators=4, n_jobs=2, verbose=1, random_state=0)
        model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    assert "12/12" in terminal.getvalue()


def test_n_jobs_here_resolves_n_jobs() -> None:
    assert n_jobs_here(None) == 1
    assert n_jobs_here(3) == 3
