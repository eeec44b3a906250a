"""Whether a table is the one that a model was adapted to, with its rows in the same order."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.columns.known_labels import texts_of
from adrem.exceptions import InvalidDataError

if TYPE_CHECKING:
    from polars import Series

    from adrem.columns.bundle import Bundle
    from adrem.columns.pair import Pair
    from adrem.columns.reading import FileTable

# Entries of what a bundle says of its target. Files of earlier versions have none of them.
IDENTIFIER, NAMES, ROWS, FOREIGN = "identifier", "identifiers_sha256", "rows", "rows_of_no_class"


def with_identity(about: dict[str, Any], table: FileTable, identifier: str | None, pair: Pair) -> dict[str, Any]:
    """Add what tells the target again: its identifiers in their order, and the rows whose label is of no class."""
    name = identifier or (table.images[0] if table.images else None)
    found: dict[str, Any] = {}
    if name is not None and table.frame is not None:
        found |= {IDENTIFIER: name, NAMES: _checksum(table.frame[name])}
    if pair.foreign is not None:
        found[FOREIGN] = [row for row, label in enumerate(pair.foreign.tolist()) if label is not None]
    return {**about, "target": {**about["target"], **found}}


def check_identity(bundle: Bundle, table: FileTable) -> None:
    """Raise an error for a table that is not the target of the fit, or has its rows in another order.

    Where the fit had no identifiers, only the number of rows is compared.
    """
    target = bundle.about["target"]
    name, expected = target.get(IDENTIFIER), target.get(NAMES)
    fits = table.n_rows == target.get(ROWS, table.n_rows)
    if fits and expected is not None and target["sha256"] != table.checksum:
        frame = table.frame
        fits = frame is not None and name in frame.columns and _checksum(frame[name]) == expected
    if not fits:
        by = f" Its column {name!r} would have to be the same." if name is not None else ""
        raise InvalidDataError(
            f"{table.name} is not the table that the model was adapted to, or its rows are in another order.{by}"
        )


def labelled_before(bundle: Bundle, table: FileTable) -> NDArray[np.intp]:
    """Return the rows of the table whose label was known in the fit, also those of no class of the source."""
    target = bundle.about["target"]
    if NAMES not in target and target["sha256"] != table.checksum:
        return np.zeros(0, dtype=np.intp)
    learnt = getattr(bundle.model, "known_rows_", np.zeros(0, dtype=np.intp))
    return np.union1d(learnt, np.array(target.get(FOREIGN, []), dtype=np.intp))


def _checksum(names: Series) -> str:
    """Return a checksum of texts in their order, the same for every format of the file."""
    return hashlib.sha256(json.dumps(texts_of(names)).encode()).hexdigest()
