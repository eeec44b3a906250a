"""Selection of features over two domains."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from adrem.base.reading import encode, read_labels
from adrem.exceptions import InvalidDataError
from adrem.preprocessing.transformer import DomainTransformer, domain_by_label
from adrem.types import FloatArray, Matrix


class TopFeatures(DomainTransformer, SelectorMixin):
    """Keep the features that are nonzero in the most rows, or are the most informative about the label.

    Of tied features the first ones are kept. Kept features stay in their order.

    Parameters
    ----------
    n_features : int, default=400
        Number of features to keep. Fewer are kept if there are fewer.
    by : {"frequency", "mutual_info"}, default="frequency"
        Rank features by the number of rows of both domains in which they are nonzero, or by the mutual information of
        being nonzero and the label over the source rows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each feature: a number of rows, or mutual information in nats.

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
            raise InvalidDataError("TopFeatures(by='mutual_info') requires y to be passed, but the target y is None.")
        else:
            is_source = (domain_by_label(y, rows.shape[0]) if domain is None else domain) >= 0
            if not is_source.any():
                raise InvalidDataError("sample_domain has no source rows, and mutual information needs their labels.")
            labels = encode(read_labels(y, rows.shape[0])[is_source])[1]
            information = mutual_information(rows[is_source] != 0, labels, np.ones(len(labels)))
            self.scores_ = np.round(information, 12)  # ties do not depend on the order of summation
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


def _frequency(rows: Matrix) -> NDArray[Any]:
    """Return the number of rows in which each feature is nonzero."""
    if sp.issparse(rows):
        return np.bincount(rows.indices[rows.data != 0], minlength=rows.shape[1])
    return np.asarray(np.count_nonzero(rows, axis=0))


def mutual_information(present: Matrix, labels: NDArray[np.intp], weights: FloatArray) -> FloatArray:
    """Return the mutual information of the presence of each feature and the label, in nats."""
    classes = np.eye(labels.max() + 1)[labels] * (weights / weights.sum())[:, None]
    joint = np.asarray(present.T @ classes)  # features x classes
    of_class = classes.sum(axis=0)
    total = np.zeros(joint.shape[0])
    for both in (joint, np.maximum(of_class - joint, 0.0)):
        alone = both.sum(axis=1, keepdims=True) * of_class
        ratio = np.divide(both, alone, out=np.ones_like(both), where=(both > 0) & (alone > 0))
        total += (both * np.log(ratio)).sum(axis=1)
    return total
