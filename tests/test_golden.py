"""Results equal the stored reference answers, for all backends, repetitions and library versions."""

from __future__ import annotations

import functools

import joblib
import numpy as np
import pytest
from golden import DIGITS, MANY_SEEDS, MOVED, N_SHOWN, PROBLEMS, SEEDS, Answer, answer, read
from joblib import Parallel, delayed

from adrem import baselines

WRITTEN = read()
SIDE_BY_SIDE = [name for name, problem in PROBLEMS.items() if "n_jobs" in problem.model.get_params()]
# Library versions differ in the last bits, and decision values differ by a little more.
NEAR = 10.0**-DIGITS

here = functools.cache(answer)


@pytest.mark.parametrize("name", PROBLEMS)
def test_answers_equal_the_golden_file(name: str) -> None:
    found, written = here(name), WRITTEN["problems"][name]
    assert found.text == written["labels"]
    np.testing.assert_allclose(found.decision[:N_SHOWN].ravel(), written["decision"], rtol=0, atol=NEAR)


def test_golden_file_covers_every_method() -> None:
    assert set(baselines.__all__) < set(PROBLEMS)
    assert list(WRITTEN["problems"]) == list(PROBLEMS)
    assert {name: len(labels) for name, labels in WRITTEN["seeds"].items()} == dict.fromkeys(MANY_SEEDS, len(SEEDS))


@pytest.mark.parametrize("name", PROBLEMS)
def test_golden_labels_are_stable_to_perturbation(name: str) -> None:
    """Margins are wide and small perturbations keep the labels, so that other machines give the same ones."""
    found, moved = here(name), answer(name, moved=MOVED)
    assert found.margins.min() > 1e-3
    assert found.text == moved.text
    np.testing.assert_allclose(found.decision, moved.decision, rtol=0, atol=NEAR)


@pytest.mark.parametrize("name", PROBLEMS)
def test_repeated_fit_is_bitwise_equal(name: str) -> None:
    assert answer(name).digest == here(name).digest


def test_different_seeds_give_different_answers() -> None:
    assert len({answer("hinge, rows", seed=seed).digest for seed in range(5)}) == 5


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_n_jobs_and_backend_keep_bits(n_jobs: int, backend: str) -> None:
    for name in SIDE_BY_SIDE:
        with joblib.parallel_config(backend):
            assert answer(name, n_jobs=n_jobs).digest == here(name).digest, name


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_parallel_outer_fits_keep_bits(backend: str) -> None:
    found: list[Answer] = Parallel(n_jobs=2, backend=backend)(delayed(answer)(name) for name in PROBLEMS)
    assert [theirs.digest for theirs in found] == [here(name).digest for name in PROBLEMS]


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
@pytest.mark.parametrize("name", MANY_SEEDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_many_seeds_equal_golden_labels(name: str, seed: int) -> None:
    alone, written = answer(name, seed=seed, n_jobs=1), WRITTEN["seeds"][name][seed]
    assert written in ("", alone.text)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend):
            assert answer(name, seed=seed, n_jobs=2).digest == alone.digest
