"""What was answered so far, and which row comes next."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from adrem.labelling.journal import LABEL, UNDO, Entry, Journal

# Each third row is a random one, of which no model learns: the accuracy is estimated by these.
CHECK_EVERY = 3
MOST_CHECKS = 1000


class Answers:
    """The answers by row, read from a journal and written to it.

    Parameters
    ----------
    journal : Journal
        Where they are kept.
    n_rows : int
        The number of rows of the target.
    known : collection of int, default=()
        Rows that are not asked, because their labels were given in a file.
    """

    def __init__(self, journal: Journal, n_rows: int, known: Collection[int] = ()) -> None:
        self._journal = journal
        self._given: list[Entry] = []
        self._by_row: dict[int, list[Entry]] = {}
        free = np.setdiff1d(np.arange(n_rows), np.fromiter(known, dtype=np.intp, count=len(known)))
        # The order is the same after a restart, so that the checks stay a random sample.
        order = np.random.default_rng(0).permutation(free).tolist()
        n_checks = min(MOST_CHECKS, len(free) // 2)
        self.free = free
        self.checks: list[int] = order[:n_checks]
        self._is_check = frozenset(self.checks)
        self._others: list[int] = order[n_checks:]
        self._suggested = self._others
        self._next_check = 0
        self._next_suggested = 0
        for entry in journal.entries:
            self._apply(entry)

    def add(self, entry: Entry) -> None:
        """Keep an answer; a second one about a row replaces the first."""
        self._journal.append(entry)
        self._apply(entry)

    def undo(self) -> int | None:
        """Take the last answer back, and return its row; None if there is none."""
        if not self._given:
            return None
        row = self._given[-1].row
        entry = Entry(UNDO, row)
        self._journal.append(entry)
        self._apply(entry)
        return row

    def _apply(self, entry: Entry) -> None:
        if entry.kind != UNDO:
            self._given.append(entry)
            self._by_row.setdefault(entry.row, []).append(entry)
        elif self._given:
            last = self._given.pop().row
            self._by_row[last].pop()
            if not self._by_row[last]:
                del self._by_row[last]
            self._next_check = self._next_suggested = 0

    def __len__(self) -> int:
        return len(self._by_row)

    def of(self, row: int) -> Entry | None:
        """Return the answer that counts for a row."""
        entries = self._by_row.get(row)
        return entries[-1] if entries else None

    @property
    def rows(self) -> list[int]:
        """The rows that were answered, in the order of their first answers."""
        return [*self._by_row]

    def labels(self, *, of_checks: bool) -> dict[int, str]:
        """Return the labels that were given, of the check rows or of the others."""
        found = ((row, entries[-1]) for row, entries in self._by_row.items())
        return {
            row: str(entry.label)
            for row, entry in found
            if entry.kind == LABEL and (row in self._is_check) == of_checks
        }

    def is_check(self, row: int) -> bool:
        """Return whether a row is one of the random ones."""
        return row in self._is_check

    def suggest(self, rows: Iterable[int]) -> None:
        """Set which rows to ask for next, besides the checks; the other rows follow in random order."""
        self._suggested = [*(row for row in rows if row not in self._is_check), *self._others]
        self._next_suggested = 0

    @property
    def reserved(self) -> NDArray[np.intp]:
        """The rows that are not to be suggested: the checks, and those that were answered."""
        return np.array([*self._is_check, *(row for row in self._by_row if row not in self._is_check)], dtype=np.intp)

    def next(self) -> int | None:
        """Return the next row to ask for; None if all were asked."""
        is_turn = len(self._by_row) % CHECK_EVERY == CHECK_EVERY - 1
        first, second = (self._open_check, self._open_suggestion)
        row = first() if is_turn else second()
        return row if row is not None else (second() if is_turn else first())

    def _open_check(self) -> int | None:
        while self._next_check < len(self.checks) and self.checks[self._next_check] in self._by_row:
            self._next_check += 1
        return self.checks[self._next_check] if self._next_check < len(self.checks) else None

    def _open_suggestion(self) -> int | None:
        while self._next_suggested < len(self._suggested) and self._suggested[self._next_suggested] in self._by_row:
            self._next_suggested += 1
        return self._suggested[self._next_suggested] if self._next_suggested < len(self._suggested) else None

    def beside(self, row: int | None) -> tuple[int | None, int | None]:
        """Return the answered rows before and after a row; None stands for the next row to ask for."""
        rows = self.rows
        if row is None or row not in self._by_row:
            return (rows[-1] if rows else None), None
        place = rows.index(row)
        return (rows[place - 1] if place else None), (rows[place + 1] if place + 1 < len(rows) else None)
