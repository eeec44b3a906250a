"""What a data set gives to learn from."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from adrem._types import Matrix


class DomainPair(NamedTuple):
    """Rows and labels of a source and of a target. The target's labels are there to score, never to learn from."""

    X_source: Matrix
    y_source: NDArray[Any]
    X_target: Matrix
    y_target: Any  # None where a domain of the user's has no labels

    def __repr__(self) -> str:
        shapes = " and ".join(f"{X.shape[0]} x {X.shape[1]}" for X in (self.X_source, self.X_target))
        return f"<DomainPair of a source and a target: {shapes}>"
