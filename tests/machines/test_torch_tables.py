"""Tests of nearest rows and principal components, on PyTorch's CPU and on a GPU if present."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.random import RandomState

from adrem.algorithm.neighbors import nearest
from adrem.committee import views

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[gpu]"')
tables = pytest.importorskip("adrem.machines.torch.tables")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
devices = pytest.mark.parametrize("device", ["torch-cpu", pytest.param("cuda", marks=gpu)])


@devices
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearest_rows_are_those_of_the_host(device: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "CHUNK", 30)  # four blocks, the last one partial
    rows = (RandomState(0).normal(size=(100, 8)) + 3.0).astype(dtype)
    found, expected = nearest(rows, 5, device=device), nearest(rows, 5)
    assert found.dtype == np.intp
    np.testing.assert_array_equal(np.sort(found), np.sort(expected))


@devices
def test_a_row_is_not_its_own_neighbour(device: str) -> None:
    rows = np.concatenate([np.ones((6, 2)), -np.ones((6, 2))])
    near = nearest(rows, 3, device=device)
    assert not (near == np.arange(12)[:, None]).any()
    assert ((near < 6) == (np.arange(12) < 6)[:, None]).all()
    assert np.isfinite(nearest(np.ones((5, 2)), 2, device=device)).all()  # rows equal to their mean have no direction


@devices
def test_sparse_rows_and_parts_stay_on_the_host(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "nearest_rows", None)
    rows = RandomState(0).normal(size=(20, 4))
    part = np.array([3, 7])
    np.testing.assert_array_equal(nearest(rows, 3, part, device=device), nearest(rows, 3, part))
    np.testing.assert_array_equal(nearest(sp.csr_array(rows), 3, device=device), nearest(sp.csr_array(rows), 3))


@devices
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(80, 60), (40, 90)])
def test_components_span_the_leading_directions(device: str, dtype: Any, shape: tuple[int, int]) -> None:
    rng = RandomState(0)
    rows = (rng.normal(size=shape) * 0.8 ** np.arange(shape[1]) + 2.0).astype(dtype)
    found, basis = tables.principal_components(rows, 20, 0, device)
    assert found.dtype == basis.dtype == dtype
    np.testing.assert_allclose(basis.T @ basis, np.eye(20), atol=1e-4)
    np.testing.assert_allclose(found, rows @ basis, atol=1e-3)
    centered = rows - rows.mean(axis=0)
    values = np.linalg.svd(centered.astype(float))[1]
    np.testing.assert_allclose(np.linalg.norm(centered @ basis, axis=0), values[:20], rtol=0.02)
    same = tables.principal_components(rows, 20, 0, device)[1]
    np.testing.assert_allclose(np.abs(np.sum(basis * same, axis=0)), 1.0, atol=1e-4)


@devices
def test_components_of_a_committee_are_those_of_the_host(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MAX_COMPONENTS", 10)
    rng = RandomState(0)
    source, target = (rng.normal(size=(n, 50)) * 0.5 ** np.arange(50) for n in (60, 40))
    ours, theirs = (
        [np.asarray(own) for own in views.components(source, target, np.random.SeedSequence(0), where)]
        for where in (device, "cpu")
    )
    assert [own.shape for own in ours] == [own.shape for own in theirs] == [(60, 10), (40, 10), (50, 10)]
    cosines = np.linalg.svd(ours[2].T @ theirs[2])[1]  # of the angles between the spans
    np.testing.assert_allclose(cosines, 1.0, atol=1e-3)
