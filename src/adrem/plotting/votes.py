"""The votes of the members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.hooks import Agreement
from adrem.diagnostics.results import bins_of
from adrem.exceptions import InvalidDataError
from adrem.plotting.models import check_adapted, read_labels
from adrem.plotting.style import BLUE, INK, axes_or_new, check_axes, halo, style_axes
from adrem.runtime.text import percent, rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Counts = NDArray[np.intp]
Flags = NDArray[np.bool_]
BAR_WIDTH = 0.82
HEADROOM = 1.08  # for the numbers above the bars
MIN_BARS = 5


def plot_votes(model: Any, *, y_true: Any = None, ax: Axes | None = None) -> Axes:
    """Plot the number of target rows, or their accuracy, by the number of votes for their label.

    The labels of rows with few votes depend on the random draws: check these first. Votes do not show errors that all
    members share.

    Parameters
    ----------
    model : AdREM or Committee
        A fitted model with several members, or a committee of several kinds.
    y_true : array-like of shape (n_target,), default=None
        True labels of the target rows, if known. The bars then show the accuracy, with the numbers of rows below.
    ax : matplotlib Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes, with one bar for every share of the votes.

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
    n_members, word, votes = _read_agreement(model)
    right = None
    if y_true is not None:
        right = model.transduction_ == read_labels(y_true, "y_true", len(model.transduction_))
    n_bins, places = bins_of(votes, n_members)
    counts = np.bincount(places, minlength=n_bins)
    by_votes = n_bins == n_members
    names = [str(k + 1) if by_votes else f"to {100 * (k + 1) // n_bins}" for k in range(n_bins)]
    ax = axes_or_new(ax)
    if right is None:
        _draw_bars(ax, counts, [f"{count:,}" if count else "" for count in counts], HEADROOM * counts.max())
    else:
        names = [f"{name}\n{rows(count)}" if count else name for name, count in zip(names, counts, strict=True)]
        _draw_accuracies(ax, np.bincount(places[right], minlength=n_bins), counts)
    ax.set_xticks(range(n_bins), names)
    # Start at the fewest votes of any label, but show at least MIN_BARS bars.
    ax.set_xlim(min(int(places.min()), max(0, n_bins - MIN_BARS)) - 0.5, n_bins - 0.5)
    x = f"{word} that agree, of {n_members}" if by_votes else f"share of the {n_members} {word} that agree (%)"
    y = "target rows" if right is None else "labels that are right (%)"
    style_axes(ax, _title(f"{n_members} {word}", votes > 1 - 0.5 / n_members, right), x=x, y=y, grid="y")
    return ax


def _read_agreement(model: Any) -> Agreement:
    """Return how many members agree with each label."""
    found: Agreement | None = model.agreement()
    if found is None or found.n_members < 2:
        raise InvalidDataError(
            f"{type(model).__name__} is a single classifier and has no votes: use AdREM with several n_estimators, or "
            "a Committee of several kinds."
        )
    return found


def _draw_bars(ax: Axes, heights: NDArray[Any], texts: list[str], top: float) -> None:
    bars = ax.bar(np.arange(len(heights)), heights, BAR_WIDTH, color=BLUE)
    ax.bar_label(bars, texts, padding=2, fontsize="small", color=INK, path_effects=halo(), zorder=4)
    ax.set_ylim(0, top)
    ax.locator_params(axis="y", nbins=6)


def _draw_accuracies(ax: Axes, right: Counts, counts: Counts) -> None:
    """Draw the accuracy of each bar and of all rows."""
    shares = 100.0 * right / np.maximum(counts, 1)
    texts = [percent(*pair) if pair[1] else "" for pair in zip(right, counts, strict=True)]
    _draw_bars(ax, shares, texts, HEADROOM * 100.0)
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


def _title(members: str, agreed: Flags, right: Flags | None) -> str:
    title = f"All {members} agree on {percent(agreed.sum(), len(agreed))} of the labels"
    if right is None or not agreed.any():
        return title
    return f"{title}; {percent(right[agreed].sum(), agreed.sum())} of these are right"
