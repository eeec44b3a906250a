"""Two files as a source and a target, ready to learn from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem._types import Matrix
from adrem.columns.reading import FileTable
from adrem.columns.recipe import Recipe, Report, make_recipe
from adrem.columns.roles import Roles, assign_roles
from adrem.datasets._readers import Table
from adrem.datasets.folder import _aligned
from adrem.preprocessing import JointStdScaler

if TYPE_CHECKING:
    from polars import DataFrame, Series

SHOWN = 5  # names in a note


@dataclass(frozen=True)
class Pair:
    """Rows of a source with their labels, rows of a target, how they were made, and what a person should know of it.

    Parameters
    ----------
    X_source : {ndarray, CSR array} of shape (n_source, n_features)
        Rows of the source.
    y_source : ndarray of shape (n_source,)
        Their labels.
    X_target : {ndarray, CSR array} of shape (n_target, n_features)
        Rows of the target.
    truth : ndarray of shape (n_target,) or None
        Labels of the target, only to score by.
    recipe : Recipe or None
        What makes rows of tables with columns; None for files of numbers.
    scales : ndarray of shape (n_features,)
        What every feature was divided by.
    notes : list of str, default=[]
        What became of the columns, a line each.
    frames : tuple of polars.DataFrame or None, default=None
        The two tables that the rows were made of.
    source_places : ndarray of shape (n_source,) or None, default=None
        Which rows of the source's file its rows are.

    Examples
    --------
    >>> import polars as pl
    >>> from adrem.columns import FileTable, make_pair
    >>> books = pl.DataFrame({"price": [9, 30, 8, 35], "liked": ["yes", "no", "yes", "no"]})
    >>> kitchen = pl.DataFrame({"price": [20, 90]})
    >>> pair = make_pair(FileTable("books.csv", "", books), FileTable("kitchen.csv", "", kitchen), label="liked")
    >>> pair.y_source.tolist()
    ['yes', 'no', 'yes', 'no']
    >>> pair.X_target.shape
    (2, 2)
    """

    X_source: Matrix
    y_source: NDArray[Any]
    X_target: Matrix
    truth: NDArray[Any] | None
    recipe: Recipe | None
    scales: NDArray[np.float64]
    notes: list[str] = field(default_factory=list)
    frames: tuple[DataFrame, DataFrame] | None = None
    source_places: NDArray[np.intp] | None = None

    @property
    def feature_names(self) -> list[str]:
        """A name for every feature.

        Examples
        --------
        >>> import polars as pl
        >>> from adrem.columns import FileTable, make_pair
        >>> books = pl.DataFrame({"price": [9, 30, 8, 35], "liked": ["yes", "no", "yes", "no"]})
        >>> kitchen = pl.DataFrame({"price": [20, 90]})
        >>> pair = make_pair(FileTable("books.csv", "", books), FileTable("kitchen.csv", "", kitchen), label="liked")
        >>> pair.feature_names
        ['price', '(constant)']
        """
        if self.recipe is not None:
            return self.recipe.feature_names
        return [f"feature {k}" for k in range(self.X_source.shape[1])]


def make_pair(
    source: FileTable,
    target: FileTable,
    *,
    label: str | None = None,
    target_label: str | None = None,
    text: Collection[str] = (),
    left_out: Collection[str] = (),
) -> Pair:
    """Make rows of two files.

    Parameters
    ----------
    source, target : FileTable
        As `read_file` gives them: both with columns, or both with rows of numbers.
    label : str, default=None
        The column of the source that holds the labels; needed where it has columns.
    target_label : str, default=None
        The column of the target that holds its labels, only to score by.
    text : collection of str, default=()
        Columns that are text, whatever they look like.
    left_out : collection of str, default=()
        Columns that are not learnt from.

    Returns
    -------
    Pair
        Rows and labels to learn from, and notes about what was done.

    Raises
    ------
    ValueError
        If the files do not go together, or a column is not there. The message says what to do.

    See Also
    --------
    read_file : Read such a file.

    Examples
    --------
    >>> import polars as pl
    >>> from adrem import AdREM
    >>> from adrem.columns import FileTable, make_pair
    >>> books = pl.DataFrame({"said": ["a gripping plot", "dull", "a good plot", "dull"], "liked": [1, 0, 1, 0]})
    >>> kitchen = pl.DataFrame({"said": ["a good sharp knife", "dull and dear"]})
    >>> pair = make_pair(
    ...     FileTable("books.csv", "", books), FileTable("kitchen.csv", "", kitchen), label="liked", text=["said"]
    ... )
    >>> pair.notes
    ["column 'said' is text (as told): 17 terms"]
    >>> model = AdREM(C=1.0, n_estimators=3, random_state=0)
    >>> model.fit(pair.X_source, pair.y_source, X_target=pair.X_target).transduction_.tolist()
    [1, 0]
    """
    if (source.frame is None) != (target.frame is None):
        kinds = [f"{t.name} has {'rows of numbers' if t.frame is None else 'columns'}" for t in (source, target)]
        raise ValueError(f"{' and '.join(kinds)}: both files need the same form.")
    if source.frame is None or target.frame is None:
        if label is not None or target_label is not None:
            option = "--label" if label is not None else "--target-label"
            raise ValueError(f"{option}: {source.name} has no columns with names; its labels are those in the file.")
        return _pair_of_numbers(source, target)
    return _pair_of_columns(source, source.frame, target, target.frame, label, target_label, text, left_out)


def _pair_of_numbers(source: FileTable, target: FileTable) -> Pair:
    if source.labels is None:
        raise ValueError(f"{source.name} holds no labels: give them as `y` beside `x`.")
    check_labels(source.labels, f"The labels of {source.name}")
    tables = {"source": Table(source.rows, source.labels), "target": Table(target.rows, target.labels)}
    if all(hasattr(table.X, "indices") for table in tables.values()):
        tables = _aligned(tables)
    X_source, X_target = tables["source"].X, tables["target"].X
    if X_source.shape[1] != X_target.shape[1]:
        raise ValueError(
            f"{source.name} has {X_source.shape[1]} features, {target.name} has {X_target.shape[1]}: both files need "
            "the same, in the same order."
        )
    from adrem.machines._tables import stack

    scaler = JointStdScaler().fit(stack([X_source, X_target]))
    scaled = [scaler.transform(rows) for rows in (X_source, X_target)]
    notes = [f"{X_source.shape[1]} features, each divided by its standard deviation over both files"]
    if target.labels is not None:
        notes.append(f"the labels of {target.name} are only scored by")
    return Pair(scaled[0], source.labels, scaled[1], target.labels, None, scaler.scale_, notes)


def _pair_of_columns(
    source: FileTable,
    frame: DataFrame,
    target: FileTable,
    other: DataFrame,
    label: str | None,
    target_label: str | None,
    text: Collection[str],
    left_out: Collection[str],
) -> Pair:
    if label is None:
        raise ValueError(f"Which column of {source.name} holds the labels? Name it by --label; it has {frame.columns}.")
    for name, table, columns in ((label, source, frame.columns), (target_label, target, other.columns)):
        if name is not None and name not in columns:
            raise ValueError(f"{table.name} has no column {name!r}; it has {columns}.")
    notes = []
    has_label = frame[label].is_not_null() & (frame[label].cast(str).str.strip_chars() != "")
    places = np.flatnonzero(has_label.to_numpy())
    if not has_label.all():
        notes.append(f"{frame.height - has_label.sum()} row(s) of {source.name} without a label were left out")
        frame = frame.filter(has_label)
    if not frame.height:
        raise ValueError(f"Column {label!r} of {source.name} has no label in any row.")
    y = as_labels(frame[label])
    check_labels(y, f"Column {label!r} of {source.name}")
    if label in other.columns and target_label is None:
        notes.append(f"column {label!r} of {target.name} is not looked at; --target-label {label} scores by it")
    unknown = [name for name in left_out if name not in frame.columns and name not in other.columns]
    if unknown:
        raise ValueError(f"--drop: neither file has a column {unknown[0]!r}; the source has {frame.columns}.")
    roles = assign_roles(
        frame, other, text=text, left_out={label, *left_out, *([target_label] if target_label else [])}
    )
    recipe, X_source, X_target, report = make_recipe(roles, frame, other)
    truth = None if target_label is None else as_labels(other[target_label])
    notes += describe(roles, recipe, report, source, target)
    return Pair(X_source, y, X_target, truth, recipe, recipe.scales, notes, (frame, other), places)


def as_labels(column: Series) -> NDArray[Any]:
    """Labels as they are written, or as they are typed; numbers that are not whole are taken as they are written."""
    import polars as pl

    whole = column.dtype.is_integer() or column.dtype == pl.Boolean
    return column.to_numpy() if whole else column.cast(pl.String).to_numpy().astype(object)


def check_labels(labels: NDArray[Any], what: str) -> None:
    """Refuse labels that are no classes."""
    n_distinct = _count_distinct(labels)
    if n_distinct < 2:
        raise ValueError(f"{what} has one value only, {labels.tolist()[0]!r}: a classifier needs at least two classes.")
    if n_distinct > max(2, len(labels) // 2):
        raise ValueError(
            f"{what} has {n_distinct} distinct values in {len(labels)} rows: labels have to repeat. Is it the right "
            "column?"
        )


def _count_distinct(labels: NDArray[Any]) -> int:
    import polars as pl

    return pl.Series(labels.tolist() if labels.dtype == object else labels).n_unique()


def describe(roles: Roles, recipe: Recipe, report: Report, source: FileTable, target: FileTable) -> list[str]:
    """What was made of the columns, a line each."""
    notes = []
    for role in roles.shared:
        if not role.is_learnt:
            notes.append(f"column {role.column!r} is left out: {role.kind}, {role.reason}")
        elif role.kind == "text":
            notes.append(f"column {role.column!r} is text ({role.reason}): {len(recipe.terms[role.column])} terms")
        elif role.doubt:
            notes.append(f"column {role.column!r} is taken for categories, but {role.doubt}")
    for kind, names in (("numbers", roles.of_kind("number")), ("categories", roles.of_kind("category"))):
        if names:
            notes.append(f"{kind}: {some_names(names)}")
    for table, names in ((source, roles.only_source), (target, roles.only_target)):
        if names:
            notes.append(f"only in {table.name}, left out: {some_names(names)}")
    return notes + _look_alikes(roles) + _gaps(roles, recipe, report)


def _look_alikes(roles: Roles) -> list[str]:
    """Columns of either file whose names differ by case and spaces only."""
    others = {_plain(name): name for name in roles.only_target}
    return [
        f"{name!r} and {others[_plain(name)]!r} look alike: give the column one name in both files"
        for name in roles.only_source
        if _plain(name) in others
    ][:SHOWN]


def _gaps(roles: Roles, recipe: Recipe, report: Report) -> list[str]:
    """What was missing, and what became of it."""
    notes = [f"{count} text(s) of {name!r} have no word" for name, count in report.without_words.items()]
    for name, count in list(report.filled.items())[:SHOWN]:
        value = recipe.numbers[name]
        notes.append(f"{count} missing value(s) of {name!r} were filled by the median {value:g}, and marked")
    if len(report.filled) > SHOWN:
        notes.append(f"and so were those of {len(report.filled) - SHOWN} more columns")
    odd = [role for role in roles.shared if role.kind == "number" and role.reason != "numbers"]
    return notes + [f"column {role.column!r} has {role.reason}: taken as missing" for role in odd[:SHOWN]]


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def some_names(names: list[str]) -> str:
    """Names for a line, of many only the first."""
    return ", ".join(map(repr, names[:SHOWN])) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def select(table: FileTable, names: Collection[str], option: str) -> DataFrame:
    """Columns of a table, each once, all of which have to be there."""
    import polars as pl

    if table.frame is None:
        if names:
            raise ValueError(f"{option}: {table.name} has rows of numbers, and no columns with names.")
        return pl.DataFrame()
    missing = [column for column in names if column not in table.frame.columns]
    if missing:
        raise ValueError(f"{option}: {table.name} has no column {missing[0]!r}; it has {table.frame.columns}.")
    return table.frame.select(list(dict.fromkeys(names)))
