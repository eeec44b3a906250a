"""Several sources as one table, by their files or by a column that names the domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.columns.names import describe_columns
from adrem.columns.pair import select
from adrem.columns.reading import FileTable
from adrem.columns.values import as_strings
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.machines.tables import stack
from adrem.runtime.text import some_names


def join_sources(tables: Sequence[FileTable], label: str | None = None) -> FileTable:
    """Return the rows of several tables as one, with the source of each row. Columns are matched by name.

    Each table needs the column `label`, if it is given.
    """
    if len(tables) == 1:
        return tables[0]
    bare = [table.name for table in tables if table.frame is None]
    if bare and len(bare) < len(tables):
        named = next(table.name for table in tables if table.frame is not None)
        raise InvalidDataError(f"{named} has columns and {bare[0]} has rows of numbers: all files need the same form.")
    name, checksum = ", ".join(Path(own.name).name for own in tables), ", ".join(own.checksum for own in tables)
    joined = _join_rows(tables) if bare else _join_columns(tables, label)
    return replace(joined, name=name, checksum=checksum, sources=_positions(tables))


def _positions(tables: Sequence[FileTable]) -> NDArray[np.intp]:
    return np.repeat(np.arange(len(tables)), [table.n_rows for table in tables])


def _join_columns(tables: Sequence[FileTable], label: str | None) -> FileTable:
    import polars as pl

    for table in tables:
        select(table, [] if label is None else [label], "label")
    frames = [table.frame for table in tables if table.frame is not None]
    notes = tuple(chain.from_iterable(table.notes for table in tables))
    joined = pl.concat(frames, how="diagonal_relaxed")
    return FileTable("", "", frame=joined, images=tables[0].images, notes=notes)


def _join_rows(tables: Sequence[FileTable]) -> FileTable:
    """Return the rows and labels of files of numbers; those of svmlight files get as many columns as the widest."""
    labels = [table.labels for table in tables if table.labels is not None]
    rows = [table.rows for table in tables if table.rows is not None]
    if len(labels) < len(tables):
        raise InvalidDataError(f"{next(t.name for t in tables if t.labels is None)} has no labels.")
    width = max(own.shape[1] for own in rows)
    for k, own in enumerate(rows):
        if sp.issparse(own):
            rows[k] = own.copy()
            rows[k].resize(own.shape[0], width)
        elif own.shape[1] < width:
            raise InvalidDataError(f"{tables[k].name} has {own.shape[1]} features, and not {width} as another source.")
    return FileTable("", "", rows=stack(rows), labels=np.concatenate(labels))


def by_column(table: FileTable, column: str) -> FileTable:
    """Return a table whose sources are named by a column."""
    names = _domains_of(table, column)
    if len(set(names)) < 2:
        return table
    return FileTable(table.name, table.checksum, frame=table.frame, sources=np.unique(names, return_inverse=True)[1])


def split_target(table: FileTable, column: str, target: str) -> tuple[FileTable, FileTable]:
    """Return the sources and the target of one table, in which a column names the domain of each row."""
    names = np.array(_domains_of(table, column))
    if target not in names or table.frame is None:
        known = some_names(sorted(set(names.tolist())))
        raise ParameterError(f"Column {column!r} of {table.name} has no domain {target!r}; it has {known}.", "target")
    if (names == target).all():
        raise ParameterError(f"All rows of {table.name} are of the domain {target!r}: there is no source.", "target")
    own = [table.frame.filter(part) for part in (names != target, names == target)]
    source, rest = (FileTable(table.name, table.checksum, frame=frame) for frame in own)
    return by_column(source, column), FileTable(f"{table.name} ({target})", rest.checksum, frame=rest.frame)


def _domains_of(table: FileTable, column: str) -> list[str]:
    if table.frame is None or column not in table.frame.columns:
        names = [] if table.frame is None else table.frame.columns
        raise ParameterError(f"{table.name} has no column {column!r}. {describe_columns(names, column)}", "domain")
    strings = as_strings(table.frame[column])
    if strings.null_count():
        raise ParameterError(
            f"Column {column!r} of {table.name} has empty cells: name the domain of each row.", "domain"
        )
    return [str(name) for name in strings.to_list()]
