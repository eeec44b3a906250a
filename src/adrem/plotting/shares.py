"""Class shares: in the source, among the predicted labels, and in the draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.known import positions_of
from adrem.exceptions import InvalidDataError
from adrem.plotting.models import check_adapted, read_labels
from adrem.plotting.style import GRID, INK, SIZE, SOURCE, TARGET, axes_or_new, check_axes, legend_above, style_axes
from adrem.runtime.text import without_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
NAME_LENGTH, TITLE_LENGTH = 24, 14  # characters of a class name, on the axis and in the title
CLASS_HEIGHT = 0.25  # inches
MARGIN_HEIGHT = 1.5  # inches of title, legend and axis labels
PRIOR_OFFSET = 0.3  # below the marks of a class, whose distance is 1


def plot_class_shares(model: Any, *, y_source: Any = None, ax: Axes | None = None) -> Axes:
    """Plot the share of each class among the predicted labels, in the source and in the draws.

    Check a class whose share is unexpected. If the classes of the target are imbalanced and the draws assumed equal
    shares, set ``class_prior``.

    Parameters
    ----------
    model : Committee, AdREM or a baseline
        A fitted model. Baselines draw no rows, so no assumed shares are shown.
    y_source : array-like of shape (n_source,), default=None
        Labels of the source, to show its shares.
    ax : matplotlib Axes, default=None
        Axes to draw on; by default those of a new figure, as high as the classes need.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_imbalanced_arcs
    >>> from adrem.plotting import plot_class_shares
    >>> X_source, y_source, X_target, _ = make_imbalanced_arcs(random_state=0)
    >>> model = AdREM(class_prior="estimate", random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> ax = plot_class_shares(model, y_source=y_source)
    >>> ax.get_xlabel()
    'share of the rows (%)'
    """
    check_axes(ax)
    check_adapted(model)
    given = _shares(model.transduction_, model.classes_)
    source = None if y_source is None else _read_source(model, y_source)
    ax = axes_or_new(ax, (SIZE[0], MARGIN_HEIGHT + CLASS_HEIGHT * max(5, len(given))))
    places = np.arange(len(given))
    if source is not None:
        ax.hlines(places, source, given, color=GRID, linewidth=5, zorder=1)
        ax.plot(source, places, "o", color=SOURCE, mfc="none", mew=1.6, ms=8.5, label="source", zorder=4)
    ax.plot(given, places, "o", color=TARGET, ms=5.5, label="labels given to the target", zorder=3)
    _draw_prior(ax, model, places)
    names = model.classes_.tolist()
    ax.set_yticks(places, [without_middle(str(name), NAME_LENGTH) for name in names])
    ax.set_ylim(len(given) - 0.4, -0.6)
    largest = ax.dataLim.x1
    ax.set_xlim(-0.02 * largest, 1.04 * largest)  # from zero, without cutting marks
    legend_lines = legend_above(ax)
    style_axes(ax, _title(names, given, source), x="share of the rows (%)", grid="x", legend_lines=legend_lines)
    return ax


def _shares(labels: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return class shares in percent."""
    return np.asarray(100.0 * np.bincount(positions_of(labels, classes), minlength=len(classes)) / len(labels))


def _read_source(model: Any, y_source: Any) -> Array:
    labels = read_labels(y_source, "y_source", np.size(y_source))
    unknown = np.setdiff1d(labels, model.classes_).tolist()
    if unknown or not len(labels):
        found = f"has the labels {unknown}" if unknown else "is empty"
        raise InvalidDataError(
            f"y_source {found}, but the model has the classes {model.classes_.tolist()}: pass the source labels that "
            "it was fitted to."
        )
    return _shares(labels, model.classes_)


def _draw_prior(ax: Axes, model: Any, places: NDArray[np.intp]) -> None:
    """Draw the class prior, and the interval of its estimate, which the draws need not have used."""
    below = places + PRIOR_OFFSET
    if hasattr(model, "class_prior_"):
        ax.plot(100 * model.class_prior_, below, "|", color=INK, ms=7, mew=2, label="used in the draws")
    interval = getattr(model, "class_prior_interval_", None)
    if interval is not None:
        ax.hlines(below, *(100 * interval), color=INK, linewidth=1, label="90 % interval of the estimate")


def _title(names: list[Any], given: Array, source: Array | None) -> str:
    k = int(np.argmax(given if source is None else np.abs(given - source)))
    name = without_middle(str(names[k]), TITLE_LENGTH)
    if source is None:
        return f"Most common: class {name}, {given[k]:.1f} % of the labels"
    return f"Largest change: class {name}, from {source[k]:.1f} % to {given[k]:.1f} %"
