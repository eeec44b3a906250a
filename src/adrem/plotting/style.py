"""Colours, marks and axes style shared by all plots."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from adrem.exceptions import InvalidTypeError, MissingImportError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours of Okabe and Ito, which colour-blind readers can tell apart, without the yellow: it is faint on white.
BLUE, VERMILLION, GREEN, ORANGE, SKY, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7"
SOURCE, TARGET = VERMILLION, BLUE
INK, FAINT, PALE, GRID = "#222222", "#666666", "#9A9A9A", "#E4E4E4"
# For classes: theirs, black and three more that are as distinct.
COLOURS = (BLUE, VERMILLION, GREEN, "#000000", PURPLE, ORANGE, SKY, "#4B1FCF", "#7A1F00", "#00524A")
# One mark per colour, so that classes differ in black and white too.
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
LINE = 2.2
SIZE = (6.4, 4.2)  # inches


def check_matplotlib(extra: str = "plot") -> None:
    """Raise if matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise MissingImportError(f'Plots need matplotlib: pip install "adrem[{extra}]"')


def check_axes(ax: Any) -> None:
    """Raise unless `ax` is None or an Axes."""
    check_matplotlib()
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise InvalidTypeError(
            f"ax must be a matplotlib Axes, got {type(ax).__name__}: create one with plt.subplots()."
        )


def axes_or_new(ax: Axes | None, size: tuple[float, float] = SIZE) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def halo() -> list[Any]:
    """Return path effects that make text readable on top of marks."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3, foreground="white")]


def legend_above(ax: Axes, handles: Sequence[Any] | None = None, n_columns: int = 2) -> int:
    """Draw a legend between the axes and the title, and return its number of lines."""
    key = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=n_columns,
        frameon=False,
        fontsize="small",
        labelcolor=INK,
        borderaxespad=0.3,
        borderpad=0,
        handletextpad=0.4,
    )
    return -(-len(key.get_texts()) // n_columns)


def style_axes(ax: Axes, title: str, *, x: str = "", y: str = "", grid: Any = None, legend_lines: int = 0) -> None:
    """Set the title above the legend, the axis labels and the grid."""
    import matplotlib as mpl

    pad = 6.0 + 1.35 * legend_lines * mpl.rcParams["font.size"]
    ax.set_title(title, loc="left", fontsize="medium", color=INK, pad=pad)
    ax.set_xlabel(x, color=FAINT)
    ax.set_ylabel(y, color=FAINT)
    ax.tick_params(colors=FAINT, length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(PALE)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)
