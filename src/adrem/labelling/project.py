"""What is labelled: two tables, the model that is adapted to them, and how a row is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.active import suggest
from adrem.columns import Pair
from adrem.columns.bundle import Bundle
from adrem.columns.labelling import adapt_pair
from adrem.columns.photos import PHOTO, Thumbnails
from adrem.diagnostics.diagnosis import Examination
from adrem.exceptions import InvalidDataError, ParameterError

SIDE = 512  # pixels of a picture
MOST_LETTERS = 4000  # of a cell that is shown
N_SUGGESTED = 60


@dataclass(frozen=True)
class Adapted:
    """A model, and what it says of every row of the target."""

    pair: Pair
    bundle: Bundle
    examined: Examination
    labels: NDArray[np.intp]
    shares: NDArray[np.float64]


# Writes a file about an adapted model and the labels that were given.
Export = Callable[[Adapted, dict[int, Any], Path], None]


@dataclass(frozen=True)
class Project:
    """Two tables, and how a model is adapted to them.

    Parameters
    ----------
    pair : Pair
        The tables.
    make_model : callable
        Returns a new model that is not fitted.
    about : dict
        Names and checksums of the tables, and the column of labels, for the model file.
    identifier : str or None
        The column that names the rows.
    exports : dict of str to callable
        By the name of a file, what writes it.
    """

    pair: Pair
    make_model: Callable[[], Any]
    about: dict[str, Any]
    identifier: str | None
    exports: dict[str, Export]

    def __post_init__(self) -> None:
        if self.pair.frames is None:
            raise InvalidDataError("Rows of numbers can't be labelled by hand: give tables with named columns.")
        if self.identifier is not None:
            _check_identifier(self._target[self.identifier])

    @property
    def n_rows(self) -> int:
        """The number of rows of the target."""
        return int(self.pair.X_target.shape[0])

    @property
    def classes(self) -> list[Any]:
        """The labels to choose from."""
        labels: list[Any] = np.unique(self.pair.y_source).tolist()
        return labels

    @property
    def known_rows(self) -> list[int]:
        """The rows whose labels are in the table already."""
        known = [] if self.pair.known is None else self.pair.known.tolist()
        return [row for row, label in enumerate(known) if label is not None]

    def adapt(self, labels: dict[int, Any]) -> Adapted:
        """Adapt a new model, which learns from the labels of some rows."""
        known = np.full(self.n_rows, None, dtype=object) if self.pair.known is None else self.pair.known.copy()
        for row, label in labels.items():
            known[row] = label
        some = any(label is not None for label in known.tolist())
        pair = replace(self.pair, known=known if some else None)
        bundle, examined = adapt_pair(pair, self.make_model(), self.about)
        model, rows = bundle.model, pair.X_target
        return Adapted(pair, bundle, examined, model.label_rows(rows), model.share_rows(rows))

    def suggest(self, adapted: Adapted, reserved: NDArray[np.intp]) -> list[int]:
        """Return rows to ask for, none of them reserved."""
        taken = np.union1d(reserved, np.array(self.known_rows, dtype=np.intp))
        n = min(N_SUGGESTED, self.n_rows - len(taken))
        if n < 1:
            return []
        rows = suggest(adapted.bundle.model, self.pair.X_target, n, random_state=0, exclude=taken)
        found: list[int] = rows.tolist()
        return found

    def name(self, row: int) -> str:
        """Return what identifies a row for a person."""
        if self.identifier is None:
            return f"row {row + 1}"
        name = str(self._target.row(row, named=True)[self.identifier])
        return Path(name).name if self.identifier == PHOTO else name

    def cells(self, row: int) -> list[tuple[str, str]]:
        """Return the columns of a row and their values, as text."""
        hidden = {self.identifier, self.about["label"], PHOTO}
        values = self._target.row(row, named=True)
        return [(name, _shown(value)) for name, value in values.items() if name not in hidden]

    @property
    def has_pictures(self) -> bool:
        """Whether the rows are pictures."""
        return self.pair.recipe is not None and self.pair.recipe.encoder_of_images is not None

    def picture(self, row: int) -> bytes:
        """Return the picture of a row as WebP, nothing for one that can't be read."""
        content: bytes = Thumbnails(self._target, PHOTO, SIDE)[row]
        return content

    @property
    def _target(self) -> Any:
        if self.pair.frames is None:
            raise InvalidDataError("The target has no named columns.")
        return self.pair.frames[1]


def _check_identifier(column: Any) -> None:
    """Raise an error if a column does not name each row: the answers could not be read again by it."""
    if column.dtype.is_nested():
        raise ParameterError(f"{column.name!r} has lists: name a column of text or numbers.", "identifier")
    names = ["" if value is None else str(value) for value in column]
    if "" in names or len(set(names)) < len(names):
        which = "empty cells" if "" in names else "the same value in several rows"
        raise ParameterError(f"{column.name!r} has {which}: name a column that identifies each row.", "identifier")


def _shown(value: Any) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"
