from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit

from adrem.base.constraints import LOSS_NAMES
from adrem.machines.compiled.gram import BLOCK, add_steps
from adrem.machines.compiled.losses import COMPILED_LOSSES, solve_logit, violations
from adrem.machines.compiled.rows import score_rows
from adrem.machines.compiled.simd import LANES
from adrem.machines.losses import LOSSES, LogLoss


@given(
    st.floats(-6, 9).map(lambda e: 10**e),
    st.floats(-4, 4).map(lambda e: 10**e),
    st.floats(0, 1),
    st.floats(-1e4, 1e4),
    st.floats(-1e3, 1e3),
)
@settings(max_examples=300)
def test_solve_logit_finds_the_root(norm: float, box: float, share: float, margin: float, start: float) -> None:
    alpha = box * share

    def gradient(t: float) -> float:
        return float(t + margin + norm * (box * expit(t) - alpha))

    low, high = -margin - norm * (box - alpha), -margin + norm * alpha
    root = brentq(gradient, low - 1 - abs(low), high + 1 + abs(high), xtol=1e-13, rtol=1e-14)
    assert solve_logit(norm, box, alpha, margin, start) == pytest.approx(root, rel=1e-6, abs=1e-6)


def test_every_loss_is_allowed_and_compiled() -> None:
    assert LOSS_NAMES == tuple(LOSSES) == tuple(COMPILED_LOSSES)


@pytest.mark.parametrize("name", list(LOSSES))
def test_compiled_formulas_agree_with_numpy_and_each_other(name: str) -> None:
    loss, rng = LOSSES[name], np.random.default_rng(0)
    box, margins = rng.choice([0.5, 2.0], 60), rng.normal(1.0, 2.0, 60)
    multiples = rng.choice([0.0, 0.3, 1.0], 60) * box if name == "hinge" else rng.uniform(0.1, 0.9, 60) * box
    dual = loss.dual(multiples, box)
    compiled = [loss.compiled.multiple(*row) for row in zip(dual, box, strict=True)]
    np.testing.assert_allclose(compiled, loss.multiples(dual, box), rtol=1e-14)
    for margin, *row in zip(margins, dual, box, strict=True):
        updated = loss.compiled.update(3.0, margin, *row)
        moved = loss.compiled.multiple(updated, row[1]) - loss.compiled.multiple(*row)
        assert abs(loss.compiled.violation(margin + 3.0 * moved, updated, row[1])) < 1e-6
        assert loss.compiled.transfer(row[0], True, row[1]) == row[0]
        assert loss.compiled.transfer(row[0], False, row[1]) == loss.empty_dual


def test_violations_of_the_hinge_are_gradients_that_stay_inside_the_box() -> None:
    margins, box = np.array([0.5, 3.0, 0.5, 3.0, 0.5, 3.0, 1.0]), np.full(7, 2.0)
    dual = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 1.0])
    expected = [-0.5, 0.0, -0.5, 2.0, 0.0, 2.0, 0.0]
    assert violations(COMPILED_LOSSES["hinge"], margins, dual, box).tolist() == expected
    assert violations(COMPILED_LOSSES["hinge"], margins, np.zeros(7), np.zeros(7)).tolist() == [0.0] * 7


def test_violations_of_the_log_loss_are_clipped_only_for_the_kernels() -> None:
    loss, margins = COMPILED_LOSSES["log_loss"], np.array([0.5, 100.0, 0.5])
    dual, box = np.array([1.0, 1.0, -np.inf]), np.array([1.0, 1.0, 1.0])
    assert violations(loss, margins, dual, box).tolist() == [1.5, 101.0, -np.inf]
    assert [loss.clipped_violation(*row) for row in zip(margins, dual, box, strict=True)] == [1.5, 30.0, -30.0]
    assert violations(loss, margins, dual, np.zeros(3)).tolist() == [0.0] * 3


def test_numbers_that_overflow_are_violations() -> None:
    for name, dual in (("hinge", 0.0), ("hinge", 1.0), ("log_loss", 0.0)):
        assert np.isnan(violations(COMPILED_LOSSES[name], np.array([np.nan]), np.array([dual]), np.ones(1)))


def test_the_curvature_is_the_second_derivative() -> None:
    margins, step = np.linspace(-3.0, 3.0, 7), 1e-3
    before, here, after = (LogLoss.losses(margins + shift) for shift in (-step, 0.0, step))
    second = (before - 2.0 * here + after) / step**2
    np.testing.assert_allclose(LogLoss.curvature(-margins, np.full(7, 2.0)), 2.0 * second, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 15, 16, 100])
@pytest.mark.parametrize("n_steps", [0, 1, 4, 7])
def test_add_steps_updates_all_scores(dtype: Any, n_rows: int, n_steps: int) -> None:
    rng = np.random.default_rng(0)
    gram, scores = rng.standard_normal((9, n_rows)).astype(dtype), rng.standard_normal(n_rows)
    which, steps = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, dtype)
    which[:n_steps], steps[:n_steps] = rng.permutation(9)[:n_steps], rng.standard_normal(n_steps)
    expected = scores + steps[:n_steps] @ gram[which[:n_steps]]
    add_steps(gram, which, steps, n_steps, scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [1, 3, 4, 11])
def test_score_rows_equals_matrix_product(dtype: Any, n_features: int) -> None:
    rng = np.random.default_rng(0)
    rows, primal = rng.standard_normal((5, n_features)).astype(dtype), rng.standard_normal((n_features, LANES))
    scores = np.empty((5, LANES))
    score_rows(rows, np.empty(0, np.int32), np.empty(0, np.int64), primal, scores)
    np.testing.assert_allclose(scores, rows @ primal, rtol=1e-12)
    entries = np.arange(n_features, dtype=np.int32)
    for i, row in enumerate(rows):
        score_rows(row, entries, np.array([0, n_features]), primal, scores[i : i + 1])
    np.testing.assert_allclose(scores, rows @ primal, rtol=1e-12)


def test_unwritable_cache_folder_is_tolerated(tmp_path: Path) -> None:
    """In a separate process in which numba can write neither to the package nor to the home folder."""
    nowhere = tmp_path / "file"
    nowhere.touch()
    code = """
import numba.core.caching as caching
for locator in caching.CacheImpl._locator_classes:
    locator.ensure_cache_path = lambda self: (_ for _ in ()).throw(OSError("read-only"))
from adrem.machines.compiled.losses import sigmoid
print(sigmoid(0.0), sigmoid.stats.cache_path)
"""
    environment = {**os.environ, "HOME": str(nowhere), "XDG_CACHE_HOME": str(nowhere)}
    environment.pop("NUMBA_CACHE_DIR", None)
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["0.5", "None"], run.stderr


def test_numba_without_compilation_is_an_error_that_names_the_setting() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", "import adrem.machines.compiled.rows"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("which NUMBA_DISABLE_JIT=1 turns off: unset it.")
