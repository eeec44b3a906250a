"""How sure the vote is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem._adrem import AdREM
from adrem._words import percent, rows
from adrem.diagnostics._diagnosis import bins_of
from adrem.plotting._models import check_adapted, name_of, read_labels, taken
from adrem.plotting._style import BLUE, INK, axes_or_new, check_axes, dress, halo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Counts = NDArray[np.intp]
Flags = NDArray[np.bool_]
WIDTH = 0.82  # of a bar, where the next one begins at 1
ROOM = 1.08  # for the numbers above the bars
FEWEST = 5  # bars, where there are so many


def plot_votes(model: Any, *, y_true: Any = None, ax: Axes | None = None) -> Axes:
    """Draw how many target rows have how many votes for their label, or how often these are right.

    Rows on which few members agree are those whose label depends on the draws: look at them first. Votes say nothing of
    what all members get wrong together.

    Parameters
    ----------
    model : AdREM or AdREMCV
        A fitted model of several members.
    y_true : array-like of shape (n_target,), default=None
        Labels of the target rows given to ``fit``, where they are known after all: the bars are then the shares of
        rows whose label is right, and the numbers of rows stand below.
    ax : matplotlib Axes, default=None
        Where to draw; by default on the axes of a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_rotated_arcs
    >>> from adrem.plotting import plot_votes
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> ax = plot_votes(model, y_true=y_target)
    >>> ax.get_title(loc="left")
    'All 11 members agree on 100 % of the labels; 100 % of these are right'
    """
    check_axes(ax)
    check_adapted(model)
    n_members = _count_members(model)
    right = None
    if y_true is not None:
        right = model.transduction_ == read_labels(y_true, "y_true", len(model.transduction_))
    votes = model.vote_share_.max(axis=1)
    n_bins, places = bins_of(votes, n_members)
    counts = np.bincount(places, minlength=n_bins)
    by_votes = n_bins == n_members
    names = [str(k + 1) if by_votes else f"to {100 * (k + 1) // n_bins}" for k in range(n_bins)]
    ax = axes_or_new(ax)
    if right is None:
        _draw_bars(ax, counts, [f"{count:,}" if count else "" for count in counts], ROOM * counts.max())
    else:
        names = [f"{name}\n{rows(count)}" if count else name for name, count in zip(names, counts, strict=True)]
        _draw_accuracies(ax, np.bincount(places[right], minlength=n_bins), counts)
    ax.set_xticks(range(n_bins), names)
    # From the fewest votes that a label has, and never so few bars that they look like blocks.
    ax.set_xlim(min(int(places.min()), max(0, n_bins - FEWEST)) - 0.5, n_bins - 0.5)
    x = f"members that agree, of {n_members}" if by_votes else f"share of the {n_members} members that agree (%)"
    y = "target rows" if right is None else "labels that are right (%)"
    dress(ax, _title(n_members, votes > 1 - 0.5 / n_members, right), x=x, y=y, grid="y")
    return ax


def _count_members(model: Any) -> int:
    fitted = taken(model)
    n_members = len(fitted.intercept_) if isinstance(fitted, AdREM) else 1
    if n_members < 2:
        raise ValueError(
            f"{name_of(model)} is one classifier, which takes no vote: fit AdREM with n_estimators=11, say."
        )
    return n_members


def _draw_bars(ax: Axes, heights: NDArray[Any], texts: list[str], top: float) -> None:
    bars = ax.bar(np.arange(len(heights)), heights, WIDTH, color=BLUE)
    ax.bar_label(bars, texts, padding=2, fontsize="small", color=INK, path_effects=halo(), zorder=4)
    ax.set_ylim(0, top)
    ax.locator_params(axis="y", nbins=6)


def _draw_accuracies(ax: Axes, right: Counts, counts: Counts) -> None:
    """Which share is right of the rows of each bar, and of all rows."""
    shares = 100.0 * right / np.maximum(counts, 1)
    texts = [percent(*pair) if pair[1] else "" for pair in zip(right, counts, strict=True)]
    _draw_bars(ax, shares, texts, ROOM * 100.0)
    overall = 100.0 * right.sum() / counts.sum()
    ax.axhline(overall, color=INK, linewidth=1, linestyle=(0, (5, 4)))
    ax.annotate(
        f"all rows\n{percent(right.sum(), counts.sum())}",
        (1, overall),
        (4, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize="small",
        color=INK,
    )


def _title(n_members: int, agreed: Flags, right: Flags | None) -> str:
    title = f"All {n_members} members agree on {percent(agreed.sum(), len(agreed))} of the labels"
    if right is None or not agreed.any():
        return title
    return f"{title}; {percent(right[agreed].sum(), agreed.sum())} of these are right"
