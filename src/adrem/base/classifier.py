"""The contract of every classifier of the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adrem.base.hooks import DomainHooks
from adrem.base.known import fit_beside
from adrem.base.reading import UNKNOWN
from adrem.base.tensors import as_array
from adrem.base.validation import read_domains, read_rows
from adrem.exceptions import InvalidTypeError
from adrem.runtime.memory import by_blocks
from adrem.runtime.threads import one_blas_thread
from adrem.types import Matrix

# Scores of some members in double precision, votes, and what is computed from them.
BYTES_PER_SCORE = 64

_ROUTED = {"sample_domain": True, "allow_source": True}


class DomainClassifier(DomainHooks, ClassifierMixin, BaseEstimator):
    """A classifier for a target domain, and the base to write your own.

    A subclass implements ``fit_domains``, which sets ``classes_``, ``transduction_`` and its own fitted attributes, and
    ``decide_rows``, and names its own attributes in ``saved_attributes``. The three ways into ``fit``, dense and CSR
    tables and frames, the checks of input, ``predict``, ``predict_proba``, ``score``, saving and metadata routing are
    inherited.

    Examples
    --------
    A classifier by the nearest class mean, with the mean of each domain moved to zero:

    >>> import numpy as np
    >>> from adrem.base import DomainClassifier
    >>> class CentredMeans(DomainClassifier):
    ...     saved_attributes = ("center_", "means_")
    ...
    ...     def fit_domains(self, domains):
    ...         rows, labels = domains.X_source, domains.labels
    ...         self.classes_ = domains.classes
    ...         self.center_ = (domains.X_target if domains.adapts else rows).mean(axis=0)
    ...         centred = rows - rows.mean(axis=0)
    ...         self.means_ = np.array([centred[labels == c].mean(axis=0) for c in range(len(domains.classes))])
    ...         self.transduction_ = self.classes_[self.label_rows(domains.X_target)]
    ...
    ...     def decide_rows(self, rows):
    ...         distances = ((rows - self.center_)[:, None] - self.means_) ** 2
    ...         scores = -distances.sum(axis=2)
    ...         return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores
    >>> X, y = np.array([[1.0], [2.0], [3.0], [8.0], [9.0], [10.0]]), [0, 0, 0, 1, 1, 1]
    >>> CentredMeans().fit(X, y, X_target=X + 100).transduction_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    transduction_: NDArray[Any]

    # skada's convention: the domain of every row is passed along with it.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = _ROUTED
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = _ROUTED
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = _ROUTED
    __metadata_request__score: ClassVar[dict[str, bool]] = _ROUTED

    def _by_blocks(self, function: Callable[[Matrix], NDArray[Any]], rows: Matrix) -> NDArray[Any]:
        """Apply a method such as `decide_rows` to some rows at a time, to limit the memory of intermediate results."""
        with one_blas_thread():
            return by_blocks(function, rows, BYTES_PER_SCORE * len(self.classes_))

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_domain: ArrayLike | None = None,
        X_target: Any = None,
        y_target: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a labelled source and a target, of which no label needs to be known.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            The rows of the source, or of both domains.
        y : array-like of shape (n_rows,)
            Their labels. Labels of target rows are ignored, except for the mark -1 below, unless ``sample_domain`` is
            given and the parameter ``target_labels`` is ``"use"``.
        sample_domain : array-like of shape (n_rows,), default=None
            0 or more for the rows of X that belong to the source, negative for those of the target. With neither this
            nor ``X_target``, rows whose label is -1 are the target; without such rows the fit is on the source alone.
        X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features), default=None
            The rows of the target, if X has those of the source only. Frames are matched by column name. Inside a
            pipeline or a cross-validation use ``sample_domain``: earlier steps do not see ``X_target``.
        y_target : array-like of shape (n_target,), default=None
            Labels of ``X_target``, of which some are known. None, NaN and -1 mark the others; only None and NaN where
            -1 is a class. Rows with a known label are training rows, and keep this label in ``transduction_``.
        sample_weight : array-like of shape (n_rows,), default=None
            Multiplies C for rows of the source; ignored for rows of the target.

        Returns
        -------
        Self
            The model itself, fitted.

        Raises
        ------
        ParameterError
            If a parameter has a value that can't be used.
        InvalidDataError
            If the rows or the labels are invalid. The message says what to do.
        NotEnoughMemoryError
            If the fit would take more memory than is free. It is raised before any work.

        Examples
        --------
        Give the two domains as two tables:

        >>> import numpy as np
        >>> from adrem import AdREM
        >>> from adrem.datasets import make_rotated_arcs
        >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
        >>> model = AdREM(n_estimators=3, random_state=0)
        >>> labels = model.fit(X_source, y_source, X_target=X_target).transduction_
        >>> float((labels == y_target).mean())
        1.0

        Or as one table, in which a negative domain, or the label -1, marks the rows of the target:

        >>> X, y = np.concatenate([X_source, X_target]), np.append(y_source, [-1] * 100)
        >>> bool((model.fit(X, y).transduction_ == labels).all())
        True

        Give the labels of the target that are known:

        >>> known = [1, None, 1] + [None] * 97
        >>> model.fit(X_source, y_source, X_target=X_target, y_target=known).transduction_[[0, 2]].tolist()
        [1, 1]
        """
        self.validate_params()
        domains = read_domains(
            self, X, y, sample_domain=sample_domain, X_target=X_target, y_target=y_target, sample_weight=sample_weight
        )
        with one_blas_thread():  # the rounding of a product depends on the number of threads
            fit_beside(self, domains)
        return self

    def keep_known(self, X_target: Matrix, known: NDArray[np.intp]) -> None:
        """Set the attributes with an entry for each target row anew, after a fit in which some labels were known.

        A subclass with more such attributes than ``transduction_`` overrides it.

        Parameters
        ----------
        X_target : {ndarray, CSR array} of shape (n_target, n_features)
            All rows of the target, in the order given.
        known : ndarray of shape (n_target,)
            The known labels, as positions in ``classes_``, and -1 for the others.
        """
        labels = self._by_blocks(self.label_rows, X_target)  # as in predict, so that both break ties alike
        self.transduction_ = self.classes_[np.where(known == UNKNOWN, labels, known)]

    def decision_function(
        self, X: Any, *, sample_domain: ArrayLike | None = None, allow_source: bool = False
    ) -> NDArray[np.float64]:
        """Return the decision score of every class; the class of the highest score is the label.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target domain.
        sample_domain, allow_source : optional
            As for ``predict``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Scores. For two classes one score a row, positive for ``classes_[1]``.

        Examples
        --------
        The more members agree, the larger the score:

        >>> from adrem import AdREM
        >>> from adrem.datasets import make_rotated_arcs
        >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
        >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
        >>> model.decision_function(X_target[[0, 99]]).round().tolist()
        [3.0, -3.0]
        >>> model.predict(X_target[[0, 99]]).tolist()
        [1, 0]
        """
        return self._by_blocks(self.decide_rows, read_rows(self, X, sample_domain, allow_source))

    def predict(self, X: Any, *, sample_domain: ArrayLike | None = None, allow_source: bool = False) -> NDArray[Any]:
        """Label new rows of the target domain.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target domain, also rows that ``fit`` has not seen.
        sample_domain : array-like of shape (n_rows,), default=None
            Domains of the rows, as in ``fit``. Rows of a source are refused unless ``allow_source`` is true.
        allow_source : bool, default=False
            Whether rows of a source may be labelled.

        Returns
        -------
        ndarray of shape (n_rows,)
            A label for every row.

        Examples
        --------
        >>> from adrem.baselines import HardEM
        >>> from adrem.datasets import make_rotated_arcs
        >>> X_source, y_source, X_target, y_target = make_rotated_arcs(rotation=40, random_state=0)
        >>> model = HardEM(random_state=0).fit(X_source, y_source, X_target=X_target[::2])
        >>> float((model.predict(X_target[1::2]) == y_target[1::2]).mean())
        1.0
        """
        winners = self._by_blocks(self.label_rows, read_rows(self, X, sample_domain, allow_source))
        labels: NDArray[Any] = self.classes_[winners]
        return labels

    def predict_proba(
        self, X: Any, *, sample_domain: ArrayLike | None = None, allow_source: bool = False
    ) -> NDArray[np.float64]:
        """Return a share of every class, which sum to one.

        The shares rank rows by confidence. They are not calibrated probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target domain.
        sample_domain, allow_source : optional
            As for ``predict``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The shares, in the order of ``classes_``.

        See Also
        --------
        adrem.diagnostics.estimate_accuracy : How many of the labels seem to be right.

        Examples
        --------
        >>> from adrem import AdREM
        >>> from adrem.datasets import make_rotated_arcs
        >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
        >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
        >>> model.predict_proba(X_target[[0, 99]]).round(1).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        return self._by_blocks(self.share_rows, read_rows(self, X, sample_domain, allow_source))

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        sample_domain: ArrayLike | None = None,
        allow_source: bool = False,
    ) -> float:
        """Return the accuracy on labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target domain.
        y : array-like of shape (n_rows,)
            True labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows in the mean.
        sample_domain, allow_source : optional
            As for ``predict``.

        Returns
        -------
        float
            The share of correct labels.

        Examples
        --------
        >>> from adrem import AdREM
        >>> from adrem.datasets import make_rotated_arcs
        >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
        >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
        >>> model.score(X_target, y_target)
        1.0
        """
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X, sample_domain=sample_domain, allow_source=allow_source)
        return float(accuracy_score(as_array(y), predicted, sample_weight=as_array(sample_weight)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_model(model: Any) -> None:
    """Check that the model is a fitted model of the package."""
    if not isinstance(model, DomainClassifier):
        raise InvalidTypeError(
            f"{type(model).__name__} is not a model of adrem: give an AdREM or one of adrem.baselines; of a pipeline "
            "its last step, of a search its best_estimator_."
        )
    check_is_fitted(model)
