"""The forms in which owners publish their data, from bytes to rows and labels."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Collection
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer

from adrem._archives import PLAIN, PythonObjectsError, TooLargeError, read_arrays, read_bounded
from adrem._mat import read_variables
from adrem._types import Matrix
from adrem.exceptions import DamagedDataError

# The names under which rows and labels are found in a file, in the order of preference.
ROWS = ("fts", "x", "X", "feas", "features", "data")
LABELS = ("labels", "y", "Y", "label", "target")


class Table(NamedTuple):
    """Rows, their labels where there are any, and the names of the columns where they are known."""

    X: Matrix
    y: NDArray[Any] | None
    feature_names: list[str] | None = None


def guarded(name: str, form: str, read: Callable[[], Any]) -> Any:
    """Call a reader of somebody else's format; whatever it trips over becomes one clear error."""
    try:
        return read()
    except TooLargeError as error:
        raise TooLargeError(str(error) if name in str(error) else f"{name} was not read: {error}.") from error
    except (DamagedDataError, ImportError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # such readers raise anything on a damaged file, polars even what is no Exception
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DamagedDataError(f"{name} can't be read as {form}: {reason}. Is the file whole? Get it anew.") from error


def read_mat(content: bytes, name: str) -> Table:
    """A MATLAB file with rows (`fts` or `x`) and labels (`labels` or `y`)."""
    arrays, names = guarded(name, "a MATLAB file", lambda: read_variables(content, (*ROWS, *LABELS)))
    return _pick(arrays, name, names)


def read_npz(content: bytes, name: str) -> Table:
    """A numpy archive with `x` (or a CSR matrix as scipy saves it), `y`, and the names of the `classes`, if any."""
    try:
        arrays = guarded(name, "a numpy archive", lambda: read_arrays(io.BytesIO(content)))
    except DamagedDataError as error:
        if isinstance(error.__cause__, PythonObjectsError):
            key = error.__cause__
            raise DamagedDataError(
                f"{name}: `{key}` holds Python objects, which are not read because they could run code: save plain "
                f"arrays, for example {key}.astype(str)."
            ) from error
        raise
    if {"data", "indices", "indptr", "shape"} <= arrays.keys():
        if arrays.get("format", np.array(b"csr")).tolist() != b"csr":
            raise DamagedDataError(f"{name} holds a sparse matrix that is not CSR: save matrix.tocsr().")
        parts = [arrays.pop(key) for key in ("data", "indices", "indptr", "shape")]
        arrays["x"] = guarded(name, "a CSR matrix", lambda: checked_csr(*parts))
    table = _pick(arrays, name, arrays)
    if "classes" not in arrays or table.y is None:
        return table
    classes = arrays["classes"]
    inside = table.y.dtype.kind in "iu" and 0 <= table.y.min() <= table.y.max() < classes.size
    if classes.ndim != 1 or not inside:
        raise DamagedDataError(f"{name}: `y` must hold positions in the list `classes`, from 0 to {classes.size - 1}.")
    return table._replace(y=classes[table.y])


def checked_csr(data: Any, indices: Any, indptr: Any, shape: Any) -> sp.csr_array:
    """A CSR matrix of its parts, none of which points outside of it."""
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    matrix.check_format(full_check=True)
    return matrix


def _pick(arrays: dict[str, Any], name: str, names: Collection[str]) -> Table:
    """Rows and labels among the named arrays of a file."""
    rows = next((arrays[key] for key in ROWS if key in arrays), None)
    labels = next((arrays[key] for key in LABELS if key in arrays), None)
    if rows is None:
        found = ", ".join(names) or "nothing"
        raise DamagedDataError(f"{name} holds {found}; rows are expected under one of the names {', '.join(ROWS)}.")
    if getattr(rows, "ndim", 0) != 2 or rows.dtype.kind not in "fiub":
        raise DamagedDataError(f"{name}: rows must be a table of numbers, not {rows.dtype} of shape {rows.shape}.")
    if labels is not None:
        labels = np.ravel(labels)
    return check_table(Table(sp.csr_array(rows) if sp.issparse(rows) else rows, labels), name)


def check_table(table: Table, name: str) -> Table:
    """Some rows of finite numbers, and one label a row."""
    if not table.X.shape[0]:
        raise DamagedDataError(f"{name} has no rows.")
    if table.y is not None and len(table.y) != table.X.shape[0]:
        raise DamagedDataError(f"{name} has {table.X.shape[0]} rows and {len(table.y)} labels: one a row is needed.")
    if table.y is not None and any(label is None or label != label for label in table.y.tolist()):
        raise DamagedDataError(f"{name} has rows without a label: leave them out, or leave out all labels of a target.")
    values = table.X.data if sp.issparse(table.X) else table.X
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        raise DamagedDataError(f"{name} has rows with NaN or infinity.")
    return table


def read_members(content: bytes, name: str, wanted: Collection[str]) -> dict[str, bytes]:
    """The members of a zip or tar.gz archive with the wanted file names, by their path; nothing is unpacked to disk."""

    def unpack() -> dict[str, bytes]:
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                found = [member for member in archive.infolist() if PurePosixPath(member.filename).name in wanted]
                if any(member.compress_type not in PLAIN for member in found):  # others unpack all of a part at once
                    raise ValueError("its members are packed by other means than deflate: pack it again")
                return {m.filename: read_bounded(archive.open(m), f"{name}, {m.filename}") for m in found}
        # All of it, to its checksum at the end: tarfile does not notice where the last bytes are missing.
        inner = read_bounded(gzip.open(io.BytesIO(content)), name)  # noqa: SIM115 - it is closed there
        with tarfile.open(fileobj=io.BytesIO(inner), mode="r:") as archive:
            whole = [m for m in archive.getmembers() if m.isreg() and not m.issparse()]
            members = [m for m in whole if PurePosixPath(m.name).name in wanted]
            return {m.name: (archive.extractfile(m) or io.BytesIO()).read() for m in members}

    members: dict[str, bytes] = guarded(name, "an archive", unpack)
    return members


def read_reviews(content: bytes, name: str, domains: tuple[str, ...]) -> dict[str, Table]:
    """Blitzer's archive: a review a line, ``term:count ... #label#:positive``, a folder a domain.

    All domains share the columns, one for every term, in alphabetical order.
    """
    members = read_members(content, name, ("negative.review", "positive.review"))
    members = {path: lines for path, lines in members.items() if PurePosixPath(path).parent.name in domains}
    by_domain: dict[str, list[str]] = {PurePosixPath(path).parent.name: [] for path in members}
    for path in sorted(members):
        # Not splitlines: terms may hold other characters that it takes for the end of a line.
        by_domain[PurePosixPath(path).parent.name] += members[path].decode("utf-8", "replace").rstrip("\n").split("\n")
    missing = [domain for domain in domains if not by_domain.get(domain)]
    if missing:
        raise DamagedDataError(
            f"{name} has no reviews of {', '.join(missing)}: it should hold DOMAIN/positive.review and "
            "DOMAIN/negative.review for each domain."
        )
    reviews = [_read_review(line, name) for domain in domains for line in by_domain[domain]]
    vectorizer = DictVectorizer(dtype=np.float64)
    X = sp.csr_array(vectorizer.fit_transform(counts for counts, _ in reviews))
    y = np.array([label for _, label in reviews])
    ends = np.cumsum([0] + [len(by_domain[domain]) for domain in domains])
    names = vectorizer.feature_names_
    return {d: Table(X[a:b], y[a:b], names) for d, a, b in zip(domains, ends, ends[1:], strict=False)}


def _read_review(line: str, name: str) -> tuple[dict[str, int], str]:
    *terms, mark = line.split(" ")
    field, _, label = mark.rpartition(":")
    try:
        counts = {term: int(count) for term, _, count in (entry.rpartition(":") for entry in terms)}
    except ValueError:
        counts = {}
    if field != "#label#" or not counts:
        raise DamagedDataError(f"{name} has a line that is not a review, `term:count ... #label#:...`: {line[:60]!r}.")
    return counts, label
