"""Named pipes: reading one that no program writes to would wait for ever."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path
from select import select
from typing import Any

from adrem.exceptions import InvalidDataError

PATIENCE = 30.0  # seconds until a program opens the pipe
STEP = 0.05


class Pipe(io.RawIOBase):
    """A named pipe for reading; an error is raised if no program opens it for writing in some seconds."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._has_begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()

    def _read(self, size: int) -> bytes:
        begin = time.monotonic()
        while True:
            try:
                part = os.read(self._descriptor, size)
            except BlockingIOError:  # a program has it open, and writes when it likes
                select([self._descriptor], [], [])
                continue
            if part or self._has_begun:
                self._has_begun = True
                return part
            if time.monotonic() - begin > self._patience:
                raise InvalidDataError(
                    f"{self._path} is a pipe to which no program writes: nothing came in {self._patience:.0f} seconds."
                )
            time.sleep(STEP)
