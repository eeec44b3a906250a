"""The paper's method as a function."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from adrem.algorithm.estimator import AdREM
from adrem.exceptions import ParameterError


def adapt(X_source: Any, y_source: Any, X_target: Any, **params: Any) -> NDArray[Any]:
    """Return labels for the target, by `AdREM`.

    Parameters
    ----------
    X_source : {array-like, sparse matrix, frame} of shape (n_source, n_features)
        Rows of the source.
    y_source : array-like of shape (n_source,)
        Labels of the source.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Rows of the target.
    **params : dict
        Parameters of `AdREM`.

    Returns
    -------
    ndarray of shape (n_target,)
        A label for every row of the target.

    See Also
    --------
    AdREM : The same as a classifier, which also labels new rows and keeps the votes.

    Examples
    --------
    >>> from adrem import adapt
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> labels = adapt(X_source, y_source, X_target, random_state=0)
    >>> float((labels == y_target).mean())
    1.0
    """
    if X_target is None:
        raise ParameterError("adapt needs the rows of the target: pass X_target.", "X_target")
    labels: NDArray[Any] = AdREM(**params).fit(X_source, y_source, X_target=X_target).transduction_
    return labels
