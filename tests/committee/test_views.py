"""Tests of the views: what a kind sees of the target rows of the fit is what it sees of new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.random import RandomState
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler, normalize

from adrem.committee import views

RNG = RandomState(0)
SOURCE, TARGET = RNG.normal(2.0, 3.0, (30, 4)), RNG.normal(-1.0, 1.0, (20, 4))
COUNTS = [RNG.poisson(0.7, (n, 6)).astype(float) for n in (30, 20)]
# Dense rows that a view changes are in single precision.
SINGLE = 1e-5
DENSE = (
    *(views.as_given, views.scaled, views.unit, views.scaled_unit, views.by_domain, views.by_domain_unit),
    *(views.centered_unit, views.active_unit, views.active_centered, views.of_unit_square),
)


@pytest.mark.parametrize("view", DENSE)
@pytest.mark.parametrize("make", [np.asarray, np.abs, lambda X: X.astype(np.float32)])
def test_view_of_the_target_is_what_it_makes_of_new_rows(view: Any, make: Any) -> None:
    seen = view(make(SOURCE), make(TARGET))
    np.testing.assert_allclose(seen.view.apply(make(TARGET)), seen.target, atol=1e-5)
    wanted = make(TARGET).dtype if view is views.as_given else np.float32
    assert seen.source.dtype == seen.target.dtype == seen.view.apply(make(TARGET)).dtype == wanted
    assert seen.source.shape == SOURCE.shape


@pytest.mark.parametrize("view", DENSE)
def test_view_needs_no_target(view: Any) -> None:
    for rows in (SOURCE, np.abs(SOURCE)):
        seen = view(rows, rows[:0])
        assert np.isfinite(seen.source).all()
        assert seen.target.shape == (0, 4)
        assert np.isfinite(seen.view.apply(TARGET)).all()


def test_scaled_equals_standard_scaler_of_both_domains() -> None:
    both = np.concatenate([SOURCE, TARGET])
    seen = views.scaled(SOURCE, TARGET)
    np.testing.assert_allclose(
        np.concatenate([seen.source, seen.target]), StandardScaler().fit_transform(both), rtol=SINGLE, atol=SINGLE
    )


def test_large_columns_keep_their_differences_in_single_precision() -> None:
    large = [1e9 + rows for rows in (SOURCE, TARGET)]
    for view in (views.scaled, views.by_domain):
        np.testing.assert_allclose(view(*large).source, view(SOURCE, TARGET).source, atol=1e-5)


def test_columns_of_unit_square_keep_their_zeros() -> None:
    for rows in (COUNTS, [sp.csr_array(own) for own in COUNTS]):
        seen = views.of_unit_square(*rows)
        both = np.concatenate([np.asarray(own.todense()) if sp.issparse(own) else own for own in seen[:2]])
        np.testing.assert_allclose((both**2).mean(axis=0), 1.0, rtol=SINGLE)
        np.testing.assert_array_equal(both == 0, np.concatenate(COUNTS) == 0)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e6, 1e6])
def test_constant_columns_become_zero(precision: Any, value: float) -> None:
    rows = np.full((30, 2), value, precision)
    seen = views.scaled(rows, rows)
    np.testing.assert_array_equal(seen.view.factor, 1.0)
    np.testing.assert_allclose(seen.source, 0.0, atol=1e-15)
    np.testing.assert_allclose(views.scaled_unit(rows, rows).source, 0.0, atol=1e-3)


def test_unit_rows_have_length_one() -> None:
    for view in (views.unit, views.scaled_unit, views.by_domain_unit):
        seen = view(SOURCE, TARGET)
        np.testing.assert_allclose(np.linalg.norm(np.concatenate([seen.source, seen.target]), axis=1), 1.0, rtol=SINGLE)
    np.testing.assert_allclose(views.unit(SOURCE, TARGET).target, normalize(TARGET), rtol=SINGLE)
    zero = views.unit(np.zeros((2, 4)), np.zeros((2, 4)))
    np.testing.assert_array_equal(zero.source, 0.0)


def test_active_columns_weigh_more() -> None:
    """Columns of one deviation, whose means differ, and one that is never active."""
    rows = np.abs(RNG.normal(1.0, 0.3, (200, 3))) + [0.0, 3.0, 0.0]
    rows[:, 2] = 0.0
    seen = views.active_unit(rows[:100], rows[100:])
    weights = seen.view.factor * rows.std(axis=0)
    mean, deviation = rows.mean(axis=0)[:2], rows.std(axis=0)[:2]
    np.testing.assert_allclose(weights[:2], (mean / deviation) ** views.ACTIVITY)
    assert weights[2] == 0.0
    np.testing.assert_allclose(np.linalg.norm(seen.source, axis=1), 1.0, rtol=SINGLE)
    centered = views.active_centered(rows[:100], rows[100:])
    np.testing.assert_allclose([part.mean(axis=0) for part in centered[:2]], 0.0, atol=SINGLE)


def test_by_domain_scales_each_domain_by_itself() -> None:
    seen = views.by_domain_unit(SOURCE, TARGET)
    for found, rows in ((seen.source, SOURCE), (seen.target, TARGET)):
        np.testing.assert_allclose(found, normalize(StandardScaler().fit_transform(rows)), atol=SINGLE)


def test_centered_domains_have_mean_zero() -> None:
    for source, target in ((SOURCE, TARGET), (np.abs(SOURCE), np.abs(TARGET))):
        seen = views.centered_unit(source, target)
        np.testing.assert_allclose(seen.source.mean(axis=0), 0.0, atol=SINGLE)
        np.testing.assert_allclose(seen.target.mean(axis=0), 0.0, atol=SINGLE)
        assert seen.view.root == (source is not SOURCE)
    np.testing.assert_allclose(seen.target + seen.view.center, normalize(np.sqrt(target)), rtol=SINGLE)
    assert np.isfinite(seen.view.apply(-target)).all()  # new rows may have negative values


@pytest.mark.parametrize("view", [views.as_given, views.unit, views.scaled, views.rare_words])
def test_sparse_rows_stay_sparse(view: Any) -> None:
    source, target = (sp.csr_array(rows) for rows in COUNTS)
    seen = view(source, target)
    assert sp.issparse(seen.source)
    assert seen.target.format == "csr"
    for found in (seen.view.apply(target).toarray(), seen.view.apply(COUNTS[1])):
        np.testing.assert_allclose(found, seen.target.toarray(), rtol=SINGLE)
    if view in (views.as_given, views.unit):
        np.testing.assert_allclose(view(*COUNTS).target, seen.target.toarray(), rtol=SINGLE)


def test_sparse_columns_are_scaled_by_their_deviation() -> None:
    seen = views.scaled(*(sp.csr_array(rows) for rows in COUNTS))
    assert seen.view.factor is not None
    np.testing.assert_allclose(seen.view.factor, 1.0 / np.concatenate(COUNTS).std(axis=0))
    assert seen.view.shift is None


def test_rare_words_equal_tf_idf_of_both_domains() -> None:
    source, target = (sp.csr_array(rows) for rows in COUNTS)
    seen = views.rare_words(source, target)
    both = np.concatenate(COUNTS)
    idf = TfidfTransformer().fit(both).idf_
    assert seen.view.factor is not None
    np.testing.assert_allclose(seen.view.factor, idf)
    np.testing.assert_allclose(seen.target.toarray(), normalize(np.sqrt(COUNTS[1]) * idf))
    signed = views.rare_words(source - target[:1].sum() * source, target)
    assert not signed.view.root


def test_view_leaves_rows_unchanged() -> None:
    for source, target in ((SOURCE, TARGET), tuple(COUNTS), tuple(sp.csr_array(rows) for rows in COUNTS)):
        kept = [rows.copy() for rows in (source, target)]
        for view in (views.rare_words, views.scaled) if sp.issparse(source) else DENSE:
            view(source, target).view.apply(target)
        for rows, before in zip((source, target), kept, strict=True):
            assert abs(rows - before).max() == 0


def test_few_columns_are_their_own_components() -> None:
    found = views.components(SOURCE, TARGET, np.random.SeedSequence(0))
    assert found.basis is None
    assert found.source is SOURCE
    directions = RNG.normal(size=(4, 2))
    assert found.lift(directions) is directions


def test_components_of_wide_rows_are_principal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MAX_COMPONENTS", 3)
    source, target = (RNG.normal(size=(n, 3)) @ RNG.normal(size=(3, 40)) for n in (30, 20))
    found = views.components(source, target, np.random.SeedSequence(0))
    assert found.basis is not None
    assert found.basis.shape == (40, 3)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(3), atol=1e-10)
    both = np.concatenate([source, target])
    np.testing.assert_allclose(found.target, target @ found.basis)
    reference = PCA(3).fit(both).components_
    overlap = np.linalg.svd(reference @ found.basis)[1]
    assert overlap[0] > 0.99
    directions = RNG.normal(size=(3, 2))
    np.testing.assert_allclose(target @ found.lift(directions), found.target @ directions, atol=1e-9)
