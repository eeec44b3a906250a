"""What all pictures share: colours that colour-blind readers tell apart, and the dress of the axes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours. Their yellow is left out: it is lost on white.
BLUE, VERMILLION, GREEN, ORANGE, SKY, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7"
SOURCE, TARGET = VERMILLION, BLUE
INK, FAINT, PALE, GRID = "#222222", "#666666", "#9A9A9A", "#E4E4E4"
# For classes: theirs, and three more that are as far from all others, for colour-blind readers too.
COLOURS = (BLUE, VERMILLION, GREEN, "#000000", PURPLE, ORANGE, SKY, "#4B1FCF", "#7A1F00", "#00524A")
# A mark for each of these, so that black and white tell the classes apart as well.
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
LINE = 2.2
SIZE = (6.4, 4.2)  # inches


def check_matplotlib(extra: str = "plot") -> None:
    """Raise, before any work, where nothing can be drawn."""
    if find_spec("matplotlib") is None:
        raise ImportError(f'Pictures are drawn by matplotlib: pip install "adrem[{extra}]"')


def check_axes(ax: Any) -> None:
    """Refuse, before any work, what can't be drawn on; None stands for axes that are yet to be made."""
    check_matplotlib()
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax has to be one Axes of matplotlib, got {type(ax).__name__}: plt.subplots() makes one.")


def axes_or_new(ax: Axes | None, size: tuple[float, float] = SIZE) -> Axes:
    """The axes that were given, or those of a new figure, which notebooks show."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def halo() -> list[Any]:
    """What keeps words apart from the marks that they stand upon."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3, foreground="white")]


def key_above(ax: Axes, handles: Sequence[Any] | None = None, n_columns: int = 2) -> int:
    """Say what the marks are, between the picture and its title; the number of lines that takes."""
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


def dress(ax: Axes, title: str, *, x: str = "", y: str = "", grid: Any = None, key_lines: int = 0) -> None:
    """Title, above the lines of the key, and names of the axes; lines only where values are read off."""
    import matplotlib as mpl

    pad = 6.0 + 1.35 * key_lines * mpl.rcParams["font.size"]
    ax.set_title(title, loc="left", fontsize="medium", color=INK, pad=pad)
    ax.set_xlabel(x, color=FAINT)
    ax.set_ylabel(y, color=FAINT)
    ax.tick_params(colors=FAINT, length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(PALE)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)
