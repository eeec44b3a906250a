"""The base class of transformers that are fitted to two domains. They take dense and CSR tables; CSR stays CSR."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from adrem.base.constraints import check_params
from adrem.base.reading import MASK, match_columns, read_domain, read_labels, read_table, source_by_mask
from adrem.exceptions import InvalidDataError
from adrem.types import Matrix

# skada's numbers for the two domains if the user gives none.
SOURCE, TARGET = 1.0, -2.0


class DomainTransformer(TransformerMixin, BaseEstimator):
    """Base class of transformers that are fitted to two domains. Subclasses define `_learn` and `_apply`."""

    # As in skada, metadata routing passes the domain of each row.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {"sample_domain": True, "allow_source": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit(self, X: Any, y: Any = None, *, sample_domain: ArrayLike | None = None) -> Self:
        """Fit to the rows of both domains.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the source and of the target.
        y : array-like of shape (n_rows,), default=None
            Labels. Without ``sample_domain``, the label -1 marks target rows, as for `AdREM`.
        sample_domain : array-like of shape (n_rows,), default=None
            0 or more for source rows, negative for target rows.

        Returns
        -------
        Self
            The fitted transformer.
        """
        self._fit(X, y, sample_domain)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, sample_domain: ArrayLike | None = None) -> Any:
        """Fit to all rows and transform each of them as a row of its own domain.

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
            The transformed rows.
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
            The transformed rows.
        """
        check_is_fitted(self)
        rows = self._read(match_columns(getattr(self, "feature_names_in_", None), X), reset=False)
        domain = None if sample_domain is None else read_domain(sample_domain, rows.shape[0])
        if domain is not None and not allow_source and np.any(domain >= 0):
            raise InvalidDataError("Some rows belong to a source domain: leave them out, or pass allow_source=True.")
        return self._apply(rows, domain)

    def _fit(self, X: Any, y: Any, sample_domain: Any) -> tuple[Matrix, NDArray[np.float64] | None]:
        check_params(self)
        rows = self._read(X, reset=True)
        domain = self._fit_domain(y, sample_domain, rows.shape[0])
        self._learn(rows, y, domain)
        return rows, domain

    def _read(self, X: Any, reset: bool) -> Matrix:
        return read_table(self, X, reset=reset)

    def _fit_domain(self, y: Any, sample_domain: Any, n_rows: int) -> NDArray[np.float64] | None:  # noqa: ARG002
        return None if sample_domain is None else read_domain(sample_domain, n_rows)

    def _learn(self, rows: Matrix, y: Any, domain: NDArray[np.float64] | None) -> None:
        pass

    def _apply(self, rows: Matrix, domain: NDArray[np.float64] | None) -> Matrix:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def domain_by_label(y: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the domain of each row, where the label -1 marks the target. Without it all rows are one source."""
    if y is None:
        return np.full(n_rows, SOURCE)
    labels = read_labels(y, n_rows)
    if set(labels.tolist()) == {MASK, 1}:  # two classes; the classifier that follows warns
        return np.full(n_rows, SOURCE)
    return np.where(source_by_mask(labels), SOURCE, TARGET)
