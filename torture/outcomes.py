"""The outcomes of all cases: a row for each group of cases, and the tables of the rows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Self

ANSWERED, REFUSED, SURVIVED = "answered", "refused", "survived"
PEERS = "peers"
BEGIN, END = "<!-- made by make torture -->\n\n", "\n\n<!-- end -->"
GOOD = (ANSWERED, REFUSED, SURVIVED)


class Outcome(str):
    """What became of a case, with the seconds it took, and the megabytes that its process has had at most."""

    seconds: float
    megabytes: float

    def __new__(cls, text: str, seconds: float = 0.0, megabytes: float = 0.0) -> Self:
        outcome = super().__new__(cls, text)
        outcome.seconds, outcome.megabytes = seconds, megabytes
        return outcome


@dataclass
class Row:
    """A group of cases: how many ended well, how many failed, what the most demanding took, and a note.

    `answered`: with a correct answer. `refused`: with an error that says what to do. `survived`: a fault, with nothing
    lost. Everything else is `failed`, and `failures` says what happened. `seconds` are those of the longest case,
    `megabytes` the most that a process had; 0 where they were not measured.
    """

    chapter: str
    what: str
    answered: int = 0
    refused: int = 0
    survived: int = 0
    failed: int = 0
    seconds: float = 0.0
    megabytes: int = 0
    note: str = ""
    failures: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        return self.answered + self.refused + self.survived + self.failed

    @property
    def is_about_us(self) -> bool:
        """Whether a failure is one of adrem, not of another library on the same inputs."""
        return self.chapter != PEERS or "adrem" in self.what

    @classmethod
    def of(cls, chapter: str, what: str, outcomes: Iterable[tuple[str, str]], note: str = "") -> Row:
        """Make a row from pairs of a case and its outcome: one of `GOOD`, or what went wrong."""
        pairs = list(outcomes)
        counts = Counter(outcome for _, outcome in pairs)
        failures = [f"{case}: {outcome}" for case, outcome in pairs if outcome not in GOOD]
        good = {name: counts[name] for name in GOOD}
        taken = [outcome for _, outcome in pairs if isinstance(outcome, Outcome)]
        seconds = round(max([own.seconds for own in taken], default=0.0), 1)
        megabytes = round(max([own.megabytes for own in taken], default=0.0))
        return cls(chapter, what, **good, failed=len(failures), seconds=seconds, megabytes=megabytes, note=note,
                   failures=failures)  # fmt: skip


COLUMNS = tuple(column.name for column in fields(Row) if column.name != "failures")


def as_csv(rows: Iterable[Row]) -> str:
    """Return the table for docs/results."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def read_csv(text: str) -> list[Row]:
    """Read the table that `as_csv` wrote."""
    table = []
    for line in csv.DictReader(io.StringIO(text)):
        answered, refused, survived, failed = (int(line[name]) for name in (*GOOD, "failed"))
        seconds, megabytes = float(line["seconds"]), int(line["megabytes"])
        counts = (answered, refused, survived, failed, seconds, megabytes)
        table.append(Row(line["chapter"], line["what"], *counts, line["note"]))
    return table


def merged(old: list[Row], new: list[Row]) -> list[Row]:
    """Replace the rows of some chapters by new ones, in their place."""
    chapters = list(dict.fromkeys(row.chapter for row in [*old, *new]))
    again = {row.chapter for row in new}
    return [row for name in chapters for row in (new if name in again else old) if row.chapter == name]


def split_page(text: str) -> tuple[str, str, str]:
    """Split a page into the text before its tables, the tables, and the text after them."""
    before, begin, rest = text.partition(BEGIN)
    tables, end, after = rest.partition(END)
    return before + begin, tables, end + after


def as_page(rows: Iterable[Row]) -> str:
    """Make the tables for docs/robustness.md: ours, then those of other libraries."""
    table = list(rows)
    head = "| {} | tried | answered | refused | survived | failed | seconds | MB | |\n"
    head += "|---|---|---|---|---|---|---|---|---|"
    ours = [head.format("what")]
    ours += [_page_line(f"{row.chapter}: {row.what}", row) for row in table if row.chapter != PEERS]
    theirs = [head.format("the same inputs")]
    theirs += [_page_line(row.what, row) for row in table if row.chapter == PEERS]
    return "\n".join(ours) + "\n\n" + "\n".join(theirs)


def _page_line(what: str, row: Row) -> str:
    counts = [str(getattr(row, name) or "") for name in (*GOOD, "failed", "seconds", "megabytes")]
    return f"| {what} | {row.tried} | {' | '.join(counts)} | {row.note} |"


def as_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the table for the terminal."""
    for row in rows:
        counts = [f"{getattr(row, name)} {name}" for name in (*GOOD, "failed") if getattr(row, name)]
        counts += [f"{row.seconds:g} s and {row.megabytes} MB at most"] if row.seconds else []
        note = f" ({row.note})" if row.note else ""
        yield f"{row.chapter:<12} {row.what}: {row.tried} tried, {', '.join(counts)}{note}"
        yield from (f"  ! {failure}" for failure in row.failures[:20])
