"""Tools to test pictures: comparison with references, legibility, and simulated colour blindness."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray
from PIL import Image

from adrem.datasets import DomainPair

Array = NDArray[np.float64]
HOME = Path(__file__).parent / "plotting" / "pictures"
DPI = 60
APART = 15.0  # least colour distance, in L*a*b*, where 2.3 is just noticeable
SAME = 0.5  # largest difference between equal pictures
# Matrices that simulate protanopia and deuteranopia in linear RGB (Machado, Oliveira and Fernandes 2009).
EYES = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def make_rings() -> DomainPair:
    """Ten classes on a ring; the target is rotated a little."""
    rng = np.random.RandomState(0)
    labels = np.arange(200) % 10
    X_source, X_target = (
        3 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.standard_normal((200, 2))
        for angle in (0.2 * np.pi * labels, 0.2 * np.pi * labels + 0.2)
    )
    return DomainPair(X_source, labels, X_target, labels)


def drop_words(ax: Any) -> None:
    """Remove all text: versions of matplotlib differ in text rendering only."""
    ax.get_figure().set_dpi(DPI)
    ax.set_title("", loc="left")
    ax.set(xlabel="", ylabel="")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(NullFormatter())
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    for text in ax.texts:
        text.set_visible(False)


def pixels(ax: Any) -> Array:
    """The picture as RGB values from 0 to 255."""
    figure = ax.get_figure()
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba(), dtype=np.float64)[..., :3]


def read(name: str) -> Array:
    """Read a reference picture."""
    with Image.open(HOME / f"{name}.png") as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.float64)


def difference(drawn: Array, kept: Array) -> float:
    """Root mean squared difference between two pictures."""
    assert drawn.shape == kept.shape
    return float(np.sqrt(np.mean((drawn - kept) ** 2)))


def words(ax: Any) -> list[Text]:
    """All visible texts, after the layout."""
    ax.get_figure().canvas.draw()
    written = [*ax.texts, ax.xaxis.label, ax.yaxis.label, *(ax.get_legend().get_texts() if ax.get_legend() else ())]
    written += [text for text in ax.get_children() if isinstance(text, Text)]  # includes the titles
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        written += [
            tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high
        ]  # skips hidden texts
    return [text for text in dict.fromkeys(written) if text.get_visible() and text.get_text().strip()]


def assert_legible(ax: Any) -> None:
    """Check that no text overlaps another or leaves the picture."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in words(ax)]
    width, height = ax.get_figure().canvas.get_width_height()
    for text, box in boxes:
        assert min(box.x0, box.y0) >= -1, text
        assert (box.x1 <= width + 1, box.y1 <= height + 1) == (True, True), text
    for (first, box), (second, other) in combinations(boxes, 2):
        # Boxes may overlap by a pixel: they are slightly larger than their text.
        apart = (
            box.x1 - 1 <= other.x0 + 1
            or other.x1 - 1 <= box.x0 + 1
            or box.y1 - 1 <= other.y0 + 1
            or other.y1 - 1 <= box.y0 + 1
        )
        assert apart, f"{first!r} lies upon {second!r}"


def look_of(mark: Any) -> tuple[str, tuple[Any, ...]]:
    """The colour of a line, bar or point collection, and its other distinguishing properties."""
    if isinstance(mark, Line2D):
        is_open = mark.get_markerfacecolor() == "none"
        return to_hex(mark.get_color()), (mark.get_marker(), is_open, mark.get_linestyle(), mark.get_linewidth())
    if isinstance(mark, Rectangle):
        return to_hex(mark.get_facecolor()), ("bar", mark.get_hatch())
    filled = len(mark.get_facecolor()) > 0
    colour = to_hex((mark.get_facecolor() if filled else mark.get_edgecolor())[0])
    if hasattr(mark, "get_segments"):  # a line collection
        return colour, ("lines", mark.get_linewidth()[0])
    return colour, (mark.get_paths()[0].vertices.round(3).tobytes(), filled)


def seen(colour: str, eyes: str = "usual") -> Array:
    """A colour in CIE L*a*b*, as seen with normal or colour-blind vision."""
    values = np.array(to_rgb(colour))
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    ratios = TO_XYZ @ np.clip(EYES[eyes] @ linear, 0.0, 1.0) / WHITE
    f = np.where(ratios > 216 / 24389, np.cbrt(ratios), (24389 / 27 * ratios + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast_on_white(colour: str) -> float:
    """The WCAG 2 contrast with white, from 1 for white to 21 for black."""
    lightness = float(seen(colour)[0])
    luminance = ((lightness + 16) / 116) ** 3 if lightness > 8 else lightness * 27 / 24389
    return 1.05 / (luminance + 0.05)
