"""Read tables from files: csv, tsv, JSON lines, parquet, npz and svmlight, compressed or not."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import InvalidDataError, ParameterError
from adrem.files.archives import read_bounded
from adrem.files.budget import Budget
from adrem.files.frames import read_json_lines, read_text, separator_of
from adrem.files.labelled_rows import Table
from adrem.files.npz import read_npz
from adrem.files.packed import decompress
from adrem.files.parquet import read_parquet
from adrem.files.pipes import Pipe
from adrem.files.svmlight import read_svmlight
from adrem.types import Matrix

if TYPE_CHECKING:
    from polars import DataFrame

STANDARD = "-"
FORM_BY_SUFFIX = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".npz": "npz", ".svmlight": "svmlight", ".libsvm": "svmlight", ".svm": "svmlight",
}  # fmt: skip
COMPRESSED = {".gz", ".bz2", ".xz"}


@dataclass(frozen=True)
class FileTable:
    """The content of a file: a frame with named columns, or rows of numbers and their labels, if any.

    Parameters
    ----------
    name : str
        The name of the file, for messages.
    checksum : str
        The SHA-256 checksum of its bytes.
    frame : polars.DataFrame or None, default=None
        The columns.
    rows : {ndarray, CSR array} of shape (n_rows, n_features) or None, default=None
        The rows, if the file has no named columns.
    labels : ndarray of shape (n_rows,) or None, default=None
        Their labels.
    sources : ndarray of shape (n_rows,) or None, default=None
        The position of the source of each row, if it is a table of several.
    separator : str, default=""
        What separates the columns, in a file of text.
    images : tuple of str, default=()
        The columns with paths of images.
    notes : tuple of str, default=()
        What was left out.
    """

    name: str
    checksum: str
    frame: DataFrame | None = None
    rows: Matrix | None = None
    labels: NDArray[Any] | None = None
    sources: NDArray[np.intp] | None = None
    separator: str = ""
    images: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        table = self.rows if self.frame is None else self.frame
        return 0 if table is None else int(table.shape[0])


def read_file(path: str, form: str | None = None, *, header: bool = True) -> FileTable:
    """Read a table from a file, or from standard input if the path is ``-``.

    Values of text files stay strings, so that ``007`` is kept. `make_pair` decides which columns are numbers.

    Parameters
    ----------
    path : str
        The file. The format is detected from its suffix, or from its content if the suffix is unknown.
    form : {"csv", "tsv", "jsonl", "parquet", "npz", "svmlight"}, default=None
        The format, if it is not detected.
    header : bool, default=True
        Whether the first line of a csv or tsv file names the columns. Otherwise they are column_1, column_2 and so on.

    Returns
    -------
    FileTable
        The columns, or the rows of numbers.

    Raises
    ------
    ParameterError
        If there is no such file, or its format is not one of `FORMATS`.
    InvalidDataError
        If it is empty, or of a format that is not supported.
    DamagedDataError
        If it is damaged or is not of the format of its suffix. The message names the first bad line, if any.

    See Also
    --------
    make_pair : Make a source and a target from two files.

    Examples
    --------
    >>> import polars as pl
    >>> from tempfile import TemporaryDirectory
    >>> from adrem.columns import read_file
    >>> with TemporaryDirectory() as folder:
    ...     pl.DataFrame({"agent": ["007", "008"], "films": [25, 1]}).write_csv(f"{folder}/agents.csv")
    ...     table = read_file(f"{folder}/agents.csv")
    >>> table.frame.rows()
    [('007', '25'), ('008', '1')]
    """
    if form is not None and form not in FORMATS:
        raise ParameterError(f"form must be one of {', '.join(FORMATS)}; got {form!r}.", "form")
    budget = Budget()
    content, name = _read_bytes(path, budget)
    checksum = hashlib.sha256(content).hexdigest()
    content = decompress(content, name, budget)
    _check_content(content, name)
    form = form or _form_by_suffix(Path(path)) or _form_by_content(content)
    if form == "npz" and not content.startswith(b"PK"):
        raise InvalidDataError(f"{name} is not a numpy archive, despite its suffix: write it with np.savez.")
    if form in _NUMBERS:
        table = _NUMBERS[form](content, name, budget)
        return FileTable(name, checksum, rows=table.X, labels=table.y)
    frame = _FRAMES[form](content, name, header, budget)
    if not frame.height:
        raise InvalidDataError(f"{name} has a header but no rows.")
    separators = {"csv": separator_of(content), "tsv": "\t"}
    return FileTable(name, checksum, frame=frame, separator=separators.get(form, ""))


def _check_content(content: bytes, name: str) -> None:
    """Raise an error for empty files and common formats that can't be read."""
    if not content.strip():
        raise InvalidDataError(f"{name} is empty.")
    if b"xl/workbook.xml" in content or content.startswith(b"\xd0\xcf\x11\xe0"):
        raise InvalidDataError(f"{name} is an Excel file: save the sheet as CSV.")
    if content.lstrip().startswith(b"["):
        raise InvalidDataError(f"{name} is one JSON list: put each row on its own line, as `jq -c '.[]'` does.")


def _read_bytes(path: str, budget: Budget) -> tuple[bytes, str]:
    if path == STANDARD:
        return read_bounded(nullcontext(sys.stdin.buffer), "standard input", budget), "standard input"
    file = Path(path).expanduser()
    if file.is_dir():
        raise ParameterError(f"{path} is a folder: name a file in it, or read images by read_photos.", "path")
    if not file.exists():
        raise ParameterError(f"There is no file {path}.", "path")
    opened = Pipe(file) if file.is_fifo() else file.open("rb")
    return read_bounded(opened, path, budget), path


def _form_by_suffix(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return FORM_BY_SUFFIX.get(suffixes[-1]) if suffixes else None


def _form_by_content(content: bytes) -> str:
    """Guess the format of a file from its first bytes."""
    if content.startswith(b"PAR1"):
        return "parquet"
    if content.startswith(b"PK"):
        return "npz"
    line = content.lstrip().split(b"\n", 1)[0]
    if line.startswith(b"{"):
        return "jsonl"
    if re.match(rb"\S+(\s+qid:\d+)?\s+\d+:\S", line):
        return "svmlight"
    return "tsv" if line.count(b"\t") > line.count(b",") else "csv"


_FRAMES: dict[str, Callable[[bytes, str, bool, Budget], DataFrame]] = {
    "csv": lambda content, name, header, left: read_text(content, name, header=header, budget=left),
    "tsv": lambda content, name, header, left: read_text(content, name, "\t", header=header, budget=left),
    "jsonl": lambda content, name, _, left: read_json_lines(content, name, left),
    "parquet": lambda content, name, _, left: read_parquet(content, name, left),
}
_NUMBERS: dict[str, Callable[[bytes, str, Budget], Table]] = {"npz": read_npz, "svmlight": read_svmlight}
FORMATS = (*_FRAMES, *_NUMBERS)
