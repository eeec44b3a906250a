"""MATLAB files, read in a subprocess, because scipy's reader can crash on damaged bytes."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import FileTooLargeError, InvalidDataError
from adrem.files.archives import read_arrays, write_arrays
from adrem.files.labelled_rows import CSR_PARTS, LABELS, ROWS, Table, checked_csr, guarded, pick_table
from adrem.runtime.memory import available_memory, limit_memory, size_of

TIMEOUT = 600.0  # seconds
# Exit codes of the subprocess. After REFUSED, standard error has the reason.
REFUSED, TOO_LARGE = 3, 4
NAMES = "names"


def read_mat(content: bytes, name: str) -> Table:
    """Read a MATLAB file with rows (`fts` or `x`) and labels (`labels` or `y`)."""
    arrays, found = guarded(name, "a MATLAB file", lambda: read_variables(content, (*ROWS, *LABELS)))
    return pick_table(arrays, name, found)


def read_variables(content: bytes, wanted: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the wanted variables of a MATLAB file, sparse ones as CSR, and the names of all variables."""
    most = available_memory() / 3  # for the subprocess, the pipe and this process
    # -P keeps modules in the working directory from being imported.
    command = [sys.executable, "-P", "-m", "adrem.files.mat", str(most), *wanted]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=TIMEOUT, check=False)  # noqa: S603 - ourselves
    except subprocess.TimeoutExpired:
        raise InvalidDataError(f"it takes more than {TIMEOUT:.0f} seconds") from None
    if done.returncode == TOO_LARGE:
        raise FileTooLargeError(f"it takes more than {size_of(most)}, a third of the memory that is free")
    if done.returncode == REFUSED:
        raise InvalidDataError(done.stderr.decode(errors="replace").strip())
    if done.returncode:
        raise InvalidDataError(f"its reader crashed on it (exit code {done.returncode})")
    arrays = read_arrays(io.BytesIO(done.stdout))
    names = bytes(arrays.pop(NAMES)).decode().split("\n")
    return {name: _joined(arrays, name) for name in wanted if name in names}, names


def _joined(arrays: dict[str, NDArray[Any]], name: str) -> Any:
    return arrays[name] if name in arrays else checked_csr(*(arrays[f"{name}/{part}"] for part in CSR_PARTS))


def serve(most: float, wanted: list[str]) -> None:
    """Run the subprocess: read a MATLAB file from standard input, write its arrays to standard output."""
    import scipy.io
    import scipy.sparse

    content = sys.stdin.buffer.read()
    limit_memory(most)
    try:
        found = scipy.io.loadmat(io.BytesIO(content))
    except MemoryError:
        sys.exit(TOO_LARGE)
    except NotImplementedError:
        _refuse("it is a MATLAB 7.3 file, which is not supported: save it again by save(..., '-v7')")
    except Exception as error:  # scipy raises anything on a damaged file
        _refuse((str(error).strip().splitlines() or [type(error).__name__])[0])
    arrays: dict[str, Any] = {}
    for name in set(wanted) & found.keys():
        arrays |= _parts(name, found[name])
    names = "\n".join(name for name in found if not name.startswith("__"))
    arrays[NAMES] = np.frombuffer(names.encode(errors="replace"), np.uint8)
    write_arrays(sys.stdout.buffer, arrays, compressed=False)


def _parts(name: str, value: Any) -> dict[str, Any]:
    import scipy.sparse as sp

    if sp.issparse(value):
        matrix = sp.csr_array(value)
        return {f"{name}/{part}": np.asarray(getattr(matrix, part)) for part in CSR_PARTS}
    if value.dtype.hasobject:  # a cell array, which may hold strings
        cells = value.ravel() if value.dtype == object else []
        if not len(cells) or not all(getattr(cell, "size", 0) == 1 for cell in cells):
            _refuse(f"`{name}` holds neither numbers nor strings")
        value = np.array([str(cell.item()) for cell in cells])
    return {name: value}


def _refuse(reason: str) -> None:
    sys.stderr.write(reason)
    sys.exit(REFUSED)


if __name__ == "__main__":
    serve(float(sys.argv[1]), sys.argv[2:])
