"""A map of both domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._adrem import AdREM
from adrem._entries import check_range
from adrem._types import Matrix
from adrem._validation import _read_table, _read_target
from adrem.diagnostics._map import LEAST, MAPPED, draw_map, some_rows
from adrem.plotting._models import read_labels
from adrem.plotting._points import Side, draw_classes, draw_domains
from adrem.plotting._style import GRID, axes_or_new, check_axes, dress, key_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Placed = tuple[NDArray[np.intp], NDArray[np.float64]]  # which rows of a table, and where
SQUARE = (5.6, 6.3)  # inches


def plot_domains(
    X_source: Any,
    X_target: Any,
    *,
    y_source: Any = None,
    labels: Any = None,
    random_state: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a map of both domains, on which rows that are alike lie close together.

    The rows are placed by t-SNE on their directions of largest variance, each at length one, as `adrem.report` does;
    two features are drawn as they are. Rings are rows of the source, filled marks rows of the target. Where the classes
    of both domains lie upon each other there is little to adapt; where those of the target lie elsewhere, see which
    labels they get.

    Parameters
    ----------
    X_source, X_target : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
        Rows of both domains; of more than 400, so many at random are drawn.
    y_source : array-like of shape (n_source,), default=None
        Labels of the source.
    labels : array-like of shape (n_target,), default=None
        Labels of the target, such as ``model.transduction_``. With labels the marks tell the classes apart; of more
        than ten, the most common ones.
    random_state : int, default=0
        Seed of the rows that are drawn where there are more.
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
    >>> from adrem.plotting import plot_domains
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
    >>> model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> ax = plot_domains(X_source, X_target, y_source=y_source, labels=model.transduction_)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['source, 100 rows', 'target, 100 rows']
    """
    check_axes(ax)
    tables = _read_tables(X_source, X_target)
    known = [
        None if own is None else read_labels(own, name, rows.shape[0])
        for own, name, rows in zip((y_source, labels), ("y_source", "labels"), tables, strict=True)
    ]
    by_features = tables[0].shape[1] == 2
    placed = (_by_features if by_features else _by_likeness)(*tables, np.random.default_rng(random_state))
    sides = [
        Side(name, points, rows.shape[0], None if own is None else own[chosen])
        for name, rows, own, (chosen, points) in zip(("source", "target"), tables, known, placed, strict=True)
    ]
    ax = axes_or_new(ax, SQUARE)
    if not by_features:
        ax.set(xlim=(-1.06, 1.06), ylim=(-1.06, 1.06), xticks=[], yticks=[], aspect="equal")
    handles = draw_domains(ax, sides) if y_source is None and labels is None else draw_classes(ax, sides)
    key_lines = key_above(ax, handles, n_columns=len(handles))
    title, names = "Rows that lie close together are alike", ["", ""]
    if by_features:
        title = "Both domains by their two features"
        names = [str(name) for name in getattr(X_source, "columns", ("feature 0", "feature 1"))]
    dress(ax, title, x=names[0], y=names[1], key_lines=key_lines)
    ax.spines[:].set(visible=True, color=GRID)
    return ax


def _read_tables(X_source: Any, X_target: Any) -> tuple[Matrix, Matrix]:
    reader = AdREM()  # reading notes the features in an estimator
    tables = _read_table(reader, X_source), _read_target(reader, X_source, X_target)
    check_range({"X_source": tables[0], "X_target": tables[1]}, learns=True)
    return tables


def _by_features(X_source: Matrix, X_target: Matrix, rng: np.random.Generator) -> list[Placed]:
    chosen = [(some_rows(X.shape[0], MAPPED, rng), X) for X in (X_source, X_target)]
    return [(rows, X[rows].toarray() if sp.issparse(X) else X[rows]) for rows, X in chosen]


def _by_likeness(X_source: Matrix, X_target: Matrix, rng: np.random.Generator) -> list[Placed]:
    drawn = draw_map(X_source, X_target, rng)
    if drawn is None:
        n_rows = X_source.shape[0] + X_target.shape[0]
        if n_rows < LEAST:
            raise ValueError(f"A map takes {LEAST} rows, and there are {n_rows}: give more.")
        raise ValueError("All rows are alike but for their length, and a map would be one point: look at the features.")
    return [
        (np.array(drawn.source_rows), np.array(drawn.source_points)),
        (np.array(drawn.target_rows), np.array(drawn.target_points)),
    ]
