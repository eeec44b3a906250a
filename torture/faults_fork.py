"""Run the command line in processes forked from one that has loaded the libraries, in a third of the time.

The parent loads only other packages. The child does the rest of the start, and imports adrem.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

# But for numba, which asks for its cache as it loads, and polars, whose threads do not survive a fork.
LIBRARIES = ["pandas", "requests", "rich", "scipy.io", "scipy.stats", "sklearn.linear_model", "typer"]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(LIBRARIES)


class Forked:
    """A process that looks like one of subprocess."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str], out: str, err: str) -> None:
        self._process: BaseProcess = FORKS.Process(target=_work, args=(command, folder, environment, out, err))
        self._process.start()
        self.pid = self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("adrem", timeout or 0.0)
        return code


def _work(command: list[str], folder: Path, environment: dict[str, str], out: str, err: str) -> None:
    """Be what the command says."""
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for path, number in ((os.devnull, 0), (out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_RDWR), number)
    start = command[2:]  # what comes after python -P
    if start[0] == "-m":
        sys.argv = start[1:]
        runpy.run_module(start[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = start
        runpy.run_path(start[0], run_name="__main__")
