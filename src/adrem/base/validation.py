"""Validation of the arguments of `fit` and `predict`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adrem.base.entries import check_range
from adrem.base.reading import (
    encode,
    match_columns,
    read_domain,
    read_known,
    read_labels,
    read_table,
    read_target,
    read_weights,
    source_by_domain,
    source_by_mask,
)
from adrem.base.tensors import as_array
from adrem.exceptions import InvalidDataError
from adrem.types import Matrix


class Domains(NamedTuple):
    """A labelled source and an unlabelled target, validated.

    Parameters
    ----------
    X_source : {ndarray, CSR array} of shape (n_source, n_features)
        Rows of the source.
    labels : ndarray of shape (n_source,)
        Their labels, as positions in ``classes``.
    weights : ndarray of shape (n_source,)
        Their weights.
    X_target : {ndarray, CSR array} of shape (n_target, n_features)
        Rows of the target; none in a fit on the source alone.
    classes : ndarray of shape (n_classes,)
        The labels of the source.
    positions : ndarray of shape (n_source + n_target,), default=None
        Positions of the rows in the table that held both domains, if they came in one; those of the source first.
    sources : ndarray of shape (n_source,), default=None
        The source of each row, if there are several; not of the rows below, which come from no source.
    known : ndarray of shape (n_target,), default=None
        Labels of the target that are known, as positions in ``classes``, and -1 for the others. `fit_domains` never
        sees them: these rows then stand beside the source.
    n_known : int, default=0
        Number of these rows. They are the last of ``X_source``.
    has_unknown : bool, default=False
        Whether the last of ``classes`` is that of rows which belong to no class of the source.
    """

    X_source: Matrix
    labels: NDArray[np.intp]
    weights: NDArray[np.float64]
    X_target: Matrix
    classes: NDArray[Any]
    positions: NDArray[np.intp] | None = None
    sources: NDArray[np.float64] | None = None
    known: NDArray[np.intp] | None = None
    n_known: int = 0
    has_unknown: bool = False

    @property
    def n_of_source(self) -> int:
        """Number of classes of the source."""
        return len(self.classes) - self.has_unknown

    @property
    def n_own(self) -> int:
        """Number of labelled rows that come from the source."""
        return len(self.labels) - self.n_known

    @property
    def adapts(self) -> bool:
        """Whether there is a target."""
        return bool(self.X_target.shape[0])


def read_domains(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_domain: Any = None,
    X_target: Any = None,
    y_target: Any = None,
    sample_weight: Any = None,
) -> Domains:
    """Validate the arguments of ``fit``, given in any of its three ways.

    Parameters
    ----------
    estimator : estimator
        The estimator to fit. Its ``n_features_in_`` and ``feature_names_in_`` are set. If its ``target_labels`` is
        ``"use"``, labels of target rows that ``sample_domain`` marks are read.
    X, y, sample_domain, X_target, y_target, sample_weight : object
        As for ``fit`` of `DomainClassifier`.

    Returns
    -------
    Domains
        The two domains.

    Raises
    ------
    InvalidDataError
        If the rows or labels are invalid. The message says what to do.

    Examples
    --------
    >>> from adrem.base import read_domains
    >>> from adrem.baselines import SourceOnly
    >>> domains = read_domains(SourceOnly(), [[1.0], [-1.0], [5.0]], [1, 0, 0], sample_domain=[0, 0, -1])
    >>> domains.X_target.tolist()
    [[5.0]]
    """
    name = type(estimator).__name__
    X, y, sample_domain, X_target = map(as_array, (X, y, sample_domain, X_target))
    y_target, sample_weight = as_array(y_target), as_array(sample_weight)
    if y is None:
        raise InvalidDataError(f"{name} requires y to be passed, but the target y is None.")
    _check_route(sample_domain, X_target, y_target)
    rows = read_table(estimator, X)
    y = read_labels(y, rows.shape[0])
    if X_target is not None:
        target = read_target(estimator, X, X_target)
        read = _domains(rows, y, read_weights(sample_weight, rows, np.ones(len(y), dtype=bool)), target)
        return read if y_target is None else read._replace(known=read_known(y_target, read.classes, target.shape[0]))
    if sample_domain is None:
        return _parted(rows, y, sample_weight, source_by_mask(y))
    domain = read_domain(sample_domain, rows.shape[0])
    is_source = source_by_domain(domain)
    read = _parted(rows, y, sample_weight, is_source)
    if getattr(estimator, "target_labels", "ignore") == "use":
        known = read_known(y[~is_source], read.classes, int(np.count_nonzero(~is_source)), "y, of the target,")
        read = read._replace(known=known)
    return read._replace(sources=domain[is_source] if len(np.unique(domain[is_source])) > 1 else None)


def _check_route(sample_domain: Any, X_target: Any, y_target: Any) -> None:
    if X_target is not None and sample_domain is not None:
        raise InvalidDataError(
            "X_target and sample_domain were both given. Pass the source as X and y with X_target, or both domains in "
            "X with sample_domain."
        )
    if y_target is not None and X_target is None:
        raise InvalidDataError(
            "y_target has the labels of X_target, which was not given. With sample_domain, known labels of the target "
            "stand in y, and target_labels='use' lets the model read them."
        )


def _parted(rows: Matrix, y: NDArray[Any], sample_weight: Any, is_source: NDArray[np.bool_]) -> Domains:
    """Return the domains of one table."""
    source = rows[is_source]
    read = _domains(source, y[is_source], read_weights(sample_weight, source, is_source), rows[~is_source])
    return read._replace(positions=np.argsort(~is_source, kind="stable"))


def read_rows(estimator: Any, X: Any, sample_domain: Any = None, allow_source: bool = False) -> Matrix:
    """Read new rows for a fitted estimator."""
    check_is_fitted(estimator, "classes_")
    X, sample_domain = as_array(X), as_array(sample_domain)
    rows = read_table(estimator, match_columns(getattr(estimator, "feature_names_in_", None), X), reset=False)
    check_range({"X": rows}, learns=False)
    if sample_domain is not None:
        n_source = int(np.count_nonzero(read_domain(sample_domain, rows.shape[0]) >= 0))
        if n_source and not allow_source:
            raise InvalidDataError(
                f"{n_source} of {rows.shape[0]} rows belong to a source domain (sample_domain >= 0), and this model is "
                "for the target. Leave them out, or pass allow_source=True to score them anyway."
            )
    return rows


def _domains(X_source: Matrix, y: NDArray[Any], weights: NDArray[np.float64], X_target: Matrix) -> Domains:
    classes, labels = encode(y)
    if len(classes) < 2:
        raise InvalidDataError(
            f"The source has one class only, {classes.tolist()[0]!r}: a classifier needs labelled rows of at least two "
            "classes."
        )
    if not np.all(np.bincount(labels, weights) > 0):
        raise InvalidDataError(
            "sample_weight is zero for all source rows of a class: drop them, or give them a weight."
        )
    check_range({"X": X_source, "X_target": X_target} if X_target.shape[0] else {"X": X_source}, learns=True)
    return Domains(X_source, labels.astype(np.intp), weights, X_target, classes)
