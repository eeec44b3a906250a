"""Make a source and a target from two tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.columns.codes import find_codes
from adrem.columns.kinds import Wishes, check_learnt, infer_kinds
from adrem.columns.known_labels import Given, known_in_column, known_in_files
from adrem.columns.labels import check_plain, labelled_rows, labels_for_scoring, problem_of_labels
from adrem.columns.learning import make_recipe
from adrem.columns.names import describe_columns, with_header_hint
from adrem.columns.notes import describe
from adrem.columns.photos import CLASS
from adrem.columns.reading import FileTable
from adrem.columns.recipe import MAX_DENSE, Recipe
from adrem.columns.suspects import leave_out_suspects
from adrem.columns.values import MISSING, missing_words_of, with_numbers, without_codes
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.files.labelled_rows import Table
from adrem.files.svmlight import align_columns
from adrem.preprocessing import JointStdScaler
from adrem.runtime.notices import NamingText
from adrem.types import Matrix

if TYPE_CHECKING:
    from polars import DataFrame

    from adrem.features.encoder import Encoder


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
    sources : ndarray of shape (n_source,) or None, default=None
        The source of each row, if there are several.
    known : ndarray of shape (n_target,) or None, default=None
        Labels of the target to learn from, None where they are not known; None if none is known.
    known_probability : ndarray of shape (n_target,) or None, default=None
        With which probability a row was chosen to be labelled, NaN for other rows; None if nothing tells.
    foreign : ndarray of shape (n_target,) or None, default=None
        Known labels that no row of the source has, None for other rows. They can't be learnt from, and an estimate of
        the accuracy counts them as errors.
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
    sources: NDArray[np.intp] | None = None
    known: NDArray[Any] | None = None
    known_probability: NDArray[np.float64] | None = None
    foreign: NDArray[Any] | None = None

    @property
    def n_known(self) -> int:
        """The number of rows of the target with a known label."""
        return 0 if self.known is None else sum(label is not None for label in self.known.tolist())

    @property
    def given(self) -> NDArray[Any] | None:
        """All known labels of the target, also those that no row of the source has; None if none is known."""
        if self.known is None or self.foreign is None:
            return self.known
        return np.where([label is None for label in self.known.tolist()], self.foreign, self.known)

    @property
    def source_sizes(self) -> list[int]:
        """The number of rows of each source, if there are several."""
        sizes: list[int] = [] if self.sources is None else np.bincount(self.sources).tolist()
        return sizes

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
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    left_out: Collection[str] = (),
    missing: Collection[str] | None = None,
    encoder: Encoder | None = None,
    known: FileTable | Sequence[FileTable] | None = None,
    identifier: str | None = None,
) -> Pair:
    """Make a source and a target from two tables.

    Parameters
    ----------
    source, target : FileTable
        As from `read_file`: both with columns, or both with rows of numbers.
    label : str, default=None
        The column of the source with the labels; required for tables with columns. Where the target has this column
        and it is partly empty, its labels are known and the model learns from them, unless it is ``target_label``.
    target_label : str, default=None
        The column of the target with its labels, only for scoring.
    text, numeric, categorical : collection of str, default=()
        Columns to treat as text, as numbers (dates become days), or as categories. They are used even if they tell the
        two files apart or give the label away.
    left_out : collection of str, default=()
        Columns to ignore.
    missing : collection of str or None, default=None
        Values that mark a missing value in any column. By default numbers such as -9 and 999 do if no other value is
        near them; ``["none"]`` turns this off. Empty cells and words such as NA always do.
    encoder : TextEncoder, ImageEncoder or None, default=None
        What turns texts, or the files of `read_photos`, into features. Without one, texts are counts of their words.
    known : FileTable, sequence of FileTable or None, default=None
        A table with known labels of the target, in the column ``label``, or several.
    identifier : str, default=None
        The column of these tables and of the target that names the rows; required with ``known``.

    Returns
    -------
    Pair
        Rows, labels, and notes on the columns.

    Raises
    ------
    ParameterError
        If a column does not exist or can't be used.
    InvalidDataError
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
    tables = _tables_of(known)
    if source.frame is None or target.frame is None:
        if label is not None or target_label is not None:
            raise ParameterError(
                f"{source.name} has no named columns; its labels are those in the file.",
                "label" if label is not None else "target_label",
            )
        if tables:
            raise ParameterError(
                f"{target.name} has no named columns by which {tables[0].name} could name rows.", "known"
            )
        return _pair_of_numbers(source, target)
    images = _images_of(source, target, encoder)
    if label is None:
        raise ParameterError(
            with_header_hint(
                f"Which column of {source.name} holds the labels?", source.frame.columns, separator=source.separator
            ),
            "label",
        )
    wishes = Wishes(text, numeric, categorical, left_out, images)
    fitted = None if encoder is None else encoder.fit([])
    frames = (source, source.frame, target, target.frame)
    pair = _pair_of_columns(*frames, label, target_label, wishes, missing, fitted)
    return _with_known(pair, target, label, target_label, tables, identifier)


def _tables_of(known: FileTable | Sequence[FileTable] | None) -> list[FileTable]:
    return [known] if isinstance(known, FileTable) else [*(known or [])]


def _images_of(source: FileTable, target: FileTable, encoder: Encoder | None) -> list[str]:
    """Return the columns with images of two tables that have some."""
    if bool(source.images) != bool(target.images):
        raise InvalidDataError(f"Only one of {source.name} and {target.name} has images: both need the same form.")
    if source.frame is not None and source.images and CLASS not in source.frame.columns:
        raise InvalidDataError(
            f"{source.name} has no subfolders: put the images of each class into one that has its name."
        )
    wanted = "image" if source.images else "text"
    if encoder is not None and encoder.kind != wanted:
        raise ParameterError(f"{source.name} needs an encoder of {wanted}s, and not of {encoder.kind}s.", "encoder")
    if encoder is None and source.images:
        raise ParameterError(f"{source.name} has images: pass the encoder that read them.", "encoder")
    return list(source.images)


def _pair_of_numbers(source: FileTable, target: FileTable) -> Pair:
    if source.labels is None:
        raise InvalidDataError(f"{source.name} has no labels: save them as `y` beside `x`.")
    problem = problem_of_labels(source.labels)
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

    scaler = JointStdScaler().set_output(transform="default").fit(stack([X_source, X_target]))
    scaled = [as_dense(scaler.transform(rows)) for rows in (X_source, X_target)]
    notes = [f"{X_source.shape[1]} features, each divided by its standard deviation over both files"]
    if target.labels is not None:
        notes.append(f"the labels of {target.name} are used only for scoring")
    return Pair(scaled[0], source.labels, scaled[1], target.labels, None, scaler.scale_, notes, sources=source.sources)


def _pair_of_columns(
    source: FileTable,
    frame: DataFrame,
    target: FileTable,
    other: DataFrame,
    label: str,
    target_label: str | None,
    wishes: Wishes,
    missing: Collection[str] | None,
    encoder: Encoder | None,
) -> Pair:
    answers = _check_names(source, target, label, target_label, wishes)
    frame, y, places = labelled_rows(source, frame, label)
    wishes = replace(wishes, left_out={*wishes.left_out, *answers})
    theirs = {*other.columns} - {*wishes.left_out, *wishes.text, *wishes.images}
    shared = [name for name in frame.columns if name in theirs]
    plain = [name for name in shared if name not in wishes.categorical]
    read = with_numbers(frame, plain), with_numbers(other, plain)
    codes = find_codes(*read, shared, missing)
    clean = without_codes(read[0], codes), without_codes(read[1], codes)
    columns = infer_kinds(*clean, wishes)
    columns = leave_out_suspects(columns, *clean, y, (source.name, target.name), {*wishes.kinds})
    check_learnt(columns.shared, *clean)
    recipe, X_source, X_target, findings = make_recipe(columns, *clean, codes, encoder)
    if target_label is not None:
        check_plain(other[target_label], target.name, "target_label")
    truth = None if target_label is None else labels_for_scoring(other[target_label], y)
    notes = [*source.notes, *target.notes, *_notes_on_labels(source, y)] + _notes_on_truth(
        target, other, label, target_label
    )
    plain = [name for name in recipe.columns if name not in {*recipe.terms, *recipe.encoders}]
    words = missing_words_of((frame, other), read, plain)
    notes += describe(columns, recipe, findings, (source, target), codes if missing is None else {}, words)
    sources = None if source.sources is None else source.sources[places]
    return Pair(X_source, y, X_target, truth, recipe, recipe.scales, notes, (frame, other), places, sources)


def _with_known(
    pair: Pair,
    target: FileTable,
    label: str,
    target_label: str | None,
    tables: list[FileTable],
    identifier: str | None,
) -> Pair:
    """Add the known labels of the target: of tables of their own, or of the column of labels."""
    select(target, [identifier] if identifier else [], "identifier")
    frame = select(target, _columns(target), "label")
    if tables:
        return _knowing(pair, known_in_files(tables, target, frame, label, identifier, pair.y_source))
    if label not in frame.columns or label == target_label:
        return pair
    unused = _notes_on_truth(target, frame, label, target_label)
    given = known_in_column(target, frame, label, pair.y_source)
    if given is None:
        return pair
    return _knowing(replace(pair, notes=[own for own in pair.notes if own not in unused]), given)


def _knowing(pair: Pair, given: Given) -> Pair:
    """Return a pair with known labels, which are not for scoring."""
    is_unknown = [label is None for label in given.known.tolist()]
    truth = pair.truth if pair.truth is None else np.where(is_unknown, pair.truth.astype(object), "")
    return replace(
        pair,
        known=given.known,
        foreign=given.foreign,
        known_probability=given.probability,
        truth=truth,
        notes=[*given.notes, *pair.notes],
    )


def as_dense(rows: Matrix) -> Matrix:
    """Return rows of few features as a dense table: they are a table, and not text."""
    few = sp.issparse(rows) and rows.shape[1] <= MAX_DENSE
    return rows.toarray() if few else rows


def _check_names(
    source: FileTable, target: FileTable, label: str, target_label: str | None, wishes: Wishes
) -> set[str]:
    """Raise an error for columns that are not there; return those with labels."""
    select(source, [label], "label")
    select(target, [target_label] if target_label else [], "target_label")
    names = {*_columns(source), *_columns(target)}
    for name in wishes.left_out:
        if name not in names:
            described = describe_columns(_columns(source), name, f"Columns of {source.name}")
            raise ParameterError(f"Neither file has a column {name!r}. {described}", "left_out")
    return {label, *([target_label] if target_label else [])}


def _columns(table: FileTable) -> list[str]:
    return [] if table.frame is None else table.frame.columns


def _notes_on_labels(source: FileTable, y: NDArray[Any]) -> list[str]:
    notes = []
    if len(y) < source.n_rows:
        notes.append(f"{source.n_rows - len(y)} row(s) of {source.name} without a label were left out")
    words = sorted({str(label).strip() for label in y} & {*MISSING})
    if words:
        notes.append(f"{words[0]!r} is a class of {source.name}; if it marks missing labels, empty these cells")
    return notes


def _notes_on_truth(target: FileTable, other: DataFrame, label: str, target_label: str | None) -> list[str]:
    """Return notes on the labels for scoring: there are none, or they were not named."""
    if target_label is not None:
        given = other[target_label].drop_nulls().cast(str).str.strip_chars()
        blank = not bool((given != "").any())
        return [f"no row of {target.name} has a label in {target_label!r}: nothing can be scored"] if blank else []
    if label not in other.columns:
        return []
    text = "column {name!r} of {file} is not used; {target_label} uses it to score"
    return [NamingText(text, name=label, file=target.name)]


def select(table: FileTable, names: Collection[str], parameter: str) -> DataFrame:
    """Return columns of a table without duplicates; errors name the `parameter` that lists them."""
    import polars as pl

    frame = table.frame
    if frame is None:
        if names:
            raise ParameterError(f"{table.name} has rows of numbers, and no named columns.", parameter)
        return pl.DataFrame()
    known = {*frame.columns}
    missing = [column for column in names if column not in known]
    if missing:
        raise ParameterError(
            with_header_hint(f"{table.name} has no column {missing[0]!r}.", frame.columns, missing[0], table.separator),
            parameter,
        )
    return pl.DataFrame([frame[name] for name in dict.fromkeys(names)])
