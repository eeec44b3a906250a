"""Tests of `plot_class_shares`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pictures import assert_legible
from problems import fitted

from adrem import AdREM
from adrem.baselines import CORAL
from adrem.datasets import DomainPair
from adrem.plotting import plot_class_shares

pytestmark = pytest.mark.usefixtures("clean_desk")

QUICK: dict[str, Any] = {"C": 0.1, "n_estimators": 3, "n_iter": 3, "random_state": 0}
SOURCE, LABELS, DRAWS = "source", "labels given to the target", "used in the draws"
INTERVAL = "90 % interval of the estimate"


def key(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def marks(ax: Any, name: str) -> Any:
    [line] = [line for line in ax.lines if line.get_label() == name]
    return line


def test_shares_equal_labels_source_and_prior(digits: DomainPair, digits_model: Any) -> None:
    ax: Any = plot_class_shares(digits_model, y_source=digits.y_source)
    for name, labels in ((SOURCE, digits.y_source), (LABELS, digits_model.transduction_)):
        np.testing.assert_allclose(marks(ax, name).get_xdata(), 100 * np.bincount(labels) / len(labels))
    np.testing.assert_allclose(marks(ax, DRAWS).get_xdata(), 100 * digits_model.class_prior_)
    [interval] = [own for own in ax.collections if own.get_label() == INTERVAL]
    ends = np.array([segment[:, 0] for segment in interval.get_segments()]).T
    np.testing.assert_allclose(ends, 100 * digits_model.class_prior_interval_)
    assert key(ax) == [SOURCE, LABELS, DRAWS, INTERVAL]
    assert -1 < ax.get_xlim()[0] < 0


def test_title_names_the_largest_change(digits: DomainPair, digits_model: Any) -> None:
    ax: Any = plot_class_shares(digits_model, y_source=digits.y_source)
    source, given = (np.bincount(own) / len(own) for own in (digits.y_source, digits_model.transduction_))
    k = int(np.abs(source - given).argmax())
    said = f"Largest change: class {k}, from {100 * source[k]:.1f} % to {100 * given[k]:.1f} %"
    assert ax.get_title(loc="left") == said
    alone = plot_class_shares(digits_model)
    assert (
        alone.get_title(loc="left") == f"Most common: class {given.argmax()}, {100 * given.max():.1f} % of the labels"
    )
    assert SOURCE not in key(alone)


def test_markers_differ_without_colour(digits: DomainPair, digits_model: Any) -> None:
    ax: Any = plot_class_shares(digits_model, y_source=digits.y_source)
    shapes = {(line.get_marker(), line.get_markerfacecolor() == "none") for line in ax.lines}
    assert shapes == {("o", True), ("o", False), ("|", False)}


def test_31_classes_are_legible() -> None:
    labels = np.array([f"thing number {k:02d} of the office" for k in np.arange(124) % 31])
    X_source, X_target = (np.eye(31)[np.arange(n) % 31] for n in (124, 100))
    ax: Any = plot_class_shares(AdREM(**QUICK).fit(X_source, labels, X_target=X_target), y_source=labels)
    assert_legible(ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()][:2] == ["thing numbe…f the office"] * 2
    assert key(ax) == [SOURCE, LABELS, DRAWS]


def test_two_classes_run_from_top_to_bottom(two_blobs: DomainPair) -> None:
    ax: Any = plot_class_shares(fitted(AdREM(**QUICK), two_blobs), y_source=two_blobs.y_source)
    assert_legible(ax)
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_baselines_show_no_draw_shares(blobs: DomainPair) -> None:
    assert key(plot_class_shares(fitted(CORAL(C=0.1), blobs), y_source=blobs.y_source)) == [SOURCE, LABELS]


def test_plot_class_shares_rejects_unknown_labels(blobs: DomainPair) -> None:
    model = fitted(AdREM(**QUICK), blobs)
    with pytest.raises(ValueError, match=r"has the labels \[-1, 7\], but the model has the classes \[0, 1, 2\]: pass"):
        plot_class_shares(model, y_source=[0, 1, 2, -1, 7])
    with pytest.raises(ValueError, match="y_source is empty, but the model has the classes"):
        plot_class_shares(model, y_source=[])
    with pytest.raises(ValueError, match=r"y_source has the shape \(1, 3\)"):
        plot_class_shares(model, y_source=[[0, 1, 2]])
