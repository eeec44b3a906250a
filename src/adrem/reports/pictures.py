"""The pictures on a page: small, each once in the file, and no more than a page can hold."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

from adrem.diagnostics.results import ClassExamples

SIDE = 96  # pixels
MAX_PICTURES, MAX_BYTES = 600, 2_000_000
SHOWN_CLASSES, SHOWN_ROWS = 20, 8
TITLES = {"surest": "surest", "unsurest": "least sure", "changed": "label changed by adapting"}


class Album:
    """Collects the pictures of a page; `uris` has their addresses, which hold the pictures themselves."""

    def __init__(self, source: Sequence[bytes] | None, target: Sequence[bytes] | None) -> None:
        self._sides = {"source": source, "target": target}
        self._places: dict[tuple[str, int], int] = {}
        self._n_bytes = 0
        self.uris: list[str] = []

    def place(self, side: str, row: int) -> int | None:
        """Return the place of a row's picture among the addresses; None if there is none, or no more room."""
        pictures = self._sides[side]
        if pictures is None:
            return None
        known = self._places.get((side, row))
        if known is not None:
            return known
        if len(self.uris) >= MAX_PICTURES or self._n_bytes >= MAX_BYTES:
            return None
        content = pictures[row]
        if not content:
            return None
        self._n_bytes += len(content)
        self.uris.append(f"data:image/webp;base64,{base64.b64encode(content).decode()}")
        self._places[side, row] = len(self.uris) - 1
        return len(self.uris) - 1

    def grid(self, examples: Iterable[ClassExamples], texts: Sequence[str] | None) -> list[dict[str, Any]]:
        """Return the pictures of each label, the most common labels first."""
        if self._sides["target"] is None:
            return []
        by_size = sorted(examples, key=lambda own: -len(own.surest) - len(own.unsurest))[:SHOWN_CLASSES]
        return [{"label": own.label, "rows": self._rows(own, texts)} for own in by_size if own.surest]

    def _rows(self, examples: ClassExamples, texts: Sequence[str] | None) -> list[dict[str, Any]]:
        found = []
        for name, title in TITLES.items():
            shown = [
                {"picture": picture, "row": row + 1, "text": "" if texts is None else texts[row]}
                for row in getattr(examples, name)
                if (picture := self.place("target", row)) is not None
            ]
            if shown:
                found.append({"title": title, "pictures": shown})
        return found
