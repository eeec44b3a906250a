from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import mutual_info_classif

from adrem import AdREM
from adrem.baselines import SCL
from adrem.preprocessing.selection import mutual_information

rng = np.random.RandomState(0)
Y = np.arange(60) % 2


def words(n_features: int) -> tuple[Any, Any]:
    """Counts of words that depend on the class; some words occur in one domain only."""
    truth = np.concatenate([Y, np.arange(50) % 2])
    X = (rng.rand(110, n_features) < 0.3 + 0.3 * truth[:, None] * (np.arange(n_features) % 3 == 0)).astype(float)
    X[:60, -4:] = 0.0
    X[60:, -8:-4] = 0.0
    return X[:60], X[60:]


WIDE, NARROW = words(150), words(30)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("data", [WIDE, NARROW], ids=["wide", "narrow"])
def test_scl_equals_the_formulas(data: Any, make: Any) -> None:
    X_source, X_target = data
    model = SCL(n_pivots=6, min_count=5, n_components=4, ridge=0.5, scale=2.0, C=0.1, tol=1e-8)
    model.fit(make(X_source), Y, X_target=make(X_target))
    X = np.concatenate([X_source, X_target])
    masked = X.copy()
    masked[:, model.pivots_] = 0.0
    targets = (X > 0)[:, model.pivots_] - (X > 0)[:, model.pivots_].mean(axis=0)
    norm = np.mean((X**2).sum(axis=1))
    W = np.linalg.solve(masked.T @ masked + 0.5 * norm * np.eye(X.shape[1]), masked.T @ targets)
    theta = np.linalg.svd(W, full_matrices=False)[0][:, :4]
    theta *= 2.0 * np.sqrt(norm / np.mean(((masked @ theta) ** 2).sum(axis=1)))
    direct = AdREM(C=0.1, tol=1e-8).fit(np.hstack([X_source, X_source @ theta]), Y)
    expected = np.hstack([X_target, X_target @ theta]) @ direct.coef_[0].T
    np.testing.assert_allclose(model.decision_function(make(X_target)), expected[:, 0], atol=1e-5)


def test_pivots_are_frequent_in_both_domains_and_informative() -> None:
    X_source, X_target = NARROW
    model = SCL(n_pivots=5, min_count=5, C=0.1).fit(X_source, Y, X_target=X_target)
    frequent = np.minimum((X_source > 0).sum(axis=0), (X_target > 0).sum(axis=0)) >= 5
    assert np.all(frequent[model.pivots_])
    information = mutual_information(X_source > 0, Y, np.ones(60))
    least = information[model.pivots_].min()
    others = np.setdiff1d(np.flatnonzero(frequent), model.pivots_)
    assert np.all(information[others] <= least)
    # Half of the frequent features remain as predictors of the pivots.
    many = SCL(n_pivots=500, min_count=5, C=0.1).fit(X_source, Y, X_target=X_target)
    assert len(many.pivots_) == frequent.sum() // 2


def test_mutual_information_equals_scikit_learn() -> None:
    present = rng.rand(60, 8) < np.linspace(0.0, 1.0, 8)
    labels = rng.randint(0, 3, 60)
    expected = mutual_info_classif(present, labels, discrete_features=True)
    for table in (present, sp.csr_array(present)):
        np.testing.assert_allclose(mutual_information(table, labels, np.ones(60)), expected, atol=1e-12)


@pytest.mark.parametrize("case", ["rare", "always there", "nothing there"])
def test_scl_without_pivots_warns_and_equals_source(case: str) -> None:
    X_source, X_target = NARROW
    min_count = 1000 if case == "rare" else 1
    if case == "always there":
        X_source, X_target = X_source + 1.0, X_target + 1.0
    elif case == "nothing there":
        X_source, X_target = 0.0 * X_source, 0.0 * X_target
    with pytest.warns(UserWarning, match="SCL found no correspondence .* set a smaller min_count"):
        model = SCL(min_count=min_count, C=0.1).fit(X_source, Y, X_target=X_target)
    np.testing.assert_array_equal(model.coef_, AdREM(C=0.1).fit(X_source, Y).coef_)
