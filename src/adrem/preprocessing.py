"""Transformers that know about domains, for tables dense or CSR; a CSR table stays CSR.

They share one contract, and half of the file is what they and their methods are.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr
from sklearn import config_context
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from adrem._memory import check_room
from adrem._types import Matrix
from adrem._validation import (
    MASK,
    _encode,
    _match_columns,
    _read_domain,
    _read_labels,
    _read_table,
    _read_target,
    _source_by_mask,
)

__all__ = ["DomainStandardScaler", "JointStdScaler", "Rectifier", "RowSumScaler", "TopFeatures", "transform_pair"]

# skada's names for the two domains where the user gives none.
_SOURCE, _TARGET = 1.0, -2.0


class _DomainTransformer(TransformerMixin, BaseEstimator):
    """The contract that the transformers share: what is learnt, and how it is applied, is theirs."""

    # skada's convention: the domain of every row travels with it, in fit and after.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {"sample_domain": True, "allow_source": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit(self, X: Any, y: Any = None, *, sample_domain: ArrayLike | None = None) -> Self:
        """Learn from the rows of all domains together.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the source and of the target.
        y : array-like of shape (n_rows,), default=None
            Labels. Where they are read, and without ``sample_domain``, those of the target are -1, as for `AdREM`.
        sample_domain : array-like of shape (n_rows,), default=None
            0 or more for rows of a source, negative for rows of a target.

        Returns
        -------
        Self
            The transformer itself, fitted.

        Examples
        --------
        >>> from adrem.preprocessing import JointStdScaler
        >>> JointStdScaler().fit([[0.0, 1.0], [4.0, 1.0]]).scale_.tolist()
        [2.0, 1.0]
        """
        self._fit(X, y, sample_domain)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, sample_domain: ArrayLike | None = None) -> Any:
        """Learn from all rows, as ``fit`` does, and transform them, each as a row of its own domain.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the source and of the target.
        y : array-like of shape (n_rows,), default=None
            Labels, as in ``fit``.
        sample_domain : array-like of shape (n_rows,), default=None
            Domains of the rows, as in ``fit``.

        Returns
        -------
        {ndarray, sparse matrix, frame} of shape (n_rows, n_features_out)
            The rows, transformed.

        Examples
        --------
        >>> from adrem.preprocessing import DomainStandardScaler
        >>> rows = [[1.0], [3.0], [10.0], [50.0]]
        >>> DomainStandardScaler().fit_transform(rows, sample_domain=[1, 1, -2, -2]).tolist()
        [[-1.0], [1.0], [-1.0], [1.0]]
        """
        return self._apply(*self._fit(X, y, sample_domain))

    def transform(self, X: Any, *, sample_domain: ArrayLike | None = None, allow_source: bool = True) -> Any:
        """Transform new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target, or of the domains in ``sample_domain``.
        sample_domain : array-like of shape (n_rows,), default=None
            Domains of the rows, as in ``fit``.
        allow_source : bool, default=True
            Whether ``sample_domain`` may name a source.

        Returns
        -------
        {ndarray, sparse matrix, frame} of shape (n_rows, n_features_out)
            The rows, transformed.

        Examples
        --------
        >>> from adrem.preprocessing import JointStdScaler
        >>> scaler = JointStdScaler().fit([[0.0], [4.0]])
        >>> scaler.transform([[6.0]]).tolist()
        [[3.0]]
        """
        check_is_fitted(self)
        rows = self._read(_match_columns(getattr(self, "feature_names_in_", None), X), reset=False)
        domain = None if sample_domain is None else _read_domain(sample_domain, rows.shape[0])
        if domain is not None and not allow_source and np.any(domain >= 0):
            raise ValueError("Some rows belong to a source domain: leave them out, or pass allow_source=True.")
        return self._apply(rows, domain)

    def _fit(self, X: Any, y: Any, sample_domain: Any) -> tuple[Matrix, NDArray[np.float64] | None]:
        self._validate_params()
        rows = self._read(X, reset=True)
        domain = self._fit_domain(y, sample_domain, rows.shape[0])
        self._learn(rows, y, domain)
        return rows, domain

    def _read(self, X: Any, reset: bool) -> Matrix:
        return _read_table(self, X, reset=reset)

    def _fit_domain(self, y: Any, sample_domain: Any, n_rows: int) -> NDArray[np.float64] | None:  # noqa: ARG002
        return None if sample_domain is None else _read_domain(sample_domain, n_rows)

    def _learn(self, rows: Matrix, y: Any, domain: NDArray[np.float64] | None) -> None:
        pass

    def _apply(self, rows: Matrix, domain: NDArray[np.float64] | None) -> Matrix:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class JointStdScaler(OneToOneFeatureMixin, _DomainTransformer):
    """Divide each feature by its standard deviation over the rows of all domains together, without centring.

    Features that are constant stay as they are.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,)
        What each feature is divided by: its deviation, or 1 where it is constant.

    See Also
    --------
    DomainStandardScaler : Scale every domain by itself, and centre it.

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


class DomainStandardScaler(OneToOneFeatureMixin, _DomainTransformer):
    """Give the features of every domain, by itself, a mean of 0 and a standard deviation of 1.

    Each distinct value of ``sample_domain`` is a domain. Without ``sample_domain``, rows whose label is -1 are the
    target and all others the source; without such labels there is one domain.

    ``fit_transform`` treats every row by its own domain. ``transform`` takes rows given without a domain for rows of
    the target: on the rows of the source, ``fit(X, y).transform(X)`` thus differs from ``fit_transform(X, y)``.

    Parameters
    ----------
    with_mean : bool, default=True
        Whether to centre the features. Sparse tables can't be centred, and need ``with_mean=False``.

    Attributes
    ----------
    domains_ : ndarray of shape (n_domains,)
        The domains seen in ``fit``, in increasing order. Those marked by labels are called 1 and -2, as skada does.
    mean_, scale_ : ndarray of shape (n_domains, n_features)
        Means and deviations in every domain; the deviation of a constant feature is given as 1.
    target_mean_, target_scale_ : ndarray of shape (n_features,) or None
        Those over all target rows, for rows without a domain; of the only domain, where there is only one. None after
        a fit on several sources without a target.

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
        rows = _read_table(self, X, reset=reset)
        if self.with_mean and sp.issparse(rows):
            raise ValueError("A sparse table can't be centred: pass with_mean=False, or use JointStdScaler.")
        return rows

    def _fit_domain(self, y: Any, sample_domain: Any, n_rows: int) -> NDArray[np.float64]:
        domain = super()._fit_domain(y, sample_domain, n_rows)
        return _domain_by_label(y, n_rows) if domain is None else domain

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
        """Tables of means and deviations, and the position in them of every row."""
        if domain is not None:
            unknown = np.setdiff1d(domain, self.domains_)
            if unknown.size:
                raise ValueError(
                    f"sample_domain holds {unknown.tolist()}, and the domains known from fit are "
                    f"{self.domains_.tolist()}: fit with the new ones too, or leave sample_domain out for target rows."
                )
            return self.mean_, self.scale_, np.searchsorted(self.domains_, domain)
        if self.target_mean_ is None:
            raise ValueError(
                "fit saw several sources and no target: pass sample_domain, or fit with rows of the target too."
            )
        return self.target_mean_[None], self.target_scale_[None], np.zeros(n_rows, dtype=np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_mean
        return tags


class RowSumScaler(OneToOneFeatureMixin, _DomainTransformer):
    """Divide every row by its sum. Rows whose sum is zero, to within rounding, stay as they are.

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


class Rectifier(OneToOneFeatureMixin, _DomainTransformer):
    """Replace what is negative by zero. Sparse results have no zeros stored.

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


class TopFeatures(_DomainTransformer, SelectorMixin):
    """Keep the features that occur, that is are not zero, in the most rows or tell the most about the label.

    Of features that tie the earlier is kept, and those kept stay in their order.

    Parameters
    ----------
    n_features : int, default=400
        How many features to keep; all, where there are no more.
    by : {"frequency", "mutual_info"}, default="frequency"
        Whether to rank by the number of rows a feature occurs in, of source and target together, or by the mutual
        information of its occurring and the label, over the rows of the source.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        What the features are ranked by: a number of rows, or nats.

    Examples
    --------
    >>> from adrem.preprocessing import TopFeatures
    >>> selector = TopFeatures(n_features=2).fit([[1.0, 0.0, 2.0], [3.0, 4.0, 0.0], [5.0, 0.0, 0.0]])
    >>> selector.get_support(indices=True).tolist()
    [0, 1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "by": [StrOptions({"frequency", "mutual_info"})],
    }

    def __init__(self, n_features: int = 400, by: Literal["frequency", "mutual_info"] = "frequency") -> None:
        self.n_features = n_features
        self.by = by

    def _learn(self, rows: Matrix, y: Any, domain: NDArray[np.float64] | None) -> None:
        if self.by == "frequency":
            self.scores_ = _frequency(rows)
        elif y is None:
            raise ValueError("TopFeatures(by='mutual_info') requires y to be passed, but the target y is None.")
        else:
            is_source = (_domain_by_label(y, rows.shape[0]) if domain is None else domain) >= 0
            if not is_source.any():
                raise ValueError("sample_domain holds no source row, and mutual information is that of its labels.")
            self.scores_ = _mutual_info(rows[is_source], _read_labels(y, rows.shape[0])[is_source])
        self._support = np.zeros(rows.shape[1], dtype=bool)
        self._support[np.argsort(-self.scores_, kind="stable")[: self.n_features]] = True

    def _apply(self, rows: Matrix, domain: NDArray[np.float64] | None) -> Matrix:  # noqa: ARG002
        return rows[:, np.flatnonzero(self._support)]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.by == "mutual_info"
        return tags


def transform_pair(transformer: Any, X_source: Any, X_target: Any, y_source: Any = None) -> tuple[Any, Any]:
    """Transform the tables of a source and a target by what is learnt from both.

    Parameters
    ----------
    transformer : estimator
        A transformer of this module or of scikit-learn, or a pipeline of such. It is cloned, not fitted itself.
    X_source, X_target : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
        Rows of the two domains. Frames are matched by column name.
    y_source : array-like of shape (n_source,), default=None
        Labels of the source, for `TopFeatures`. Those of the target are NaN, which scikit-learn's transformers refuse.

    Returns
    -------
    X_source : {ndarray, CSR array, frame} of shape (n_source, n_features_out)
        The rows of the source, transformed.
    X_target : {ndarray, CSR array, frame} of shape (n_target, n_features_out)
        The rows of the target, transformed.

    Examples
    --------
    >>> from adrem.preprocessing import JointStdScaler, transform_pair
    >>> X_source, X_target = transform_pair(JointStdScaler(), [[0.0], [4.0]], [[0.0], [4.0], [4.0], [0.0]])
    >>> X_target.tolist()
    [[0.0], [2.0], [2.0], [0.0]]
    """
    reader = Rectifier()  # any estimator: it carries the names and number of columns between the tables
    tables = (_read_table(reader, X_source), _read_target(reader, X_source, X_target))
    n_source, n_target = (table.shape[0] for table in tables)
    labels = None
    if y_source is not None:  # with something for the target that can't be taken for a class
        labels = np.append(_read_labels(y_source, n_source).astype(object), np.full(n_target, np.nan))
    return fit_transform_pair(clone(transformer), *tables, labels)


def fit_transform_pair(transformer: Any, source: Matrix, target: Matrix, labels: Any = None) -> tuple[Matrix, Matrix]:
    """Fit a transformer to two tables below each other, with labels for both, and transform them."""
    from adrem.machines._tables import stack

    n_source, n_target = source.shape[0], target.shape[0]
    domain = np.repeat([_SOURCE, _TARGET], [n_source, n_target])
    with config_context(enable_metadata_routing=True):
        takes = get_routing_for_object(transformer).consumes(method="fit_transform", params=["sample_domain"])
        transformed = transformer.fit_transform(stack([source, target]), labels, **dict.fromkeys(takes, domain))
    if sp.issparse(transformed):
        transformed = transformed.tocsr()
    return transformed[:n_source], transformed[n_source:]


def _domain_by_label(y: Any, n_rows: int) -> NDArray[np.float64]:
    """Tell the domains apart by the mark -1 among the labels, as `AdREM` does; without the mark all is one source."""
    if y is None:
        return np.full(n_rows, _SOURCE)
    labels = _read_labels(y, n_rows)
    if set(labels.tolist()) == {MASK, 1}:  # two classes, and the classifier that comes next gives the warning
        return np.full(n_rows, _SOURCE)
    return np.where(_source_by_mask(labels), _SOURCE, _TARGET)


def _mean_and_scale(rows: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of every feature, 1 for the deviation of those that are constant."""
    if sp.issparse(rows):
        rows = rows.astype(np.float64, copy=False)  # scikit-learn rounds the variance to the type of a sparse table
    scaler = StandardScaler(with_mean=False).fit(rows)
    return scaler.mean_, scaler.scale_


def _divide(rows: Matrix, divisor: NDArray[np.float64]) -> Matrix:
    """A new table of the same type, divided in double precision; for a sparse one the divisor has a value an entry."""
    if not sp.issparse(rows):
        return np.divide(rows, divisor, out=np.empty_like(rows, subok=False), casting="same_kind")
    divided = rows.copy()
    np.divide(divided.data, divisor, out=divided.data, casting="same_kind")
    return divided


def _row_sums(rows: Matrix) -> Any:
    return rows @ np.ones(rows.shape[1]) if sp.issparse(rows) else rows.sum(axis=1, dtype=np.float64)


def _frequency(rows: Matrix) -> NDArray[Any]:
    """Number of rows in which each feature is not zero."""
    if sp.issparse(rows):
        return np.bincount(rows.indices[rows.data != 0], minlength=rows.shape[1])
    return np.asarray(np.count_nonzero(rows, axis=0))


def _mutual_info(rows: Matrix, y: NDArray[Any]) -> NDArray[Any]:
    """Mutual information of the label and of whether each feature occurs, in nats."""
    classes, labels = _encode(y)
    occurs = np.stack([_frequency(rows[labels == c]) for c in range(len(classes))])
    n_class = np.bincount(labels)[:, None]
    joint = np.stack([occurs, n_class - occurs]) / len(labels)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    # Rounded, so that features that tie do so whatever the order of their sums.
    return np.asarray(np.round(rel_entr(joint, independent).sum(axis=(0, 1)), 12))
