"""What every classifier of the package promises: how it is fitted, and what it says of rows afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adrem._memory import by_blocks
from adrem._tensors import as_array
from adrem._threads import one_blas_thread
from adrem._types import Matrix
from adrem._validation import Domains, read_domains, read_rows

# Scores of some members, in double precision, votes and all that is made of them.
BYTES_A_SCORE = 64

_ROUTED = {"sample_domain": True, "allow_source": True}


class DomainClassifier(ClassifierMixin, BaseEstimator):
    """A classifier for a target domain, in terms of what each kind of model does with rows that are ready for it.

    `_learn` learns from two domains. `_decide` gives scores (rows x classes, or one a row for two classes), `_label`
    positions in ``classes_``, and `_share` shares of the classes that sum to one.
    """

    # skada's convention: the domain of every row travels with it, in fit and after.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = _ROUTED
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = _ROUTED
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = _ROUTED
    __metadata_request__score: ClassVar[dict[str, bool]] = _ROUTED

    def _learn(self, domains: Domains) -> None:
        raise NotImplementedError

    def _decide(self, rows: Matrix) -> NDArray[np.float64]:
        raise NotImplementedError

    def _label(self, rows: Matrix) -> NDArray[np.intp]:
        raise NotImplementedError

    def _share(self, rows: Matrix) -> NDArray[np.float64]:
        raise NotImplementedError

    def _by_blocks(self, function: Callable[[Matrix], NDArray[Any]], rows: Matrix) -> NDArray[Any]:
        """What one of the above says of rows, of so many at a time that what is made on the way stays small."""
        with one_blas_thread():
            return by_blocks(function, rows, BYTES_A_SCORE * len(self.classes_))

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_domain: ArrayLike | None = None,
        X_target: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a labelled source and an unlabelled target.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            The rows of the source, or of both domains.
        y : array-like of shape (n_rows,)
            Their labels. What stands there for target rows is never read, except for the mark -1 below.
        sample_domain : array-like of shape (n_rows,), default=None
            0 or more for the rows of X that belong to the source, negative for those of the target. With neither this
            nor ``X_target``, rows whose label is -1 are the target; without such rows the fit is on the source alone.
        X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features), default=None
            The rows of the target, where X holds those of the source only. Frames are matched by column name. Inside a
            pipeline or a cross-validation use ``sample_domain``: steps before this one do not see ``X_target``.
        sample_weight : array-like of shape (n_rows,), default=None
            Multiplies C for rows of the source; ignored for rows of the target.

        Returns
        -------
        Self
            The model itself, fitted.

        Raises
        ------
        ValueError
            If something is wrong with a parameter, the rows or the labels. The message says what to do.
        MemoryError
            If the fit would take more memory than is free. It comes before the work.

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

        Or as one, in which a negative domain, or the label -1, marks the rows of the target:

        >>> X, y = np.concatenate([X_source, X_target]), np.append(y_source, [-1] * 100)
        >>> bool((model.fit(X, y).transduction_ == labels).all())
        True
        """
        self._validate_params()
        domains = read_domains(self, X, y, sample_domain=sample_domain, X_target=X_target, sample_weight=sample_weight)
        with one_blas_thread():  # a product rounds by the number of its threads, and the model shall not depend on it
            self._learn(domains)
        return self

    def decision_function(
        self, X: Any, *, sample_domain: ArrayLike | None = None, allow_source: bool = False
    ) -> NDArray[np.float64]:
        """Say what speaks for every class; the class of the highest score is the label.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target domain.
        sample_domain : array-like of shape (n_rows,), default=None
            Domains of the rows, as in ``fit``. Rows of a source are refused unless ``allow_source`` is true.
        allow_source : bool, default=False
            Whether rows of a source may be scored.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Scores. For two classes, what speaks for ``classes_[1]`` and against ``classes_[0]``.

        Examples
        --------
        The more the members agree, the further a score is from zero:

        >>> from adrem import AdREM
        >>> from adrem.datasets import make_rotated_arcs
        >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
        >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
        >>> model.decision_function(X_target[[0, 99]]).round().tolist()
        [3.0, -3.0]
        >>> model.predict(X_target[[0, 99]]).tolist()
        [1, 0]
        """
        return self._by_blocks(self._decide, read_rows(self, X, sample_domain, allow_source))

    def predict(self, X: Any, *, sample_domain: ArrayLike | None = None, allow_source: bool = False) -> NDArray[Any]:
        """Label new rows of the target domain.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target domain, which ``fit`` need not have seen.
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
        winners = self._by_blocks(self._label, read_rows(self, X, sample_domain, allow_source))
        labels: NDArray[Any] = self.classes_[winners]
        return labels

    def predict_proba(
        self, X: Any, *, sample_domain: ArrayLike | None = None, allow_source: bool = False
    ) -> NDArray[np.float64]:
        """Share out every row among the classes.

        The shares sum to one. They order the rows by confidence, and are not calibrated.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target domain.
        sample_domain : array-like of shape (n_rows,), default=None
            Domains of the rows, as in ``fit``. Rows of a source are refused unless ``allow_source`` is true.
        allow_source : bool, default=False
            Whether rows of a source may be scored.

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
        return self._by_blocks(self._share, read_rows(self, X, sample_domain, allow_source))

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        sample_domain: ArrayLike | None = None,
        allow_source: bool = False,
    ) -> float:
        """Tell the accuracy on labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of the target domain.
        y : array-like of shape (n_rows,)
            True labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows in the mean.
        sample_domain : array-like of shape (n_rows,), default=None
            Domains of the rows, as in ``fit``. Rows of a source are refused unless ``allow_source`` is true.
        allow_source : bool, default=False
            Whether rows of a source may be scored.

        Returns
        -------
        float
            The share of the rows whose label is right.

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
    """Refuse what is no fitted model of the package."""
    if not isinstance(model, DomainClassifier):
        raise TypeError(
            f"{type(model).__name__} is no model of adrem: give an AdREM or one of adrem.baselines; of a pipeline its "
            "last step, of a search its best_estimator_."
        )
    check_is_fitted(model)
