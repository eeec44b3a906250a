"""Tests of the PyTorch machines against the CPU machines, on PyTorch's CPU and on a GPU if present."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.exceptions import DeviceMemoryError
from adrem.machines import Machine, Solution, Work, make_machine
from adrem.machines.cost_model import choose_device_path
from adrem.machines.devices import free_memory
from adrem.machines.losses import LOSSES
from adrem.machines.plan import choose_machine
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import Outline

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[gpu]"')
SOLVERS = pytest.importorskip("adrem.machines.torch.solvers").SOLVERS
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
devices = pytest.mark.parametrize("device", ["torch-cpu", pytest.param("cuda", marks=gpu)])
paths = pytest.mark.parametrize("path", ["gram", "rows", "sparse rows"])
losses = pytest.mark.parametrize("loss", list(LOSSES))
N_ROWS, TIGHT = 50, 1e-3


def make_problem(n_classes: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows that include a zero row and a duplicate, labels, and counts that are zero for some rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_ROWS, 40)) * (rng.random((N_ROWS, 40)) < 0.6)
    X[4], X[3] = X[5], 0.0
    return X, (np.arange(N_ROWS) % n_classes).astype(np.intp), rng.integers(0, 4, N_ROWS).astype(np.float64)


def build(device: str, path: str, X: Any, n_classes: int, loss: str, **params: Any) -> Machine:
    table = sp.csr_array(X) if path == "sparse rows" else X
    return make_machine(
        table, n_classes, loss, path=path.removeprefix("sparse "), device=device, **{"tol": TIGHT, **params}
    )


def objective(machine: Machine, solution: Solution, y: NDArray[Any], weights: NDArray[Any], C: float) -> Any:
    scores = machine.scores(solution)
    labels = np.broadcast_to(y, (len(solution.n_failed), N_ROWS))
    lost = machine.row_losses(scores, labels) * weights
    return 0.5 * machine.squared_norms(solution, scores) + C * lost.sum(axis=1)


@losses
def test_formulas_are_those_of_numpy(loss: str) -> None:
    margins = np.linspace(-3.0, 3.0, 31)
    found = SOLVERS[loss].losses(torch.from_numpy(margins)).numpy()
    np.testing.assert_allclose(found, LOSSES[loss].losses(margins), rtol=1e-12)


@devices
@paths
@losses
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_device_solution_equals_cpu_solution(
    device: str, path: str, loss: str, n_classes: int, intercept: bool
) -> None:
    X, y, counts = make_problem(n_classes)
    labels, weights = np.stack([y, y[::-1]]), np.stack([counts, counts[::-1]])
    found, expected = (build(where, path, X, n_classes, loss, fit_intercept=intercept) for where in (device, "cpu"))
    ours, theirs = (machine.solve(labels, weights, 0.5) for machine in (found, expected))
    assert found.path.startswith(path.removeprefix("sparse "))
    assert ours.n_failed.tolist() == theirs.n_failed.tolist() == [0, 0]
    np.testing.assert_allclose(
        objective(found, ours, labels, weights, 0.5), objective(expected, theirs, labels, weights, 0.5), rtol=1e-3
    )
    scores = found.on_host(found.scores(ours))
    np.testing.assert_allclose(scores, expected.scores(theirs), atol=0.01)
    np.testing.assert_array_equal(found.relabel(found.scores(ours)), expected.relabel(scores))
    for own, other in zip(found.weights(ours), expected.weights(theirs), strict=True):
        np.testing.assert_allclose(own, other, atol=0.01)
    assert found.rounding(ours, found.scores(ours)).max() < 1e-10


@devices
@paths
@losses
def test_warm_start_reaches_cold_start_optimum(device: str, path: str, loss: str) -> None:
    X, y, counts = make_problem(3)
    machine = build(device, path, X, 3, loss)
    start = machine.solve(y, np.ones(N_ROWS), 0.5)
    before = machine.on_host(machine.scores(start)).copy()
    flipped = np.stack([y, (y + 1) % 3])
    warm, cold = (machine.solve(flipped, counts, 0.5, start=own, seed=3) for own in (start, None))
    np.testing.assert_array_equal(machine.on_host(machine.scores(start)), before)
    np.testing.assert_allclose(machine.on_host(machine.scores(warm)), machine.on_host(machine.scores(cold)), atol=0.01)
    assert machine.solve(flipped, counts, 0.5, start=warm, overwrite=True) is warm


@devices
@paths
@losses
def test_float32_input_keeps_type_and_optimum(device: str, path: str, loss: str) -> None:
    X, y, counts = make_problem(3)
    narrow, wide = (build(device, path, X.astype(dtype), 3, loss) for dtype in (np.float32, np.float64))
    first, second = (machine.solve(y, counts, 0.5) for machine in (narrow, wide))
    coef, bias = narrow.weights(first)
    assert coef.dtype == bias.dtype == np.float32
    np.testing.assert_allclose(
        objective(narrow, first, y, counts, 0.5), objective(wide, second, y, counts, 0.5), rtol=1e-3
    )
    assert narrow.rounding(first, narrow.scores(first)).max() < 1e-4


@devices
@losses
def test_sparse_and_dense_gram_matrices_agree(device: str, loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, counts = make_problem(3)
    monkeypatch.setattr("adrem.machines.torch.gram.DENSE", 7 * X[0].nbytes)  # blocks of seven rows
    solutions = [
        (machine, machine.solve(y, counts, 0.5))
        for machine in (build(device, "gram", table, 3, loss) for table in (X, sp.csr_array(X)))
    ]
    scores, coefs = zip(*((m.on_host(m.scores(s)), m.weights(s)[0]) for m, s in solutions), strict=True)
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-9)
    np.testing.assert_allclose(coefs[0], coefs[1], atol=1e-9)


@devices
@losses
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_in_blocks_equal_cpu_solution(
    device: str, loss: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 300)) * (rng.random((700, 300)) < 0.05)
    X[[3, 600]], X[:, 7] = 0.0, 1.0  # a feature present in every row, and rows without others
    labels, counts = rng.integers(0, 3, (2, 700)), rng.integers(0, 3, (2, 700)).astype(np.float64)
    monkeypatch.setattr("adrem.machines.torch.sparse.DENSE", 128 * 8 * 50)  # blocks of about 50 features
    monkeypatch.setattr("adrem.machines.torch.sparse.ORDERED", 6000)  # two blocks
    found, expected = (build(where, "sparse rows", X.astype(dtype), 3, loss) for where in (device, "cpu"))
    ours, theirs = (machine.solve(labels, counts, 0.1) for machine in (found, expected))
    assert ours.n_failed.tolist() == [0, 0]
    np.testing.assert_allclose(found.on_host(found.scores(ours)), expected.scores(theirs), atol=0.01)
    np.testing.assert_allclose(found.weights(ours)[0], expected.weights(theirs)[0], atol=0.01)
    norms = (machine.squared_norms(own, machine.scores(own)) for machine, own in ((found, ours), (expected, theirs)))
    np.testing.assert_allclose(next(norms), next(norms), rtol=1e-2)
    assert found.rounding(ours, found.scores(ours)).max() < (1e-4 if dtype == np.float32 else 1e-10)


@devices
@paths
@losses
def test_rescaled_start_fits_rescaled_problem(device: str, path: str, loss: str) -> None:
    X, y, counts = make_problem(3)
    machine = build(device, path, X, 3, loss)
    start = machine.solve(y, counts, 0.01)
    assert machine.grows(start)
    machine.rescale(start, 10.0)
    np.testing.assert_allclose(machine.on_host(machine.scores(start))[0], X @ machine.weights(start)[0][0].T, atol=1e-9)
    warm, cold = machine.solve(y, counts, 0.1, start=start), machine.solve(y, counts, 0.1)
    np.testing.assert_allclose(machine.on_host(machine.scores(warm)), machine.on_host(machine.scores(cold)), atol=0.01)


@devices
@paths
@losses
def test_unconverged_problems_are_counted(device: str, path: str, loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, counts = make_problem(3)
    monkeypatch.setattr("adrem.machines.machine.visit_budget", lambda n_rows, *_: n_rows)
    solution = build(device, path, X, 3, loss, tol=1e-10).solve(np.stack([y, y]), counts, 100.0)
    assert solution.n_failed.tolist() == [3, 3]


@devices
@paths
def test_float32_failure_is_near_the_optimum(device: str, path: str) -> None:
    X, y, _ = make_problem(3)
    X = np.random.default_rng(0).standard_normal((N_ROWS, 8)) + np.eye(3, 8)[y]
    narrow, wide = (build(device, path, X.astype(dtype), 3, "log_loss") for dtype in (np.float32, np.float64))
    first, second = (machine.solve(y, np.ones(N_ROWS), 1e4) for machine in (narrow, wide))
    assert first.n_failed.tolist() == [3]
    assert second.n_failed.tolist() == [0]
    np.testing.assert_allclose(
        objective(narrow, first, y, np.ones(N_ROWS), 1e4), objective(wide, second, y, np.ones(N_ROWS), 1e4), rtol=1e-3
    )


@devices
@paths
@losses
def test_zero_weights_give_the_zero_classifier(device: str, path: str, loss: str) -> None:
    X, y, _ = make_problem(3)
    machine = build(device, path, X, 3, loss)
    solution = machine.solve(y, np.zeros(N_ROWS), 1.0)
    assert solution.n_failed.tolist() == [0]
    np.testing.assert_array_equal(machine.weights(solution)[0], 0.0)


def test_path_depends_on_shape_and_memory() -> None:
    few, many = Outline.of(np.zeros((10, 5))), Outline.of(np.zeros((20_000, 5), np.float32))
    sparse, more = (Outline.of(sp.csr_array((n, 5), dtype=np.float32)) for n in (5_000, 20_000))
    assert choose_device_path(few, "auto", 2**30).name == "gram"
    assert choose_device_path(few, "rows", 2**30).name == "rows"
    assert choose_device_path(many, "auto", 2**40).name == "rows"
    assert choose_device_path(sparse, "auto", 2**40).name == "gram"
    with pytest.raises(ValueError, match="Raise memory_limit, or set machine='auto'"):
        choose_device_path(many, "gram", 2**20)
    assert choose_device_path(sparse, "auto", 2**20).name == "rows"
    assert choose_device_path(sparse, "rows", 2**40).name == "rows"
    assert choose_device_path(more, "auto", 2**40).name == "rows"


@paths
def test_members_that_fit_depends_on_memory(path: str) -> None:
    X, _, _ = make_problem(3)
    machine: Any = build("torch-cpu", path, X, 3, "hinge", work=Work(3, 11))
    assert machine.group_size == 11
    table, work = Outline.of(sp.csr_array(X) if path == "sparse rows" else X), Work(3, 11)
    settings = MachineSettings("hinge", path.removeprefix("sparse "), device="torch-cpu")
    memory: Any = choose_machine(table, work, settings).on_device
    all_of_them = memory.of(work)
    assert memory.members_that_fit(work, all_of_them) == 11
    assert memory.members_that_fit(work, all_of_them - 4 * memory.member) == 7
    with pytest.raises(DeviceMemoryError, match="are free there: give fewer rows, or set device='cpu'"):
        memory.members_that_fit(work, memory.member)
    assert free_memory(torch.device("cpu")) > 0


@gpu
@paths
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_triton_steps_equal_plain_steps(path: str, dtype: Any) -> None:
    from adrem.machines.torch import steps as _steps
    from adrem.machines.torch import triton as _triton

    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 300)).astype(dtype) / 17
    labels, weights = rng.integers(0, 5, (3, 700)), rng.integers(0, 4, (3, 700)).astype(np.float64)
    machine: Any = build("cuda", path, X, 5, "hinge")
    solutions: list[Any] = []
    for steps in (_triton, _steps):
        solution: Any = machine.zero_solution(3)
        machine.steps = steps
        machine._transfer(solution, labels, 0.5 * weights)
        machine.start(solution)
        solution.search = machine.make_search(solution)
        solution.search.begin(torch.full((15,), 10**6))
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(machine._n_blocks)
            solution.search.order.copy_(torch.from_numpy(order))
            machine.solver.pass_and_check(machine, solution)
        solutions.append(solution)
    atol = 1e-4 if dtype == np.float32 else 1e-12
    for name in ("dual", "primal"):
        compiled, plain = (getattr(solution, name).cpu().numpy() for solution in solutions)
        np.testing.assert_allclose(compiled, plain, atol=atol)
    for name in ("running", "moves"):
        compiled, plain = (getattr(solution.search, name).cpu().numpy() for solution in solutions)
        np.testing.assert_array_equal(compiled, plain)
