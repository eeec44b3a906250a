"""Read and write results as CSV files, and show them as tables on a page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from adrem.files.atomic import written_whole

# A function for each table, by its name.
Tables = Mapping[str, Callable[[list[dict[str, str]]], str]]
# The marks of a table on a page.
START, END = "<!-- results: {} -->", "<!-- end of results -->"


def write_csv(path: Path, fields: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write rows, numbers to four places; the file is there when all of it is."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, fields, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()})
    with written_whole(path) as file:
        file.write(buffer.getvalue().encode())


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows as they were written, all of them text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file that may not be there yet."""
    return read_csv(path) if path.exists() else []


def append_rows(path: Path, fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Append rows to a file, so that a long benchmark can be resumed; a new file gets a header."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([fields, *rows] if is_new else rows)


def fill_page(page: Path, tables: Tables, rows: list[dict[str, str]]) -> None:
    """Replace the tables of a page, each between its marks."""
    text = page.read_text("utf-8")
    for name, show in tables.items():
        before, rest = text.split(START.format(name), 1)
        text = f"{before}{START.format(name)}\n\n{show(rows)}\n\n{END}{rest.split(END, 1)[1]}"
    with written_whole(page) as file:
        file.write(text.encode())
