"""MATLAB files, read in a subprocess, because scipy's reader can crash on damaged bytes."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.files.apart import read_apart, refuse, serve
from adrem.files.archives import read_arrays, write_arrays
from adrem.files.budget import Budget
from adrem.files.labelled_rows import CSR_PARTS, LABELS, ROWS, Table, checked_csr, guarded, pick_table

NAMES = "names"


def read_mat(content: bytes, name: str) -> Table:
    """Read a MATLAB file with rows (`fts` or `x`) and labels (`labels` or `y`)."""
    arrays, found = guarded(name, "a MATLAB file", lambda: read_variables(content, (*ROWS, *LABELS)))
    return pick_table(arrays, name, found)


def read_variables(content: bytes, wanted: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the wanted variables of a MATLAB file, sparse ones as CSR, and the names of all variables."""
    arrays = read_arrays(read_apart("adrem.files.mat", content, Budget(), [*wanted]))
    names = bytes(arrays.pop(NAMES)).decode().split("\n")
    return {name: _joined(arrays, name) for name in wanted if name in names}, names


def _joined(arrays: dict[str, NDArray[Any]], name: str) -> Any:
    return arrays[name] if name in arrays else checked_csr(*(arrays[f"{name}/{part}"] for part in CSR_PARTS))


def _serve(content: bytes, wanted: list[str], _: float) -> None:
    """Write the arrays of a MATLAB file to standard output."""
    import scipy.io
    import scipy.sparse

    try:
        found = scipy.io.loadmat(io.BytesIO(content))
    except NotImplementedError:
        refuse("it is a MATLAB 7.3 file, which is not supported: save it again by save(..., '-v7')")
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
            refuse(f"`{name}` holds neither numbers nor strings")
        value = np.array([str(cell.item()) for cell in cells])
    return {name: value}


if __name__ == "__main__":
    serve(_serve)
