"""The answers on disk: a file that is only appended to, so that a kill loses nothing that was answered."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from adrem.exceptions import InvalidDataError, OutputError

if sys.platform != "win32":
    import fcntl

FORMAT = 1
LABEL, NONE, SKIP, UNDO = "label", "none", "skip", "undo"
KINDS = (LABEL, NONE, SKIP, UNDO)


@dataclass(frozen=True)
class Entry:
    """What a person said of a row: its label, that none fits, or that it is skipped; or that the last entry is undone.

    A label is text, as the page shows it.
    """

    kind: str
    row: int
    label: str | None = None


class Journal:
    """A file with a line of JSON for each entry, after one that says which tables they are about.

    An incomplete last line, as a kill or a power cut leaves it, is removed. Only one process can have it open.

    Parameters
    ----------
    path : Path
        The file. It is made if it is not there.
    about : dict
        What the rows are of: plain values, such as checksums.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        self._file = path.open("a+b", buffering=0)  # else what could not be written would be tried again later
        try:
            _lock(self._file, path)
            self.entries = self._read({"format": FORMAT, **about})
        except BaseException:
            self._file.close()
            raise

    def append(self, entry: Entry) -> None:
        """Write an entry; it is on the disk when this returns."""
        self._write(asdict(entry))
        self.entries.append(entry)

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, header: dict[str, Any]) -> list[Entry]:
        self._file.seek(0)
        content = self._file.read()
        complete = content[: content.rfind(b"\n") + 1]
        lines = complete.splitlines()
        if not lines:
            if not _line(header).startswith(content):
                raise InvalidDataError(f"{self.path} is no file of answers: choose another folder, or remove it.")
            self._file.truncate(0)
            self._write(header)
            _keep_name(self.path)
            return []
        if self._parsed(lines[0], 1) != header:
            raise InvalidDataError(
                f"{self.path} has answers about other tables, or other labels: choose another folder, or remove it."
            )
        entries = [self._entry(line, number) for number, line in enumerate(lines[1:], 2)]
        self._file.truncate(len(complete))  # only now: a file of others is left as it is
        return entries

    def _entry(self, line: bytes, number: int) -> Entry:
        values = self._parsed(line, number)
        try:
            entry = Entry(**values)
        except TypeError:
            raise self._damaged(number) from None
        is_text = entry.label is None or isinstance(entry.label, str)
        if entry.kind not in KINDS or not isinstance(entry.row, int) or not is_text:
            raise self._damaged(number)
        return entry

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            values = json.loads(line)
        except ValueError:
            raise self._damaged(number) from None
        if not isinstance(values, dict):
            raise self._damaged(number)
        return values

    def _damaged(self, number: int) -> InvalidDataError:
        return InvalidDataError(f"Line {number} of {self.path} is damaged: correct or remove it.")

    def _write(self, values: dict[str, Any]) -> None:
        """Write a line to the disk, or nothing."""
        line, end = _line(values), self._file.seek(0, os.SEEK_END)
        try:
            if (n_written := self._file.write(line)) != len(line):
                raise OutputError(
                    f"{self.path} is full: only {n_written} of {len(line)} bytes were written. Free some space."
                )
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(end)
            raise


def _line(values: dict[str, Any]) -> bytes:
    return json.dumps(values).encode() + b"\n"


def _lock(file: FileIO, path: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise OutputError(f"{path} is in use by another adrem label: close it, or choose another folder.") from error


def _keep_name(path: Path) -> None:
    """Write the folder to disk, so that a power cut does not lose the name of a new file."""
    if sys.platform == "win32":
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
