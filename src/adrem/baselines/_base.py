"""What the baselines share: the contract of the package, and the linear classifier at the end of each."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from adrem._adrem import AdREM, _spawn
from adrem._classifier import BYTES_A_SCORE, DomainClassifier
from adrem._memory import by_blocks
from adrem._types import Matrix
from adrem._validation import Domains
from adrem._voting import by_class

Loss = Literal["hinge", "log_loss"]


class Baseline(DomainClassifier):
    """A method that learns one classifier for the target; `_adapt` does, from rows that all have a weight."""

    def _learn(self, domains: Domains) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.endswith("_in_")]:
            delattr(self, name)  # of an earlier fit
        for rows in (domains.X_source, domains.X_target):
            check_norms(rows)
        self._adapt(_weighted(domains._replace(sources=None)))  # here all sources are one
        # By the very arithmetic of predict, so that the two agree to the last tie.
        labels = np.zeros(0, dtype=np.intp)
        if domains.adapts:
            labels = by_blocks(self._label, domains.X_target, BYTES_A_SCORE * len(domains.classes))
        self.transduction_ = domains.classes[labels]
        self.classes_ = domains.classes  # last: a model without them is not fitted

    def _adapt(self, domains: Domains) -> None:
        raise NotImplementedError

    def _scores(self, rows: Matrix) -> NDArray[np.float64]:
        """Scores of the one-vs-rest problems (rows x problems, one for two classes)."""
        scores: NDArray[np.float64] = rows @ self.coef_[0].T + self.intercept_[0]
        return scores

    def _decide(self, rows: Matrix) -> NDArray[np.float64]:
        scores = self._scores(rows)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _label(self, rows: Matrix) -> NDArray[np.intp]:
        labels: NDArray[np.intp] = by_class(self._scores(rows)).argmax(axis=1)
        return labels

    def _share(self, rows: Matrix) -> NDArray[np.float64]:
        return shares_of(self._scores(rows))


def shares_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logistic function of the scores, made to sum to one over the classes, however large they are."""
    return np.asarray(softmax(log_expit(by_class(scores)), axis=1))


def check_norms(rows: Matrix) -> None:
    """Refuse numbers whose fourth powers are beyond all numbers: products of products of rows are taken."""
    from adrem.machines._tables import squared_norms

    if not np.all(squared_norms(rows) <= np.sqrt(np.finfo(np.float64).max)):
        raise ValueError("The squared norm of a row is too large. Scale the features.")


def _weighted(domains: Domains) -> Domains:
    """Without the rows of the source that have no weight: they take no part in anything."""
    kept = domains.weights > 0
    if kept.all():
        return domains
    return domains._replace(X_source=domains.X_source[kept], labels=domains.labels[kept], weights=domains.weights[kept])


def whole_seed(random_state: Any) -> int:
    """A seed for folds; without a random state it comes from the system."""
    return int(_spawn(random_state, 1)[0].generate_state(1)[0])


class LinearBaseline(Baseline):
    """A baseline that ends in the package's linear classifier, with C by cross-validation on the source."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"hinge", "log_loss"})],
        "C": [StrOptions({"cv"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    loss: Loss
    C: Any
    tol: float
    random_state: Any

    def _train(self, rows: Matrix, domains: Domains, tol: float | None = None) -> AdREM:
        """The linear classifier of rows of the source, as they are or as they were mapped."""
        tol = self.tol if tol is None else tol
        head = AdREM(loss=self.loss, C=self.C, tol=tol, random_state=self.random_state)
        head._learn(domains._replace(X_source=rows, X_target=rows[:0]))
        self.C_ = head.C_
        return head


class IterativeBaseline(LinearBaseline):
    """A baseline that goes on until it has converged, or for ``max_iter`` iterations."""

    history_: list[dict[str, Any]]
    max_iter: int

    def _end(self, domains: Domains, converged: bool, reason: str) -> None:
        """Say why the iterations of ``history_`` ended."""
        self.n_iter_ = len(self.history_)
        self.termination_condition_ = reason if converged else f"max_iter={self.max_iter} was reached"
        if not domains.adapts:
            self.termination_condition_ = "there is no target"
        elif not converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: {self.termination_condition_}. Raise max_iter, or take the "
                "labels as those of so many iterations.",
                ConvergenceWarning,
                stacklevel=5,
            )
