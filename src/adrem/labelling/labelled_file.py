"""The labels that were given, as a table for `adrem adapt --known`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adrem.exceptions import InvalidDataError
from adrem.files.atomic import written_whole
from adrem.labelling.desk import Desk

LABELLED = "labelled.csv"


def write_labelled(desk: Desk, labels: dict[int, Any], path: Path) -> None:
    """Write the labels, with the identifiers of the rows.

    Without an identifier, write the whole target with a column of labels, empty where none is known.
    """
    import polars as pl

    project = desk.project
    if project.pair.frames is None:
        raise InvalidDataError("The target has no named columns.")
    target, name = project.pair.frames[1], str(project.about["label"])
    if project.identifier is not None:
        rows = [*labels]
        frame = pl.DataFrame(
            {
                project.identifier: target[rows][project.identifier],
                name: pl.Series([labels[row] for row in rows], strict=False),
                "chosen": pl.Series(["random" if desk.is_check(row) else "suggested" for row in rows], dtype=pl.String),
            }
        )
    else:
        known = [None] * target.height if project.pair.known is None else project.pair.known.tolist()
        for row, label in labels.items():
            known[row] = label
        # A CSV file has no place for lists.
        plain = [column for column in target.get_columns() if not column.dtype.is_nested()]
        frame = pl.DataFrame(plain).with_columns(
            pl.Series(name, ["" if label is None else str(label) for label in known])
        )
    with written_whole(path) as file:
        frame.write_csv(file)
