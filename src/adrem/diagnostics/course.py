"""The history of a fit, summed up over its members."""

from __future__ import annotations

from typing import Any

import numpy as np

from adrem.diagnostics.results import Spread, Step


def course_of(history: list[dict[str, Any]]) -> list[Step]:
    """Return the history over all members, by iteration; empty for methods with another history."""
    if not history or "balanced_loss" not in history[0]:
        return []
    by_iteration: dict[int, list[dict[str, Any]]] = {}
    for entry in history:
        by_iteration.setdefault(entry["iteration"], []).append(entry)
    names = ("n_drawn", "n_changed", "loss", "balanced_loss")
    return [
        Step(k, *(_spread([entry[name] for entry in own]) for name in names)) for k, own in sorted(by_iteration.items())
    ]


def _spread(values: list[float]) -> Spread:
    low, high = float(min(values)), float(max(values))
    return Spread(min(max(float(np.mean(values)), low), high), low, high)
