from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from adrem.machines.tables import (
    Outline,
    add_bias,
    inverse_frequencies,
    mean_and_deviation,
    mean_squared_norm,
    squared_norms,
    stack,
)
from adrem.runtime.memory import bytes_of


def test_stack_copies_and_sums_duplicate_entries() -> None:
    dense = np.ones((3, 2))
    assert not np.shares_memory(stack([dense, dense[:0]]), dense)
    twice = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    stacked = stack([twice, twice])
    np.testing.assert_array_equal(stacked.toarray(), [[3.0, 0.0], [3.0, 0.0]])
    assert stacked.nnz == 2
    assert twice.nnz == 2
    assert stack([dense, sp.csr_array(dense)]).shape == (6, 2)


def test_stack_promotes_the_dtype() -> None:
    assert stack([np.ones((1, 2), np.float32), np.ones((1, 2))]).dtype == np.float64
    assert stack([np.ones((1, 2), np.float32)] * 2).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bias_and_norms_agree_for_dense_and_sparse(dtype: type) -> None:
    X: Any = np.arange(6, dtype=dtype).reshape(2, 3)
    for table in (X, sp.csr_array(X)):
        wide = add_bias(table)
        assert wide.dtype == dtype
        np.testing.assert_array_equal(sp.csr_array(wide).toarray(), [[0, 1, 2, 1], [3, 4, 5, 1]])
        np.testing.assert_allclose(squared_norms(table), [5.0, 50.0])


def test_add_bias_keeps_order_and_types() -> None:
    table = sp.csr_array(np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    wide = add_bias(table)
    expected = sp.csr_array(sp.hstack([table, np.ones((4, 1))], format="csr"))
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(wide, name), getattr(expected, name))
        assert getattr(wide, name).dtype == getattr(table, name).dtype
    assert table.shape == (4, 3)


def test_outline_equals_stacked_table() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(2, 4))
    for tables in ([one, one], [one, other], [sp.csr_array(one), sp.csr_array(one)]):
        outline, stacked = Outline.of(*tables), stack(tables)
        assert (outline.n_rows, outline.n_features) == stacked.shape
        assert outline.dtype == stacked.dtype
        assert outline.n_entries == (stacked.nnz if outline.is_sparse else stacked.size)
        assert abs(outline.n_bytes - bytes_of(stacked)) <= 8
        assert outline.entries == 4


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_mean_and_deviation_are_those_of_dense_rows_and_zero_for_constant_columns(form: Any) -> None:
    rows = np.random.default_rng(0).poisson(1.0, (30, 4)).astype(np.float32)
    rows[:, 2] = 0.0
    mean, deviation = mean_and_deviation(form(rows))
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(deviation, rows.std(axis=0), rtol=1e-6)
    assert deviation[2] == 0.0


def test_a_deviation_by_rounding_is_zero() -> None:
    assert mean_and_deviation(np.full((30, 1), 0.1, np.float32))[1].tolist() == [0.0]


def test_inverse_frequencies_are_those_of_scikit_learn_and_skip_stored_zeros() -> None:
    counts = sp.csr_array(np.random.default_rng(0).poisson(0.7, (30, 6)).astype(float))
    counts.data[0] = 0.0
    expected = TfidfTransformer().fit(sp.csr_array(counts.toarray())).idf_
    np.testing.assert_allclose(inverse_frequencies(counts), expected)


def test_rows_of_zeros_have_a_scale() -> None:
    assert mean_squared_norm(np.zeros((3, 2))) == 1.0
    assert mean_squared_norm(np.array([[3.0, 4.0], [0.0, 0.0]])) == 12.5
