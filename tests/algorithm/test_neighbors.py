"""Tests of the parameter `neighbors`: scores of target rows are averaged with those of their nearest neighbors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from problems import make_blobs_shift
from sklearn.neighbors import NearestNeighbors

from adrem import AdREM, load, save
from adrem.algorithm import neighbors as _neighbors
from adrem.algorithm.neighbors import DEFAULT_NEIGHBORS, NEIGHBOR_WEIGHT, Mixing, nearest
from adrem.datasets import DomainPair


def fitted(data: DomainPair, **params: Any) -> AdREM:
    model = AdREM(**{"C": 0.1, "random_state": 0, "n_iter": 4, "n_estimators": 3, **params})
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


def noisy_signs(seed: int = 0) -> DomainPair:
    """Two linearly separable classes that neighbors do not reveal: one of a hundred features is informative."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(600, 100))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] *= 2.0
    return DomainPair(X[:300], y[:300], X[300:] + 0.1, y[300:])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_nearest_equals_scikit_learn_on_centred_rows(form: Any) -> None:
    rows = np.random.RandomState(0).normal(loc=3.0, size=(2100, 7))  # more rows than one block holds
    rows[rows < 2.0] = 0.0
    search = NearestNeighbors(n_neighbors=5, metric="cosine").fit(rows - rows.mean(axis=0))
    expected = np.sort(search.kneighbors(return_distance=False), axis=1)
    np.testing.assert_array_equal(np.sort(nearest(form(rows), 5), axis=1), expected)
    some = np.array([3, 2050])
    np.testing.assert_array_equal(np.sort(nearest(form(rows), 5, some), axis=1), expected[some])
    similarities = form(rows @ rows.T)
    np.testing.assert_array_equal(np.sort(nearest(similarities, 5, similarities=True), axis=1), expected)


def test_nearest_excludes_self_and_keeps_duplicates() -> None:
    rows = np.repeat([[1.0, 0.0], [0.0, 1.0], [-1.0, -2.0]], 2, axis=0)
    assert nearest(rows, 1)[:, 0].tolist() == [1, 0, 3, 2, 5, 4]


def test_mixing_averages_scores_with_neighbors() -> None:
    near: NDArray[np.intp] = np.array([[1, 2], [0, 2], [0, 1]])
    scores = np.array([[[1.0], [2.0], [6.0]]])
    expected = (1 - NEIGHBOR_WEIGHT) * scores[0, :, 0] + NEIGHBOR_WEIGHT * np.array([4.0, 3.5, 1.5])
    np.testing.assert_allclose(Mixing(near)(scores)[0, :, 0], expected)


def test_auto_uses_neighbors_only_if_informative() -> None:
    alike, noisy = make_blobs_shift(), noisy_signs()
    assert fitted(alike, neighbors="auto").neighbors_ == DEFAULT_NEIGHBORS
    np.testing.assert_array_equal(
        fitted(alike, neighbors="auto").coef_, fitted(alike, neighbors=DEFAULT_NEIGHBORS).coef_
    )
    refused, plain = fitted(noisy, neighbors="auto"), fitted(noisy)
    assert refused.neighbors_ == plain.neighbors_ == 0
    np.testing.assert_array_equal(refused.coef_, plain.coef_)


def test_auto_disables_neighbors_for_extreme_row_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_blobs_shift()
    with monkeypatch.context() as patch:
        patch.setattr("adrem.algorithm.fitting.MAX_TARGET_ROWS", len(data.X_target) - 1)
        assert fitted(data, neighbors="auto", n_estimators=1).neighbors_ == 0
        assert fitted(data, neighbors=3, n_estimators=1).neighbors_ == 3
    few = data._replace(X_target=data.X_target[:DEFAULT_NEIGHBORS], y_target=data.y_target[:DEFAULT_NEIGHBORS])
    assert fitted(few, neighbors="auto", n_estimators=1).neighbors_ == 0
    single = np.concatenate([np.flatnonzero(data.y_source != 0), np.flatnonzero(data.y_source == 0)[:2]])
    rare = data._replace(X_source=data.X_source[single], y_source=data.y_source[single])
    assert fitted(rare, neighbors="auto", n_estimators=1).neighbors_ == 0


def test_neighbors_do_not_lower_accuracy_between_clusters() -> None:
    """A long target cluster crosses the source's decision boundary; neighbors connect its far end to the right side."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 150)
    source = np.column_stack([np.where(y == 1, 2.0, -2.0), np.zeros(300)]) + 0.5 * rng.normal(size=(300, 2))
    along = rng.uniform(0, 4, 300)
    target = np.column_stack(
        [np.where(y == 1, 2.0 - along, -2.0 - 0.2 * along), np.where(y == 1, 4.0, -4.0) + along / 4]
    )
    target += 0.2 * rng.normal(size=target.shape)
    data = DomainPair(source, y, target, y)
    plain, leaning = (fitted(data, neighbors=k, n_iter=20) for k in (None, 10))
    accuracies = [np.mean(model.transduction_ == y) for model in (plain, leaning)]
    assert accuracies[1] >= accuracies[0]
    assert not np.array_equal(plain.coef_, leaning.coef_)


def test_predict_equals_transduction_with_neighbors(tmp_path: Path) -> None:
    data = make_blobs_shift()
    model = fitted(data, neighbors=7, refine=5)
    np.testing.assert_array_equal(model.predict(data.X_target), model.transduction_)
    np.testing.assert_array_equal(model.predict(data.X_target[:1]), model.transduction_[:1])
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").neighbors_ == 7


def test_dense_sparse_and_precomputed_input_agree() -> None:
    data = make_blobs_shift()
    dense = fitted(data, neighbors=5)
    sparse = data._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_array(data.X_target))
    np.testing.assert_array_equal(fitted(sparse, neighbors=5).transduction_, dense.transduction_)
    rows = np.concatenate([data.X_source, data.X_target])
    inner = rows @ rows.T
    n = len(data.X_source)
    by_inner = data._replace(X_source=inner[:n], X_target=inner[n:])
    found = fitted(by_inner, neighbors="auto", kernel="precomputed")
    assert found.neighbors_ == DEFAULT_NEIGHBORS
    np.testing.assert_array_equal(found.transduction_, dense.transduction_)


def test_fit_rejects_invalid_neighbors() -> None:
    data = make_blobs_shift()
    n = len(data.X_target)
    with pytest.raises(ValueError, match=f"neighbors={n} needs more than {n} target rows.*neighbors=None"):
        fitted(data, neighbors=n)
    for wrong in (0, -1, 2.5, "all", True):
        with pytest.raises(ValueError, match="neighbors"):
            fitted(data, neighbors=wrong)
    alone = AdREM(neighbors=n, C=0.1).fit(data.X_source, data.y_source)
    assert alone.neighbors_ == 0


def test_nearest_is_independent_of_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.RandomState(0).normal(size=(500, 4))
    expected = np.sort(nearest(rows, 3), axis=1)
    monkeypatch.setattr(_neighbors, "MAX_TARGET_ROWS", 5)  # blocks of ten rows
    np.testing.assert_array_equal(np.sort(nearest(rows, 3), axis=1), expected)
