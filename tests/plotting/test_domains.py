"""Tests of `plot_domains`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib import pyplot as plt
from pictures import assert_legible, look_of, make_rings, words

from adrem.datasets import DomainPair, make_rotated_arcs
from adrem.plotting import plot_domains
from adrem.plotting.style import MARKS, PALE, SOURCE, TARGET

pytestmark = pytest.mark.usefixtures("clean_desk")


@pytest.fixture
def arcs() -> DomainPair:
    return make_rotated_arcs(60, 60, rotation=50, random_state=0)


def key(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def looks(ax: Any) -> set[tuple[Any, ...]]:
    """The distinct markers of the plotted rows, without colour."""
    return {look_of(own)[1] for own in ax.collections if own.get_zorder() < 5}


def n_points(ax: Any) -> int:
    return sum(len(own.get_offsets()) for own in ax.collections if own.get_zorder() < 5)


def test_ten_classes_have_twenty_marks_and_ten_names() -> None:
    rings = make_rings()
    ax: Any = plot_domains(rings.X_source, rings.X_target, y_source=rings.y_source, labels=rings.y_target)
    assert len(looks(ax)) == 20
    assert [text.get_text() for text in ax.texts] == list("0123456789")


def test_two_features_are_plotted_unchanged(arcs: DomainPair) -> None:
    frames = [pd.DataFrame(X, columns=["height", "width"]) for X in (arcs.X_source, arcs.X_target)]
    ax: Any = plot_domains(*frames)
    target, source = (np.asarray(own.get_offsets()) for own in ax.collections)
    np.testing.assert_array_equal(source, arcs.X_source)
    np.testing.assert_array_equal(target, arcs.X_target)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "width")
    assert key(ax) == ["source, 60 rows", "target, 60 rows"]
    assert len(looks(ax)) == 2
    assert [line.get_color() for line in ax.get_legend().get_lines()] == [SOURCE, TARGET]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_more_features_are_projected_to_a_map(form: Any, blobs: DomainPair) -> None:
    figure, ax = plt.subplots(layout="constrained")
    drawn = plot_domains(
        form(blobs.X_source), form(blobs.X_target), y_source=blobs.y_source, labels=blobs.y_target, ax=ax
    )
    assert drawn is ax
    assert plt.get_fignums() == [figure.number]
    assert n_points(ax) == 105
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    assert ax.get_title(loc="left") == "Rows that lie close together are alike"
    assert (len(ax.get_xticks()), ax.get_aspect()) == (0, 1.0)
    assert_legible(ax)


def test_sparse_rows_of_two_features_are_plotted(arcs: DomainPair) -> None:
    ax: Any = plot_domains(sp.csr_array(arcs.X_source), sp.csr_array(arcs.X_target))
    np.testing.assert_array_equal(np.asarray(ax.collections[1].get_offsets()), arcs.X_source)


def test_class_names_are_placed_at_own_rows(blobs: DomainPair) -> None:
    ax: Any = plot_domains(blobs.X_source[:, :2], blobs.X_target[:, :2], y_source=blobs.y_source, labels=blobs.y_target)
    places = [np.array(text.xy) for text in ax.texts]
    for label, place in enumerate(places):
        own = [X[y == label, :2] for X, y in ((blobs.X_source, blobs.y_source), (blobs.X_target, blobs.y_target))]
        assert (np.concatenate(own) == place).all(axis=1).any()


def test_long_overlapping_class_names_are_legible() -> None:
    X = np.random.RandomState(0).standard_normal((300, 2))
    y = np.array([f"a class numbered {k}" for k in np.arange(300) % 10])
    assert_legible(plot_domains(X, X + 0.1, y_source=y, labels=y))


def test_class_names_stay_inside_the_axes() -> None:
    y = np.repeat(["on the left side", "on the right side"], 20)
    X = np.random.RandomState(0).standard_normal((40, 2)) + np.repeat([[0.0, 0.0], [40.0, 0.0]], 20, axis=0)
    ax: Any = plot_domains(X, X + 0.1, y_source=y, labels=y)
    words(ax)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert all(ax.bbox.x0 < box.x0 < box.x1 < ax.bbox.x1 for box in boxes)
    assert boxes[0].x1 < boxes[1].x0


def test_rows_without_labels_are_pale(arcs: DomainPair) -> None:
    ax: Any = plot_domains(arcs.X_source, arcs.X_target, y_source=arcs.y_source)
    assert key(ax) == ["source, 60 rows", "target, 60 rows, no label"]
    assert ax.get_legend().get_lines()[-1].get_color() == PALE
    assert (n_points(ax), len(looks(ax))) == (120, 3)
    assert_legible(ax)


def test_partly_labelled_rows_are_plotted(arcs: DomainPair) -> None:
    labels = np.where(np.arange(60) < 20, None, np.array(["no", "yes"], dtype=object)[arcs.y_target])
    ax: Any = plot_domains(arcs.X_source, arcs.X_target, labels=labels)
    assert [text.get_text() for text in ax.texts] == ["no", "yes"]
    assert key(ax)[-1] == "no label"
    assert sum(len(own.get_offsets()) for own in ax.collections if own.get_sizes()[0] == 1.5 * 24) == 60 + 20
    ax = plot_domains(arcs.X_source, arcs.X_target, labels=np.full(60, np.nan))
    assert (len(ax.texts), key(ax)[-1], n_points(ax)) == (0, "target, 60 rows, no label", 120)


def test_most_common_classes_get_marks() -> None:
    rng = np.random.RandomState(0)
    y = np.repeat([f"class {k:02d}" for k in range(31)], np.r_[np.full(21, 2), np.full(10, 4)])
    X = rng.standard_normal((len(y), 2))
    ax: Any = plot_domains(X, X + 0.1, y_source=y, labels=y)
    assert [text.get_text() for text in ax.texts] == [f"class {k}" for k in range(21, 31)]
    assert key(ax)[-1] == "21 more classes"
    assert len(looks(ax)) == 2 * len(MARKS) + 2


def test_large_tables_are_subsampled_by_seed() -> None:
    X = np.random.RandomState(0).standard_normal((500, 2))
    draws = [np.asarray(plot_domains(X, X[:9], random_state=seed).collections[1].get_offsets()) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert key(plot_domains(X, X[:9])) == ["source, 400 of 500 rows", "target, 9 rows"]


def test_plot_domains_rejects_unusable_rows(blobs: DomainPair) -> None:
    X_source, y_source, X_target, _ = blobs
    with pytest.raises(ValueError, match="A map needs 8 rows, but there are 6"):
        plot_domains(X_source[:3], X_target[:3])
    with pytest.raises(ValueError, match="All rows are equal up to their length"):
        plot_domains(np.ones((5, 3)), 2 * np.ones((5, 3)))
    with pytest.raises(ValueError, match="X_target has 4 features, X has 5"):
        plot_domains(X_source, X_target[:, :4])
    with pytest.raises(ValueError, match="X_target has values as large as"):
        plot_domains(X_source, 1e200 * X_target)
    with pytest.raises(ValueError, match=r"shape \(60,\), but there are 45 rows: pass one label per row"):
        plot_domains(X_source, X_target, labels=y_source)
    assert plt.get_fignums() == []
