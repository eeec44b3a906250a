from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from adrem import AdREM
from adrem.datasets import load_digits_shift


def test_digits_source_and_target_rows_are_disjoint() -> None:
    data = load_digits_shift()
    original, labels = load_digits(return_X_y=True)
    assert len(data.y_source) + len(data.y_target) == len(labels)
    rows = {tuple(row): i for i, row in enumerate(original / 16)}
    source = {rows[tuple(row)] for row in data.X_source}
    np.testing.assert_array_equal(np.sort(data.y_target), np.sort(np.delete(labels, sorted(source))), strict=False)
    clean = load_digits_shift(blur=1e-6, shear=0.0, noise=0.0)
    target = {rows[tuple(row)] for row in np.round(clean.X_target * 16) / 16}
    assert not source & target


def test_digits_pixels_are_in_range_and_seeded() -> None:
    one, same, other = load_digits_shift(), load_digits_shift(), load_digits_shift(random_state=1)
    assert one.X_target.min() == 0.0
    assert one.X_target.max() <= 1.0
    np.testing.assert_array_equal(one.X_target, same.X_target)
    np.testing.assert_array_equal(one.X_source, other.X_source)
    assert not np.array_equal(one.X_target, other.X_target)


def test_digits_shift_costs_ten_points_that_adapting_regains() -> None:
    data = load_digits_shift()
    linear = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, random_state=0, max_iter=100_000)
    at_home = cross_val_score(linear, data.X_source, data.y_source, cv=3).mean()
    abroad = linear.fit(data.X_source, data.y_source).score(data.X_target, data.y_target)
    assert at_home - abroad > 0.10
    model = AdREM(C=1.0, n_estimators=3, random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
    assert np.mean(model.transduction_ == data.y_target) > abroad + 0.10
