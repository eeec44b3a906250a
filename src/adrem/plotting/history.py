"""The history of a fit by iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.baselines import DASVM
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.plotting.models import check_adapted
from adrem.plotting.style import BLUE, INK, LINE, PALE, axes_or_new, check_axes, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
What = Literal["changed", "loss", "balanced_loss", "objective"]


class _Measure(NamedTuple):
    """Its key in `history_`, its name on the plot, and its number format."""

    key: str
    name: str
    form: str = "{:,.4g}"


MEASURES = {
    "changed": _Measure("n_changed", "labels changed", "{:.1f} %"),
    "loss": _Measure("loss", "loss"),
    "balanced_loss": _Measure("balanced_loss", "balanced loss"),
    "objective": _Measure("objective", "objective"),
}


def plot_history(model: Any, *, what: What = "changed", ax: Axes | None = None) -> Axes:
    """Plot the history of a fit: a thin line for each member, a thick one for their mean.

    If many labels still change in the last iterations, more iterations may help. If the members differ, look at their
    vote with `plot_votes`.

    Parameters
    ----------
    model : Committee, AdREM, HardEM, SoftEM or DASVM
        A fitted model.
    what : {"changed", "loss", "balanced_loss", "objective"}, default="changed"
        Share of the target labels changed by each iteration; the loss or the class-balanced loss, equations 3 and 4 of
        the paper; or the objective of `SoftEM`.
    ax : matplotlib Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes, with one line for every member.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_rotated_arcs
    >>> from adrem.plotting import plot_history
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
    >>> model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> ax = plot_history(model)
    >>> ax.get_ylabel()
    'labels changed (%)'
    """
    check_axes(ax)
    check_adapted(model)
    measure, courses = _read(model, what)
    first = 1 if what == "changed" else 0  # the source classifier changes no labels
    courses = [course[first:] for course in courses]
    mean = _mean(courses, ended=0.0 if what == "changed" else None)
    ax = axes_or_new(ax)
    _draw_courses(ax, courses, mean, first)
    ends = [f"{measure.form.format(mean[k])} in iteration {first + k}" for k in sorted({0, len(mean) - 1})]
    unit = " (%)" if what == "changed" else ""
    style_axes(ax, f"{measure.name.capitalize()}: {', '.join(ends)}", x="iteration", y=measure.name + unit, grid="y")
    if what == "changed":
        ax.set_ylim(bottom=0)
    return ax


def _read(model: Any, what: str) -> tuple[_Measure, list[Array]]:
    """Return a measure and its values for each member, by iteration."""
    if what not in MEASURES:
        raise ParameterError(f"what must be one of {', '.join(map(repr, MEASURES))}; got {what!r}.", "what")
    measure, history = MEASURES[what], _history(model, what)
    by_member: dict[tuple[str, int], list[float]] = {}
    for entry in history:
        by_member.setdefault((entry.get("kind", ""), entry.get("member", 0)), []).append(entry[measure.key])
    courses = list(by_member.values())
    unit = 100.0 / _count_labels(model) if what == "changed" else 1.0
    return measure, [unit * np.array(course, dtype=np.float64) for course in courses]


def _history(model: Any, what: str) -> list[dict[str, Any]]:
    """Return the history of a model, which must have the measure."""
    history: list[dict[str, Any]] = getattr(model, "history_", [])
    if len(history) < 2:
        raise InvalidDataError(
            f"{type(model).__name__} has no iterations to show; use AdREM, or HardEM, SoftEM or DASVM of "
            "adrem.baselines."
        )
    known = [name for name, own in MEASURES.items() if own.key in history[0]]
    if what not in known:
        wanted = " or ".join(f"what={name!r}" for name in known)
        raise InvalidDataError(f"{type(model).__name__} does not record its {MEASURES[what].name}: use {wanted}.")
    return history


def _count_labels(model: Any) -> int:
    n_labels = len(model.transduction_)
    # DASVM counts the labels of each one-vs-rest problem.
    return n_labels * model.intercept_.shape[1] if isinstance(model, DASVM) else n_labels


def _mean(courses: list[Array], ended: float | None) -> Array:
    """Return the mean over members; one that ended early keeps its last value, or `ended`."""
    longest = max(map(len, courses))
    full = [np.append(own, np.full(longest - len(own), own[-1] if ended is None else ended)) for own in courses]
    return np.asarray(np.mean(full, axis=0))


def _draw_courses(ax: Axes, courses: list[Array], mean: Array, first: int) -> None:
    from matplotlib.ticker import MaxNLocator

    if len(courses) > 1:
        for course in courses:
            [thin] = ax.plot(np.arange(first, first + len(course)), course, color=PALE, linewidth=0.7)
        thin.set_label("one member")
    ax.plot(
        np.arange(first, first + len(mean)),
        mean,
        color=BLUE,
        linewidth=LINE,
        marker="o" if len(mean) == 1 else "",  # a line of one point is invisible
        label=f"mean of {len(courses)} members",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.margins(x=0.02)
    if len(courses) > 1:
        ax.legend(loc="best", frameon=False, labelcolor=INK, reverse=True)
