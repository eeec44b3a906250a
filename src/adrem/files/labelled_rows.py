"""Tables as file readers return them, and the checks that all readers share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.exceptions import DamagedDataError, FileTooLargeError, MissingImportError, NotEnoughMemoryError
from adrem.runtime.memory import available_memory, is_lack_of_memory, size_of
from adrem.types import Matrix

# Names of the arrays with rows and with labels, in the order of preference.
ROWS = ("fts", "x", "X", "feas", "features", "data")
LABELS = ("labels", "y", "Y", "label", "target")
LABEL_KINDS = "biufSUO"  # objects are strings here: no reader returns others
CSR_PARTS = ("data", "indices", "indptr", "shape")


class Table(NamedTuple):
    """Rows, with their labels and the names of the columns if known."""

    X: Matrix
    y: NDArray[Any] | None
    feature_names: list[str] | None = None


def guarded(name: str, form: str, read: Callable[[], Any]) -> Any:
    """Call a reader, and turn whatever it raises on a damaged file, or for lack of memory, into one clear error."""
    try:
        return read()
    except FileTooLargeError as error:
        raise FileTooLargeError(str(error) if name in str(error) else f"{name} was not read: {error}.") from error
    except (DamagedDataError, MissingImportError, KeyboardInterrupt):
        raise
    except BaseException as error:  # panics of polars are not Exceptions
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if is_lack_of_memory(error):
            raise NotEnoughMemoryError(
                f"{name} was not read for lack of memory: {size_of(available_memory())} are free ({reason})."
            ) from error
        raise DamagedDataError(
            f"{name} can't be read as {form}: {reason}. The file may be incomplete: get it again."
        ) from error


def whole_polars() -> Any:
    """Return polars; raise an error if it is missing, or if only a part of it could be loaded for lack of memory."""
    try:
        import polars

        polars.LazyFrame({"a": [1]}).collect()  # which needs the part that is not Python
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "polars":
            raise MissingImportError("csv and parquet files are read by polars: pip install 'adrem[cli]'.") from error
        raise NotEnoughMemoryError(
            f"polars can't be loaded, which reads csv and parquet files: {size_of(available_memory())} of memory are "
            "free, and it takes more; or it is not whole, and has to be installed again."
        ) from error
    return polars


def checked_csr(data: Any, indices: Any, indptr: Any, shape: Any) -> sp.csr_array:
    """Build a CSR matrix whose indices all lie inside it."""
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    matrix.check_format(full_check=True)
    return matrix


def pick_table(arrays: Mapping[str, Any], name: str, found: Collection[str]) -> Table:
    """Take rows and labels from the arrays of a file, which holds variables with the names `found`."""
    rows, labels = (next((arrays[key] for key in keys if key in arrays), None) for keys in (ROWS, LABELS))
    if rows is None:
        raise DamagedDataError(
            f"{name} holds {', '.join(found) or 'nothing'}; rows are expected under one of the names {', '.join(ROWS)}."
        )
    if getattr(rows, "ndim", 0) != 2 or rows.dtype.kind not in "fiub":
        raise DamagedDataError(f"{name}: rows must be a table of numbers, not {rows.dtype} of shape {rows.shape}.")
    rows = sp.csr_array(rows) if sp.issparse(rows) else rows
    return check_table(Table(rows, None if labels is None else np.ravel(labels)), name)


def check_table(table: Table, name: str) -> Table:
    """Check that there are rows, that their values are finite, and that each has a label if any has."""
    n_rows = table.X.shape[0]
    if not n_rows:
        raise DamagedDataError(f"{name} has no rows.")
    if table.y is not None:
        _check_labels(table.y, n_rows, name)
        if table.y.dtype.kind == "S":
            table = table._replace(y=_decoded(table.y, name))
    values = table.X.data if sp.issparse(table.X) else table.X
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        raise DamagedDataError(f"{name} has rows with NaN or infinity.")
    return table


def _check_labels(labels: NDArray[Any], n_rows: int, name: str) -> None:
    if labels.dtype.kind not in LABEL_KINDS:
        raise DamagedDataError(
            f"{name}: labels must be whole numbers, truth values or strings, and not {labels.dtype}: convert them, for "
            "example by y.astype(str)."
        )
    if len(labels) != n_rows:
        raise DamagedDataError(f"{name} has {n_rows} rows and {len(labels)} labels: one per row is needed.")
    if any(label is None or label != label for label in labels.tolist()):
        raise DamagedDataError(
            f"{name} has rows without a label: drop these rows, or drop the labels of all rows of a target."
        )


def _decoded(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Return labels that are bytes as strings."""
    try:
        decoded: NDArray[Any] = np.char.decode(labels, "utf-8")
    except UnicodeDecodeError as error:
        raise DamagedDataError(f"{name}: labels are bytes that are not UTF-8: save them as strings.") from error
    return decoded
