"""Stored results of the benchmark: one SQLite file, one transaction per cell."""

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

from adrem.exceptions import DamagedDataError, NoFolderError, OutputError

LOCK_TIMEOUT = 60.0  # seconds
ADVICE = "Make room there, or use another folder."
SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, task TEXT, features TEXT, pair TEXT, repetition INTEGER, method TEXT, data TEXT,
    identity TEXT, result TEXT, seconds REAL, finished TEXT
)
"""


@dataclass(frozen=True)
class Cell:
    """A unit of work: a table or figure, its features, a pair, a repetition and a method.

    `data` is the checksum of the data set. `identity` has the rest that the result depends on, as JSON: the draw and
    the scaling of the protocol, the parameters and the version of the method.
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
    """The result of a cell: its values, the seconds it took and the time it was finished."""

    values: dict[str, Any]
    seconds: float
    finished: str


class Store:
    """The stored results of a folder. Several processes may read and write it at the same time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "results.sqlite"
        if folder.exists() and not folder.is_dir():
            raise NoFolderError(f"{folder} is not a folder: the results need one.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder} can't be created: {error.strerror}. {ADVICE}") from error
        with self._opened() as connection:
            connection.execute(SCHEMA)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for one transaction; translate SQLite's errors."""
        try:
            with closing(sqlite3.connect(self.path, timeout=LOCK_TIMEOUT)) as connection, connection:
                yield connection
        except sqlite3.OperationalError as error:  # locked, full or read-only: the file itself is sound
            raise OutputError(f"{self.path} can't be used now: {error}. {ADVICE}") from error
        except sqlite3.DatabaseError as error:
            raise DamagedDataError(
                f"{self.path} is not a file of results ({error}): delete it, or use another folder."
            ) from error

    def check_writable(self) -> None:
        """Raise before any computation if results can't be stored."""
        with self._opened() as connection:
            connection.execute("UPDATE cells SET key = key WHERE 0")  # changes no row, but needs write access

    def put(self, cell: Cell, values: dict[str, Any], seconds: float) -> None:
        """Store a result."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = (cell.key, *asdict(cell).values(), json.dumps(values), seconds, now)
        with self._opened() as connection:
            connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def get(self, cells: Iterable[Cell]) -> dict[Cell, Result]:
        """Return the results of the cells that are stored."""
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
        """Return the checksum of the data of the newest result, for use without the data."""
        with self._opened() as connection:
            row = connection.execute(
                "SELECT data FROM cells WHERE task = ? AND features = ? ORDER BY finished DESC, rowid DESC LIMIT 1",
                (task, features),
            ).fetchone()
        return None if row is None else str(row[0])
