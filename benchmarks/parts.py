"""Where the time of a fit of `Committee` goes: by kind, by the steps of all kinds, and by what is before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

from adrem.committee import fitting, seats
from adrem.committee.seats import Seat
from adrem.machines.linear import LinearHead, TrainingSet

# What is timed, and its name. Steps of a kind are indented: their time is part of that of the kinds.
TIMED = (
    (fitting, "fit_seat", "kind"),
    (seats, "seen_by", "  view of the rows"),
    (seats, "components", "  principal components"),
    (seats, "nearest", "  neighbours"),
    (seats, "_held_out", "  held-out rows"),
    (seats, "_train", "  members"),
    (seats, "_voter", "  classifiers from the machine"),
    (LinearHead, "begin", "  rows to the machine, choice of C"),
    (TrainingSet, "train_source", "  training on the source"),
    (fitting, "assume", "class shares, missing classes"),
    (fitting, "_keep", "votes, temperature"),
    (fitting, "_keep_linear", "distilled classifier"),
    (Seat, "votes", "  votes of"),
)


@contextmanager
def parts(clock: Callable[[], float]) -> Iterator[dict[str, float]]:
    """Seconds of each part of all that is fitted meanwhile."""
    spent: dict[str, float] = defaultdict(float)

    def timed(owner: Any, name: str, step: str) -> Any:
        function = getattr(owner, name)

        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            begin = clock()
            try:
                return function(*args, **kwargs)
            finally:
                kind = getattr(args[0], "name", "") if name in ("fit_seat", "votes") else ""
                spent[f"{step} {kind}".rstrip()] += clock() - begin

        return patch.object(owner, name, run)

    with ExitStack() as stack:
        for owner, name, step in TIMED:
            stack.enter_context(timed(owner, name, step))
        yield spent
