"""Tests of the class shares: a change of the shares alone is recognized, and another change is not."""

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
    return estimate_shares(held_out, of_target, domains, SEED)


@pytest.mark.parametrize("shares", [[0.85, 0.15], [0.1, 0.2, 0.7]])
def test_changed_shares_explain_the_difference(shares: Any) -> None:
    found = estimated(make_domains(shares))
    assert found.explains
    np.testing.assert_allclose(found.shares, shares, atol=0.06)
    np.testing.assert_allclose(found.shares.sum(), 1.0)
    assert 0.4 < found.area_weighted < 0.56 < found.area


def test_moved_rows_are_not_explained() -> None:
    assert not estimated(make_domains([0.5, 0.5], move=1.0)).explains
    assert not estimated(make_domains([0.8, 0.2], move=2.0)).explains


def test_equal_domains_have_nothing_to_explain() -> None:
    found = estimated(make_domains([0.5, 0.5]))
    assert not found.explains
    assert found.area < 0.56
    np.testing.assert_allclose(found.shares, 0.5, atol=0.06)


def test_weights_of_the_source_count() -> None:
    """Row weights that make the source's classes unequal are undone by the comparison with equal shares."""
    domains = make_domains([0.5, 0.5])
    domains = domains._replace(weights=np.where(domains.labels == 0, 1.0, 0.1))
    found = estimated(domains)
    assert found.area < 0.57
    assert not found.explains


def test_estimate_is_deterministic() -> None:
    domains = make_domains([0.85, 0.15], n=60)
    one, other = estimated(domains), estimated(domains)
    np.testing.assert_array_equal(one.shares, other.shares)
    assert one[1:] == other[1:]


def test_constant_columns_are_no_difference() -> None:
    domains = make_domains([0.5, 0.5], n=90)
    same = domains._replace(X_source=np.ones((90, 2)), X_target=np.ones((90, 2)))
    found = estimate_shares(np.full((90, 2), 0.5), np.full((90, 2), 0.5), same, SEED)
    assert found.area == found.area_weighted == 0.5
    assert not found.explains


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
