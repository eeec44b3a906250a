"""Scatter plots of two domains: by domain, or by class with class names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.base.reading import is_missing
from adrem.plotting.style import COLOURS, INK, MARKS, PALE, SOURCE, TARGET, halo
from adrem.runtime.text import rows, without_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
MARK_AREA = 24.0
RELATIVE_AREAS = {"*": 1.9, "P": 1.3, "X": 1.3, "D": 0.8, ".": 1.5}  # some marks look smaller
NAME_LENGTH = 18  # characters of a class name
N_NEIGHBORS = 12  # neighbours that decide whether a point is among its class
# Sizes of class names relative to the axes: line height, character width, and the mark before the name.
LINE_HEIGHT, CHARACTER_WIDTH, MARK_WIDTH = 0.05, 0.017, 0.04
OTHER = -1  # rank of rows without a label or whose class has no mark


class Side(NamedTuple):
    """Points of a domain of `n_rows` rows, with their labels if known."""

    name: str
    points: Array
    n_rows: int
    labels: NDArray[Any] | None

    @property
    def is_target(self) -> bool:
        return self.name == "target"

    @property
    def is_bare(self) -> bool:
        """Whether no label is known."""
        return set(self.known()) == {None}

    def known(self) -> list[Any]:
        """Return the label of each point, None if it has none."""
        if self.labels is None:
            return [None] * len(self.points)
        return [None if is_missing(label) else label for label in self.labels.tolist()]

    @property
    def caption(self) -> str:
        n_points = len(self.points)
        shown = f"{n_points:,} of " if n_points < self.n_rows else ""
        return f"{self.name}, {shown}{rows(self.n_rows)}"


def draw_domains(ax: Axes, sides: list[Side]) -> list[Any]:
    """Draw rings for the source and dots for the target, and return the legend handles."""
    colours = {"source": SOURCE, "target": TARGET}
    for side in reversed(sides):  # rings do not hide dots
        _scatter(ax, side.points, "o", colours[side.name], filled=side.is_target)
    return [_handle("o", colours[side.name], side.caption, filled=side.is_target) for side in sides]


def draw_classes(ax: Axes, sides: list[Side]) -> list[Any]:
    """Draw a mark for each class, with its name, and return the legend handles."""
    labels, n_more = _marked(sides)
    ranks = [np.array([labels.get(label, OTHER) for label in side.known()], dtype=np.intp) for side in sides]
    for side, own in zip(reversed(sides), reversed(ranks), strict=True):
        _scatter_classes(ax, side, own)
    _write_names(
        ax,
        [without_middle(str(label), NAME_LENGTH) for label in labels],
        np.concatenate([side.points for side in sides]),
        np.concatenate(ranks),
        np.repeat([side.is_target for side in sides], [len(side.points) for side in sides]),
    )
    return [*map(_handle_of, sides), *_handle_of_others(sides, n_more)]


def _scatter_classes(ax: Axes, side: Side, ranks: NDArray[np.intp]) -> None:
    _scatter(ax, side.points[ranks == OTHER], ".", PALE, filled=side.is_target)
    for rank in np.unique(ranks[ranks != OTHER]):
        _scatter(ax, side.points[ranks == rank], MARKS[rank], COLOURS[rank], filled=side.is_target)


def _handle_of_others(sides: list[Side], n_more: int) -> list[Any]:
    others = [f"{n_more} more classes"] if n_more else []
    others += ["no label"] if any(None in side.known() and not side.is_bare for side in sides) else []
    return [_handle(".", PALE, " or ".join(others), filled=True)] if others else []


def _handle_of(side: Side) -> Any:
    if side.is_bare:
        return _handle(".", PALE, f"{side.caption}, no label", filled=side.is_target)
    return _handle("o", INK, side.caption, filled=side.is_target)


def _marked(sides: list[Side]) -> tuple[dict[Any, int], int]:
    """Return the rank of each class that has a mark, at most one per mark, and the number of others."""
    counts = Counter(label for side in sides for label in side.known() if label is not None)
    kept = sorted((label for label, _ in counts.most_common(len(MARKS))), key=lambda own: (isinstance(own, str), own))
    return {label: rank for rank, label in enumerate(kept)}, len(counts) - len(kept)


def _write_names(
    ax: Axes, names: list[str], points: Array, ranks: NDArray[np.intp], of_target: NDArray[np.bool_]
) -> None:
    """Write the name of each class beside a large mark."""
    low, high = points.min(axis=0), points.max(axis=0)
    flat = (points - low) / np.where(high > low, high - low, 1.0)  # on the unit square
    for k, spot in enumerate(_spots(flat, ranks, of_target, max(map(_width, names), default=0.0))):
        _scatter(ax, points[[spot]], MARKS[k], COLOURS[k], filled=bool(of_target[spot]), large=True)
        to_left = flat[spot, 0] + _width(names[k]) > 1
        ax.annotate(
            names[k],
            points[spot],
            (-8 if to_left else 8, 0),
            textcoords="offset points",
            ha="right" if to_left else "left",
            va="center",
            color=INK,
            weight="bold",
            path_effects=halo(),
            zorder=6,
        )


def _spots(flat: Array, ranks: NDArray[np.intp], of_target: NDArray[np.bool_], width: float) -> list[int]:
    """Return a point of each class for its name: among its class, of the target if possible, away from other names."""
    from scipy.spatial import cKDTree

    near = np.reshape(cKDTree(flat).query(flat, k=min(N_NEIGHBORS, len(flat)))[1], (len(flat), -1))
    among_own = np.mean(ranks[near] == ranks[:, None], axis=1)
    spread = np.linalg.norm(flat[near] - flat[:, None], axis=2).mean(axis=1)
    worth = among_own - spread + of_target
    spots: list[int] = []
    for rank in range(ranks.max() + 1):
        own = np.flatnonzero(ranks == rank)
        spots.append(int(own[np.argmax(worth[own])]))
        # One name may extend to the right and the next to the left.
        worth -= 2.0 * np.all(np.abs(flat - flat[spots[-1]]) < (2 * width, LINE_HEIGHT), axis=1)
    return spots


def _width(name: str) -> float:
    return MARK_WIDTH + CHARACTER_WIDTH * len(name)


def _scatter(ax: Axes, points: Array, mark: str, colour: str, *, filled: bool, large: bool = False) -> None:
    if not len(points):
        return
    rim = 1.3 if large else 0.3 if filled else 0.9
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=MARK_AREA * RELATIVE_AREAS.get(mark, 1.0) * (5 if large else 1),
        marker=mark,
        facecolors=colour if filled else "none",
        edgecolors="white" if filled else colour,
        linewidths=rim,
        zorder=5 if large else 1,
    )


def _handle(mark: str, colour: str, label: str, *, filled: bool) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, marker=mark, linestyle="", mfc=colour if filled else "none", label=label)
