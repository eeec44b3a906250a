"""Labels of the target that are known: in a column that is partly empty, or in a file of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.columns.names import with_header_hint
from adrem.columns.reading import FileTable
from adrem.columns.values import MISSING
from adrem.exceptions import ParameterError
from adrem.runtime.notices import NamingText
from adrem.runtime.text import some_names

if TYPE_CHECKING:
    from polars import DataFrame, Series

# A label of each row of the target, None where it is not known.
KnownLabels = NDArray[Any]
# The columns by which `adrem ask` tells how a row was chosen, and with which probability.
CHOSEN, PROBABILITY = "chosen", "probability"


class Given(NamedTuple):
    """Labels that were given for rows of the target, with notes on them.

    `known` are classes of the source, `foreign` labels that no row of the source has, None elsewhere. `probability` is
    that with which a row was chosen to be labelled, NaN where nothing tells.
    """

    known: KnownLabels
    foreign: KnownLabels
    probability: NDArray[np.float64]
    notes: list[str]


def known_in_column(target: FileTable, frame: DataFrame, label: str, y: NDArray[Any]) -> Given | None:
    """Return the labels of a column of the target that is partly empty; None if it is full or empty."""
    classes = _classes_by_text(y)
    labels = _labels(frame[label], classes)
    if _count(labels) in (0, len(labels)):
        return None
    known, foreign = _apart(labels, classes)
    _check_some_known(known, foreign, f"Column {label!r} of {target.name}", classes, "label")
    text = (
        "column {name!r} of {file} has labels in {n} of {rows} rows: both classifiers learn from these rows too; with "
        "{target_label} it is only scored by them"
    )
    note = NamingText(text, name=label, file=target.name, n=_count(known), rows=len(known))
    return Given(known, foreign, np.full(len(known), np.nan), [note, *_note_on_foreign(foreign)])


def known_in_files(
    files: Sequence[FileTable], target: FileTable, frame: DataFrame, label: str, identifier: str | None, y: NDArray[Any]
) -> Given:
    """Return the labels of files for the rows of the target that they name by an identifier."""
    names = " and ".join(file.name for file in files)
    if identifier is None:
        raise ParameterError(f"Which column of {names} and {target.name} identifies the rows?", "identifier")
    classes, place = _classes_by_text(y), _places(frame[identifier])
    labels, probability = np.full(frame.height, None, dtype=object), np.full(frame.height, np.nan)
    tellers: dict[int, str] = {}
    notes: list[str] = []
    for file in files:
        own = _check_columns(file, (identifier, label))
        told = _labels(own[label], classes)
        if not _count(told):
            raise ParameterError(
                f"column {label!r} of {file.name} is empty in all {len(told)} rows: fill in labels first.", "known"
            )
        rows = set()
        for name, value, chance in zip(texts_of(own[identifier]), told, _probabilities(own), strict=True):
            if value is None:
                continue
            row = _row_of(name, place, file, target, identifier)
            if labels[row] not in (None, value):
                raise ParameterError(_contradiction(name, (tellers[row], labels[row]), (file.name, value)), "known")
            labels[row], tellers[row] = value, file.name
            probability[row] = chance if np.isnan(probability[row]) else probability[row]
            rows.add(row)
        notes += _note_on_file(file, target, sum(labels[row] in classes.values() for row in rows), told, frame.height)
    known, foreign = _apart(labels, classes)
    _check_some_known(known, foreign, f"Column {label!r} of {names}", classes, "known")
    return Given(known, foreign, probability, [*notes, *_note_on_foreign(foreign)])


def _note_on_file(file: FileTable, target: FileTable, n_known: int, told: list[Any], n_rows: int) -> list[str]:
    """Return how many rows of the target a file has labels of, and how many of its own rows have none."""
    n_empty = len(told) - _count(told)
    empty = f"; {n_empty} of its {len(told)} rows {'has' if n_empty == 1 else 'have'} no label" if n_empty else ""
    count = f"{file.name} has labels of {n_known} of the {n_rows} rows of {target.name}"
    return [f"{count}: both classifiers learn from them{empty}"] if n_known else []


def _note_on_foreign(foreign: KnownLabels) -> list[str]:
    """Return which labels no row of the source has, so that a typing error is noticed."""
    n = _count(foreign)
    if not n:
        return []
    which = some_names(sorted({label for label in foreign.tolist() if label is not None}))
    subject, them = ("1 label is", "it") if n == 1 else (f"{n} labels are", "them")
    use = f"the model can't learn {them}; the estimate of the accuracy counts {them} as wrong"
    return [f"{subject} of no class of the source ({which}): {use}"]


def _contradiction(name: str, first: tuple[str, Any], second: tuple[str, Any]) -> str:
    if first[0] == second[0]:
        return f"{first[0]} gives {name!r} the labels {first[1]!r} and {second[1]!r}: keep one."
    return f"{first[0]} gives {name!r} the label {first[1]!r}, and {second[0]} gives it {second[1]!r}: keep one."


def _probabilities(known: DataFrame) -> list[float]:
    """Return with which probability each row was chosen to be labelled, NaN where nothing tells."""
    if not {CHOSEN, PROBABILITY} <= {*known.columns}:
        return [np.nan] * known.height
    values = known[PROBABILITY].cast(float, strict=False).to_list()
    return [value if value is not None and 0.0 < value <= 1.0 else np.nan for value in values]


def _row_of(name: str, place: dict[str, int], known: FileTable, target: FileTable, identifier: str) -> int:
    """Return the row that a name stands for."""
    row = place.get(name)
    if row is None or row < 0:
        problem = "has no row" if row is None else "has several rows"
        raise ParameterError(
            f"{known.name} labels {name!r}, and {target.name} {problem} with it in {identifier!r}.", "known"
        )
    return row


def _places(names: Series) -> dict[str, int]:
    """Return the row of each name, -1 for several."""
    place: dict[str, int] = {}
    for row, name in enumerate(texts_of(names)):
        place[name] = -1 if name in place else row
    return place


def _check_columns(known: FileTable, names: tuple[str, ...]) -> DataFrame:
    if known.frame is None:
        raise ParameterError(f"{known.name} has rows of numbers: give a table with named columns.", "known")
    for name in names:
        if name not in known.frame.columns:
            raise ParameterError(
                with_header_hint(f"{known.name} has no column {name!r}.", known.frame.columns, name, known.separator),
                "known",
            )
    return known.frame


def _classes_by_text(y: NDArray[Any]) -> dict[str, Any]:
    return {_text(value): value for value in np.unique(y).tolist()}


def _labels(column: Series, classes: dict[str, Any]) -> list[Any]:
    """Return the class of each cell, its text if it is none; None of an empty one or a word for missing values."""
    empty = {"", *MISSING} - {*classes}
    return [None if cell in empty else classes.get(cell, cell) for cell in texts_of(column)]


def _apart(labels: Iterable[Any], classes: dict[str, Any]) -> tuple[KnownLabels, KnownLabels]:
    """Return the labels that are classes of the source, and the others."""
    own = {*classes.values()}
    known = [label if label in own else None for label in labels]
    foreign = [None if label in own else label for label in labels]
    return np.array(known, dtype=object), np.array(foreign, dtype=object)


def _check_some_known(
    known: KnownLabels, foreign: KnownLabels, where: str, classes: dict[str, Any], parameter: str
) -> None:
    """Raise an error if no label is a class of the source: the column or the spelling is another one."""
    if _count(known) or not _count(foreign):
        return
    some = some_names(sorted({label for label in foreign.tolist() if label is not None}))
    raise ParameterError(
        f"{where} has no label that the source has, but {some}; the source has {some_names([*classes])}. Is it the "
        "right column, and are the labels spelt as in the source?",
        parameter,
    )


def texts_of(column: Series) -> list[str]:
    """Return the cells of a column as texts that do not depend on the format of its file."""
    return [_text(value) for value in column.to_list()]


def _text(value: Any) -> str:
    """Return a cell as text, "" for none; whole numbers without a point, as where the column has no empty cell."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _count(labels: Iterable[Any]) -> int:
    return sum(label is not None for label in labels)
