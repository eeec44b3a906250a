"""Files that stand under their name whole or not at all."""

from __future__ import annotations

import errno
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

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, moved to its path once it is complete; after an error nothing is left of it.

    Until then it has a hidden name beside the path. What a process that was killed has left under such a name is
    removed by the next one that writes the same path.
    """
    temporary = None
    try:
        _remove_leftovers(path)
        temporary, file = _new_file(path)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else the name could outlive a power cut, and what it names not
            if sys.platform == "win32":  # where only closed files are moved
                file.close()
            temporary.replace(path)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            mend = "Make room, or name another place" if error.errno in NO_ROOM else "Name another place"
            raise OSError(error.errno, f"{error.strerror}: {path} was not written. {mend}") from error
        raise


def _new_file(path: Path) -> tuple[Path, IO[bytes]]:
    """A new file with a hidden name, locked for as long as it is open, so that no other process removes it."""
    while True:
        temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
        file = temporary.open("xb")
        with suppress(OSError):  # no locks there: then nobody takes it for a leftover
            _lock(file, wait=True)
        if temporary.exists():
            return temporary, file
        file.close()  # another process was faster, and has removed it before it was locked


def _remove_leftovers(path: Path) -> None:
    """Remove what processes that are no more have left of a path."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}")
    for sibling in path.parent.iterdir():
        if pattern.fullmatch(sibling.name):
            with suppress(OSError), _unused(sibling):
                sibling.unlink()


@contextmanager
def _unused(path: Path) -> Iterator[None]:
    """Keep others from a file that nobody writes; an OSError where somebody does."""
    if sys.platform == "win32":  # where open files can't be removed
        yield
        return
    with path.open("r+b") as file:
        _lock(file, wait=False)
        yield


def _lock(file: IO[bytes], *, wait: bool) -> None:
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
