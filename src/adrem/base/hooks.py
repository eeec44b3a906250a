"""What a classifier does with validated domains and rows: the methods that a subclass implements or overrides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator

from adrem.base.constraints import check_params
from adrem.base.known import USUAL_WEIGHT
from adrem.base.validation import Domains
from adrem.types import FloatArray, Matrix


class Agreement(NamedTuple):
    """The number of members that vote, their name in the plural, and the share of them that agree with each label."""

    n_members: int
    name: str
    shares: NDArray[np.float64]


class DomainHooks(BaseEstimator):
    """The methods of a `DomainClassifier` that a subclass implements, and those that it may override."""

    classes_: NDArray[Any]
    # The fitted attributes that a subclass adds and that `save` writes.
    saved_attributes: ClassVar[tuple[str, ...]] = ()
    # As scikit-learn's estimators have it: the allowed values of each parameter.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_domains(self, domains: Domains) -> None:
        """Learn from two domains that were validated. Every subclass implements it.

        Parameters
        ----------
        domains : Domains
            Rows, labels as positions in ``domains.classes``, and weights.
        """
        raise NotImplementedError

    def choose_known_weight(self, domains: Domains) -> float:
        """Return how many source rows a target row with a known label counts.

        Parameters
        ----------
        domains : Domains
            The last ``n_known`` of its source rows are these rows.

        Returns
        -------
        float
            The weight; 5 by default.
        """
        del domains  # others need it
        return USUAL_WEIGHT

    def decide_rows(self, rows: Matrix) -> NDArray[np.float64]:
        """Return decision scores of validated rows. Every subclass implements it.

        Parameters
        ----------
        rows : {ndarray, CSR array} of shape (n_rows, n_features)
            Validated rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Scores; for two classes one score a row, positive for ``classes_[1]``.
        """
        raise NotImplementedError

    def label_rows(self, rows: Matrix) -> NDArray[np.intp]:
        """Return positions in ``classes_`` for validated rows; by default those of the highest decision scores."""
        return np.asarray(self._scores_by_class(rows).argmax(axis=1), dtype=np.intp)

    def share_rows(self, rows: Matrix) -> NDArray[np.float64]:
        """Return shares of the classes (rows x classes) that sum to one; by default the softmax of the scores."""
        return np.asarray(softmax(self._scores_by_class(rows), axis=1))

    def confidence_rows(self, rows: Matrix) -> NDArray[np.float64]:
        """Return the confidence of each label, from 0 to 1; by default the largest share."""
        return np.asarray(self.share_rows(rows).max(axis=1))

    def member_scores(self, rows: Matrix) -> Iterator[FloatArray]:
        """Yield the scores (rows x classes, one column for two) of each member of an ensemble; by default one."""
        scores = np.asarray(self.decide_rows(rows), dtype=np.float64)
        yield scores[:, None] if scores.ndim == 1 else scores

    def agreement(self) -> Agreement | None:
        """Return how many members agree with each label of the fit; by default None, for a single classifier."""
        return None

    def findings(self) -> list[str]:
        """Return lines on what the fit chose or estimated, for the summary and the report; by default none."""
        return []

    def refit_params(self, n_target: int) -> dict[str, Any]:
        """Return parameters for ``set_params``, to refit the model to a part of the rows with what it has chosen."""
        del n_target  # others need it
        fixed = {"random_state": 0, "C": getattr(self, "C_", None)}
        return {name: value for name, value in fixed.items() if name in self.get_params(deep=False)}

    def validate_params(self) -> None:
        """Check that every parameter has an allowed value. ``fit``, `adrem.save` and `adrem.load` begin with it.

        Raises
        ------
        ParameterError
            For the first that has not. Its ``parameter`` is the name.
        """
        check_params(self)

    def without_rows(self) -> dict[str, Any]:
        """Return parameters for ``set_params`` so that the model does not keep the rows of its fit; by default none.

        A model that needs these rows to label others can't be saved. It names here what would change that.

        Returns
        -------
        dict of str to object
            Parameters by name. If there are any, the model can't be saved as it is.
        """
        return {}

    def saved_params(self) -> dict[str, Any]:
        """Return the parameters that a model file holds; by default all.

        Returns
        -------
        dict of str to object
            Parameters by name, as ``get_params`` has them: numbers, strings, and lists of these.

        Raises
        ------
        InvalidTypeError
            If the model can't be saved with its parameters. The message says what to change.
        """
        return dict(self.get_params())

    def pack_parts(self) -> tuple[Any, dict[str, NDArray[Any]]]:
        """Return what a model file holds besides attributes: values that JSON can hold, and arrays by name.

        Returns
        -------
        values : object
            None if there is nothing else.
        arrays : dict of str to ndarray
            Arrays of numbers.
        """
        return None, {}

    def restore_parts(self, values: Any, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `pack_parts` returned, as read from a file that may be hostile.

        Parameters
        ----------
        values : object
            The values.
        arrays : dict of str to ndarray
            The arrays.

        Raises
        ------
        ValueError
            If they do not fit together.
        """
        raise NotImplementedError

    def _scores_by_class(self, rows: Matrix) -> NDArray[np.float64]:
        scores = np.asarray(self.decide_rows(rows))
        return np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
