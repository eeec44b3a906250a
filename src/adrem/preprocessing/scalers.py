"""Scalers for two domains."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.preprocessing import StandardScaler

from adrem.base.reading import read_table
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.preprocessing.transformer import DomainTransformer, domain_by_label
from adrem.runtime.memory import check_room
from adrem.types import Matrix


class JointStdScaler(OneToOneFeatureMixin, DomainTransformer):
    """Divide each feature by its standard deviation over the rows of all domains together, without centring.

    Constant features are left unchanged.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,)
        Standard deviation of each feature, or 1 if it is constant.

    See Also
    --------
    DomainStandardScaler : Centre and scale each domain separately.

    Examples
    --------
    >>> from adrem.preprocessing import JointStdScaler
    >>> JointStdScaler().fit_transform([[0.0, 7.0], [4.0, 7.0]]).tolist()
    [[0.0, 7.0], [2.0, 7.0]]
    """

    def _learn(self, rows: Matrix, y: Any, domain: NDArray[np.float64] | None) -> None:  # noqa: ARG002
        _, self.scale_ = _mean_and_scale(rows)

    def _apply(self, rows: Matrix, domain: NDArray[np.float64] | None) -> Matrix:  # noqa: ARG002
        return _divide(rows, self.scale_[rows.indices] if sp.issparse(rows) else self.scale_)


class DomainStandardScaler(OneToOneFeatureMixin, DomainTransformer):
    """Standardize the features of each domain separately to mean 0 and standard deviation 1.

    Each distinct value of ``sample_domain`` is a domain. Without ``sample_domain``, rows whose label is -1 are the
    target and all others the source; without such labels there is one domain.

    ``fit_transform`` standardizes each row by its own domain. ``transform`` treats rows without a domain as target
    rows: for source rows, ``fit(X, y).transform(X)`` differs from ``fit_transform(X, y)``.

    Parameters
    ----------
    with_mean : bool, default=True
        Whether to centre the features. Sparse tables can't be centred, and need ``with_mean=False``.

    Attributes
    ----------
    domains_ : ndarray of shape (n_domains,)
        The domains seen in ``fit``, in increasing order. Those marked by labels are called 1 and -2, as skada does.
    mean_, scale_ : ndarray of shape (n_domains, n_features)
        Mean and standard deviation in each domain; 1 for the deviation of a constant feature.
    target_mean_, target_scale_ : ndarray of shape (n_features,) or None
        Mean and standard deviation over all target rows, used for rows without a domain; those of the only domain if
        there is one. None after a fit on several sources without a target.

    Examples
    --------
    >>> from adrem.preprocessing import DomainStandardScaler
    >>> scaler = DomainStandardScaler()
    >>> scaler.fit_transform([[1.0], [3.0], [10.0], [50.0]], sample_domain=[1, 1, -2, -2]).tolist()
    [[-1.0], [1.0], [-1.0], [1.0]]
    >>> scaler.transform([[30.0]]).tolist()
    [[0.0]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"with_mean": ["boolean"]}

    def __init__(self, with_mean: bool = True) -> None:
        self.with_mean = with_mean

    def _read(self, X: Any, reset: bool) -> Matrix:
        rows = read_table(self, X, reset=reset)
        if self.with_mean and sp.issparse(rows):
            raise ParameterError(
                "A sparse table can't be centred: pass with_mean=False, or use JointStdScaler.", "with_mean"
            )
        return rows

    def _fit_domain(self, y: Any, sample_domain: Any, n_rows: int) -> NDArray[np.float64]:
        domain = super()._fit_domain(y, sample_domain, n_rows)
        return domain_by_label(y, n_rows) if domain is None else domain

    def _learn(self, rows: Matrix, y: Any, domain: Any) -> None:  # noqa: ARG002
        self.domains_, position = np.unique(domain, return_inverse=True)
        check_room(
            32 * len(self.domains_) * rows.shape[1],
            f"A mean and a deviation of {rows.shape[1]} features in {len(self.domains_)} domains",
            "give sample_domain fewer values, or use JointStdScaler",
        )
        statistics = [_mean_and_scale(rows[position == k]) for k in range(len(self.domains_))]
        self.mean_, self.scale_ = (np.stack(part) for part in zip(*statistics, strict=True))
        is_target = domain < 0 if len(self.domains_) > 1 else np.ones(len(domain), dtype=bool)
        of_target: tuple[Any, Any] = _mean_and_scale(rows[is_target]) if is_target.any() else (None, None)
        self.target_mean_, self.target_scale_ = of_target

    def _apply(self, rows: Matrix, domain: NDArray[np.float64] | None) -> Matrix:
        mean, scale, position = self._choose(domain, rows.shape[0])
        if sp.issparse(rows):
            return _divide(rows, scale[np.repeat(position, np.diff(rows.indptr)), rows.indices])
        scaled = np.empty_like(rows, subok=False)
        for k in np.unique(position):
            part = position == k
            scaled[part] = (rows[part] - (mean[k] if self.with_mean else 0)) / scale[k]
        return scaled

    def _choose(self, domain: NDArray[np.float64] | None, n_rows: int) -> tuple[Any, Any, NDArray[np.intp]]:
        """Return tables of means and deviations, and the index of each row in them."""
        if domain is not None:
            unknown = np.setdiff1d(domain, self.domains_)
            if unknown.size:
                raise InvalidDataError(
                    f"sample_domain has {unknown.tolist()}, and fit has seen {self.domains_.tolist()}: fit with the "
                    "new domains too, or leave sample_domain out for target rows."
                )
            return self.mean_, self.scale_, np.searchsorted(self.domains_, domain)
        if self.target_mean_ is None:
            raise InvalidDataError(
                "fit has seen several sources and no target: pass sample_domain, or fit with target rows too."
            )
        return self.target_mean_[None], self.target_scale_[None], np.zeros(n_rows, dtype=np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_mean
        return tags


class RowSumScaler(OneToOneFeatureMixin, DomainTransformer):
    """Divide each row by its sum. Rows whose sum is zero, up to rounding, are left unchanged.

    Examples
    --------
    >>> from adrem.preprocessing import RowSumScaler
    >>> RowSumScaler().fit_transform([[1.0, 3.0], [0.0, 0.0]]).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """

    def _apply(self, rows: Matrix, domain: NDArray[np.float64] | None) -> Matrix:  # noqa: ARG002
        sums = _row_sums(rows)
        rounding = rows.shape[1] * np.finfo(np.float64).eps * _row_sums(abs(rows))
        sums[np.abs(sums) <= rounding] = 1.0
        return _divide(rows, np.repeat(sums, np.diff(rows.indptr)) if sp.issparse(rows) else sums[:, None])


class Rectifier(OneToOneFeatureMixin, DomainTransformer):
    """Replace negative values by zero. A sparse result stores no zeros.

    Examples
    --------
    >>> from adrem.preprocessing import Rectifier
    >>> Rectifier().fit_transform([[1.0, -3.0]]).tolist()
    [[1.0, 0.0]]
    """

    def _apply(self, rows: Matrix, domain: NDArray[np.float64] | None) -> Matrix:  # noqa: ARG002
        if not sp.issparse(rows):
            return np.maximum(rows, 0)
        rectified = rows.copy()
        np.maximum(rectified.data, 0, out=rectified.data)
        rectified.eliminate_zeros()
        return rectified


# The names by which specifications of data sets refer to scalers.
SCALERS = {
    "rectify": Rectifier,
    "row-sum": RowSumScaler,
    "joint-std": JointStdScaler,
    "domain-standard": DomainStandardScaler,
    "joint-standard": StandardScaler,
}


def _mean_and_scale(rows: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of each feature, with a deviation of 1 for constant ones."""
    if sp.issparse(rows):
        rows = rows.astype(np.float64, copy=False)  # scikit-learn rounds the variance to the type of a sparse table
    scaler = StandardScaler(with_mean=False).fit(rows)
    return scaler.mean_, scaler.scale_


def _divide(rows: Matrix, divisor: NDArray[np.float64]) -> Matrix:
    """Divide in double precision, into a new table of the same type. A sparse table needs a divisor per entry."""
    if not sp.issparse(rows):
        return np.divide(rows, divisor, out=np.empty_like(rows, subok=False), casting="same_kind")
    divided = rows.copy()
    np.divide(divided.data, divisor, out=divided.data, casting="same_kind")
    return divided


def _row_sums(rows: Matrix) -> Any:
    return rows @ np.ones(rows.shape[1]) if sp.issparse(rows) else rows.sum(axis=1, dtype=np.float64)
