"""Tests of all plots: pictures equal their references, and texts are legible."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from pictures import (
    APART,
    EYES,
    HOME,
    SAME,
    assert_legible,
    difference,
    drop_words,
    look_of,
    make_rings,
    pixels,
    read,
    seen,
)
from PIL import Image

from adrem.datasets import DomainPair
from adrem.plotting import plot_class_shares, plot_domains, plot_history, plot_votes

pytestmark = pytest.mark.usefixtures("clean_desk")

RINGS = make_rings()
PICTURES: dict[str, Callable[[Any, DomainPair], Axes]] = {
    "history-changed": lambda model, _: plot_history(model),
    "history-loss": lambda model, _: plot_history(model, what="balanced_loss"),
    "votes": lambda model, _: plot_votes(model),
    "votes-true": lambda model, data: plot_votes(model, y_true=data.y_target),
    "shares": lambda model, data: plot_class_shares(model, y_source=data.y_source),
    "domains": lambda _, __: plot_domains(RINGS.X_source, RINGS.X_target),
    "domains-classes": lambda _, __: plot_domains(
        RINGS.X_source, RINGS.X_target, y_source=RINGS.y_source, labels=RINGS.y_target
    ),
}


@pytest.fixture(params=PICTURES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ax(name: str, digits_model: Any, digits: DomainPair) -> Axes:
    return PICTURES[name](digits_model, digits)


def test_texts_are_legible(ax: Axes) -> None:
    assert_legible(ax)


def test_picture_equals_the_reference(ax: Axes, name: str, tmp_path: Path) -> None:
    drop_words(ax)
    drawn = pixels(ax)
    new, old = tmp_path / f"{name}.png", HOME / f"{name}.png"
    Image.fromarray(drawn.astype(np.uint8)).save(new)
    assert old.exists(), f"There is no {old}: look at {new}, and copy it there if it is right."
    assert difference(drawn, read(name)) <= SAME, f"Look at {new} and {old}, and copy the first if it is right."


def test_removing_any_mark_changes_the_picture(ax: Axes, name: str) -> None:
    """The comparison is sensitive: hiding any line, bar or point collection exceeds the tolerance."""
    drop_words(ax)
    pixels(ax)
    marks = [*ax.lines, *ax.collections, *(bar for bar in ax.patches if bar.get_window_extent().height > 1)]
    assert marks
    missed = {}
    for mark in marks:
        mark.set_visible(False)
        missed[mark] = difference(pixels(ax), read(name))
        mark.set_visible(True)
    assert min(missed.values()) > SAME


def test_colours_differ_for_colour_blind_and_grey(ax: Axes) -> None:
    looks = {look_of(mark) for mark in (*ax.lines, *ax.collections, *ax.patches)}
    for (colour, shape), (other, other_shape) in combinations(looks, 2):
        if colour == other:
            continue
        for eyes in EYES:
            assert np.linalg.norm(seen(colour, eyes) - seen(other, eyes)) > APART, (colour, other, eyes)
        assert shape != other_shape or abs(seen(colour)[0] - seen(other)[0]) > APART, (colour, other)
