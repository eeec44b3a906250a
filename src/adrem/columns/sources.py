"""Several sources as one table, by their files or by a column that names the domain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from adrem.columns.names import describe_columns, some_names
from adrem.columns.reading import FileTable
from adrem.columns.values import as_strings
from adrem.exceptions import InvalidDataError, ParameterError


def join_sources(tables: Sequence[FileTable]) -> FileTable:
    """Return the rows of several tables as one, with the source of each row. Columns are matched by name."""
    import polars as pl

    if len(tables) == 1:
        return tables[0]
    frames = [table.frame for table in tables if table.frame is not None]
    if len(frames) < len(tables):
        bare = next(table.name for table in tables if table.frame is None)
        raise InvalidDataError(f"{bare} has rows of numbers: several sources need files with named columns.")
    name = ", ".join(Path(table.name).name for table in tables)
    sources = np.repeat(np.arange(len(tables)), [table.n_rows for table in tables])
    joined = pl.concat(frames, how="diagonal_relaxed")
    return FileTable(name, ", ".join(table.checksum for table in tables), frame=joined, sources=sources)


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
