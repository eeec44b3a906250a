"""Tests of kernels: they equal inner products in a feature space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from problems import make_blobs_shift
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from adrem import AdREM, save
from adrem.datasets import DomainPair
from adrem.diagnostics import diagnose
from adrem.machines import Kernel
from adrem.machines import similarities as _similarities
from adrem.machines.kernel import scale_of

Array = NDArray[np.float64]
TIGHT: dict[str, Any] = {"C": 1.0, "tol": 1e-6, "random_state": 0, "n_estimators": 2, "n_iter": 3}


def rings(seed: int = 0) -> DomainPair:
    """A disc inside a ring, which no line separates, and a shifted target."""
    rng = np.random.RandomState(seed)

    def draw(n: int, scale: float) -> tuple[Array, NDArray[np.intp]]:
        labels = np.arange(n) % 2
        radius = np.where(labels == 1, 2.0, 0.5) * scale + 0.2 * rng.normal(size=n)
        angle = rng.uniform(0, 2 * np.pi, n)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), labels

    return DomainPair(*draw(120, 1.0), *draw(100, 1.3))


def fitted(data: DomainPair, **params: Any) -> AdREM:
    return AdREM(**{**TIGHT, **params}).fit(data.X_source, data.y_source, X_target=data.X_target)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_kernel_equals_linear_model(loss: str, fit_intercept: bool, n_classes: int) -> None:
    data = make_blobs_shift(n_classes=n_classes)
    linear, kernel = (
        fitted(data, loss=loss, fit_intercept=fit_intercept, machine="gram", kernel=k)
        for k in ("linear", linear_kernel)
    )
    np.testing.assert_array_equal(linear.transduction_, kernel.transduction_)
    np.testing.assert_allclose(
        linear.decision_function(data.X_target), kernel.decision_function(data.X_target), atol=1e-3
    )
    assert not hasattr(kernel, "coef_")
    assert kernel.dual_coef_.shape == (2, 1 if n_classes == 2 else n_classes, 105)


def test_kernel_equals_explicit_feature_map() -> None:
    """Features whose inner products are the kernel values give the same classifier."""
    data = rings()
    rows = np.concatenate([data.X_source, data.X_target])
    values, vectors = np.linalg.eigh(rbf_kernel(rows, gamma=0.7))
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    by_features = fitted(data._replace(X_source=features[:120], X_target=features[120:]), machine="gram")
    by_kernel = fitted(data, kernel="rbf", gamma=0.7)
    np.testing.assert_array_equal(by_features.transduction_, by_kernel.transduction_)
    np.testing.assert_allclose(
        by_features.decision_function(features[120:]), by_kernel.decision_function(data.X_target), atol=1e-3
    )


def test_rbf_kernel_solves_rings() -> None:
    data = rings()
    scores = [np.mean(fitted(data, kernel=k).transduction_ == data.y_target) for k in ("linear", "rbf", "poly")]
    assert scores[0] < 0.7
    assert scores[1] > 0.95


def test_source_fit_is_close_to_svc() -> None:
    data = rings()
    ours = AdREM(**{**TIGHT, "kernel": "rbf", "fit_intercept": True}).fit(data.X_source, data.y_source)
    theirs = SVC(C=1.0, gamma="scale").fit(data.X_source, data.y_source)
    assert np.mean(ours.predict(data.X_target) == theirs.predict(data.X_target)) > 0.97


def test_gamma_equals_scikit_learn() -> None:
    rows = rings().X_source
    assert scale_of("scale", rows) == pytest.approx(SVC(gamma="scale").fit(rows, rings().y_source)._gamma)
    assert scale_of("scale", sp.csr_array(rows)) == pytest.approx(scale_of("scale", rows))
    assert scale_of("auto", rows) == 0.5
    assert scale_of(0.3, rows) == 0.3
    assert scale_of("scale", np.ones((3, 2))) == 1.0


def test_precomputed_kernel_equals_rbf_kernel() -> None:
    data = rings()
    rows = np.concatenate([data.X_source, data.X_target])
    wanted = fitted(data, kernel="rbf", gamma=0.7)
    gram = rbf_kernel(rows, gamma=0.7)
    given = fitted(data._replace(X_source=gram[:120], X_target=gram[120:]), kernel="precomputed")
    np.testing.assert_allclose(given.dual_coef_, wanted.dual_coef_, atol=1e-9)
    new = rings(1).X_target
    np.testing.assert_allclose(
        given.decision_function(rbf_kernel(new, rows, gamma=0.7)), wanted.decision_function(new), atol=1e-9
    )
    # Both domains in one table, with rows and columns shuffled.
    order = np.random.RandomState(0).permutation(len(rows))
    domain = np.repeat([1, -1], [120, 100])
    labels = np.concatenate([data.y_source, np.zeros(100, dtype=int)])
    stacked = AdREM(**{**TIGHT, "kernel": "precomputed"})
    stacked.fit(gram[np.ix_(order, order)], labels[order], sample_domain=domain[order])
    back = rbf_kernel(new, rows[order], gamma=0.7)
    assert np.mean(stacked.predict(back) == wanted.predict(new)) > 0.97
    targets = order[domain[order] < 0]
    np.testing.assert_array_equal(stacked.transduction_, stacked.predict(gram[np.ix_(targets, order)]))


def test_sparse_and_dense_kernels_agree() -> None:
    data = rings()
    sparse = data._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_matrix(data.X_target))
    dense_model, sparse_model = (fitted(d, kernel="rbf") for d in (data, sparse))
    np.testing.assert_array_equal(dense_model.transduction_, sparse_model.transduction_)
    np.testing.assert_array_equal(sparse_model.predict(data.X_target), dense_model.predict(data.X_target))


def test_invalid_kernels_are_rejected(tmp_path: Path) -> None:
    data = rings()
    with pytest.raises(ValueError, match="set machine='auto'"):
        fitted(data, kernel="rbf", machine="rows")
    with pytest.raises(ValueError, match="more than memory_limit"):
        fitted(data, kernel="rbf", memory_limit=1000)
    with pytest.raises(ValueError, match="a column for each of the 220 rows"):
        fitted(data, kernel="precomputed")
    with pytest.raises(ValueError, match="finite and symmetric"):
        fitted(data, kernel=lambda a, b: a @ np.array([[1.0, 2.0], [0.0, 1.0]]) @ b.T)
    with pytest.raises(ValueError, match="it has to return numbers of shape"):
        fitted(data, kernel=lambda a, _: a)
    with pytest.raises(ValueError, match="is negative"):
        fitted(data, kernel=lambda a, b: -polynomial_kernel(a, b))
    with pytest.raises(ValueError, match="kernel"):
        fitted(data, kernel="magic")
    with pytest.raises(TypeError, match="keeps the rows that it was fitted to, and can't be saved"):
        save(fitted(data, kernel="rbf"), tmp_path / "m")


def test_diagnose_supports_kernel_models() -> None:
    data = rings()
    model = fitted(data, kernel="rbf")
    found = diagnose(model, *data[:3])
    assert found.class_features == []
    gram = rbf_kernel(np.concatenate([data.X_source, data.X_target]))
    given = fitted(data._replace(X_source=gram[:120], X_target=gram[120:]), kernel="precomputed")
    with pytest.raises(ValueError, match="without the rows"):
        diagnose(given, gram[:120], data.y_source, gram[120:])


def test_refit_removes_kernel_attributes() -> None:
    data = rings()
    model = fitted(data, kernel="rbf", store_path=True)
    assert model.dual_coef_path_.shape == (2, 4, 1, 220)
    model.set_params(kernel="linear", store_path=False).fit(data.X_source, data.y_source, X_target=data.X_target)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "X_fit_")
    assert not hasattr(model, "dual_coef_path_")


def test_poly_kernel_equals_scikit_learn() -> None:
    rows = rings().X_source
    np.testing.assert_allclose(Kernel("poly", 0.5, 2, 1.0)(rows, rows), polynomial_kernel(rows, rows, 2, 0.5, 1.0))


@pytest.mark.parametrize(("place", "value"), [((90, 3), np.nan), ((3, 90), 5.0), ((99, 98), -2.0)])
def test_symmetry_check_covers_all_blocks(
    place: tuple[int, int], value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    gram = rbf_kernel(np.random.default_rng(0).normal(size=(100, 2)))
    monkeypatch.setattr(_similarities, "BLOCK", 32)
    assert _similarities._is_finite(gram)
    assert _similarities._is_symmetric(gram)
    gram[place] = value
    assert not (_similarities._is_finite(gram) and _similarities._is_symmetric(gram))
