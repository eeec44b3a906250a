"""A source and a target."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from adrem.types import Matrix


class DomainPair(NamedTuple):
    """Rows and labels of a source and a target. The target labels are only for scoring.

    Parameters
    ----------
    X_source : {ndarray, CSR array} of shape (n_source, n_features)
        Rows of the source.
    y_source : ndarray of shape (n_source,)
        Their labels.
    X_target : {ndarray, CSR array} of shape (n_target, n_features)
        Rows of the target.
    y_target : ndarray of shape (n_target,) or None
        Their labels. A domain of your own may have none.
    """

    X_source: Matrix
    y_source: NDArray[Any]
    X_target: Matrix
    y_target: Any  # None if the target has no labels

    def __repr__(self) -> str:
        shapes = " and ".join(f"{X.shape[0]} x {X.shape[1]}" for X in (self.X_source, self.X_target))
        return f"<DomainPair of a source and a target: {shapes}>"
