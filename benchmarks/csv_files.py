"""Read and write results as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adrem.files.atomic import written_whole


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
