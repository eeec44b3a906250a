"""Run the command line in processes: start, watch and end them as a user, a shell or a machine does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import monotonic, sleep
from typing import IO, Protocol

from torture.faults_fork import Forked

LAUNCHER = Path(__file__).with_name("faults_launcher.py")
PATIENCE = 180.0  # seconds after which a process counts as hanging
POLL = 0.001


@dataclass
class Ended:
    """How a process ended, and what it said; `code` is minus the signal that ended it."""

    code: int
    out: str
    err: str

    @property
    def complaints(self) -> list[str]:
        """Lines in which adrem says what went wrong."""
        return [line for line in self.err.splitlines() if line.startswith("adrem: ")]


class Process(Protocol):
    """What is asked of a process, however it was started."""

    pid: int

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...


@dataclass
class Running:
    """A process in a group of its own, and what it has said so far."""

    process: Process
    out: IO[bytes]
    err: IO[bytes]
    began: float = field(default_factory=monotonic)

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def has_spoken(self) -> bool:
        return os.fstat(self.err.fileno()).st_size > 0

    def wait_for(self, sign: Callable[[], bool]) -> bool:
        """Wait for a sign; false where the process ends before."""
        while not sign():
            if self.ended:
                return False
            sleep(POLL)
        return True

    def send(self, number: signal.Signals) -> None:
        if self.ended:
            return
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:  # it has no group of its own yet
            os.kill(self.process.pid, number)

    def end(self) -> Ended:
        """Wait until it has ended; one that hangs is killed, which its code tells."""
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self.process.wait()
        code = self.process.wait()
        words = []
        for file in (self.out, self.err):
            file.seek(0)
            words.append(file.read().decode())
        return Ended(code, *words)


def command_of(words: list[str], url: str | None = None) -> list[str]:
    """What starts `adrem` with these words; with a URL, the data set of that server stands in the registry."""
    start = ["-m", "adrem"] if url is None else [str(LAUNCHER), url]
    return [sys.executable, "-P", *start, *words]


@contextmanager
def started(
    command: list[str], folder: Path, environment: dict[str, str], *, loaded: bool = False
) -> Iterator[Running]:
    """A process that works in a folder, with the libraries loaded or not; none of its group is left in the end."""
    with NamedTemporaryFile() as out, NamedTemporaryFile() as err:
        environment = {**without_data(), **environment}
        process: Process
        if loaded:
            process = Forked(command, folder, environment, out.name, err.name)
        else:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        running = Running(process, out, err)
        try:
            yield running
        finally:
            running.send(signal.SIGKILL)
            process.wait()


def run_to_end(command: list[str], folder: Path, environment: dict[str, str], *, loaded: bool = False) -> Ended:
    """Run it undisturbed."""
    with started(command, folder, environment, loaded=loaded) as running:
        return running.end()


def without_data() -> dict[str, str]:
    """The environment of this process, without data sets that only this machine has, and a thread for each process."""
    return {**{name: value for name, value in os.environ.items() if name != "ADREM_DATA"}, "OMP_NUM_THREADS": "1"}
