"""Scorers for `GridSearchCV` and `cross_validate` that do not use target labels.

Each takes an estimator and rows of both domains. Target rows are those with a negative ``sample_domain``, if metadata
routing passes one, otherwise those with the label -1 in ``y``. Higher is better.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, softmax
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from adrem.base.reading import read_domain, source_by_mask
from adrem.baselines import SourceOnly
from adrem.baselines.weighting import separate_domains
from adrem.diagnostics.evidence import NEIGHBOURS, nearest_uncentred
from adrem.diagnostics.gap import CANDIDATES, N_FOLDS, TOL
from adrem.diagnostics.map import some_rows
from adrem.exceptions import ParameterError

MAX_COMPARED_ROWS = 2000  # sample of the target for pairwise comparisons
MAX_WEIGHTED_ROWS = 5000  # sample of each domain for the domain classifier


class Parts(NamedTuple):
    """Rows and labels of the source, and rows of the target."""

    X_source: Any
    y_source: NDArray[Any]
    X_target: Any


class _DomainScorer(BaseEstimator):
    """A scorer that requests ``sample_domain`` by scikit-learn's metadata routing."""

    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_domain": True}

    def score(self, estimator: Any, X: Any, y: Any, sample_domain: ArrayLike | None = None) -> float:
        """Score an estimator in the target domain.

        A scorer can also be called as a function with the same arguments.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator.
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of both domains.
        y : array-like of shape (n_rows,)
            Labels of the source; those of the target are ignored, except for the mark -1.
        sample_domain : array-like of shape (n_rows,), default=None
            0 or more for source rows, negative for target rows; by default, the label -1 marks the target.

        Returns
        -------
        float
            The larger the better.

        Raises
        ------
        ParameterError
            If a domain has no rows.
        """
        return self.score_parts(estimator, _split(X, y, sample_domain))

    def __call__(self, estimator: Any, X: Any, y: Any, sample_domain: ArrayLike | None = None) -> float:
        return self.score(estimator, X, y, sample_domain)

    def score_parts(self, estimator: Any, parts: Parts) -> float:
        """Score an estimator by the two domains. Every scorer implements it."""
        raise NotImplementedError


class CircularScorer(_DomainScorer):
    """Circular validation: the accuracy on the source of a classifier trained on the predicted target labels.

    The score favours models that change little.

    Parameters
    ----------
    C : "cv", float or list of floats, default="cv"
        C of the classifier trained on the target, as for `AdREM`.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import SourceOnly
    >>> from adrem.model_selection import CircularScorer
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [3.0]])
    >>> y = np.array([0, 0, 1, 1, -1, -1])  # -1 marks the target
    >>> CircularScorer(C=1.0)(SourceOnly(C=1.0).fit(X, y), X, y)
    1.0
    """

    def __init__(self, C: Any = "cv") -> None:
        self.C = C

    def score_parts(self, estimator: Any, parts: Parts) -> float:
        labels = np.asarray(estimator.predict(parts.X_target))
        classes, counts = np.unique(labels, return_counts=True)
        if len(classes) < 2:
            return float(np.mean(parts.y_source == classes[0]))
        few = counts.min() < 3  # too few for cross-validation
        back = SourceOnly(C=1.0 if few and isinstance(self.C, str) else self.C, random_state=0)
        back.fit(parts.X_target, labels, X_target=parts.X_source)
        return float(np.mean(back.transduction_ == parts.y_source))


class ImportanceWeightedScorer(_DomainScorer):
    """Accuracy on the source, weighted by the estimated density ratio between target and source.

    The ratios are the cross-validated odds of a logistic regression that separates the domains, raised to a power.

    Parameters
    ----------
    flattening : float, default=0.5
        Exponent of the ratios, as for `ImportanceWeighting`.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import SourceOnly
    >>> from adrem.model_selection import ImportanceWeightedScorer
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [3.0]])
    >>> y = np.array([0, 0, 1, 1, -1, -1])  # -1 marks the target
    >>> ImportanceWeightedScorer()(SourceOnly(C=1.0).fit(X, y), X, y)
    1.0
    """

    def __init__(self, flattening: float = 0.5) -> None:
        self.flattening = flattening

    def score_parts(self, estimator: Any, parts: Parts) -> float:
        rng = np.random.default_rng(0)
        chosen = some_rows(len(parts.y_source), MAX_WEIGHTED_ROWS, rng)
        source = _safe_indexing(parts.X_source, chosen)
        target = _safe_indexing(parts.X_target, some_rows(_n_rows(parts.X_target), MAX_WEIGHTED_ROWS, rng))
        tables = [table.to_numpy() if hasattr(table, "to_numpy") else table for table in (source, target)]
        separated = separate_domains(tables[0], tables[1], CANDIDATES, N_FOLDS, TOL, seed=0)
        odds = self.flattening * separated.scores[: len(chosen)]
        weights = np.exp(odds - odds.max())
        hits = np.asarray(estimator.predict(source)) == parts.y_source[chosen]
        return float(np.average(hits, weights=weights))


class NeighbourScorer(_DomainScorer):
    """Agreement of the predicted labels of target rows with those of their nearest neighbours by cosine.

    The score favours adapted models, whose labels are smoother.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem import AdREM
    >>> from adrem.baselines import SourceOnly
    >>> from adrem.datasets import make_rotated_arcs
    >>> from adrem.model_selection import NeighbourScorer
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(rotation=60, random_state=0)
    >>> X, y = np.concatenate([X_source, X_target]), np.append(y_source, [-1] * 100)
    >>> models = [AdREM(n_estimators=3, random_state=0), SourceOnly(random_state=0)]
    >>> adapted, plain = (NeighbourScorer()(model.fit(X, y), X, y) for model in models)
    >>> adapted > plain
    True
    """

    def score_parts(self, estimator: Any, parts: Parts) -> float:
        chosen = some_rows(_n_rows(parts.X_target), MAX_COMPARED_ROWS, np.random.default_rng(0))
        if len(chosen) <= NEIGHBOURS:
            return 1.0
        rows = _safe_indexing(parts.X_target, chosen)
        labels = np.asarray(estimator.predict(rows))
        near = nearest_uncentred(rows.to_numpy() if hasattr(rows, "to_numpy") else rows)
        return float(np.mean(labels[near] == labels[:, None]))


class NeighbourhoodDensityScorer(_DomainScorer):
    """Soft neighbourhood density: the entropy of the similarities between predictions for target rows.

    The class probabilities of each row are compared with those of all others. The entropy of the softmax of these
    similarities is high where rows form dense groups [1].

    Parameters
    ----------
    temperature : float, default=0.05
        Temperature of the softmax.

    References
    ----------
    - [1] Kuniaki Saito et al., "Tune it the Right Way: Unsupervised Validation of Domain Adaptation via Soft
      Neighborhood Density", ICCV 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import SourceOnly
    >>> from adrem.model_selection import NeighbourhoodDensityScorer
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [3.0]])
    >>> y = np.array([0, 0, 1, 1, -1, -1])  # -1 marks the target
    >>> model = SourceOnly(C=1.0).fit(X, y)
    >>> round(NeighbourhoodDensityScorer()(model, X, y), 2)  # two target rows without similar rows
    0.0
    """

    def __init__(self, temperature: float = 0.05) -> None:
        self.temperature = temperature

    def score_parts(self, estimator: Any, parts: Parts) -> float:
        chosen = some_rows(_n_rows(parts.X_target), MAX_COMPARED_ROWS, np.random.default_rng(0))
        shares = np.asarray(estimator.predict_proba(_safe_indexing(parts.X_target, chosen)), dtype=np.float64)
        shares /= np.linalg.norm(shares, axis=1, keepdims=True)
        likeness = shares @ shares.T / self.temperature
        np.fill_diagonal(likeness, -np.inf)
        return float(entr(softmax(likeness, axis=1)).sum(axis=1).mean()) if len(chosen) > 1 else 0.0


class EntropyScorer(_DomainScorer):
    """Negative mean entropy of the predicted class probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import SourceOnly
    >>> from adrem.model_selection import EntropyScorer
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [3.0]])
    >>> y = np.array([0, 0, 1, 1, -1, -1])  # -1 marks the target
    >>> near, far = (EntropyScorer()(SourceOnly(C=C).fit(X, y), X, y) for C in (0.001, 1.0))
    >>> near < far < 0
    True
    """

    def score_parts(self, estimator: Any, parts: Parts) -> float:
        return -float(entr(np.asarray(estimator.predict_proba(parts.X_target))).sum(axis=1).mean())


class AgreementScorer(_DomainScorer):
    """Mean of the largest class probability; for `AdREM`, the fraction of members that agree.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import SourceOnly
    >>> from adrem.model_selection import AgreementScorer
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [3.0]])
    >>> y = np.array([0, 0, 1, 1, -1, -1])  # -1 marks the target
    >>> 0.5 < AgreementScorer()(SourceOnly(C=1.0).fit(X, y), X, y) < 1
    True
    """

    def score_parts(self, estimator: Any, parts: Parts) -> float:
        return float(np.asarray(estimator.predict_proba(parts.X_target)).max(axis=1).mean())


def _split(X: Any, y: Any, sample_domain: Any) -> Parts:
    labels = np.asarray(y)
    is_source = source_by_mask(labels) if sample_domain is None else read_domain(sample_domain, len(labels)) >= 0
    if is_source.all() or not is_source.any():
        missing = "target" if is_source.all() else "source"
        raise ParameterError(
            f"There are no {missing} rows to score. Pass sample_domain by metadata routing or mark target rows by the "
            "label -1, and use splits that contain both domains.",
            "sample_domain",
        )
    source, target = np.flatnonzero(is_source), np.flatnonzero(~is_source)
    return Parts(_safe_indexing(X, source), labels[source], _safe_indexing(X, target))


def _n_rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)
