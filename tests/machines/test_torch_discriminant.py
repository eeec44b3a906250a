"""Tests of the discriminant on PyTorch's CPU, and on a GPU if present, against the one on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from problems import make_blobs_shift

from adrem.base.validation import Domains
from adrem.exceptions import DeviceMemoryError
from adrem.machines import Work
from adrem.machines.discriminant import DiscriminantMachine, cosines
from adrem.machines.discriminant_head import DiscriminantHead
from adrem.machines.tables import Outline

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[gpu]"')
module = pytest.importorskip("adrem.machines.torch.discriminant")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
devices = pytest.mark.parametrize("device", ["torch-cpu", pytest.param("cuda", marks=gpu)])
TOLERANCE = {np.float32: 1e-3, np.float64: 1e-9}


def both(device: str, table: Any, n_classes: int, n_members: int = 2) -> tuple[Any, DiscriminantMachine]:
    return module.make_machine(table, Work(n_classes, n_members), device), DiscriminantMachine(table, n_classes)


@devices
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_features", [2, 5, 30])
def test_device_scores_equal_cpu_scores(device: str, dtype: Any, n_classes: int, n_features: int) -> None:
    rng = RandomState(0)
    labels = np.stack([np.arange(60) % n_classes, np.arange(60)[::-1] % n_classes])
    table = (rng.normal(size=(60, n_features)) + 2 * rng.normal(size=(n_classes, n_features))[labels[0]]).astype(dtype)
    weights = rng.randint(0, 4, (2, 60)).astype(float)
    weights[:, :n_classes] = 1.0
    found, expected = both(device, table, n_classes)
    ours, theirs = found.solve(labels, weights), expected.solve(labels, weights)
    scores, reference = found.scores(ours), expected.scores(theirs)
    atol = TOLERANCE[dtype]
    np.testing.assert_allclose(found.on_host(scores), reference, atol=atol)
    np.testing.assert_array_equal(found.relabel(scores), expected.relabel(found.on_host(scores)))
    np.testing.assert_allclose(found.row_losses(scores, labels), expected.row_losses(reference, labels), atol=atol)
    arrays = found.weights(ours)
    assert [own.dtype for own in arrays] == [dtype] * 3
    for m, own in enumerate(zip(*arrays, strict=True)):
        np.testing.assert_allclose(cosines(table, *own), reference[m], atol=atol)
    for zeros in (found.squared_norms(ours, scores), found.rounding(ours, scores), ours.n_failed, ours.n_slow):
        np.testing.assert_array_equal(zeros, [0, 0])


@devices
def test_members_are_trained_alone_and_copied(device: str) -> None:
    data = make_blobs_shift()
    machine, _ = both(device, data.X_source, 3, 3)
    beats: list[int] = []
    one = machine.solve(data.y_source, np.ones(60), heartbeat=lambda: beats.append(1))
    assert beats
    copies = machine.copies(one, 3)
    assert len(copies.directions) == len(copies.n_failed) == 3
    alone = machine.on_host(machine.scores(one))[0]
    for scores in machine.on_host(machine.scores(copies)):
        np.testing.assert_allclose(scores, alone, atol=1e-12)
    labels = np.stack([data.y_source, data.y_source[::-1]])
    together = machine.on_host(machine.scores(machine.solve(labels, np.ones((2, 60)))))
    np.testing.assert_allclose(together[0], alone, atol=1e-9)


@devices
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_odd_rows_give_finite_scores(device: str, precision: Any) -> None:
    labels = np.arange(20) % 3
    for table in (np.zeros((20, 3)), np.ones((20, 3)), RandomState(0).normal(size=(20, 1))):
        machine, _ = both(device, table.astype(precision), 3)
        for weights in (np.ones(20), np.where(labels == 2, 0.0, 1.0)):  # also without any row of a class
            assert np.isfinite(machine.on_host(machine.scores(machine.solve(labels, weights)))).all()


@devices
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dependent_class_means_have_the_scores_of_the_cpu(device: str, dtype: Any) -> None:
    rng = RandomState(0)
    labels = np.arange(60) % 4
    table = rng.normal(size=(60, 8)) + 3 * rng.normal(size=(4, 8))[labels]
    found, expected = both(device, (table - table.mean(axis=0)).astype(dtype), 4)
    ours, theirs = found.solve(labels, np.ones(60)), expected.solve(labels, np.ones(60))
    np.testing.assert_array_equal((ours.directions[0].cpu().numpy() == 0).all(axis=0), [True, False, False, False])
    np.testing.assert_allclose(found.on_host(found.scores(ours)), expected.scores(theirs), atol=TOLERANCE[dtype])


@devices
def test_head_uses_the_device(device: str) -> None:
    data = make_blobs_shift()
    domains = Domains(data.X_source, data.y_source, np.ones(60), data.X_target, np.arange(3))
    training = DiscriminantHead(device).begin(domains, 0, Work(3, 5))
    machine: Any = training.machine
    assert isinstance(machine, module.TorchDiscriminantMachine)
    assert "5 member(s) at a time" in machine.path
    assert machine.group_size == 5
    assert machine.jobs(4) == 1
    assert not machine.travels
    source = training.train_source()
    assert np.mean(machine.relabel(machine.scores(source))[0, :60] == data.y_source) > 0.9
    small: Any = DiscriminantHead("auto").begin(domains, 0).machine
    assert type(small) is DiscriminantMachine


def test_memory_of_the_device_limits_the_members(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.zeros((1000, 50))
    memory = module.discriminant_memory(Outline.of(table), 3)
    monkeypatch.setattr(module, "MEMORY_MARGIN", 1.0)
    monkeypatch.setattr(module, "free_memory", lambda _: float(memory.of(Work(3, 7))))
    assert module.make_machine(table, Work(3, 20), "torch-cpu").group_size == 7
    monkeypatch.setattr(module, "free_memory", lambda _: float(memory.fixed))
    with pytest.raises(DeviceMemoryError, match="set device='cpu'"):
        module.make_machine(table, Work(3, 20), "torch-cpu")


@gpu
def test_forecast_covers_the_memory_taken() -> None:
    rng = RandomState(0)
    table = rng.normal(size=(6000, 400)).astype(np.float32)
    labels = rng.randint(0, 30, (5, 6000))
    work = Work(30, 5)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    machine = module.make_machine(table, work, "cuda")
    machine.scores(machine.solve(labels, np.ones((5, 6000))))
    assert torch.cuda.max_memory_allocated() - before <= module.discriminant_memory(Outline.of(table), 30).of(work)
