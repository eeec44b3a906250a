"""Tests of `AdREM` on PyTorch devices: results agree with the CPU, and missing requirements raise clear errors."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_blobs_shift

from adrem import AdREM
from adrem.algorithm.ensemble import Ensemble, Group
from adrem.datasets import DomainPair
from adrem.exceptions import DeviceMemoryError

SMALL: dict[str, Any] = {"C": 0.1, "n_estimators": 3, "n_iter": 3, "random_state": 0, "tol": 0.01}


def has_torch() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


needs_torch = pytest.mark.skipif(not has_torch(), reason='PyTorch is not installed: pip install "adrem[gpu]"')


def fitted(data: DomainPair, **params: Any) -> AdREM:
    model = AdREM(**{**SMALL, **params})
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


def assert_alike(model: AdREM, other: AdREM) -> None:
    """Check equal draw sizes, and losses, weights and labels within the tolerance; one borderline row may differ."""
    assert np.count_nonzero(model.transduction_ != other.transduction_) <= 1
    assert np.abs(model.vote_share_ - other.vote_share_).mean() < 0.02
    np.testing.assert_allclose(model.coef_, other.coef_, atol=0.1)  # half its square bounds the excess loss
    assert model.C_ == other.C_
    for entry, expected in zip(model.history_, other.history_, strict=True):
        assert entry["n_drawn"] == expected["n_drawn"]
        np.testing.assert_allclose(entry["class_counts"], expected["class_counts"], atol=2)
        assert entry["loss"] == pytest.approx(expected["loss"], rel=0.01)
        assert entry["balanced_loss"] == pytest.approx(expected["balanced_loss"], rel=0.01)


@needs_torch
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("machine", ["gram", "rows"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_devices_give_equal_draws_and_labels(loss: Any, machine: Any, n_classes: int) -> None:
    data = make_blobs_shift(n_classes)
    models = [fitted(data, loss=loss, machine=machine, device=device) for device in ("torch-cpu", "cpu")]
    assert "on torch-cpu, 3 member(s) at a time" in models[0].machine_
    assert_alike(*models)
    np.testing.assert_array_equal(models[0].transduction_, models[1].transduction_)
    assert [e["class_counts"] for e in models[0].history_] == [e["class_counts"] for e in models[1].history_]


@needs_torch
@pytest.mark.parametrize(
    "params",
    [
        {"C": [0.01, 0.1, 1.0]},
        {"refine": 3},
        {"neighbors": 3},
        {"fit_intercept": True, "store_path": True},
        {"class_prior": "estimate", "n_iter": 2},
        {"sampling": "random", "n_jobs": 2},
        {"loss": "log_loss", "neighbors": 3},
    ],
    ids=str,
)
def test_options_agree_between_devices(blobs: DomainPair, params: dict[str, Any]) -> None:
    models = [fitted(blobs, device=device, **params) for device in ("torch-cpu", "cpu")]
    if "class_prior" in params:  # estimated shares depend on scores that differ within the tolerance
        np.testing.assert_allclose(models[0].class_prior_, models[1].class_prior_, atol=0.02)
    else:
        assert_alike(*models)


@needs_torch
@pytest.mark.parametrize("params", [{}, {"fit_intercept": True, "C": [0.1, 1.0]}, {"loss": "log_loss"}], ids=str)
def test_kernels_agree_between_devices(blobs: DomainPair, params: dict[str, Any]) -> None:
    ours, theirs = (fitted(blobs, device=d, kernel="rbf", **params) for d in ("torch-cpu", "cpu"))
    assert ours.machine_.startswith("gram: similarities of 105 rows, 88 kB; on torch-cpu, 3 member(s) at a time")
    assert np.count_nonzero(ours.transduction_ != theirs.transduction_) <= 1
    assert ours.C_ == theirs.C_
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    found, expected = (model.decision_function(blobs.X_target) for model in (ours, theirs))
    np.testing.assert_allclose(found, expected, atol=0.05)
    np.testing.assert_array_equal(ours.predict(blobs.X_target), ours.transduction_)


@needs_torch
def test_multiple_sources_agree_between_devices(blobs: DomainPair) -> None:
    X = np.concatenate([blobs.X_source, blobs.X_target])
    y = np.concatenate([blobs.y_source, np.full(45, -1)])
    domain = np.concatenate([np.arange(60) % 2, np.full(45, -1)])
    ours, theirs = (AdREM(device=d, **SMALL).fit(X, y, sample_domain=domain) for d in ("torch-cpu", "cpu"))
    assert_alike(ours, theirs)
    found, expected = ([entry["source_losses"] for entry in model.history_] for model in (ours, theirs))
    np.testing.assert_allclose(found, expected, rtol=0.05)
    alone = [AdREM(device=d, **SMALL).fit(blobs.X_source, blobs.y_source) for d in ("torch-cpu", "cpu")]
    np.testing.assert_allclose(alone[0].coef_, alone[1].coef_, atol=0.1)


@needs_torch
@pytest.mark.parametrize("device", ["torch-cpu", "cpu"])
def test_tensors_are_read_like_arrays(blobs: DomainPair, device: Any) -> None:
    import torch

    model = fitted(blobs, device=device)
    X, y, X_target = (torch.tensor(own) for own in (blobs.X_source, blobs.y_source, blobs.X_target))
    same = AdREM(device=device, **SMALL).fit(X.requires_grad_(), y, X_target=X_target)
    np.testing.assert_allclose(same.coef_, model.coef_, atol=1e-9)
    np.testing.assert_array_equal(same.predict(X_target), model.transduction_)
    assert same.score(X_target, torch.tensor(blobs.y_target)) == model.score(blobs.X_target, blobs.y_target)
    half = AdREM(device=device, **SMALL).fit(X.bfloat16(), y, X_target=X_target.bfloat16())
    assert half.coef_.dtype == np.float32


@needs_torch
def test_sparse_rows_and_tensors_equal_dense(blobs: DomainPair) -> None:
    import torch

    dense = fitted(blobs, device="torch-cpu")
    tables = [sp.csr_array(own) for own in (blobs.X_source, blobs.X_target)]
    sparse = AdREM(device="torch-cpu", **SMALL).fit(tables[0], blobs.y_source, X_target=tables[1])
    assert_alike(sparse, dense)
    coo = [torch.tensor(own).to_sparse() for own in (blobs.X_source, blobs.X_target)]
    same = AdREM(device="torch-cpu", **SMALL).fit(coo[0], blobs.y_source, X_target=coo[1])
    np.testing.assert_allclose(same.coef_, sparse.coef_, atol=1e-9)


@needs_torch
def test_device_memory_error_halves_group_size(blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    from adrem.machines.torch.machine import TorchMachine

    expected, tried = fitted(blobs, device="torch-cpu", n_estimators=5), []
    copies = TorchMachine.copies

    def spent(machine: Any, solution: Any, n_members: int) -> Any:
        tried.append(n_members)
        if n_members > most:
            raise DeviceMemoryError("spent")
        return copies(machine, solution, n_members)

    monkeypatch.setattr(TorchMachine, "copies", spent)
    most = 2
    assert_alike(fitted(blobs, device="torch-cpu", n_estimators=5), expected)
    assert tried == [5, 3, 2, 2, 1]
    most = 0
    with pytest.raises(MemoryError, match="spent"):
        fitted(blobs, device="torch-cpu", n_estimators=5)


def on_gpu() -> bool:
    if not has_torch():
        return False
    import torch

    return bool(torch.cuda.is_available())


@pytest.mark.skipif(not on_gpu(), reason="needs a GPU")
def test_gpu_out_of_memory_reduces_group_size(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from adrem.machines.torch.machine import WORKSPACE

    rng = np.random.default_rng(0)
    y = rng.integers(0, 100, 20_000)
    X = (rng.standard_normal((100, 64))[y] + rng.standard_normal((20_000, 64))).astype(np.float32)
    data = DomainPair(X[:12_000], y[:12_000], X[12_000:], y[12_000:])
    params: dict[str, Any] = {"device": "cuda", "machine": "rows", "n_estimators": 20, "n_iter": 2, "C": 1e-3}
    monkeypatch.setattr("adrem.machines.plan.MEMORY_MARGIN", 100.0)  # overestimates the free memory
    stated = AdREM(**{**SMALL, **params}).fit_memory(data.X_source, data.y_source, X_target=data.X_target)
    gc.collect()  # frees memory of other tests
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    total, before = torch.cuda.mem_get_info()[1], torch.cuda.memory_allocated()
    expected = fitted(data, **params)
    assert torch.cuda.memory_allocated() <= before + WORKSPACE
    assert torch.cuda.max_memory_allocated() <= before + stated
    groups: list[int] = []
    train = Ensemble.train

    def noted(ensemble: Ensemble, group: Group, *args: Any) -> Any:
        groups.append(len(group.seeds))
        return train(ensemble, group, *args)

    monkeypatch.setattr(Ensemble, "train", noted)
    try:
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(0.7 * torch.cuda.max_memory_allocated() / total)
        model = fitted(data, **params)
        assert groups[0] == 20
        assert len(groups) > 1
        assert np.mean(model.transduction_ == expected.transduction_) > 0.95
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + 20 * 2**20) / total)
        with pytest.raises(MemoryError, match="device='cpu'"):
            fitted(data, **params)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


@needs_torch
def test_fit_memory_grows_with_n_estimators(blobs: DomainPair) -> None:
    small, large = (
        AdREM(device="torch-cpu", n_estimators=n).fit_memory(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
        for n in (1, 100)
    )
    assert 0 < small < large


def test_missing_torch_or_gpu_raises_before_fitting(blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.algorithm.estimator.fit_members", None)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch", None)
        with pytest.raises(ImportError, match=r'pip install "adrem\[gpu\]", or set device=.cpu.'):
            fitted(blobs, device="cuda")
    if has_torch():
        import torch

        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        with pytest.raises(ValueError, match=r"finds no GPU here\. Set device='cpu'"):
            fitted(blobs, device="cuda")


def test_torch_is_imported_only_on_request() -> None:
    script = (
        "import sys, numpy as np; from adrem import AdREM\n"
        "X = np.random.default_rng(0).standard_normal((20, 3)); y = np.arange(20) % 2\n"
        "for device in ('cpu', 'auto'):\n"
        "    model = AdREM(C=1.0, n_iter=1, device=device).fit(X, y, X_target=X + 1)\n"
        "    print(model.machine_.split(':')[0], 'torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["gram", "False", "gram", "False"]
