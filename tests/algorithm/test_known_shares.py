"""Class shares that are estimated, with labels of the target that are known."""

from __future__ import annotations

import numpy as np
import pytest
from problems import make_blobs_shift

from adrem import AdREM
from adrem.algorithm.known_shares import WORTH, with_known
from adrem.base.known import beside_source
from adrem.base.validation import read_domains


def test_estimate_counts_as_some_labels() -> None:
    data = make_blobs_shift()
    known = [0] * 6 + [1] * 4 + [None] * 35
    domains = beside_source(read_domains(AdREM(), *data[:2], X_target=data.X_target, y_target=known))
    shares = np.array([0.2, 0.3, 0.5])
    found = with_known(shares, domains)
    np.testing.assert_allclose(found, (WORTH * shares + [6, 4, 0]) / (WORTH + 10))
    assert with_known(shares, domains._replace(n_known=0)) is shares


def test_known_labels_bring_estimated_shares_nearer_to_the_true_ones() -> None:
    data = make_blobs_shift(n_source=90, n_target=300)
    kept = np.flatnonzero((data.y_target != 2) | (np.arange(300) % 10 == 2))
    X_target, y_target = data.X_target[kept], data.y_target[kept]
    rows = np.random.default_rng(0).permutation(len(kept))[:60]
    known = np.full(len(kept), np.nan)
    known[rows] = y_target[rows]
    true = np.bincount(y_target[np.isnan(known)], minlength=3) / np.count_nonzero(np.isnan(known))
    model = AdREM(C=0.1, n_estimators=1, n_iter=5, class_prior="estimate", random_state=0)
    without = model.fit(data.X_source, data.y_source, X_target=X_target).class_prior_
    found = model.fit(data.X_source, data.y_source, X_target=X_target, y_target=known).class_prior_
    assert np.abs(found - true).sum() < np.abs(without - true).sum()
    assert found.sum() == pytest.approx(1.0)
    assert (model.class_prior_interval_[0] <= found).all()
