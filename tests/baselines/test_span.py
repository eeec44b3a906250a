"""Tests of `RowSpace`: coordinates preserve the inner products of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from adrem.baselines.span import RowSpace

SHAPES = st.tuples(st.integers(1, 12), st.integers(1, 20), st.integers(0, 2**16))


def make_rows(n_rows: int, n_features: int, seed: int) -> Any:
    """Rows that include duplicates, zero rows and linear combinations of others, on very different scales."""
    rng = np.random.RandomState(seed)
    rows = rng.standard_normal((n_rows, n_features)) * 10.0 ** rng.randint(-2, 3, n_features)
    rows[rng.uniform(size=rows.shape) < 0.4] = 0.0
    rows[n_rows // 2] = rows[0]
    rows[-1] = 0.5 * rows[0] - rows[n_rows // 3]
    return rows


@given(SHAPES)
def test_coordinates_preserve_inner_products(shape: tuple[int, int, int]) -> None:
    rows = make_rows(*shape)
    others = make_rows(5, shape[1], shape[2] + 1)
    size = max(1.0, float(np.abs(rows).max())) * max(1.0, float(np.abs(others).max()), float(np.abs(rows).max()))
    for table, new in ((rows, others), (sp.csr_array(rows), sp.csr_array(others))):
        space = RowSpace(table)
        assert space.coordinates.shape[1] <= max(1, min(shape[0], shape[1]))
        np.testing.assert_allclose(space.coordinates @ space.coordinates.T, rows @ rows.T, atol=1e-9 * size * shape[1])
        np.testing.assert_allclose(space.map(new) @ space.coordinates.T, others @ rows.T, atol=1e-6 * size * shape[1])


@given(SHAPES)
def test_lifted_weights_give_the_same_scores(shape: tuple[int, int, int]) -> None:
    rows = make_rows(*shape)
    for table in (rows, sp.csr_array(rows)):
        space = RowSpace(table)
        weights = np.random.RandomState(0).standard_normal((2, space.coordinates.shape[1]))
        lifted = space.lift(weights)
        assert lifted.shape == (2, shape[1])
        size = max(1.0, float(np.abs(rows).max()))
        np.testing.assert_allclose(rows @ lifted.T, space.coordinates @ weights.T, atol=1e-6 * size * shape[1])


def test_narrow_tables_are_used_unchanged() -> None:
    rows = make_rows(30, 4, 0)
    np.testing.assert_array_equal(RowSpace(rows).coordinates, rows)
    np.testing.assert_array_equal(RowSpace(sp.csr_array(rows)).coordinates, rows)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_zero_rows_have_zero_coordinates(make: Any) -> None:
    space = RowSpace(make(np.zeros((3, 8))))
    assert not space.coordinates.any()
    assert not space.map(make(np.ones((2, 8)))).any()
