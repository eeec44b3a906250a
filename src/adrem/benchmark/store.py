"""Finished cells of the benchmark, in one SQLite file: each is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adrem.exceptions import DamagedDataError

WAIT = 60.0  # seconds for which one run waits until another has written
MEND = "Make room there, or name another folder by --cache."
SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, task TEXT, features TEXT, pair TEXT, repetition INTEGER, method TEXT, data TEXT,
    identity TEXT, result TEXT, seconds REAL, finished TEXT
)
"""


@dataclass(frozen=True)
class Cell:
    """One result to be had: a table or figure, its features, a pair, a repetition, and a method.

    `data` is the checksum of the data set. `identity` holds all else that the result depends on, as JSON: the
    protocol's draw and scaling, the method's parameters and its version.
    """

    task: str
    features: str
    pair: str
    repetition: int
    method: str
    data: str
    identity: str

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Result:
    """What a cell gave: the numbers, the seconds it took, and when it was finished."""

    values: dict[str, Any]
    seconds: float
    finished: str


class Store:
    """A folder's file of finished cells. Several processes may read and write it at a time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "results.sqlite"
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"{folder} is not a folder: name one for the results.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(f"{folder} can't be made: {error.strerror}. {MEND}") from error
        with self._opened() as connection:
            connection.execute(SCHEMA)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A connection for one transaction, and SQLite's errors as errors that say what to do."""
        try:
            with closing(sqlite3.connect(self.path, timeout=WAIT)) as connection, connection:
                yield connection
        except sqlite3.OperationalError as error:  # locked, full, not to be written: nothing is wrong with the file
            raise OSError(f"{self.path} can't be used now: {error}. {MEND}") from error
        except sqlite3.DatabaseError as error:
            raise DamagedDataError(
                f"{self.path} is not a cache of results ({error}): delete it, or name another."
            ) from error

    def check_writable(self) -> None:
        """Raise where results could be read and not be stored, before any is computed."""
        with self._opened() as connection:
            connection.execute("UPDATE cells SET key = key WHERE 0")  # changes no row, and has to be allowed to

    def put(self, cell: Cell, values: dict[str, Any], seconds: float) -> None:
        """Store a result at once; SQLite's transaction makes it whole or absent."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = (cell.key, *asdict(cell).values(), json.dumps(values), seconds, now)
        with self._opened() as connection:
            connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def get(self, cells: Iterable[Cell]) -> dict[Cell, Result]:
        """The results of those cells that are finished."""
        found = {}
        with self._opened() as connection:
            for cell in cells:
                row = connection.execute(
                    "SELECT result, seconds, finished FROM cells WHERE key = ?", (cell.key,)
                ).fetchone()
                if row is not None:
                    found[cell] = Result(json.loads(row[0]), row[1], row[2])
        return found

    def last_data(self, task: str, features: str) -> str | None:
        """The checksum of the data of the newest result, for when the data are not at hand."""
        with self._opened() as connection:
            row = connection.execute(
                "SELECT data FROM cells WHERE task = ? AND features = ? ORDER BY finished DESC, rowid DESC LIMIT 1",
                (task, features),
            ).fetchone()
        return None if row is None else str(row[0])
