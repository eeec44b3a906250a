"""The columns of labels: rows that have one, and labels to score with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.columns.kinds import is_plain
from adrem.columns.values import MISSING
from adrem.exceptions import ParameterError

if TYPE_CHECKING:
    from polars import DataFrame, Series

    from adrem.columns.reading import FileTable


def labelled_rows(source: FileTable, frame: DataFrame, label: str) -> tuple[DataFrame, NDArray[Any], NDArray[np.intp]]:
    """Return the rows of the source that have a label, their labels, and their positions."""
    check_plain(frame[label], source.name, "label")
    has_label = frame[label].is_not_null() & (frame[label].cast(str).str.strip_chars() != "")
    places = np.flatnonzero(has_label.to_numpy())
    frame = frame.filter(has_label)
    if not frame.height:
        raise ParameterError(f"Column {label!r} of {source.name} has no label in any row.", "label")
    y = as_labels(frame[label])
    problem = problem_of_labels(y)
    if problem is not None:
        raise ParameterError(f"Column {label!r} of {source.name} {problem}", "label")
    return frame, y, places


def check_plain(column: Series, name: str, parameter: str) -> None:
    """Raise an error for a column of labels that is of lists, structures or bytes."""
    if not is_plain(column):
        raise ParameterError(
            f"Column {column.name!r} of {name} holds {column.dtype}: labels must be numbers, strings or truth values.",
            parameter,
        )


def as_labels(column: Series) -> NDArray[Any]:
    """Return integers and booleans as they are, other labels as strings."""
    import polars as pl

    whole = column.dtype.is_integer() or column.dtype == pl.Boolean
    return column.to_numpy() if whole else column.cast(pl.String).str.strip_chars().to_numpy().astype(object)


def labels_for_scoring(column: Series, known: NDArray[Any]) -> NDArray[Any]:
    """Return labels as `as_labels` does, without the words that mean missing and are no known label."""
    labels = as_labels(column)
    blank = np.isin(labels.astype(str), [*({*MISSING} - {*map(str, known.tolist())})])
    return np.where(blank, "", labels.astype(object)) if blank.any() else labels


def problem_of_labels(labels: NDArray[Any]) -> str | None:
    """Return why labels can't be classes; None if they can."""
    import polars as pl

    n_distinct = pl.Series(labels.tolist() if labels.dtype == object else labels).n_unique()
    if n_distinct < 2:
        return f"has only one value, {labels.tolist()[0]!r}: a classifier needs at least two classes."
    if n_distinct > max(2, len(labels) // 2):
        return f"has {n_distinct} distinct values in {len(labels)} rows: labels must repeat. Is it the right column?"
    return None
