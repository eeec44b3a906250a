from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from adrem.machines import make_machine
from adrem.machines.rows import shared_entries


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_row_features_are_folded_into_norm(dtype: type) -> None:
    table = sp.csr_array(np.array([[1, 0, 2, 0, 3], [0, 4, 5, 0, 6], [0, 0, 7, 8, 0]], dtype=dtype))
    entries = shared_entries(table)
    assert entries.n_features == 2
    np.testing.assert_array_equal(entries.unshared, [1, 16, 64])
    shared = sp.csr_array((entries.values, entries.indices, entries.indptr), shape=(3, 2)).toarray()
    np.testing.assert_array_equal(shared, [[2, 3], [5, 6], [7, 0]])  # ordered by frequency
    assert entries.values.dtype == dtype


def test_dense_rows_are_not_copied() -> None:
    rows = np.ones((3, 2), np.float32)
    entries = shared_entries(rows)
    assert entries.values is rows
    assert entries.n_features == 2
    np.testing.assert_array_equal(entries.unshared, 0.0)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_single_row_features_get_weights(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((40, 4)), np.diag(rng.standard_normal(40))])
    y, weights = np.arange(40) % 3, rng.integers(0, 3, 40).astype(np.float64)
    sparse, dense = (make_machine(table, 3, loss, path="rows", tol=1e-7) for table in (sp.csr_array(X), X))
    one, other = (machine.solve(y, weights, 0.5) for machine in (sparse, dense))
    np.testing.assert_allclose(sparse.scores(one), dense.scores(other), atol=1e-4)
    np.testing.assert_allclose(sparse.weights(one)[0], dense.weights(other)[0], atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_rows_path_supports_any_number_of_problems(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((100, 7)), np.ones(100)
    labels = np.stack([rng.permutation(np.arange(100) % n_classes) for _ in range(5)])
    machines = [make_machine(X, n_classes, "hinge", path=path, tol=1e-6) for path in ("rows", "gram")]
    assert machines[0].group_size == max(1, 16 // machines[0].n_problems)
    rows, gram = (machine.scores(machine.solve(labels, weights, 0.01)) for machine in machines)
    np.testing.assert_allclose(rows, gram, atol=1e-4)
