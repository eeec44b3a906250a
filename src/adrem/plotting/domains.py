"""A map of the rows of both domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.algorithm.estimator import AdREM
from adrem.base.entries import check_range
from adrem.base.reading import read_table, read_target
from adrem.diagnostics.map import MAX_ROWS, MIN_ROWS, draw_map, some_rows
from adrem.exceptions import InvalidDataError
from adrem.plotting.models import read_labels
from adrem.plotting.points import Side, draw_classes, draw_domains
from adrem.plotting.style import GRID, axes_or_new, check_axes, legend_above, style_axes
from adrem.types import Matrix

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
    """Plot a map of both domains, on which similar rows are close together.

    Rows are scaled to unit length, reduced to their principal components and placed by t-SNE, as in `adrem.report`; two
    features are plotted as they are. Source rows are rings, target rows are filled marks. If the classes of the domains
    overlap, there is little to adapt; if those of the target lie elsewhere, look at the labels they get.

    Parameters
    ----------
    X_source, X_target : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
        Rows of both domains. Of more than 400 a random sample is shown.
    y_source : array-like of shape (n_source,), default=None
        Labels of the source.
    labels : array-like of shape (n_target,), default=None
        Labels of the target, such as ``model.transduction_``. With labels each class has a mark; of more than ten
        classes, the most common ones.
    random_state : int, default=0
        Seed of the random sample.
    ax : matplotlib Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes, with one mark for every row shown.

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
    placed = (_by_features if by_features else _by_similarity)(*tables, np.random.default_rng(random_state))
    sides = [
        Side(name, points, rows.shape[0], None if own is None else own[chosen])
        for name, rows, own, (chosen, points) in zip(("source", "target"), tables, known, placed, strict=True)
    ]
    ax = axes_or_new(ax, SQUARE)
    if not by_features:
        ax.set(xlim=(-1.06, 1.06), ylim=(-1.06, 1.06), xticks=[], yticks=[], aspect="equal")
    handles = draw_domains(ax, sides) if y_source is None and labels is None else draw_classes(ax, sides)
    legend_lines = legend_above(ax, handles, n_columns=len(handles))
    title, names = "Rows that lie close together are alike", ["", ""]
    if by_features:
        title = "Both domains by their two features"
        names = [str(name) for name in getattr(X_source, "columns", ("feature 0", "feature 1"))]
    style_axes(ax, title, x=names[0], y=names[1], legend_lines=legend_lines)
    ax.spines[:].set(visible=True, color=GRID)
    return ax


def _read_tables(X_source: Any, X_target: Any) -> tuple[Matrix, Matrix]:
    reader = AdREM()  # validation stores the features in an estimator
    tables = read_table(reader, X_source), read_target(reader, X_source, X_target)
    check_range({"X_source": tables[0], "X_target": tables[1]}, learns=True)
    return tables


def _by_features(X_source: Matrix, X_target: Matrix, rng: np.random.Generator) -> list[Placed]:
    chosen = [(some_rows(X.shape[0], MAX_ROWS, rng), X) for X in (X_source, X_target)]
    return [(rows, X[rows].toarray() if sp.issparse(X) else X[rows]) for rows, X in chosen]


def _by_similarity(X_source: Matrix, X_target: Matrix, rng: np.random.Generator) -> list[Placed]:
    drawn = draw_map(X_source, X_target, rng)
    if drawn is None:
        n_rows = X_source.shape[0] + X_target.shape[0]
        if n_rows < MIN_ROWS:
            raise InvalidDataError(f"A map needs {MIN_ROWS} rows, but there are {n_rows}.")
        raise InvalidDataError(
            "All rows are equal up to their length, so a map would be one point: check the features."
        )
    return [
        (np.array(drawn.source_rows), np.array(drawn.source_points)),
        (np.array(drawn.target_rows), np.array(drawn.target_points)),
    ]
