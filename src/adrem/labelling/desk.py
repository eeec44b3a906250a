"""What the page shows and does: answers, guesses, the estimate, and a model that is adapted again in the background."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict
from threading import RLock, Thread
from typing import Any

import numpy as np

from adrem.diagnostics.labelled import LabelledRows, estimate_from_labels
from adrem.exceptions import InvalidDataError
from adrem.labelling.answers import Answers
from adrem.labelling.journal import KINDS, LABEL, NONE, UNDO, Entry, Journal
from adrem.labelling.project import Adapted, Project


class Desk:
    """The state of the labelling, for all windows that are open. Its methods may be called from any thread.

    The model that is shown learns from the answers, but for the check rows: the accuracy is estimated by these.
    """

    def __init__(self, project: Project, journal: Journal) -> None:
        self.project = project
        self._lock = RLock()
        self._texts = [str(label) for label in project.classes]
        for entry in journal.entries:
            if not 0 <= entry.row < project.n_rows or (entry.kind == LABEL and entry.label not in self._texts):
                raise InvalidDataError(f"{journal.path} has an answer that does not fit: {entry}. Remove its line.")
        self._answers = Answers(journal, project.n_rows, project.known_rows)
        self._of_text = dict(zip(self._texts, project.classes, strict=True))
        self._began: float | None = None
        self._usual: float | None = None
        self._round = 0
        self._problem = ""
        self._adapt()

    def state(self, row: int | None = None) -> dict[str, Any]:
        """Return what the page shows, of a row or of the next one to ask for."""
        with self._lock:
            shown = self._answers.next() if row is None else self._checked(row)
            return {
                "classes": self._texts,
                "row": None if shown is None else self._row(shown),
                "back": self._answers.beside(row)[0],
                "answered": len(self._answers),
                "estimate": self._estimate(),
                "work": self._work(),
            }

    def answer(self, kind: Any, row: Any, label: Any = None) -> dict[str, Any]:
        """Keep an answer, and return the state with the next row."""
        if kind not in KINDS or kind == UNDO or (kind == LABEL) != (label in self._texts):
            raise InvalidDataError("There is no such answer.")
        with self._lock:
            before = self._answers.of(self._checked(row))
            self._answers.add(Entry(kind, row, label if kind == LABEL else None))
            return {**self.state(), "replaced": None if before is None else _text_of(before)}

    def undo(self) -> dict[str, Any]:
        """Take the last answer back, and return the state with its row."""
        with self._lock:
            row = self._answers.undo()
            return self.state(row)

    def adapt(self, row: Any = None) -> dict[str, Any]:
        """Begin to adapt again in the background, unless this is being done, and return the state of a row."""
        with self._lock:
            if self._began is None:
                self._began = time.monotonic()
                Thread(target=self._adapt_again, name="adapt", daemon=True).start()
            return self.state(row)

    def adapted(self) -> tuple[Adapted, dict[int, Any]]:
        """Return the model that is shown, and all labels that were given."""
        with self._lock:
            texts = {**self._answers.labels(of_checks=False), **self._answers.labels(of_checks=True)}
            return self._adapted, {row: self._of_text[text] for row, text in texts.items()}

    def is_check(self, row: int) -> bool:
        """Return whether a row is a random one, of which no model learns."""
        return self._answers.is_check(row)

    def _adapt_again(self) -> None:
        try:
            self._adapt()
        except Exception as error:  # the thread has no other way to tell it
            self._problem = str(error) or type(error).__name__
        finally:
            with self._lock:
                self._began = None

    def _adapt(self) -> None:
        began = time.monotonic()
        with self._lock:
            texts = self._answers.labels(of_checks=False)
            reserved = self._answers.reserved
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the report has them
            adapted = self.project.adapt({row: self._of_text[text] for row, text in texts.items()})
            suggested = self.project.suggest(adapted, reserved)
        with self._lock:
            self._adapted, self._learnt = adapted, texts
            self._answers.suggest(suggested)
            self._usual, self._round, self._problem = time.monotonic() - began, self._round + 1, ""

    def _checked(self, row: Any) -> int:
        if not isinstance(row, int) or isinstance(row, bool) or not 0 <= row < self.project.n_rows:
            raise InvalidDataError("There is no such row.")
        return row

    def _row(self, row: int) -> dict[str, Any]:
        shares = self._adapted.shares[row]
        first = int(self._adapted.labels[row])
        others = [int(k) for k in np.argsort(-shares, kind="stable") if k != first]
        back, forth = self._answers.beside(row)
        given = self._answers.of(row)
        return {
            "row": row,
            "name": self.project.name(row),
            "cells": [] if self.project.has_pictures else self.project.cells(row),
            "picture": self.project.has_pictures,
            "order": [first, *others],
            "share": float(shares[first]),
            "answer": None if given is None else asdict(given),
            "back": back,
            "forth": forth,
            "is_check": self._answers.is_check(row),
        }

    def _estimate(self) -> dict[str, Any] | None:
        """Return the accuracy of the model that is shown on the rows that it has not learnt, by the check rows."""
        learnt = np.array([*self._learnt], dtype=np.intp)  # they are nearly always right, and never checks
        free, labels = np.setdiff1d(self._answers.free, learnt), self._adapted.labels
        given = [(row, self._answers.of(row)) for row in self._answers.rows if self._answers.is_check(row)]
        told = [(row, entry.label) for row, entry in given if entry is not None and entry.kind in (LABEL, NONE)]
        if not told:
            return None
        rows = np.searchsorted(free, [row for row, _ in told])
        is_right = np.array([self._texts[labels[row]] == text for row, text in told], dtype=bool)
        chances = self._adapted.shares[free, labels[free]]
        return asdict(estimate_from_labels(LabelledRows.at_random(rows, is_right, len(free)), chances))

    def _work(self) -> dict[str, Any]:
        new = self._answers.labels(of_checks=False)
        return {
            "running": self._began is not None,
            "seconds": 0.0 if self._began is None else time.monotonic() - self._began,
            "usual": self._usual,
            "round": self._round,
            "learnt": len(self._learnt),
            "waiting": sum(self._learnt.get(row) != text for row, text in new.items())
            + sum(row not in new for row in self._learnt),
            "problem": self._problem,
        }


def _text_of(entry: Entry) -> str:
    return str(entry.label) if entry.kind == LABEL else entry.kind
