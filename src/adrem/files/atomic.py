"""Atomic writes: a file is complete, or it is not there."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

# A longer name is replaced by its checksum in the names of temporary files, which have some letters more.
LONGEST_NAME = 200  # bytes
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside the path, and move it to the path when it is complete.

    After an error it is removed. Temporary files of killed processes are removed by the next write to the same path.
    """
    temporary = None
    try:
        _remove_leftovers(path)
        temporary, file = _new_file(path)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a power cut could keep the name and lose the content
            if sys.platform == "win32":  # Windows moves closed files only
                file.close()
            temporary.replace(path)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            advice = "Free some space, or choose another folder" if error.errno in NO_ROOM else "Choose another folder"
            raise OSError(error.errno, f"{error.strerror}: {path} was not written. {advice}") from error
        raise


def check_writable(path: Path) -> None:
    """Raise OSError if a file of this name can't be written in its folder; nothing is changed."""
    with suppress(FileNotFoundError):
        path.lstat()  # raises for names that are too long
    temporary, file = _new_file(path)
    with file:
        temporary.unlink()


def _stem(path: Path) -> str:
    """Return how the names of the temporary files of a path begin."""
    name = os.fsencode(path.name)
    return f".{path.name}." if len(name) <= LONGEST_NAME else f".{hashlib.sha256(name).hexdigest()[:32]}."


def _new_file(path: Path) -> tuple[Path, IO[bytes]]:
    """Create a hidden file, locked while it is open, so that no other process removes it."""
    while True:
        temporary = path.parent / f"{_stem(path)}{secrets.token_hex(8)}"
        file = temporary.open("xb")
        with suppress(OSError):  # a file system without locks, where leftovers are not removed either
            _lock(file, wait=True)
        if temporary.exists():
            return temporary, file
        file.close()  # another process removed it before it was locked


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files of killed processes."""
    pattern = re.compile(rf"{re.escape(_stem(path))}[0-9a-f]{{16}}")
    for sibling in path.parent.iterdir():
        if pattern.fullmatch(sibling.name):
            with suppress(OSError), _unused(sibling):
                sibling.unlink()


@contextmanager
def _unused(path: Path) -> Iterator[None]:
    """Lock a temporary file; raise OSError if a process still writes it."""
    if sys.platform == "win32":  # Windows does not remove open files
        yield
        return
    with path.open("r+b") as file:
        _lock(file, wait=False)
        yield


def _lock(file: IO[bytes], *, wait: bool) -> None:
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
