"""Base classes of the baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from adrem.base.classifier import BYTES_PER_SCORE, DomainClassifier
from adrem.base.constraints import LossName, common
from adrem.base.scoring import by_class, normalized_shares
from adrem.base.validation import Domains
from adrem.exceptions import InvalidDataError
from adrem.runtime.memory import by_blocks
from adrem.runtime.notices import warn_user
from adrem.runtime.seeds import integer_seed
from adrem.types import Matrix

if TYPE_CHECKING:  # numba, which the machines need, is imported by the first fit
    from adrem.machines.linear import LinearClassifier


class Baseline(DomainClassifier):
    """A method that learns one classifier for the target.

    A subclass implements `_adapt`, which sets ``coef_`` and ``intercept_`` with one member, or overrides `_scores`.
    Source rows of weight zero are removed before.
    """

    def choose_known_weight(self, domains: Domains) -> float:
        from adrem.machines.known_weight import choose_known_weight

        return choose_known_weight(domains)

    def fit_domains(self, domains: Domains) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.endswith("_in_")]:
            delattr(self, name)  # from an earlier fit
        for rows in (domains.X_source, domains.X_target):
            check_norms(rows)
        self._adapt(_with_weight(domains._replace(sources=None)))  # pool all sources
        labels = np.zeros(0, dtype=np.intp)
        if domains.adapts:  # computed as in predict, so that both break ties alike
            labels = by_blocks(self.label_rows, domains.X_target, BYTES_PER_SCORE * len(domains.classes))
        self.transduction_ = domains.classes[labels]
        self.classes_ = domains.classes  # last, because it marks the model as fitted

    def _adapt(self, domains: Domains) -> None:
        raise NotImplementedError

    def _scores(self, rows: Matrix) -> NDArray[np.float64]:
        """Return the scores of the one-vs-rest problems (rows x problems; one problem for two classes)."""
        scores: NDArray[np.float64] = rows @ self.coef_[0].T + self.intercept_[0]
        return scores

    def decide_rows(self, rows: Matrix) -> NDArray[np.float64]:
        scores = self._scores(rows)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def label_rows(self, rows: Matrix) -> NDArray[np.intp]:
        labels: NDArray[np.intp] = by_class(self._scores(rows)).argmax(axis=1)
        return labels

    def share_rows(self, rows: Matrix) -> NDArray[np.float64]:
        return normalized_shares(self._scores(rows))


def check_norms(rows: Matrix) -> None:
    """Check that products of inner products of rows do not overflow."""
    from adrem.machines.tables import squared_norms

    if not np.all(squared_norms(rows) <= np.sqrt(np.finfo(np.float64).max)):
        raise InvalidDataError("The squared norm of a row is too large. Scale the features.")


def _with_weight(domains: Domains) -> Domains:
    """Remove source rows of weight zero."""
    kept = domains.weights > 0
    if kept.all():
        return domains
    return domains._replace(X_source=domains.X_source[kept], labels=domains.labels[kept], weights=domains.weights[kept])


class LinearBaseline(Baseline):
    """A baseline that trains the linear classifier of the package, with C chosen by cross-validation on the source.

    A subclass has the parameters below and calls `_train` on the source rows, possibly transformed.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = common("loss", "C", "tol", "random_state", "target_labels")

    loss: LossName
    C: Any
    tol: float
    random_state: Any

    def _train(self, rows: Matrix, domains: Domains, tol: float | None = None) -> LinearClassifier:
        """Train on source rows, set ``C_`` and return the classifier."""
        from adrem.machines.linear import LinearHead

        head = LinearHead(self.loss, self.C, tol=self.tol if tol is None else tol)
        found = head.fit(domains._replace(X_source=rows, X_target=rows[:0]), integer_seed(self.random_state))
        self.C_ = found.C
        return found

    def _keep(self, classifier: LinearClassifier) -> None:
        """Set ``coef_`` and ``intercept_``."""
        self.coef_, self.intercept_ = classifier.coef[None], classifier.intercept[None]


class IterativeBaseline(LinearBaseline):
    """A baseline that iterates until it converges, at most ``max_iter`` times."""

    history_: list[dict[str, Any]]
    max_iter: int

    def _end(self, domains: Domains, converged: bool, reason: str) -> None:
        """Set ``n_iter_`` and ``termination_condition_``; warn if the iterations did not converge."""
        self.n_iter_ = len(self.history_)
        self.termination_condition_ = reason if converged else f"max_iter={self.max_iter} was reached"
        if not domains.adapts:
            self.termination_condition_ = "there is no target"
        elif not converged:
            warn_user(
                f"{type(self).__name__} did not converge: {self.termination_condition_}. Raise max_iter, or use the "
                "labels as they are.",
                ConvergenceWarning,
            )
