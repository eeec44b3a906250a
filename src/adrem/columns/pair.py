"""Make a source and a target from two tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.columns.kinds import MISSING, Columns, infer_kinds
from adrem.columns.reading import FileTable
from adrem.columns.recipe import ColumnFindings, Recipe, make_recipe
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.files.svmlight import align_columns
from adrem.files.tables import Table
from adrem.preprocessing import JointStdScaler
from adrem.types import Matrix

if TYPE_CHECKING:
    from polars import DataFrame, Series

MOST_NAMES = 5  # in a note


@dataclass(frozen=True)
class Pair:
    """A source and a target as rows of numbers, and the recipe that made them.

    Parameters
    ----------
    X_source : {ndarray, CSR array} of shape (n_source, n_features)
        Rows of the source.
    y_source : ndarray of shape (n_source,)
        Their labels.
    X_target : {ndarray, CSR array} of shape (n_target, n_features)
        Rows of the target.
    truth : ndarray of shape (n_target,) or None
        Labels of the target, only for scoring.
    recipe : Recipe or None
        How rows are made from columns; None for files of numbers.
    scales : ndarray of shape (n_features,)
        The divisor of every feature.
    notes : list of str, default=[]
        How the columns were used.
    frames : tuple of polars.DataFrame or None, default=None
        The two tables.
    source_places : ndarray of shape (n_source,) or None, default=None
        The positions of the rows in the source's file.
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
        """A name for every feature."""
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
    """Make a source and a target from two tables.

    Parameters
    ----------
    source, target : FileTable
        As from `read_file`: both with columns, or both with rows of numbers.
    label : str, default=None
        The column of the source with the labels; required for tables with columns.
    target_label : str, default=None
        The column of the target with its labels, only for scoring.
    text : collection of str, default=()
        Columns to treat as text.
    left_out : collection of str, default=()
        Columns to ignore.

    Returns
    -------
    Pair
        Rows, labels, and notes on the columns.

    Raises
    ------
    ParameterError
        If a column does not exist or can't be used.
    ValueError
        If the two files do not fit together.

    See Also
    --------
    read_file : Read a table from a file.

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
    ["column 'said' is text (as requested): 17 terms"]
    >>> model = AdREM(C=1.0, n_estimators=3, random_state=0)
    >>> model.fit(pair.X_source, pair.y_source, X_target=pair.X_target).transduction_.tolist()
    [1, 0]
    """
    if (source.frame is None) != (target.frame is None):
        kinds = [f"{t.name} has {'rows of numbers' if t.frame is None else 'columns'}" for t in (source, target)]
        raise InvalidDataError(f"{' and '.join(kinds)}: both files need the same form.")
    if source.frame is None or target.frame is None:
        if label is not None or target_label is not None:
            raise ParameterError(
                f"{source.name} has no named columns; its labels are those in the file.",
                "label" if label is not None else "target_label",
            )
        return _pair_of_numbers(source, target)
    return _pair_of_columns(source, source.frame, target, target.frame, label, target_label, text, left_out)


def _pair_of_numbers(source: FileTable, target: FileTable) -> Pair:
    if source.labels is None:
        raise InvalidDataError(f"{source.name} has no labels: save them as `y` beside `x`.")
    problem = _problem_of_labels(source.labels)
    if problem is not None:
        raise InvalidDataError(f"{source.name}: the column of labels {problem}")
    tables = {"source": Table(source.rows, source.labels), "target": Table(target.rows, target.labels)}
    if all(hasattr(table.X, "indices") for table in tables.values()):
        tables = align_columns(tables)
    X_source, X_target = tables["source"].X, tables["target"].X
    if X_source.shape[1] != X_target.shape[1]:
        raise InvalidDataError(
            f"{source.name} has {X_source.shape[1]} features, {target.name} has {X_target.shape[1]}: both files need "
            "the same, in the same order."
        )
    from adrem.machines.tables import stack

    scaler = JointStdScaler().fit(stack([X_source, X_target]))
    scaled = [scaler.transform(rows) for rows in (X_source, X_target)]
    notes = [f"{X_source.shape[1]} features, each divided by its standard deviation over both files"]
    if target.labels is not None:
        notes.append(f"the labels of {target.name} are used only for scoring")
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
        raise ParameterError(
            f"Which column of {source.name} holds the labels? {describe_columns(frame.columns)}", "label"
        )
    select(source, [label], "label")
    select(target, [target_label] if target_label else [], "target_label")
    unknown = [name for name in left_out if name not in frame.columns and name not in other.columns]
    if unknown:
        raise ParameterError(
            f"Neither file has a column {unknown[0]!r}. {describe_columns(frame.columns, unknown[0])}", "left_out"
        )
    frame, y, places = _labelled_rows(source, frame, label)
    columns = infer_kinds(
        frame, other, text=text, left_out={label, *left_out, *([target_label] if target_label else [])}
    )
    recipe, X_source, X_target, findings = make_recipe(columns, frame, other)
    truth = None if target_label is None else as_labels(other[target_label])
    notes = _notes_on_labels(source, y)
    if label in other.columns and target_label is None:
        notes.append(f"column {label!r} of {target.name} is not used; name it as the label of the target for scoring")
    notes += describe(columns, recipe, findings, source, target)
    return Pair(X_source, y, X_target, truth, recipe, recipe.scales, notes, (frame, other), places)


def _labelled_rows(source: FileTable, frame: DataFrame, label: str) -> tuple[DataFrame, NDArray[Any], NDArray[np.intp]]:
    """Return the rows of the source that have a label, their labels, and their positions."""
    has_label = frame[label].is_not_null() & (frame[label].cast(str).str.strip_chars() != "")
    places = np.flatnonzero(has_label.to_numpy())
    frame = frame.filter(has_label)
    if not frame.height:
        raise ParameterError(f"Column {label!r} of {source.name} has no label in any row.", "label")
    y = as_labels(frame[label])
    problem = _problem_of_labels(y)
    if problem is not None:
        raise ParameterError(f"Column {label!r} of {source.name} {problem}", "label")
    return frame, y, places


def _notes_on_labels(source: FileTable, y: NDArray[Any]) -> list[str]:
    notes = []
    if len(y) < source.n_rows:
        notes.append(f"{source.n_rows - len(y)} row(s) of {source.name} without a label were left out")
    words = sorted({str(label).strip() for label in y} & {*MISSING})
    if words:
        notes.append(f"{words[0]!r} is a class of {source.name}; if it marks missing labels, empty these cells")
    return notes


def as_labels(column: Series) -> NDArray[Any]:
    """Return integers and booleans as they are, other labels as strings."""
    import polars as pl

    whole = column.dtype.is_integer() or column.dtype == pl.Boolean
    return column.to_numpy() if whole else column.cast(pl.String).to_numpy().astype(object)


def _problem_of_labels(labels: NDArray[Any]) -> str | None:
    """Return why labels can't be classes; None if they can."""
    import polars as pl

    n_distinct = pl.Series(labels.tolist() if labels.dtype == object else labels).n_unique()
    if n_distinct < 2:
        return f"has only one value, {labels.tolist()[0]!r}: a classifier needs at least two classes."
    if n_distinct > max(2, len(labels) // 2):
        return f"has {n_distinct} distinct values in {len(labels)} rows: labels must repeat. Is it the right column?"
    return None


def describe(
    columns: Columns, recipe: Recipe, findings: ColumnFindings, source: FileTable, target: FileTable
) -> list[str]:
    """Describe how the columns were used."""
    notes = []
    for column in columns.shared:
        if not column.is_learnt:
            notes.append(f"column {column.name!r} is left out: {column.kind}, {column.reason}")
        elif column.kind == "text":
            notes.append(f"column {column.name!r} is text ({column.reason}): {len(recipe.terms[column.name])} terms")
        elif column.doubt:
            notes.append(f"column {column.name!r} is treated as categories, but {column.doubt}")
    for kind, names in (("numbers", columns.of_kind("number")), ("categories", columns.of_kind("category"))):
        if names:
            notes.append(f"{kind}: {some_names(names)}")
    for table, names in ((source, columns.only_source), (target, columns.only_target)):
        if names:
            notes.append(f"only in {table.name}, left out: {some_names(names)}")
    return notes + _look_alikes(columns) + _gaps(columns, recipe, findings)


def _look_alikes(columns: Columns) -> list[str]:
    """Return notes on columns of the two files whose names differ only by case and spaces."""
    others = {_plain(name): name for name in columns.only_target}
    return [
        f"{name!r} and {others[_plain(name)]!r} look alike: use one name in both files"
        for name in columns.only_source
        if _plain(name) in others
    ][:MOST_NAMES]


def _gaps(columns: Columns, recipe: Recipe, findings: ColumnFindings) -> list[str]:
    """Describe which values were missing, and how they were filled."""
    notes = [f"{count} text(s) of {name!r} have no word" for name, count in findings.without_words.items()]
    for name, count in list(findings.filled.items())[:MOST_NAMES]:
        value = recipe.numbers[name]
        notes.append(f"{count} missing value(s) of {name!r} were filled with the median {value:g}, and marked")
    if len(findings.filled) > MOST_NAMES:
        notes.append(f"and those of {len(findings.filled) - MOST_NAMES} more columns")
    odd = [column for column in columns.shared if column.kind == "number" and column.reason != "numbers"]
    return notes + [f"column {column.name!r} has {column.reason}: treated as missing" for column in odd[:MOST_NAMES]]


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def some_names(names: list[str]) -> str:
    """Join names; list only the first of many."""
    return ", ".join(map(repr, names[:MOST_NAMES])) + (
        f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    )


def select(table: FileTable, names: Collection[str], parameter: str) -> DataFrame:
    """Return columns of a table without duplicates; errors name the `parameter` that lists them."""
    import polars as pl

    frame = table.frame
    if frame is None:
        if names:
            raise ParameterError(f"{table.name} has rows of numbers, and no named columns.", parameter)
        return pl.DataFrame()
    missing = [column for column in names if column not in frame.columns]
    if missing:
        raise ParameterError(
            f"{table.name} has no column {missing[0]!r}. {describe_columns(frame.columns, missing[0])}", parameter
        )
    return frame.select(list(dict.fromkeys(names)))


def describe_columns(names: Sequence[str], wanted: str = "") -> str:
    """Return the columns that the user may have meant, the most similar name first."""
    close = get_close_matches(wanted, names, 1)
    first = ", ".join(map(repr, names[:MOST_NAMES]))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{f'Did you mean {close[0]!r}? ' if close else ''}Its columns: {first}{more}."
