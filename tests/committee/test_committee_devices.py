"""Tests of `Committee` on PyTorch's CPU, and on a GPU if present: it gives the labels of the CPU."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from problems import fitted

from adrem import Committee
from adrem.committee import seats, views
from adrem.datasets import DomainPair


def has_torch() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def has_gpu() -> bool:
    if not has_torch():
        return False
    import torch

    return bool(torch.cuda.is_available())


needs_torch = pytest.mark.skipif(not has_torch(), reason='PyTorch is not installed: pip install "adrem[gpu]"')
needs_gpu = pytest.mark.skipif(not has_gpu(), reason="needs a GPU")
SMALL: dict[str, Any] = {"n_estimators": 2, "n_iter": 3, "class_prior": "uniform", "random_state": 0, "tol": 0.01}


@needs_torch
@pytest.mark.parametrize("device", ["torch-cpu", pytest.param("cuda", marks=needs_gpu)])
def test_every_kind_gives_the_labels_of_the_cpu(
    blobs: DomainPair, device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "MAX_COMPONENTS", 4)
    data = blobs._replace(X_source=np.tile(blobs.X_source, 2), X_target=np.tile(blobs.X_target, 2))
    kinds = ("margin", "rbf", "rbf, unit rows", "discriminant", "discriminant, centered", "source")
    used: set[str] = set()
    train = seats._train

    def noted(kind: Any, task: Any, *rest: Any) -> Any:
        used.add(type(task.machine).__name__)
        return train(kind, task, *rest)

    monkeypatch.setattr(seats, "_train", noted)
    ours = fitted(Committee(kinds, device=device, **SMALL), data)
    assert used == {"TorchGramMachine", "TorchKernelMachine", "TorchDiscriminantMachine"}
    theirs = fitted(Committee(kinds, device="cpu", **SMALL), data)
    assert ours.kinds_ == theirs.kinds_
    assert np.mean(ours.transduction_ == theirs.transduction_) >= 0.95
    np.testing.assert_allclose(ours.home_accuracy_, theirs.home_accuracy_, atol=0.02)
    for found, expected in zip(ours.history_, theirs.history_, strict=True):
        assert (found["kind"], found["member"], found["n_drawn"]) == (
            expected["kind"],
            expected["member"],
            expected["n_drawn"],
        )
    np.testing.assert_array_equal(ours.predict(data.X_target), ours.transduction_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.1)


@needs_torch
@pytest.mark.thorough
@pytest.mark.parametrize("device", ["torch-cpu", pytest.param("cuda", marks=needs_gpu)])
def test_digits_have_the_labels_of_the_cpu(digits: DomainPair, device: Any) -> None:
    kinds = "auto" if device == "cuda" else ("log loss", "discriminant", "discriminant, centered", "source")
    ours, theirs = (fitted(Committee(kinds, random_state=0, device=d), digits) for d in (device, "cpu"))
    assert np.mean(ours.transduction_ == theirs.transduction_) > 0.98


def test_a_missing_gpu_is_an_error_before_any_work(blobs: DomainPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.committee.fitting.fit_committee", None)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch", None)
        with pytest.raises(ImportError, match=r'pip install "adrem\[gpu\]", or set device=.cpu.'):
            fitted(Committee(device="cuda"), blobs)
    if has_torch() and not has_gpu():
        with pytest.raises(ValueError, match=r"finds no GPU here\. Set device='cpu'"):
            fitted(Committee(device="cuda"), blobs)
