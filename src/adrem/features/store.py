"""Features by the content that they were made from, in a file that survives a kill."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import OutputError

IN_MEMORY = ":memory:"
WAIT = 60.0  # seconds for another process that writes
ASKED = 500  # keys in a question
TABLE = "CREATE TABLE IF NOT EXISTS features (key BLOB PRIMARY KEY, cut INTEGER, vector BLOB) WITHOUT ROWID"


class Entry(NamedTuple):
    """The features of something, and whether only a part of it was read."""

    vector: NDArray[np.float32]
    cut: bool


class FeatureStore:
    """A table of features of one encoder. Each `put` is complete or absent, whatever happens to the process."""

    def __init__(self, connection: sqlite3.Connection, n_features: int) -> None:
        self._connection = connection
        self._n_bytes = 4 * n_features

    @classmethod
    def open(cls, path: Path | None, n_features: int) -> Self:
        """Open a file, or a table in memory for None. A file that is none of ours is replaced: it can be made anew."""
        try:
            return cls(_connect(path), n_features)
        except sqlite3.DatabaseError as error:
            if path is None or "not a database" not in str(error):
                raise _not_usable(path, error) from error
            path.unlink()
            return cls(_connect(path), n_features)
        except OSError as error:
            raise _not_usable(path, error) from error

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Entry]:
        """Return what is known; entries of another size are damaged, and not known."""
        found: dict[bytes, Entry] = {}
        asked = list(dict.fromkeys(keys))
        for first in range(0, len(asked), ASKED):
            some = asked[first : first + ASKED]
            marks = ",".join("?" * len(some))
            rows = self._connection.execute(f"SELECT key, cut, vector FROM features WHERE key IN ({marks})", some)  # noqa: S608 - only marks
            found |= {k: Entry(np.frombuffer(v, "<f4"), bool(cut)) for k, cut, v in rows if len(v) == self._n_bytes}
        return found

    def put(self, entries: Mapping[bytes, Entry]) -> None:
        """Keep entries."""
        rows = [(key, int(own.cut), own.vector.astype("<f4").tobytes()) for key, own in entries.items()]
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO features VALUES (?, ?, ?)", rows)
        except sqlite3.OperationalError as error:
            raise _not_usable(None, error) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


@contextmanager
def opened(path: Path | None, n_features: int) -> Iterator[FeatureStore]:
    """Open a store, and close it at the end."""
    store = FeatureStore.open(path, n_features)
    try:
        yield store
    finally:
        store.close()


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(IN_MEMORY if path is None else path, timeout=WAIT)
    try:
        with suppress(sqlite3.OperationalError):  # a file system that can't share memory
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(TABLE)
    except BaseException:
        connection.close()
        raise
    return connection


def _not_usable(path: Path | None, error: Exception) -> OutputError:
    where = "The cache of features" if path is None else f"The cache of features {path}"
    return OutputError(f"{where} can't be used: {error}. Choose another folder by `cache`, or set cache=False.")
