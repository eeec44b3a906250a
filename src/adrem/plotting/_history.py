"""How a fit went, iteration by iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.baselines import DASVM
from adrem.plotting._models import check_adapted, name_of, taken
from adrem.plotting._style import BLUE, INK, LINE, PALE, axes_or_new, check_axes, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
What = Literal["changed", "loss", "balanced_loss", "objective"]


class _Measure(NamedTuple):
    """What a history calls it, what a reader does, and how a number of it is written."""

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
    """Draw how a fit went: a thin line for each member, a thick one for their mean.

    Labels that hardly change any more have settled. Where they still change a lot in the last iterations, more of them
    may help; where the members part, their vote is worth a look (`plot_votes`).

    Parameters
    ----------
    model : AdREM, AdREMCV, HardEM, SoftEM or DASVM
        A fitted model. Of `AdREMCV` it is the model that it took.
    what : {"changed", "loss", "balanced_loss", "objective"}, default="changed"
        Which share of the labels of the target each iteration changed; the loss, or that in which every class has its
        share, equations 3 and 4 of the paper; or the objective of `SoftEM`.
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
    first = 1 if what == "changed" else 0  # no labels came before those of the source's classifier
    courses = [course[first:] for course in courses]
    mean = _mean(courses, ended=0.0 if what == "changed" else None)
    ax = axes_or_new(ax)
    _draw_courses(ax, courses, mean, first)
    ends = [f"{measure.form.format(mean[k])} in iteration {first + k}" for k in sorted({0, len(mean) - 1})]
    unit = " (%)" if what == "changed" else ""
    dress(ax, f"{measure.name.capitalize()}: {', '.join(ends)}", x="iteration", y=measure.name + unit, grid="y")
    if what == "changed":
        ax.set_ylim(bottom=0)
    return ax


def _read(model: Any, what: str) -> tuple[_Measure, list[Array]]:
    """A measure, and its values in every iteration of each member."""
    if what not in MEASURES:
        raise ValueError(f"what is one of {', '.join(map(repr, MEASURES))}; got {what!r}.")
    measure, fitted = MEASURES[what], taken(model)
    history = getattr(fitted, "history_", [])
    if len(history) < 2:
        raise ValueError(
            f"{name_of(model)} has no iterations to show; AdREM has, and HardEM, SoftEM and DASVM of adrem.baselines."
        )
    known = [name for name, own in MEASURES.items() if own.key in history[0]]
    if what not in known:
        wanted = " or ".join(f"what={name!r}" for name in known)
        raise ValueError(f"{name_of(model)} does not note its {measure.name} in history_: take {wanted}.")
    members = sorted({entry.get("member", 0) for entry in history})
    courses = [[entry[measure.key] for entry in history if entry.get("member", 0) == member] for member in members]
    n_labels = len(model.transduction_)
    if isinstance(fitted, DASVM):  # it counts the labels of every one-vs-rest problem
        n_labels *= fitted.intercept_.shape[1]
    unit = 100.0 / n_labels if what == "changed" else 1.0
    return measure, [unit * np.array(course, dtype=np.float64) for course in courses]


def _mean(courses: list[Array], ended: float | None) -> Array:
    """The mean of all members; one that ended early stays where it was, or at the value given."""
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
        marker="o" if len(mean) == 1 else "",  # a line of one point can't be seen
        label=f"mean of {len(courses)} members",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.margins(x=0.02)
    if len(courses) > 1:
        ax.legend(loc="best", frameon=False, labelcolor=INK, reverse=True)
