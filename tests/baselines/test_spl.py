from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from adrem import load, save
from adrem.baselines import SPL
from adrem.baselines.spl import clusters, match, most_confident, preserving_axes, principal_axes
from adrem.datasets import DomainPair

rng = np.random.RandomState(0)
ROWS, LABELS = rng.standard_normal((30, 6)), np.arange(30) % 3


@pytest.mark.parametrize("normalize", [False, True])
def test_projection_solves_the_written_out_eigenproblem(normalize: bool) -> None:
    same = (LABELS[:, None] == LABELS).astype(float)
    W = same / same.sum(axis=1) if normalize else same
    D = np.diag(W.sum(axis=1))
    left, right = ROWS.T @ D @ ROWS, ROWS.T @ (D - W) @ ROWS + np.eye(6)
    expected = eigh(left, right)[1][:, ::-1][:, :4]
    found = preserving_axes(ROWS, LABELS, np.ones(30), 4, normalize=normalize)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=1e-8)
    np.testing.assert_allclose(found.T @ right @ found, np.eye(4), atol=1e-10)


@pytest.mark.parametrize("normalize", [False, True])
def test_weights_of_the_projection_are_copies(normalize: bool) -> None:
    copies = 1 + np.arange(30) % 2
    found = preserving_axes(ROWS, LABELS, copies.astype(float), 3, normalize=normalize)
    repeated = (np.repeat(ROWS, copies, axis=0), np.repeat(LABELS, copies), np.ones(copies.sum()))
    np.testing.assert_allclose(np.abs(found), np.abs(preserving_axes(*repeated, 3, normalize=normalize)), rtol=1e-8)


def test_principal_axes_are_those_of_scikit_learn() -> None:
    found = principal_axes(ROWS - ROWS.mean(axis=0), np.ones(30), 4)
    np.testing.assert_allclose(np.abs(found), np.abs(PCA(4, svd_solver="full").fit(ROWS).components_), rtol=1e-8)


def test_clusters_are_matched_one_to_one_with_the_smallest_sum_of_distances() -> None:
    starts = np.array([[0.0], [1.0], [2.0]])
    # The nearest centre of the first two starts is the same.
    np.testing.assert_array_equal(match(np.array([[0.9], [5.0], [-3.0]]), starts), [2, 0, 1])


def test_clusters_are_those_of_scikit_learn_in_the_order_of_the_classes() -> None:
    means = 8 * np.eye(3)
    rows = np.concatenate([rng.standard_normal((20, 3)) + mean for mean in means])
    starts = means + rng.standard_normal((3, 3))
    expected = KMeans(3, init=starts, n_init=1, tol=0).fit(rows).cluster_centers_
    np.testing.assert_allclose(clusters(rows, starts), expected)


def test_a_cluster_without_rows_keeps_its_centre() -> None:
    starts = np.array([[0.0, 0.0], [9.0, 9.0]])
    np.testing.assert_array_equal(clusters(np.array([[1.0, 0.0], [0.0, 1.0]]), starts), [[0.5, 0.5], [9.0, 9.0]])
    np.testing.assert_array_equal(clusters(np.zeros((0, 2)), starts), starts)


def test_most_confident_rows_of_each_class_are_selected() -> None:
    shares = rng.dirichlet(np.ones(4), 50)
    labels, confidence = shares.argmax(axis=1), shares.max(axis=1)
    before = np.zeros(50, dtype=bool)
    for k in range(1, 11):
        selected = most_confident(shares, k, 10)
        assert np.all(selected[before])
        for label in range(4):
            own = labels == label
            assert selected[own].sum() == np.ceil(k * own.sum() / 10)
            assert confidence[own & selected].min() >= confidence[own & ~selected].max(initial=0.0)
        before = selected
    assert before.all()


def test_new_rows_get_the_labels_of_the_fit_after_loading(blobs: DomainPair, tmp_path: Path) -> None:
    model = SPL(n_principal=4, n_components=2, n_iter=3).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model")
    np.testing.assert_array_equal(copy.predict(blobs.X_target), model.transduction_)
    np.testing.assert_allclose(copy.predict_proba(blobs.X_target[:7]), model.predict_proba(blobs.X_target)[:7])
    assert copy.preserving_axes_.shape[1] == 2


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_features_may_outnumber_rows(make: Any, blobs: DomainPair) -> None:
    """Orthogonal directions without any content change nothing."""
    n_features = blobs.X_source.shape[1]
    basis = np.linalg.qr(rng.standard_normal((200, n_features)))[0].T
    few = SPL().fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    wide = SPL().fit(make(blobs.X_source @ basis), blobs.y_source, X_target=make(blobs.X_target @ basis))
    np.testing.assert_allclose(
        wide.predict_proba(make(blobs.X_target @ basis)), few.predict_proba(blobs.X_target), atol=1e-6
    )


def test_equal_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="at least two different rows"):
        SPL().fit(np.ones((4, 2)), [0, 1, 0, 1], X_target=np.ones((3, 2)))


def test_huge_weights_keep_the_eigenproblem_solvable(blobs: DomainPair) -> None:
    weights = np.full(len(blobs.y_source), 1e12)
    model = SPL().fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target, sample_weight=weights)
    assert np.mean(model.transduction_ == blobs.y_target) > 0.5
    with pytest.raises(ValueError, match="divide all weights"):
        SPL().fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target, sample_weight=1e188 * weights)
