"""Labels of the target that are known: in a column that is partly empty, or in a file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.columns.names import with_header_hint
from adrem.columns.reading import FileTable
from adrem.columns.values import MISSING
from adrem.exceptions import ParameterError
from adrem.runtime.notices import NamingText

if TYPE_CHECKING:
    from polars import DataFrame, Series

# A label of each row of the target, None where it is not known.
KnownLabels = NDArray[Any]
# The columns by which `adrem ask` tells how a row was chosen, and with which probability.
CHOSEN, PROBABILITY = "chosen", "probability"


def known_in_column(target: FileTable, frame: DataFrame, label: str, y: NDArray[Any]) -> tuple[KnownLabels | None, str]:
    """Return the labels of a column of the target that is partly empty, with a note; None if it is full or empty."""
    known = _as_classes(frame[label], y, f"Column {label!r} of {target.name}", "label")
    n_known = _count(known)
    if n_known in (0, len(known)):
        return None, ""
    text = (
        "column {name!r} of {file} has labels in {n} of {rows} rows: both classifiers learn from these rows too; with "
        "{target_label} it is only scored by them"
    )
    return known, NamingText(text, name=label, file=target.name, n=n_known, rows=len(known))


def known_in_file(
    known: FileTable, target: FileTable, frame: DataFrame, label: str, identifier: str | None, y: NDArray[Any]
) -> tuple[KnownLabels | None, str]:
    """Return the labels of a file for the rows of the target that it names by an identifier, with a note."""
    if identifier is None:
        raise ParameterError(f"Which column of {known.name} and {target.name} identifies the rows?", "identifier")
    own = _check_columns(known, (identifier, label))
    labels = _as_classes(own[label], y, f"Column {label!r} of {known.name}", "known")
    place = _places(frame[identifier])
    found = np.full(frame.height, None, dtype=object)
    for name, value in zip(_texts(own[identifier]), labels.tolist(), strict=True):
        if value is not None:
            _keep(found, place.get(name), value, name, known, target, identifier)
    n_known = _count(found)
    text = (
        f"{known.name} has labels of {n_known} of the {frame.height} rows of {target.name}: both classifiers learn "
        "from them"
    )
    return found if n_known else None, text


def probability_in_file(known: FileTable, frame: DataFrame, identifier: str | None) -> NDArray[np.float64] | None:
    """Return with which probability a row was chosen to be labelled, NaN for others; None if the file does not tell."""
    own = known.frame
    if identifier is None or own is None or not {CHOSEN, PROBABILITY, identifier} <= {*own.columns}:
        return None
    place, found = _places(frame[identifier]), np.full(frame.height, np.nan)
    values = own[PROBABILITY].cast(float, strict=False).to_list()
    for name, value in zip(_texts(own[identifier]), values, strict=True):
        if value is not None and 0.0 < value <= 1.0 and place.get(name, -1) >= 0:
            found[place[name]] = value
    return found


def _places(names: Series) -> dict[str, int]:
    """Return the row of each name, -1 for several."""
    place: dict[str, int] = {}
    for row, name in enumerate(_texts(names)):
        place[name] = -1 if name in place else row
    return place


def _keep(
    found: KnownLabels, row: int | None, value: Any, name: str, known: FileTable, target: FileTable, identifier: str
) -> None:
    """Set the label of the row that a name stands for."""
    if row is None or row < 0:
        problem = "has no row" if row is None else "has several rows"
        raise ParameterError(
            f"{known.name} labels {name!r}, and {target.name} {problem} with it in {identifier!r}.", "known"
        )
    if found[row] not in (None, value):
        raise ParameterError(f"{known.name} gives {name!r} the labels {found[row]!r} and {value!r}: keep one.", "known")
    found[row] = value


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


def _as_classes(column: Series, y: NDArray[Any], where: str, parameter: str) -> KnownLabels:
    """Return the class of each cell, None of an empty one or one with a word for missing values."""
    classes = {_text(value): value for value in np.unique(y).tolist()}
    cells = _texts(column)
    others = sorted({cell for cell in cells if cell not in classes} - {"", *MISSING})
    if others:
        raise ParameterError(
            f"{where} has the label {others[0]!r}, which no row of the source has; the source has "
            f"{', '.join([*classes][:10])}. Correct it, or empty the cell.",
            parameter,
        )
    return np.array([classes.get(cell) for cell in cells], dtype=object)


def _texts(column: Series) -> list[str]:
    return [_text(value) for value in column.to_list()]


def _text(value: Any) -> str:
    """Return a cell as text, "" for none; whole numbers without a point, as where the column has no empty cell."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _count(known: KnownLabels) -> int:
    return sum(label is not None for label in known.tolist())
