"""Readers in a process of their own, with limits of memory and time: damaged bytes may crash them."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from adrem.exceptions import FileTooLargeError, InvalidDataError
from adrem.files.budget import Budget
from adrem.runtime.memory import OUT_OF_MEMORY, is_lack_of_memory, limit_memory, size_of

# Exit codes of the process. After REFUSED, standard error has the reason.
REFUSED, TOO_LARGE = 3, 4


def read_apart(module: str, content: bytes, budget: Budget, arguments: Sequence[str] = ()) -> io.BytesIO:
    """Return what a module, which calls `serve`, makes of the bytes of a file."""
    most = budget.apart
    # -P keeps modules in the working directory from being imported.
    command = [sys.executable, "-P", "-m", module, str(most), *arguments]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=budget.seconds, check=False)  # noqa: S603 - ourselves
    except subprocess.TimeoutExpired:
        raise InvalidDataError(f"it takes more than {budget.seconds:.0f} seconds") from None
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode == TOO_LARGE or (done.returncode and OUT_OF_MEMORY.search(said)):
        raise FileTooLargeError(f"it takes more than {size_of(most)}, a third of the memory that is free")
    if done.returncode == REFUSED:
        raise InvalidDataError(said)
    if done.returncode:
        raise InvalidDataError(f"its reader crashed on it (exit code {done.returncode})")
    return io.BytesIO(done.stdout)


def serve(read: Callable[[bytes, list[str], float], Any], prepare: Callable[[], Any] | None = None) -> None:
    """Be the process: read a file from standard input within the limits of the command line, and refuse what fails.

    What `prepare` takes, such as for imports, is outside the limits.
    """
    most, arguments = float(sys.argv[1]), sys.argv[2:]
    if prepare is not None:
        prepare()
    content = sys.stdin.buffer.read()
    limit_memory(most)
    try:
        read(content, arguments, most)
    except SystemExit:
        raise
    except BaseException as error:  # readers raise anything on a damaged file, also what is no Exception
        if is_lack_of_memory(error):
            sys.exit(TOO_LARGE)
        refuse((str(error).strip().splitlines() or [type(error).__name__])[0])


def refuse(reason: str) -> NoReturn:
    """End the process with the reason why the file can't be read."""
    sys.stderr.write(reason)
    sys.exit(REFUSED)
