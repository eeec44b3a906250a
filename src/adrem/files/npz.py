"""Numpy archives with rows and labels."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import DamagedDataError, PythonObjectsError
from adrem.files.archives import read_arrays
from adrem.files.budget import Budget
from adrem.files.labelled_rows import CSR_PARTS, Table, checked_csr, guarded, pick_table


def read_npz(content: bytes, name: str, budget: Budget | None = None) -> Table:
    """Read an archive with `x` (or a CSR matrix as scipy saves it), and `y` and the names of the `classes` if any."""
    try:
        arrays = guarded(name, "a numpy archive", lambda: read_arrays(io.BytesIO(content), budget))
    except DamagedDataError as error:
        if not isinstance(error.__cause__, PythonObjectsError):
            raise
        key = error.__cause__
        raise DamagedDataError(
            f"{name}: `{key}` holds Python objects, which are not read because they could run code: save plain "
            f"arrays, for example {key}.astype(str)."
        ) from error
    if set(CSR_PARTS) <= arrays.keys():
        if arrays.get("format", np.array(b"csr")).tolist() != b"csr":
            raise DamagedDataError(f"{name} holds a sparse matrix that is not CSR: save matrix.tocsr().")
        parts = [arrays.pop(key) for key in CSR_PARTS]
        arrays["x"] = guarded(name, "a CSR matrix", lambda: checked_csr(*parts))
    table = pick_table(arrays, name, arrays)
    if "classes" not in arrays or table.y is None:
        return table
    return table._replace(y=_named(table.y, arrays["classes"], name))


def _named(y: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[Any]:
    """Replace positions in the list of classes by the classes."""
    inside = y.dtype.kind in "iu" and 0 <= y.min() <= y.max() < classes.size
    if classes.ndim != 1 or not inside:
        raise DamagedDataError(f"{name}: `y` must hold positions in the list `classes`, from 0 to {classes.size - 1}.")
    named: NDArray[Any] = classes[y]
    return named
