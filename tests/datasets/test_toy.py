from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adrem import AdREM
from adrem.datasets import DomainPair, make_imbalanced_arcs, make_rotated_arcs


def angles(X: Any) -> Any:
    return np.rad2deg(np.arctan2(X[:, 1], X[:, 0])) % 360


def test_arcs_equal_the_papers_description() -> None:
    data = make_rotated_arcs(4000, 4000, random_state=0)
    source, target = angles(data.X_source), angles(data.X_target)
    for label, first in ((1, 50), (0, 230)):
        spanned = source[data.y_source == label]
        assert spanned.min() == pytest.approx(first, abs=0.5)
        assert spanned.max() == pytest.approx(first + 80, abs=0.5)
    gap = source[data.y_source == 0].min() - target[data.y_target == 1].max()
    assert gap == pytest.approx(20, abs=0.5)
    np.testing.assert_array_equal(np.bincount(data.y_target), [2000, 2000])


@pytest.mark.parametrize("make", [make_rotated_arcs, make_imbalanced_arcs])
def test_random_state_fixes_the_points(make: Any) -> None:
    one, same, other = make(random_state=0), make(random_state=0), make(random_state=1)
    np.testing.assert_array_equal(one.X_target, same.X_target)
    assert not np.array_equal(one.X_target, other.X_target)
    state = str(np.random.get_state(legacy=False))  # noqa: NPY002 - must not change
    make()
    assert str(np.random.get_state(legacy=False)) == state  # noqa: NPY002


def test_minority_sets_the_class_share() -> None:
    assert make_imbalanced_arcs(10, 100, minority=0.1, random_state=0).y_target.sum() == 10
    with pytest.raises(ValueError, match="minority must lie between 0 and 1"):
        make_imbalanced_arcs(minority=1.0)


def run(data: DomainPair, sampling: Any, seed: int) -> tuple[float, float, float]:
    model = AdREM(C=0.003, n_estimators=1, class_prior=[0.5, 0.5], sampling=sampling, random_state=seed)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    last = model.history_[-1]
    return float(np.mean(model.transduction_ == data.y_target)), last["loss"], last["balanced_loss"]


@pytest.mark.parametrize("seed", range(5))
def test_random_sampling_lowers_loss_and_accuracy(seed: int) -> None:
    data = make_imbalanced_arcs(200, 200, random_state=seed)
    accuracy, loss, balanced_loss = run(data, "balanced", seed)
    other_accuracy, other_loss, other_balanced_loss = run(data, "random", seed)
    assert accuracy > other_accuracy + 0.05
    assert other_loss < loss
    assert other_balanced_loss > balanced_loss


@pytest.mark.parametrize("seed", range(5))
def test_rotated_arcs_raise_accuracy_and_lower_loss(seed: int) -> None:
    data = make_rotated_arcs(200, 200, random_state=seed)
    model = AdREM(n_estimators=1, random_state=seed).fit(data.X_source, data.y_source, X_target=data.X_target)
    assert np.mean(model.transduction_ == data.y_target) > 0.99
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
