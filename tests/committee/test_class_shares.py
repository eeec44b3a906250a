"""Tests of the class shares and of what explains a shift: shares alone, means and scales alone, or neither."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.random import RandomState
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from adrem.base.validation import Domains
from adrem.committee.shares import estimate_shares, is_estimable
from adrem.committee.shift import Difference, compare_domains

SEED = np.random.SeedSequence(0)


def make_domains(target_shares: Any, move: float = 0.0, n: int = 500, seed: int = 0) -> Domains:
    """Classes in a row, equally common in the source; the target is moved away from that row."""
    rng = RandomState(seed)
    n_classes = len(target_shares)
    y_source = np.arange(n) % n_classes
    y_target = np.repeat(np.arange(n_classes), np.rint(n * np.asarray(target_shares)).astype(int))
    X_source, X_target = (rng.normal(size=(len(y), 3)) + 2.5 * np.eye(3)[0] * y[:, None] for y in (y_source, y_target))
    return Domains(X_source, y_source, np.ones(n), X_target + move, np.arange(n_classes))


def estimated(domains: Domains) -> Any:
    model = LogisticRegression(max_iter=500)
    held_out = cross_val_predict(model, domains.X_source, domains.labels, cv=3, method="predict_proba")
    of_target = model.fit(domains.X_source, domains.labels).predict_proba(domains.X_target)
    return estimate_shares(held_out, of_target, domains)


def compared(domains: Domains) -> Difference:
    return compare_domains(domains, estimated(domains), SEED)


@pytest.mark.parametrize("shares", [[0.85, 0.15], [0.1, 0.2, 0.7]])
def test_changed_shares_explain_the_difference(shares: Any) -> None:
    domains = make_domains(shares)
    found = estimated(domains)
    np.testing.assert_allclose(found, shares, atol=0.06)
    np.testing.assert_allclose(found.sum(), 1.0)
    difference = compared(domains)
    assert difference.is_of_shares
    assert not difference.is_of_scales
    assert difference.with_shares < 0.1 * difference.before


def test_changed_means_and_scales_explain_the_difference() -> None:
    domains = make_domains([0.5, 0.5])
    moved = domains._replace(X_target=domains.X_target * [2.0, 0.5, 1.0] + [1.0, -3.0, 2.0])
    difference = compared(moved)
    assert difference.is_of_scales
    assert not difference.is_of_shares


def test_other_changes_are_explained_by_neither() -> None:
    assert not compared(make_domains([0.8, 0.2], move=2.0)).is_of_shares
    bent = make_domains([0.5, 0.5])
    difference = compared(bent._replace(X_target=bent.X_target**2))
    assert not difference.is_of_shares
    assert not difference.is_of_scales


@pytest.mark.parametrize("n", [60, 500])
def test_equal_domains_have_nothing_to_explain(n: int) -> None:
    difference = compared(make_domains([0.5, 0.5], n=n))
    assert abs(difference.before) < 4 * difference.noise
    assert not difference.is_of_shares
    assert not difference.is_of_scales


def test_weights_of_the_source_count() -> None:
    """Row weights that make the source's classes unequal are undone by the comparison with equal shares."""
    domains = make_domains([0.5, 0.5])
    domains = domains._replace(weights=np.where(domains.labels == 0, 1.0, 0.1))
    difference = compared(domains)
    assert abs(difference.before) < 4 * difference.noise
    assert not difference.is_of_shares


def test_comparison_is_deterministic() -> None:
    domains = make_domains([0.85, 0.15], n=60)
    assert compared(domains) == compared(domains)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_constant_columns_are_no_difference(precision: Any) -> None:
    domains = make_domains([0.5, 0.5], n=90)
    same = domains._replace(X_source=np.ones((90, 2), precision), X_target=np.ones((90, 2), precision))
    difference = compare_domains(same, np.full(2, 0.5), SEED)
    assert difference.before == pytest.approx(0.0, abs=1e-12)
    assert not difference.is_of_shares
    assert not difference.is_of_scales


def test_shares_are_estimated_where_there_are_enough_rows_and_few_columns() -> None:
    domains = make_domains([0.5, 0.5], n=40)
    assert is_estimable(domains)
    assert not is_estimable(domains._replace(X_target=domains.X_target[:19]))
    assert not is_estimable(domains._replace(labels=np.where(np.arange(40) < 9, 1, 0)))
    assert not is_estimable(domains._replace(weights=np.where(np.arange(40) < 25, 0.0, 1.0)))
    wide = domains._replace(X_source=np.ones((40, 300)), X_target=np.ones((40, 300)))
    assert not is_estimable(wide)
    sparse = domains._replace(X_source=sp.csr_array(domains.X_source), X_target=sp.csr_array(domains.X_target))
    assert not is_estimable(sparse)
