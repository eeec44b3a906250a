"""Alignment baselines, which work in coordinates of the rows' span, equal direct implementations on all features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh, null_space, sqrtm
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from adrem import AdREM
from adrem.baselines import CORAL, GFK, TCA, SubspaceAlignment, coral
from adrem.baselines.gfk import dimension_of_disagreement, root_of_kernel
from adrem.baselines.subspace_alignment import stable_dimension

Array = NDArray[np.float64]
rng = np.random.RandomState(0)
N_SOURCE, N_TARGET = 24, 18
Y = np.arange(N_SOURCE) % 3


def make_pair(n_features: int) -> tuple[Array, Array]:
    means = 2.0 * rng.standard_normal((3, n_features))
    spread = rng.uniform(0.5, 1.5, n_features)
    X_source = means[Y] + spread * rng.standard_normal((N_SOURCE, n_features))
    X_target = 0.5 + means[np.arange(N_TARGET) % 3] + spread[::-1] * rng.standard_normal((N_TARGET, n_features))
    return X_source, X_target


WIDE, NARROW = make_pair(60), make_pair(10)
NEW = rng.standard_normal((7, 60)), rng.standard_normal((7, 10))


def covariance(X: Array) -> Array:
    return np.asarray(np.cov(X.T) + np.eye(X.shape[1]))


def directions(X: Array, d: int) -> Array:
    return np.asarray(np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:d].T)


def coral_maps(X_source: Array, X_target: Array) -> tuple[Array, Array]:
    mapping = np.linalg.inv(sqrtm(covariance(X_source)).real) @ sqrtm(covariance(X_target)).real
    return mapping, np.eye(X_source.shape[1])


def subspace_maps(X_source: Array, X_target: Array) -> tuple[Array, Array]:
    own, other = directions(X_source, 4), directions(X_target, 4)
    return own @ own.T @ other, other


def gfk_maps(X_source: Array, X_target: Array) -> tuple[Array, Array]:
    """A square root of the geodesic flow kernel, which is integrated numerically."""
    own, other = directions(X_source, 4), directions(X_target, 4)
    kernel = integrate_geodesic(own, other)
    values, vectors = np.linalg.eigh(kernel)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return root, root


def integrate_geodesic(own: Array, other: Array) -> Array:
    rest = null_space(own.T)
    turned, cosines, vt = np.linalg.svd(own.T @ other)
    orthogonal = -(rest.T @ other @ vt.T)
    orthogonal /= np.linalg.norm(orthogonal, axis=0)
    angles = np.arccos(np.clip(cosines, 0.0, 1.0))
    points, weights = np.polynomial.legendre.leggauss(20)
    kernel = np.zeros((len(own), len(own)))
    for t, weight in zip((points + 1) / 2, weights / 2, strict=True):
        frame = (own @ turned) * np.cos(t * angles) - (rest @ orthogonal) * np.sin(t * angles)
        kernel += weight * frame @ frame.T
    return kernel


def tca_maps(X_source: Array, X_target: Array) -> tuple[Array, Array]:
    X = np.concatenate([X_source, X_target])
    n, K = len(X), X @ X.T
    v = np.concatenate([np.full(len(X_source), 1 / len(X_source)), np.full(len(X_target), -1 / len(X_target))])
    variance = K @ (np.eye(n) - 1 / n) @ K
    _, vectors = eigh(variance, K @ np.outer(v, v) @ K + 2.0 * np.eye(n))
    W = vectors[:, ::-1][:, :4]
    W = W / np.sqrt(np.einsum("ia,ij,ja->a", W, variance, W))
    return X.T @ W, X.T @ W


CASES = [
    (CORAL, {}, coral_maps),
    (SubspaceAlignment, {"n_components": 4}, subspace_maps),
    (GFK, {"n_components": 4}, gfk_maps),
    (TCA, {"n_components": 4, "mu": 2.0}, tca_maps),
]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize(("method", "params", "maps"), CASES)
def test_mapping_form_equals_the_formulas(method: Any, params: Any, maps: Any, wide: bool, make: Any) -> None:
    X_source, X_target = WIDE if wide else NARROW
    new = NEW[0] if wide else NEW[1]
    map_source, map_target = maps(X_source, X_target)
    direct = AdREM(C=0.1, tol=1e-8).fit(X_source @ map_source, Y)
    model = method(C=0.1, tol=1e-8, **params).fit(make(X_source), Y, X_target=make(X_target))
    for rows in (X_target, new):
        expected = rows @ map_target @ direct.coef_[0].T
        np.testing.assert_allclose(model.decision_function(make(rows)), expected, atol=1e-5)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("method", "params", "maps"), CASES)
def test_similarity_form_equals_direct_computation(method: Any, params: Any, maps: Any, make: Any) -> None:
    X_source, X_target = WIDE
    map_source, map_target = maps(X_source, X_target)
    A = map_source @ map_target.T
    machine = SVC(C=0.01, kernel="precomputed", tol=1e-8).fit(X_source @ A @ X_source.T, Y)
    model = method(C=0.01, form="similarity", **params).fit(make(X_source), Y, X_target=make(X_target))
    space, aligned, classifier, _ = model._comparison
    classifier.set_params(tol=1e-8).fit(aligned.source @ (space.map(make(X_source)) @ aligned.target_map).T, Y)
    for rows in (X_target, NEW[0]):
        expected = machine.decision_function(rows @ A.T @ X_source.T)
        np.testing.assert_allclose(model.decision_function(make(rows)), expected, atol=1e-5)
        np.testing.assert_array_equal(model.predict(make(rows)), machine.predict(rows @ A.T @ X_source.T))


@pytest.mark.parametrize(("method", "params", "maps"), CASES)
def test_nearest_form_equals_1_nn_on_mapped_rows(method: Any, params: Any, maps: Any) -> None:
    X_source, X_target = WIDE
    map_source, map_target = maps(X_source, X_target)
    direct = KNeighborsClassifier(1).fit(X_source @ map_source, Y).predict(X_target @ map_target)
    model = method(form="nearest", **params).fit(X_source, Y, X_target=X_target)
    np.testing.assert_array_equal(model.transduction_, direct)
    np.testing.assert_array_equal(model.predict_proba(X_target).argmax(axis=1), direct)


@pytest.mark.parametrize("form", ["mapping", "similarity"])
@pytest.mark.parametrize(("method", "wanted", "available"), [(SubspaceAlignment, 99, 10), (GFK, 9, 5), (TCA, 99, 10)])
def test_n_components_above_rank_is_clipped(method: Any, wanted: int, available: int, form: Any) -> None:
    X_source, X_target = NARROW
    with pytest.warns(UserWarning, match=rf"n_components={wanted}\): the rows span only {available}"):
        model = method(wanted, C=0.1, form=form).fit(X_source, Y, X_target=X_target)
    assert model.n_components_ <= available
    again = method(available, C=0.1, form=form).fit(X_source, Y, X_target=X_target)
    np.testing.assert_array_equal(model.transduction_, again.transduction_)


def test_geodesic_kernel_of_equal_subspaces_is_projection() -> None:
    own = directions(WIDE[0], 3)
    root = root_of_kernel(own, own)
    np.testing.assert_allclose(root @ root.T, own @ own.T, atol=1e-7)


def test_dimension_of_disagreement_finds_first_orthogonal_direction() -> None:
    basis = np.eye(8)
    both = basis[:, [0, 1, 2, 3]]
    assert dimension_of_disagreement(basis[:, [0, 1, 6, 7]], basis[:, [0, 1, 5, 4]], both, 4) == 3
    assert dimension_of_disagreement(both, both, both, 4) == 4


def test_stable_dimension_finds_last_wide_gap() -> None:
    rows = np.sqrt(100.0) * np.eye(5)  # squared norms of 100
    needed = (1 + np.sqrt(np.log(20.0) / 2)) * 16 * np.arange(1, 6) ** 1.5 * 100 / (1e6 * np.sqrt(5))
    gaps = needed * [2.0, 0.5, 1.01, 0.99, 0.5]
    assert stable_dimension(np.cumsum(gaps[::-1])[::-1], rows) == 3
    assert stable_dimension(np.cumsum(0.5 * needed[::-1])[::-1], rows) == 1


@pytest.mark.parametrize("method", [SubspaceAlignment, GFK])
def test_fit_rejects_domains_of_equal_rows(method: Any) -> None:
    X_source, X_target = NARROW
    for components in ({}, {"n_components": 2}):
        with pytest.raises(ValueError, match=r"rows of the target are equal: .* needs at least two different"):
            method(C=0.1, **components).fit(X_source, Y, X_target=X_target[:1])


def test_tca_handles_jointly_centred_tables() -> None:
    X = np.random.RandomState(0).standard_normal((800, 3))
    X -= X.mean(axis=0)
    model = TCA(2, C=0.1).fit(X[:400], X[:400, 0] > 0, X_target=X[400:])
    assert model.score(X[400:], X[400:, 0] > 0) > 0.8


def test_set_form_takes_effect_at_next_fit() -> None:
    X_source, X_target = NARROW
    model = CORAL(form="nearest").fit(X_source, Y, X_target=X_target)
    nearest = model.transduction_
    np.testing.assert_array_equal(model.set_params(form="mapping").predict(X_target), nearest)
    model.set_params(C=0.1).fit(X_source, Y, X_target=X_target)
    assert model._comparison is None


def test_tca_rejects_identical_rows() -> None:
    with pytest.raises(ValueError, match="TCA needs at least two different"):
        TCA(C=0.1).fit(np.ones((24, 3)), Y, X_target=np.ones((5, 3)))


@pytest.mark.parametrize(("pair", "new"), [(NARROW, NEW[1]), (WIDE, NEW[0])])
def test_coral_with_many_rows_uses_feature_covariance(
    pair: tuple[Array, Array], new: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_rows = CORAL(C=1.0, tol=1e-8).fit(pair[0], Y, X_target=pair[1]).decision_function(new)
    monkeypatch.setattr(coral, "MAX_GRAM_ROWS", 1)
    sides: list[int] = []

    def noted(matrix: Array) -> Any:
        sides.append(len(matrix))
        return eigh(matrix)

    monkeypatch.setattr(coral, "eigh", noted)
    by_features = CORAL(C=1.0, tol=1e-8).fit(pair[0], Y, X_target=pair[1]).decision_function(new)
    np.testing.assert_allclose(by_features, by_rows, rtol=1e-4, atol=1e-6)
    assert sides == ([10, 10] if pair is NARROW else [N_SOURCE, N_TARGET])
