"""Tests of the machine on similarities, on PyTorch's CPU and on a GPU if present, against `KernelMachine`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from adrem.exceptions import InvalidDataError
from adrem.machines import Kernel, Machine, Solution, Work, make_machine
from adrem.machines.losses import LOSSES
from adrem.machines.plan import choose_machine
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import Outline

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[gpu]"')
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
devices = pytest.mark.parametrize("device", ["torch-cpu", pytest.param("cuda", marks=gpu)])
losses = pytest.mark.parametrize("loss", list(LOSSES))
N_ROWS = 70
RADIAL = Kernel("rbf", 0.1)


def rows(dtype: Any = np.float64) -> Any:
    """Rows that include a zero row and a duplicate."""
    table = np.random.default_rng(0).standard_normal((N_ROWS, 6)).astype(dtype)
    table[4], table[3] = table[5], 0.0
    return table


def problem(n_classes: int) -> tuple[Any, Any]:
    """Labels and counts of two members."""
    labels = (np.arange(N_ROWS) % n_classes).astype(np.intp)
    counts = np.random.default_rng(1).integers(0, 4, N_ROWS).astype(np.float64)
    return np.stack([labels, labels[::-1]]), np.stack([counts, counts[::-1]])


def build(device: str, table: Any, n_classes: int, loss: str, **params: Any) -> Machine:
    return make_machine(table, n_classes, loss, device=device, **{"tol": 1e-3, "kernel": RADIAL, **params})


def objective(machine: Machine, solution: Solution, labels: Any, weights: Any) -> Any:
    scores = machine.scores(solution)
    lost = machine.row_losses(scores, labels) * weights
    return 0.5 * machine.squared_norms(solution, scores) + lost.sum(axis=1)


@devices
@losses
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_device_solution_equals_cpu_solution(device: str, loss: str, n_classes: int, intercept: bool) -> None:
    labels, weights = problem(n_classes)
    found, expected = (build(where, rows(), n_classes, loss, fit_intercept=intercept) for where in (device, "cpu"))
    ours, theirs = (machine.solve(labels, weights, 1.0) for machine in (found, expected))
    assert ours.n_failed.tolist() == theirs.n_failed.tolist() == [0, 0]
    np.testing.assert_allclose(
        objective(found, ours, labels, weights), objective(expected, theirs, labels, weights), rtol=1e-3
    )
    scores = found.on_host(found.scores(ours))
    np.testing.assert_allclose(scores, expected.scores(theirs), atol=0.01)
    coef, constant = found.weights(ours)
    similarities = rbf_kernel(rows(), gamma=0.1)
    np.testing.assert_allclose(np.swapaxes(scores, 1, 2), coef @ similarities + constant[..., None], atol=1e-9)
    np.testing.assert_allclose(constant, coef.sum(axis=-1) if intercept else 0.0)
    assert found.rounding(ours, found.scores(ours)).max() < 1e-10


@devices
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_equal_the_kernel_of_scikit_learn(device: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.machines.torch.similarities.CHUNK", 32)  # three blocks, the last one partial
    table = rows(dtype)
    machine: Any = build(device, table, 2, "hinge")
    order = machine._order
    found = machine.on_host(machine._gram)
    atol = 1e-6 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(
        found[:N_ROWS, :N_ROWS], rbf_kernel(table.astype(float), gamma=0.1)[order][:, order], atol=atol
    )
    np.testing.assert_array_equal(found[N_ROWS:], 0.0)
    np.testing.assert_array_equal(np.diag(found)[:N_ROWS], 1.0)
    assert machine.weights(machine.zero_solution(1))[0].shape == (1, 1, N_ROWS)


@devices
@pytest.mark.parametrize("case", ["sparse", "by name", "callable", "precomputed"])
def test_kernels_of_the_host_equal_cpu_solution(device: str, case: str) -> None:
    table: Any = rows()
    kernel = Kernel("poly", 0.2, 2, 1.0)
    if case == "sparse":
        table, kernel = sp.csr_array(table), RADIAL
    elif case == "callable":
        kernel = Kernel(lambda one, other: polynomial_kernel(one, other, degree=2))
    elif case == "precomputed":
        table, kernel = rbf_kernel(table), Kernel("precomputed")
    labels, weights = problem(3)
    found, expected = (build(where, table, 3, "hinge", kernel=kernel, fit_intercept=True) for where in (device, "cpu"))
    ours, theirs = (machine.solve(labels, 0.1 * weights, 1.0) for machine in (found, expected))
    np.testing.assert_allclose(found.on_host(found.scores(ours)), expected.scores(theirs), atol=0.02)
    assert found.rounding(ours, found.scores(ours)).max() < 1e-10


@devices
@losses
def test_warm_and_rescaled_starts_reach_the_cold_optimum(device: str, loss: str) -> None:
    labels, weights = problem(3)
    machine = build(device, rows(), 3, loss)
    start = machine.solve(labels[::-1], weights, 0.1)
    assert machine.grows(start)
    machine.rescale(start, 10.0)
    warm, cold = machine.solve(labels, weights, 1.0, start=start), machine.solve(labels, weights, 1.0)
    np.testing.assert_allclose(machine.on_host(machine.scores(warm)), machine.on_host(machine.scores(cold)), atol=0.01)


@devices
def test_what_is_no_kernel_is_refused(device: str) -> None:
    upper = np.triu(np.ones((N_ROWS, N_ROWS)))
    with pytest.raises(InvalidDataError, match="finite and symmetric"):
        build(device, upper, 2, "hinge", kernel=Kernel("precomputed"))
    with pytest.raises(InvalidDataError, match="with itself is negative"):
        build(device, -np.eye(N_ROWS), 2, "hinge", kernel=Kernel("precomputed"))
    with pytest.raises(InvalidDataError, match="finite and symmetric"):
        build(device, rows(), 2, "hinge", kernel=Kernel("rbf", np.nan))


def test_similarities_above_the_free_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = rows()
    choice = choose_machine(
        Outline.of(table), Work(2), MachineSettings("hinge", kernel=Kernel("poly"), device="torch-cpu")
    )
    monkeypatch.setattr("adrem.machines.plan.free_memory", lambda _: 1e9)
    monkeypatch.setattr("adrem.runtime.memory.available_memory", lambda: 1000.0)
    with pytest.raises(MemoryError, match=r"The matrix of similarities takes about 78 kB.*give fewer rows"):
        choice.make(table)


def test_memory_of_the_device_limits_the_members() -> None:
    work = Work(3, 11)
    settings = MachineSettings("hinge", kernel=RADIAL, device="torch-cpu")
    choice: Any = choose_machine(Outline.of(rows()), work, settings)
    assert choice.on_device.members_that_fit(work, choice.memory) == 11
    assert choice.on_device.members_that_fit(work, choice.memory - 4 * choice.on_device.member) == 7


@gpu
@pytest.mark.parametrize("loss", list(LOSSES))
def test_forecast_covers_the_memory_taken(loss: str) -> None:
    table = np.random.default_rng(0).standard_normal((6000, 300)).astype(np.float32)
    labels = np.random.default_rng(1).integers(0, 20, (5, 6000))
    work = Work(20, 5)
    choice = choose_machine(Outline.of(table), work, MachineSettings(loss, kernel=Kernel("rbf", 1e-3), device="cuda"))
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    machine = choice.make(table)
    machine.weights(machine.solve(labels, np.ones((5, 6000)), 1.0))
    assert torch.cuda.max_memory_allocated() - before <= choice.memory
