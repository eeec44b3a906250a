"""Tests of the plot style: colours for colour-blind readers, axes handling and argument checks."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from pictures import APART, EYES, contrast_on_white, seen
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from adrem import AdREM, plotting
from adrem.datasets import DomainPair
from adrem.plotting import style

pytestmark = pytest.mark.usefixtures("clean_desk")

OF_A_MODEL = (plotting.plot_history, plotting.plot_votes, plotting.plot_class_shares)
FAR_APART = 50.0


@pytest.mark.parametrize("eyes", EYES)
def test_class_colours_are_distinguishable(eyes: str) -> None:
    distances = {
        pair: float(np.linalg.norm(seen(pair[0], eyes) - seen(pair[1], eyes)))
        for pair in combinations(style.COLOURS, 2)
    }
    assert min(distances.values()) > APART, min(distances, key=lambda pair: distances[pair])


@pytest.mark.parametrize("eyes", EYES)
def test_domain_colours_are_far_apart(eyes: str) -> None:
    assert np.linalg.norm(seen(style.SOURCE, eyes) - seen(style.TARGET, eyes)) > FAR_APART


def test_colour_blindness_simulation_confuses_red_and_green() -> None:
    """Red and dark green differ in normal vision and not in deuteranopia."""
    red, green = "#b00000", "#4a5a00"
    assert np.linalg.norm(seen(red) - seen(green)) > FAR_APART
    assert np.linalg.norm(seen(red, "deuteranopia") - seen(green, "deuteranopia")) < APART
    for eyes in EYES:  # white stays white
        np.testing.assert_allclose(seen("white", eyes), [100, 0, 0], atol=0.5)


def test_marks_and_text_contrast_with_white() -> None:
    assert min(contrast_on_white(colour) for colour in (*style.COLOURS, style.PALE)) > 2.2
    assert min(contrast_on_white(colour) for colour in (style.INK, style.FAINT)) > 4.5
    assert contrast_on_white("white") == pytest.approx(1.0)
    assert contrast_on_white("black") == pytest.approx(21.0)


def test_every_class_has_its_own_marker_and_colour() -> None:
    assert len(set(style.MARKS)) == len(style.MARKS) == len(style.COLOURS) == len(set(style.COLOURS))


@pytest.mark.parametrize("plot", OF_A_MODEL)
def test_plot_uses_and_returns_given_axes(plot: Any, digits_model: Any) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert plot(digits_model, ax=right) is right
    assert (left.has_data(), right.has_data()) == (False, True)
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("plot", OF_A_MODEL)
def test_plot_without_axes_makes_unshown_figure(plot: Any, digits_model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("shown"))
    assert plot(digits_model).get_figure().number in plt.get_fignums()


@pytest.mark.parametrize("plot", OF_A_MODEL)
def test_plot_rejects_unsupported_models(plot: Any, two_blobs: DomainPair) -> None:
    source_only = AdREM(C=1.0).fit(two_blobs.X_source, two_blobs.y_source)
    with pytest.raises(TypeError, match=r"Pipeline is not a model of adrem: give .*; of a pipeline its last step"):
        plot(make_pipeline(source_only))
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        plot(AdREM())
    with pytest.raises(ValueError, match=r"fitted without a target.*: pass X_target to fit"):
        plot(source_only)
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, got ndarray"):
        plot(source_only, ax=np.array([None, None]))
    assert plt.get_fignums() == []


def test_missing_matplotlib_raises_install_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for plot in OF_A_MODEL:
        with pytest.raises(ImportError, match=r'pip install "adrem\[plot\]"'):
            plot(AdREM())
    with pytest.raises(ImportError, match=r'pip install "adrem\[plot\]"'):
        plotting.plot_domains([[0.0]], [[1.0]])
