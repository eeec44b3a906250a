"""Tests of several sources: their weights and the losses recorded for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from problems import make_blobs_shift

from adrem import AdREM, load, save
from adrem.baselines import SourceOnly


def tables() -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Two sources of 39 and 21 rows, named 3 and 7, and a target, in shuffled order."""
    data = make_blobs_shift()
    X = np.concatenate([data.X_source, data.X_target])
    y = np.concatenate([data.y_source, np.full(len(data.X_target), -1)])
    domain = np.concatenate([np.where(np.arange(60) % 9 < 3, 7, 3), np.full(len(data.X_target), -2)])
    order = np.random.RandomState(0).permutation(len(y))
    return X[order], y[order], domain[order]


def fitted(**params: Any) -> AdREM:
    X, y, domain = tables()
    settings = {"C": 0.1, "random_state": 0, "n_estimators": 3, "n_iter": 4, **params}
    return AdREM(**settings).fit(X, y, sample_domain=domain)


def test_sources_have_equal_total_weight_by_default() -> None:
    X, y, domain = tables()
    weights = np.where(domain == 7, 60 / 2 / 21, 60 / 2 / 39)
    by_hand = AdREM(C=0.1, random_state=0, n_estimators=3, n_iter=4, source_weight="rows")
    by_hand.fit(X, y, sample_domain=domain, sample_weight=weights)
    np.testing.assert_allclose(fitted().coef_, by_hand.coef_, rtol=1e-9, atol=1e-12)
    assert not np.allclose(fitted(source_weight="rows").coef_, by_hand.coef_)


def test_source_weight_is_ignored_for_one_source() -> None:
    X, y, domain = tables()
    one = np.where(domain > 0, 5, -1)
    models = [
        AdREM(C=0.1, random_state=0, source_weight=weight).fit(X, y, sample_domain=one) for weight in ("equal", "rows")
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert "source_losses" not in models[0].history_[0]
    assert not hasattr(models[0], "sources_")


def test_source_of_weight_zero_is_ignored() -> None:
    X, y, domain = tables()
    kept = domain != 7
    without = AdREM(C=0.1, random_state=0, n_estimators=3, n_iter=4, tol=1e-6)
    without.fit(X[kept], y[kept], sample_domain=domain[kept], sample_weight=np.full(kept.sum(), 60 / 39))
    model = fitted(source_weight={3: 1.0, 7: 0.0}, tol=1e-6)
    np.testing.assert_allclose(model.coef_, without.coef_, atol=1e-4)


def test_history_records_loss_per_source() -> None:
    model = fitted()
    np.testing.assert_array_equal(model.sources_, [3, 7])
    assert all(len(entry["source_losses"]) == 2 for entry in model.history_)
    # A source with more weight is fitted better.
    heavy, light = (fitted(source_weight={3: 1.0, 7: w}).history_[0]["source_losses"][1] for w in (100.0, 0.01))
    assert heavy < light


def test_source_attributes_are_saved(tmp_path: Path) -> None:
    model = fitted(source_weight={3: 1.0, 7: 2.0})
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.source_weight == {3: 1.0, 7: 2.0}
    np.testing.assert_array_equal(again.sources_, model.sources_)
    assert again.history_ == model.history_


def test_baselines_pool_all_sources() -> None:
    X, y, domain = tables()
    one, two = (SourceOnly(C=0.1).fit(X, y, sample_domain=d).coef_ for d in (domain, np.sign(domain)))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ({3: 1.0}, "give a weight for each source"),
        ({3: 1.0, 7: -1.0}, "at least 0"),
        ({3: 0.0, 7: 0.0}, "one of them above 0"),
        ("heavy", "source_weight"),
    ],
)
def test_fit_rejects_invalid_source_weight(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(source_weight=weight)


def test_fit_rejects_class_without_source_weight() -> None:
    X, y, domain = tables()
    y = np.where((domain == 3) & (y == 2), 1, y)  # only source 7 has class 2
    with pytest.raises(ValueError, match="leaves a class without weight"):
        AdREM(C=0.1, source_weight={3: 1.0, 7: 0.0}).fit(X, y, sample_domain=domain)
    with pytest.raises(ValueError, match="zero for all rows of a source"):
        AdREM(C=0.1).fit(X, np.minimum(y, 1), sample_domain=domain, sample_weight=np.where(domain == 7, 0.0, 1.0))
