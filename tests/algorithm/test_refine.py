"""Tests of the parameter `refine`: further iterations on all rows never raise the balanced loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems import make_blobs_shift

from adrem import AdREM, load, save
from adrem.algorithm.refine import NO_CHANGE, RISING
from adrem.datasets import DomainPair, make_rotated_arcs


def fitted(data: DomainPair, **params: Any) -> AdREM:
    model = AdREM(C=0.1, random_state=0, n_iter=4, **params)
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("machine", ["gram", "rows"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_refinement_never_raises_the_balanced_loss(loss: str, machine: str, n_classes: int) -> None:
    data = make_blobs_shift(n_classes=n_classes)
    model = fitted(data, loss=loss, machine=machine, refine=30, tol=1e-4)
    assert len(model.termination_) == 11
    for member, reason in enumerate(model.termination_):
        steps = [entry for entry in model.history_ if entry["member"] == member and entry["iteration"] >= 4]
        losses = [entry["balanced_loss"] for entry in steps]
        assert losses == sorted(losses, reverse=True)
        assert reason in (NO_CHANGE, RISING, "refine=30 was reached")
        assert (steps[-1]["n_changed"] == 0 and len(steps) > 1) == (reason == NO_CHANGE)
        assert all(entry["n_drawn"] == len(data.X_target) for entry in steps[1:])


def test_refinement_continues_after_the_last_iteration() -> None:
    data = make_rotated_arcs(random_state=0)
    plain, refined = fitted(data), fitted(data, refine=50)
    assert plain.termination_ == ["all iterations were run"] * 11
    for member in range(11):
        own = [[e for e in model.history_ if e["member"] == member] for model in (plain, refined)]
        assert own[1][: len(own[0])] == own[0]
    assert np.mean(refined.transduction_ == data.y_target) >= np.mean(plain.transduction_ == data.y_target)


def test_refinement_stops_at_a_fixed_point() -> None:
    """More allowed steps do not change a model that has stopped at a fixed point."""
    data = make_blobs_shift()
    model = fitted(data, refine=50, tol=1e-4, n_estimators=1)
    [reason] = model.termination_
    again = fitted(data, refine=100, tol=1e-4, n_estimators=1)
    if reason == NO_CHANGE:
        np.testing.assert_array_equal(model.coef_, again.coef_)
    assert again.history_[: len(model.history_)] == model.history_


def test_refined_members_are_independent() -> None:
    data = make_blobs_shift()
    alone, many = fitted(data, refine=10, n_estimators=1), fitted(data, refine=10, n_estimators=5)
    np.testing.assert_array_equal(alone.coef_[0], many.coef_[0])
    np.testing.assert_array_equal(fitted(data, refine=10, n_jobs=2).coef_, fitted(data, refine=10).coef_)


def test_refined_path_and_termination_are_saved(tmp_path: Path) -> None:
    data = make_blobs_shift()
    model = fitted(data, refine=10, store_path=True)
    np.testing.assert_array_equal(model.coef_path_[:, -1], model.coef_)
    assert 5 <= model.coef_path_.shape[1] <= 15
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").termination_ == model.termination_


def test_fit_rejects_negative_refine() -> None:
    with pytest.raises(ValueError, match="refine"):
        fitted(make_blobs_shift(), refine=-1)
