"""Stored results of the benchmark: one SQLite file, one transaction per cell."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from secrets import token_hex
from typing import Any

from adrem.exceptions import DamagedDataError, NoFolderError, OutputError

LOCK_TIMEOUT = 60.0  # seconds
ADVICE = "Make room there, or use another folder."
COLUMNS = {
    "key": "TEXT PRIMARY KEY", "task": "TEXT", "features": "TEXT", "pair": "TEXT", "repetition": "INTEGER",
    "method": "TEXT", "data": "TEXT", "identity": "TEXT", "result": "TEXT", "seconds": "REAL", "finished": "TEXT",
}  # fmt: skip
SCHEMA = f"CREATE TABLE IF NOT EXISTS cells ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})"
TYPES = [(name, kind.split()[0]) for name, kind in COLUMNS.items()]
PARTS = {("table", "cells"), ("index", "sqlite_autoindex_cells_1")}


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
    """The stored results of a folder. Several processes may read and write it at the same time.

    A file that was altered is kept under another name, and a new one begun. Damaged results count as missing. `notes`
    has a line for each.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "results.sqlite"
        if folder.exists() and not folder.is_dir():
            raise NoFolderError(f"{folder} is not a folder: the results need one.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder} can't be created: {error.strerror}. {ADVICE}") from error
        self.notes: list[str] = []
        fault = self._fault() if self.path.exists() else ""
        if fault:
            self._put_aside(fault)
        with self._opened() as connection:
            connection.execute(SCHEMA)

    def _fault(self) -> str:
        """Return how a file of results was altered, "" if it was not; raise an error for a file of another kind."""
        try:
            with closing(sqlite3.connect(self.path, timeout=LOCK_TIMEOUT)) as connection:
                return self._fault_of(connection)
        except sqlite3.OperationalError:  # it is locked, and the first use of it will tell
            return ""
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT:
                raise self._foreign(error) from error
            return str(error)

    def _fault_of(self, connection: sqlite3.Connection) -> str:
        parts = {tuple(row) for row in connection.execute("SELECT type, name FROM sqlite_master")}
        if not parts:
            return ""
        if ("table", "cells") not in parts:
            raise DamagedDataError(f"{self.path} is a database of another program: use another folder.")
        if parts != PARTS:
            return f"it has a {min(parts - PARTS)[0]} that adrem does not make" if parts - PARTS else "it has no index"
        if [row[1:3] for row in connection.execute("PRAGMA table_xinfo(cells)")] != TYPES:
            return "its table has other columns"
        (whole,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        return "" if whole == "ok" else "its pages do not fit together"

    def _foreign(self, error: Exception) -> DamagedDataError:
        return DamagedDataError(f"{self.path} is not a file of results ({error}): delete it, or use another folder.")

    def _put_aside(self, fault: str) -> None:
        """Keep a damaged file under a free name."""
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        aside = self.path.with_name(f"results.damaged-{stamp}-{token_hex(2)}.sqlite")
        self.path.rename(aside)
        self.notes.append(f"{self.path} was damaged ({fault}): it is kept as {aside.name}, and a new one begun.")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for one transaction; translate SQLite's errors."""
        try:
            with closing(sqlite3.connect(self.path, timeout=LOCK_TIMEOUT)) as connection, connection:
                yield connection
        except sqlite3.OperationalError as error:  # locked, full or read-only: the file itself is sound
            raise OutputError(f"{self.path} can't be used now: {error}. {ADVICE}") from error
        except sqlite3.DatabaseError as error:
            raise self._foreign(error) from error

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
                result = None if row is None else _result_of(*row)
                if result is not None:
                    found[cell] = result
                elif row is not None:
                    self.notes.append(f"A stored result is damaged, and is computed again: {cell.pair} {cell.method}.")
        return found

    def last_data(self, task: str, features: str) -> str | None:
        """Return the checksum of the data of the newest result, for use without the data."""
        with self._opened() as connection:
            row = connection.execute(
                "SELECT data FROM cells WHERE task = ? AND features = ? ORDER BY finished DESC, rowid DESC LIMIT 1",
                (task, features),
            ).fetchone()
        return None if row is None else str(row[0])


def _result_of(values: Any, seconds: Any, finished: Any) -> Result | None:
    """Return a result, None if its row does not hold one."""
    try:
        parsed = json.loads(values)
    except (TypeError, ValueError, RecursionError):
        return None
    is_whole = isinstance(parsed, dict) and isinstance(finished, str)
    is_whole = is_whole and isinstance(seconds, (int, float)) and isfinite(seconds)
    return Result(parsed, seconds, finished) if is_whole else None
