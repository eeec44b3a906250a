"""How common the classes are: in the source, among the labels given, and by what the draws went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem._words import without_middle
from adrem.plotting._models import check_adapted, read_labels, taken
from adrem.plotting._style import GRID, INK, SIZE, SOURCE, TARGET, axes_or_new, check_axes, dress, key_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
NAME, SHORT = 24, 14  # characters of a class, beside its line and in the title
HEIGHT = 0.25  # inches that a class takes
AROUND = 1.5  # inches of title, key and names
BELOW = 0.3  # of the way to the next class


def plot_class_shares(model: Any, *, y_source: Any = None, ax: Axes | None = None) -> Axes:
    """Draw how common each class is among the labels given, beside the source and what the draws went by.

    A class far from what was expected is worth a look. Where the classes are not equally common in the target and the
    draws took them to be, say so by ``class_prior``.

    Parameters
    ----------
    model : AdREM, AdREMCV or a baseline
        A fitted model. Baselines go by no shares of classes, and none are drawn.
    y_source : array-like of shape (n_source,), default=None
        Labels of the source, to draw its shares.
    ax : matplotlib Axes, default=None
        Where to draw; by default on the axes of a new figure, as high as the classes need.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_imbalanced_arcs
    >>> from adrem.plotting import plot_class_shares
    >>> X_source, y_source, X_target, _ = make_imbalanced_arcs(random_state=0)
    >>> model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> ax = plot_class_shares(model, y_source=y_source)
    >>> ax.get_xlabel()
    'share of the rows (%)'
    """
    check_axes(ax)
    check_adapted(model)
    given = _shares(model.transduction_, model.classes_)
    source = None if y_source is None else _read_source(model, y_source)
    ax = axes_or_new(ax, (SIZE[0], AROUND + HEIGHT * max(5, len(given))))
    places = np.arange(len(given))
    if source is not None:
        ax.hlines(places, source, given, color=GRID, linewidth=5, zorder=1)
        ax.plot(source, places, "o", color=SOURCE, mfc="none", mew=1.6, ms=8.5, label="source", zorder=4)
    ax.plot(given, places, "o", color=TARGET, ms=5.5, label="labels given to the target", zorder=3)
    _draw_prior(ax, model, places)
    names = model.classes_.tolist()
    ax.set_yticks(places, [without_middle(str(name), NAME) for name in names])
    ax.set_ylim(len(given) - 0.4, -0.6)
    largest = ax.dataLim.x1
    ax.set_xlim(-0.02 * largest, 1.04 * largest)  # from zero, and no mark is cut
    key_lines = key_above(ax)
    dress(ax, _title(names, given, source), x="share of the rows (%)", grid="x", key_lines=key_lines)
    return ax


def _shares(labels: NDArray[Any], classes: NDArray[Any]) -> Array:
    """In percent."""
    return np.asarray(100.0 * np.bincount(np.searchsorted(classes, labels), minlength=len(classes)) / len(labels))


def _read_source(model: Any, y_source: Any) -> Array:
    labels = read_labels(y_source, "y_source", np.size(y_source))
    unknown = np.setdiff1d(labels, model.classes_).tolist()
    if unknown or not len(labels):
        found = f"has the labels {unknown}" if unknown else "is empty"
        raise ValueError(
            f"y_source {found}, the model knows {model.classes_.tolist()}: give the labels of the source that it was "
            "fitted to."
        )
    return _shares(labels, model.classes_)


def _draw_prior(ax: Axes, model: Any, places: NDArray[np.intp]) -> None:
    """What the draws went by, and the interval of an estimate, which need not be what they went by."""
    fitted = taken(model)
    if hasattr(fitted, "class_prior_"):
        ax.plot(100 * fitted.class_prior_, places + BELOW, "|", color=INK, ms=7, mew=2, label="used in the draws")
    interval = getattr(model, "class_prior_interval_", getattr(fitted, "class_prior_interval_", None))
    if interval is not None:
        ax.hlines(places + BELOW, *(100 * interval), color=INK, linewidth=1, label="90 % interval of the estimate")


def _title(names: list[Any], given: Array, source: Array | None) -> str:
    k = int(np.argmax(given if source is None else np.abs(given - source)))
    name = without_middle(str(names[k]), SHORT)
    if source is None:
        return f"Most common: class {name}, {given[k]:.1f} % of the labels"
    return f"Largest change: class {name}, from {source[k]:.1f} % to {given[k]:.1f} %"
