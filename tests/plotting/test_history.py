"""Tests of `plot_history`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pictures import assert_legible, seen
from problems import fitted

from adrem import AdREM, Committee
from adrem.baselines import CORAL, DASVM, HardEM, SoftEM
from adrem.datasets import DomainPair
from adrem.plotting import plot_history

pytestmark = pytest.mark.usefixtures("clean_desk")


def heights(ax: Any) -> list[list[float]]:
    return [np.asarray(line.get_ydata()).tolist() for line in ax.lines]


def test_history_plot_has_member_and_mean_lines(digits_model: Any) -> None:
    ax: Any = plot_history(digits_model)
    *members, mean = heights(ax)
    entry = next(own for own in digits_model.history_ if own["member"] == 3 and own["iteration"] == 1)
    assert members[3][0] == pytest.approx(100 * entry["n_changed"] / len(digits_model.transduction_))
    assert (len(members), {len(own) for own in members}) == (11, {20})
    np.testing.assert_allclose(mean, np.mean(members, axis=0))
    assert ax.lines[-1].get_linewidth() > 2 * ax.lines[0].get_linewidth()
    # The mean line is also darker in greyscale.
    lightness = [seen(str(line.get_color()))[0] for line in (ax.lines[0], ax.lines[-1])]
    assert lightness[0] - lightness[1] > 15
    assert (
        ax.get_title(loc="left") == f"Labels changed: {mean[0]:.1f} % in iteration 1, {mean[-1]:.1f} % in iteration 20"
    )
    assert ax.get_xlabel() == "iteration"


def test_loss_plot_starts_at_source_classifier(digits_model: Any) -> None:
    ax: Any = plot_history(digits_model, what="loss")
    *members, mean = heights(ax)
    own = [entry["loss"] for entry in digits_model.history_ if entry["member"] == 0]
    np.testing.assert_allclose(members[0], own)
    assert ax.lines[0].get_xdata()[0] == 0
    assert (ax.get_ylabel(), len(mean)) == ("loss", 21)


def test_members_ending_early_keep_last_value(blobs: DomainPair) -> None:
    model = fitted(AdREM(C=1.0, n_estimators=7, n_iter=2, refine=20, random_state=1), blobs)
    lengths = {sum(entry["member"] == m for entry in model.history_) for m in range(7)}
    assert len(lengths) > 1
    *members, mean = heights(plot_history(model, what="balanced_loss"))
    assert mean[-1] == pytest.approx(np.mean([own[-1] for own in members]))
    *members, mean = heights(plot_history(model))
    assert mean[-1] == pytest.approx(sum(own[-1] for own in members if len(own) == len(mean)) / 7)


@pytest.mark.parametrize("model", [HardEM(C=0.1), SoftEM(C=0.1), DASVM(C=0.1), AdREM(C=0.1, n_estimators=1, n_iter=1)])
def test_single_classifier_has_one_line_without_legend(model: Any, blobs: DomainPair) -> None:
    ax: Any = plot_history(fitted(model, blobs))
    [course] = heights(ax)
    assert len(course) == len(model.history_) - 1
    n_labels = 45 * (3 if isinstance(model, DASVM) else 1)
    np.testing.assert_allclose(course, [100 * entry["n_changed"] / n_labels for entry in model.history_[1:]])
    assert ax.get_legend() is None
    assert_legible(ax)


def test_soft_em_plots_its_objective(blobs: DomainPair) -> None:
    model = fitted(SoftEM(C=0.1), blobs)
    assert plot_history(model, what="objective").get_ylabel() == "objective"
    with pytest.raises(ValueError, match=r"SoftEM does not record its loss: use what='changed' or what='objective'"):
        plot_history(model, what="loss")


def test_plot_history_rejects_unsupported_model_or_quantity(blobs: DomainPair) -> None:
    with pytest.raises(ValueError, match="CORAL has no iterations to show; use AdREM, or HardEM"):
        plot_history(fitted(CORAL(C=0.1), blobs))
    unknown: Any = "accuracy"
    with pytest.raises(ValueError, match=r"what must be one of 'changed', 'loss', .* got 'accuracy'"):
        plot_history(fitted(HardEM(C=0.1), blobs), what=unknown)


def test_history_plot_has_the_members_of_every_kind(blobs: DomainPair) -> None:
    model = fitted(Committee(["margin", "log loss", "source"], n_estimators=2, n_iter=3, random_state=0), blobs)
    *members, _ = heights(plot_history(model))
    assert [len(own) for own in members] == [3, 3, 3, 3]
