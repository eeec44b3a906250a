"""The classifier that one would train on the source if there were no other domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax

from adrem.base.constraints import TargetLabels, common
from adrem.base.scoring import normalized_shares
from adrem.base.validation import Domains
from adrem.baselines.base import Baseline
from adrem.exceptions import InvalidDataError
from adrem.runtime.seeds import integer_seed
from adrem.types import Matrix

if TYPE_CHECKING:  # numba, which the machines need, is imported by the first fit
    from adrem.machines.trees import Trees

LOGISTIC, TFIDF = "logistic regression", "logistic regression on tf-idf"
BOOSTING = "gradient boosting"
# Parameters of the boosted trees. The small ones suit few rows, and are tried for at most FEW_ROWS.
FEW_ROWS = 500
TREES: dict[str, dict[str, Any]] = {
    BOOSTING: {},
    f"{BOOSTING}, small trees": {"max_leaf_nodes": 4, "min_samples_leaf": 5},
}
# Candidates for C times the mean squared norm of the rows, with scaled columns and with rows of unit length.
STRENGTHS, UNIT_STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0), (0.1, 1.0, 10.0, 100.0)
NAMES = (LOGISTIC, TFIDF, *TREES)


class Fitted(NamedTuple):
    """A linear candidate in terms of the given features, with its C and its cross-validated accuracy."""

    coef: NDArray[Any]
    intercept: NDArray[Any]
    C: float
    accuracy: float
    idf: NDArray[np.float64] | None = None


class SourceOnlyCV(Baseline):
    """The best of several usual classifiers, chosen on the source by cross-validation, without adaptation.

    It is what adapted labels are compared with. For dense rows the candidates are logistic regression on standardized
    rows and gradient boosting; for sparse rows, logistic regression on scaled rows and, where no value is negative, on
    tf-idf: the inverse document frequency of the features that are not zero, in rows of unit length.

    Parameters
    ----------
    tol : float, default=0.1
        Tolerance of the linear solver, as in liblinear.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    chosen_ : str
        The candidate with the highest cross-validated accuracy.
    cv_accuracy_ : dict of str to float
        The accuracy of each candidate; empty if a class has fewer rows than there are folds.
    coef_, intercept_ : ndarray of shape (1, n_problems, n_features), ndarray of shape (1, n_problems)
        The best linear candidate: what explanations show, even if boosting was chosen.
    idf_ : ndarray of shape (n_features,)
        Inverse document frequencies, if the linear candidate has them. They are factors of ``coef_`` already.
    classes_, C_, transduction_, n_features_in_, feature_names_in_
        As for `AdREM`; ``C_`` is that of the linear candidate.

    See Also
    --------
    SourceOnly : One linear classifier of the source.

    Examples
    --------
    >>> from adrem.baselines import SourceOnlyCV
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> model = SourceOnlyCV(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> model.chosen_
    'logistic regression'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = common("tol", "random_state", "target_labels")

    def __init__(self, tol: float = 0.1, random_state: Any = None, target_labels: TargetLabels = "ignore") -> None:
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _adapt(self, domains: Domains) -> None:
        seed = integer_seed(self.random_state)
        if sp.issparse(domains.X_source):
            domains = domains._replace(X_source=sp.csr_array(domains.X_source))
        linear = self._linear_candidates(domains, seed)
        accuracy = {name: own.accuracy for name, own in linear.items()}
        can_choose = not np.isnan([*accuracy.values()]).any()
        grown = _boosted(domains, seed) if can_choose else {}
        accuracy |= {name: own for name, (own, _) in grown.items()}
        self.cv_accuracy_ = accuracy if can_choose else {}
        self.chosen_ = max(accuracy, key=lambda name: accuracy[name]) if can_choose else next(iter(linear))
        best = max(linear, key=lambda name: linear[name].accuracy) if can_choose else next(iter(linear))
        kept = linear[best]
        self.C_ = kept.C
        self.coef_, self.intercept_ = kept.coef[None], kept.intercept[None]
        if kept.idf is not None:
            self.idf_ = kept.idf
        self.trees_: Trees | None = grown[self.chosen_][1] if self.chosen_ in grown else None

    def _linear_candidates(self, domains: Domains, seed: int) -> dict[str, Fitted]:
        rows = domains.X_source
        if not sp.issparse(rows):
            return {LOGISTIC: self._fit_scaled(domains, seed)}
        found = {TFIDF: self._fit_tfidf(domains, seed)} if not rows.nnz or rows.data.min() >= 0 else {}
        return {**found, LOGISTIC: self._fit_scaled(domains, seed)}

    def _fit_scaled(self, domains: Domains, seed: int) -> Fitted:
        """Fit to columns of standard deviation one, and of mean zero if they are dense."""
        from adrem.machines.tables import mean_and_deviation, squared_norms

        rows = domains.X_source
        mean, deviation = mean_and_deviation(rows)
        factor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0).astype(rows.dtype)
        if sp.issparse(rows):
            scaled, shift = sp.csr_array(rows * factor[None, :]), np.zeros_like(mean)
        else:
            scaled, shift = (rows - mean.astype(rows.dtype)) * factor, mean
        norm = float(np.mean(squared_norms(scaled))) or 1.0
        found = self._fit_head(domains._replace(X_source=scaled), seed, [strength / norm for strength in STRENGTHS])
        coef = found.coef * factor
        return found._replace(coef=coef, intercept=found.intercept - coef @ shift.astype(coef.dtype))

    def _fit_tfidf(self, domains: Domains, seed: int) -> Fitted:
        from adrem.machines.tables import inverse_frequencies

        idf, present = inverse_frequencies(domains.X_source), _presence(domains.X_source)
        weighted = sp.csr_array(present * idf.astype(present.dtype)[None, :])
        unit = sp.csr_array(weighted / _norms(present, idf)[:, None].astype(present.dtype))
        found = self._fit_head(domains._replace(X_source=unit), seed, [*UNIT_STRENGTHS])
        return found._replace(coef=found.coef * idf.astype(found.coef.dtype), idf=idf)

    def _fit_head(self, domains: Domains, seed: int, candidates: list[float]) -> Fitted:
        from adrem.machines.linear import LinearHead
        from adrem.machines.regularization import N_FOLDS

        counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
        middle = candidates[len(candidates) // 2]
        head = LinearHead("log_loss", candidates if counts.min() >= N_FOLDS else middle, True, self.tol)
        found = head.fit(domains._replace(X_target=domains.X_source[:0]), seed)
        accuracy = LinearHead("log_loss", found.C, True, self.tol).held_out_accuracy(domains, seed)
        return Fitted(found.coef, found.intercept, found.C, accuracy)

    def _scores(self, rows: Matrix) -> NDArray[np.float64]:
        if self.trees_ is not None:
            return self.trees_.scores(rows.toarray() if sp.issparse(rows) else rows)
        if not hasattr(self, "idf_"):
            return np.asarray(rows @ self.coef_[0].T + self.intercept_[0])
        present = _presence(sp.csr_array(rows))
        return np.asarray((present @ self.coef_[0].T) / _norms(present, self.idf_)[:, None] + self.intercept_[0])

    def share_rows(self, rows: Matrix) -> NDArray[np.float64]:
        scores = self._scores(rows)
        if self.trees_ is not None and scores.shape[1] > 1:
            return np.asarray(softmax(scores, axis=1))
        return normalized_shares(scores)

    def findings(self) -> list[str]:
        listed = "; ".join(f"{name} {accuracy:.2f}" for name, accuracy in self.cv_accuracy_.items())
        return [f"chosen on the source: {self.chosen_}", *([f"held-out accuracies: {listed}"] if listed else [])]

    def pack_parts(self) -> tuple[Any, dict[str, NDArray[Any]]]:
        return None, {} if self.trees_ is None else self.trees_.arrays()

    def restore_parts(self, values: Any, arrays: dict[str, NDArray[Any]]) -> None:
        from adrem.machines.trees import restore_trees

        is_grown = self.chosen_ in TREES
        if values is not None or self.chosen_ not in NAMES or is_grown != bool(arrays):
            raise InvalidDataError("The classifier is none of the candidates.")
        n_scores = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.trees_ = restore_trees(arrays, self.n_features_in_, n_scores) if is_grown else None


def _boosted(domains: Domains, seed: int) -> dict[str, tuple[float, Trees]]:
    """Return boosted trees with their cross-validated accuracy; none for sparse or wide rows."""
    from adrem.machines.regularization import make_folds
    from adrem.machines.trees import MAX_BOOSTED, Trees, fit_trees

    rows, labels, weights = domains.X_source, domains.labels, domains.weights
    if sp.issparse(rows) or rows.shape[1] * len(domains.classes) > MAX_BOOSTED:
        return {}
    tried = {name: params for name, params in TREES.items() if not params or len(labels) <= FEW_ROWS}
    found = {}
    for name, params in tried.items():
        hits = np.zeros(len(labels))
        for held in make_folds(labels, weights, seed):
            hits[held] = fit_trees(domains, seed, ~held, **params).predict(rows[held]) == labels[held]
        found[name] = (float(np.average(hits, weights=weights)), Trees.of(fit_trees(domains, seed, **params)))
    return found


def _presence(rows: Any) -> sp.csr_array:
    """Return rows with a one for every value that is not zero."""
    return sp.csr_array(((rows.data != 0).astype(rows.dtype), rows.indices, rows.indptr), shape=rows.shape)


def _norms(present: sp.csr_array, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the length of every row after its features are weighted, 1 for empty rows."""
    squares = np.asarray(present @ idf**2, dtype=np.float64).ravel()
    return np.sqrt(np.where(squares > 0, squares, 1.0))
