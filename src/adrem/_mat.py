"""MATLAB files, read in a process of their own: on altered bytes scipy's reader can crash the one it is in."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem._archives import TooLargeError, read_arrays, write_arrays
from adrem._memory import available_memory, limit_memory, size_of

SECONDS = 600.0
REFUSED = 3  # the exit code of a process that says on standard error why the file can't be read
TOO_LARGE = 4
NAMES = "names"
SPARSE = ("data", "indices", "indptr", "shape")


def read_variables(content: bytes, wanted: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """The wanted variables of a MATLAB file, sparse ones as CSR, and the names of all that it holds."""
    most = available_memory() / 3  # there, on the way, and here
    # By -P nothing that lies in the folder of the caller is imported.
    command = [sys.executable, "-P", "-m", "adrem._mat", str(most), *wanted]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603 - ourselves
    except subprocess.TimeoutExpired:
        raise ValueError(f"it takes more than {SECONDS:.0f} seconds") from None
    if done.returncode == TOO_LARGE:
        raise TooLargeError(f"it takes more than {size_of(most)}, a third of the memory that is free")
    if done.returncode == REFUSED:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    if done.returncode:
        raise ValueError(f"its reader crashed on it (exit code {done.returncode})")
    arrays = read_arrays(io.BytesIO(done.stdout))
    names = bytes(arrays.pop(NAMES)).decode().split("\n")
    return {name: _joined(arrays, name) for name in wanted if name in names}, names


def _joined(arrays: dict[str, NDArray[Any]], name: str) -> Any:
    from adrem.datasets._readers import checked_csr

    return arrays[name] if name in arrays else checked_csr(*(arrays[f"{name}/{part}"] for part in SPARSE))


def serve(most: float, wanted: list[str]) -> None:
    """The life of the process: bytes of a file on standard input, arrays or what is wrong with it on the outputs."""
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
    except Exception as error:  # such a reader raises anything on a damaged file
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
        return {f"{name}/{part}": np.asarray(getattr(matrix, part)) for part in SPARSE}
    if value.dtype.hasobject:  # a cell array: of one string each, or of what is no label
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
