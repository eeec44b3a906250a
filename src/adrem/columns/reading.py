"""Files of people: csv, tsv, json lines, parquet, npz and svmlight, compressed or not."""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from adrem._archives import read_bounded
from adrem._types import Matrix
from adrem.datasets._readers import guarded, read_npz
from adrem.datasets.folder import _polars, _read_svmlight, read_parquet
from adrem.exceptions import DamagedDataError

if TYPE_CHECKING:
    from polars import DataFrame

STANDARD = "-"
ENDINGS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".npz": "npz", ".svmlight": "svmlight", ".libsvm": "svmlight", ".svm": "svmlight",
}  # fmt: skip
COMPRESSED = {".gz", ".bz2", ".xz"}


@dataclass(frozen=True)
class FileTable:
    """What a file holds: a frame with named columns, or rows of numbers with labels, if any, beside them.

    Parameters
    ----------
    name : str
        What the file is called in messages.
    checksum : str
        The SHA-256 checksum of its bytes.
    frame : polars.DataFrame or None, default=None
        The columns, as they are written.
    rows : {ndarray, CSR array} of shape (n_rows, n_features) or None, default=None
        The rows of a file of numbers.
    labels : ndarray of shape (n_rows,) or None, default=None
        The labels that stand beside them.

    Examples
    --------
    `read_file` makes one; so can you, of a frame that is at hand:

    >>> import polars as pl
    >>> from adrem.columns import FileTable
    >>> table = FileTable("books.csv", "", pl.DataFrame({"price": [9, 30], "liked": ["yes", "no"]}))
    >>> table.frame.columns
    ['price', 'liked']
    """

    name: str
    checksum: str
    frame: DataFrame | None = None
    rows: Matrix | None = None
    labels: NDArray[Any] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows.

        Examples
        --------
        >>> import polars as pl
        >>> from adrem.columns import FileTable
        >>> FileTable("books.csv", "", pl.DataFrame({"price": [9, 30]})).n_rows
        2
        """
        table = self.rows if self.frame is None else self.frame
        return 0 if table is None else int(table.shape[0])


def read_file(path: str, form: str | None = None) -> FileTable:
    """Read a table from a file, or from standard input by the name ``-``.

    What a text file holds is kept as it is written: ``007`` stays that. Which columns are numbers is decided later.

    Parameters
    ----------
    path : str
        The file. Its ending says what it is, and where it has none that is known, its content does.
    form : {"csv", "tsv", "jsonl", "parquet", "npz", "svmlight"}, default=None
        What it is, where neither says.

    Returns
    -------
    FileTable
        The columns or the numbers that the file holds.

    Raises
    ------
    ValueError
        If there is no such file, it is empty, or its form is not known. The message says what to do.
    DamagedDataError
        If it is cut off or not what its name says. The message names the line, where one is to blame.

    See Also
    --------
    make_pair : Make rows of two such files.

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
    content, name = _read_bytes(path)
    checksum = hashlib.sha256(content).hexdigest()
    content = _decompressed(content, name)
    if not content.strip():
        raise ValueError(f"{name} is empty.")
    if b"xl/workbook.xml" in content or content.startswith(b"\xd0\xcf\x11\xe0"):
        raise ValueError(f"{name} is an Excel file: save the sheet as CSV.")
    if content.lstrip().startswith(b"["):
        raise ValueError(f"{name} is one JSON list: put each row on a line of its own, as `jq -c '.[]'` does.")
    form = form or _form_of(Path(path)) or _sniffed(content)
    if form == "npz" and not content.startswith(b"PK"):
        raise ValueError(f"{name} is not a numpy archive, whatever its name says: np.savez writes one.")
    if form in ("npz", "svmlight"):
        table = read_npz(content, name) if form == "npz" else _read_svmlight(content, name, "")
        return FileTable(name, checksum, rows=table.X, labels=table.y)
    frame = _FRAMES[form](content, name)
    if not frame.height:
        raise ValueError(f"{name} has a header and no rows.")
    return FileTable(name, checksum, frame=frame)


def _read_bytes(path: str) -> tuple[bytes, str]:
    if path == STANDARD:
        return sys.stdin.buffer.read(), "standard input"
    file = Path(path).expanduser()
    if file.is_dir():
        raise ValueError(f"{path} is a folder: name a file in it.")
    if not file.exists():
        raise ValueError(f"There is no file {path}.")
    return file.read_bytes(), path


def _decompressed(content: bytes, name: str) -> bytes:
    for magic, kind, opened in (
        (b"\x1f\x8b", "gzip", gzip.open),
        (b"BZh", "bzip2", bz2.open),
        (b"\xfd7zXZ\x00", "xz", lzma.open),
    ):
        if content.startswith(magic):
            stream: Any = opened(io.BytesIO(content))
            unpacked: bytes = guarded(name, f"a {kind} file", partial(read_bounded, stream, name))
            return unpacked
    return content


def _form_of(path: Path) -> str | None:
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] in COMPRESSED:
        endings.pop()
    return ENDINGS.get(endings[-1]) if endings else None


def _sniffed(content: bytes) -> str:
    """What a file without a known ending is, by its first bytes."""
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


def _read_text(content: bytes, name: str, separator: str | None) -> DataFrame:
    _check_text(content, name)
    if b"\n" not in content:  # the ends of lines of old Macs
        content = content.replace(b"\r", b"\n")
    header = content.split(b"\n", 1)[0]
    if separator is None:
        separator = ";" if header.count(b";") > header.count(b",") else ","
    _check_header(content, name, separator)
    read = partial(_polars().read_csv, content, separator=separator, infer_schema=False)
    frame: DataFrame = _located(name, "a table of text", read, partial(_longer_line, content, separator))
    return frame


def _located(name: str, form: str, read: Callable[[], Any], locate: Callable[[], str | None]) -> Any:
    """Call a reader; an error names the line that is to blame, where one is found."""
    try:
        return guarded(name, form, read)
    except DamagedDataError as error:
        where = locate()
        if where is None:
            raise
        raise DamagedDataError(f"{name} can't be read as {form}: {where}.") from error


def _check_header(content: bytes, name: str, separator: str) -> None:
    names = next(csv.reader(_lines(content), delimiter=separator))
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{name} has {names.count(twice[0])} columns named {twice[0]!r}: give each its own name.")


def _longer_line(content: bytes, separator: str) -> str | None:
    """Where a table of text has more fields than its header, if anywhere."""
    reader = csv.reader(_lines(content), delimiter=separator)
    try:
        wanted = len(next(reader))
        for row in reader:
            if len(row) > wanted:
                return f"line {reader.line_num} has {len(row)} fields, the header {wanted}"
    except csv.Error as error:
        return f"line {reader.line_num}: {error}"
    return None


def _lines(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")


def _check_text(content: bytes, name: str) -> None:
    if b"\x00" in content[:65536]:
        raise DamagedDataError(
            f"{name} is not text: give it the ending of what it is ({', '.join(sorted(ENDINGS))}), or save it as UTF-8."
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedDataError(
            f"{name} is not UTF-8 (byte {error.start}): convert it, for example by "
            f"`iconv -f latin1 -t utf-8 {name} > new.csv`."
        ) from error


def _read_lines(content: bytes, name: str) -> DataFrame:
    _check_text(content, name)
    read = partial(_polars().read_ndjson, io.BytesIO(content), infer_schema_length=None)
    frame: DataFrame = _located(name, "JSON lines", read, partial(_line_that_is_no_object, content))
    return frame


def _line_that_is_no_object(content: bytes) -> str | None:
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            if line.strip() and not isinstance(json.loads(line), dict):
                return f"line {number} is no object {{...}}"
        except (ValueError, RecursionError) as error:
            return f"line {number}: {error}"
    return None


def _read_parquet(content: bytes, name: str) -> DataFrame:
    frame: DataFrame = guarded(name, "a parquet file", partial(read_parquet, content, name))
    return frame


_FRAMES: dict[str, Callable[[bytes, str], Any]] = {
    "csv": lambda content, name: _read_text(content, name, None),
    "tsv": lambda content, name: _read_text(content, name, "\t"),
    "jsonl": _read_lines,
    "parquet": _read_parquet,
}
