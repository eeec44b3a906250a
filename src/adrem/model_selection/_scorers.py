"""Scorers for `GridSearchCV` and `cross_validate` that read no label of the target.

Each takes an estimator, rows of both domains and what tells them apart: ``sample_domain`` where metadata routing passes
it on, else the mark -1 in ``y``. Labels of the target are never read. More is better.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, softmax
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from adrem._validation import _read_domain, _source_by_mask
from adrem.baselines import SourceOnly
from adrem.baselines.weighting import judge_domains
from adrem.diagnostics._evidence import NEIGHBOURS, nearest
from adrem.diagnostics._gap import CANDIDATES, FOLDS, TOL
from adrem.diagnostics._map import some_rows

COMPARED = 2000  # rows of the target that are compared with each other
WEIGHED = 5000  # rows of each domain that the domains are told apart by


class _Parts(NamedTuple):
    """Rows and labels of the source, and rows of the target."""

    X_source: Any
    y_source: NDArray[Any]
    X_target: Any


class _DomainScorer(BaseEstimator):
    """A scorer that sees domains, and asks scikit-learn's metadata routing for them."""

    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_domain": True}

    def score(self, estimator: Any, X: Any, y: Any, sample_domain: ArrayLike | None = None) -> float:
        """Tell how good an estimator seems to be in the target.

        A scorer may also be called like a function, with the same arguments.

        Parameters
        ----------
        estimator : estimator
            A fitted one.
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            Rows of both domains.
        y : array-like of shape (n_rows,)
            Labels of the source; what stands there for the target is not read, except for the mark -1.
        sample_domain : array-like of shape (n_rows,), default=None
            0 or more for rows of the source, negative for those of the target; by default the mark -1 tells.

        Returns
        -------
        float
            The larger the better.

        Raises
        ------
        ValueError
            If there are no rows of the source, or none of the target.

        Examples
        --------
        >>> import numpy as np
        >>> from adrem.baselines import SourceOnly
        >>> from adrem.model_selection import CircularScorer
        >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [3.0]])
        >>> y = np.array([0, 0, 1, 1, 0, 1])
        >>> domain = [1, 1, 1, 1, -2, -2]  # the labels of the last two rows are not read
        >>> model = SourceOnly(C=1.0).fit(X, y, sample_domain=domain)
        >>> CircularScorer(C=1.0).score(model, X, y, sample_domain=domain)
        1.0
        """
        return self._score(estimator, _split(X, y, sample_domain))

    def __call__(self, estimator: Any, X: Any, y: Any, sample_domain: ArrayLike | None = None) -> float:
        return self.score(estimator, X, y, sample_domain)

    def _score(self, estimator: Any, parts: _Parts) -> float:
        raise NotImplementedError


class CircularScorer(_DomainScorer):
    """Circular validation: a linear classifier of the target, with the labels it got, is tried on the source.

    It is accurate there if the labels keep what the source knows. It leans towards models that change little.

    Parameters
    ----------
    C : "cv", float or list of floats, default="cv"
        Of the classifier that is trained back, as for `AdREM`.

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

    def _score(self, estimator: Any, parts: _Parts) -> float:
        labels = np.asarray(estimator.predict(parts.X_target))
        classes, counts = np.unique(labels, return_counts=True)
        if len(classes) < 2:
            return float(np.mean(parts.y_source == classes[0]))
        few = counts.min() < 3  # too few to choose C by folds of them
        back = SourceOnly(C=1.0 if few and isinstance(self.C, str) else self.C, random_state=0)
        back.fit(parts.X_target, labels, X_target=parts.X_source)
        return float(np.mean(back.transduction_ == parts.y_source))


class ImportanceWeightedScorer(_DomainScorer):
    """Accuracy on the source, where rows count the more the more they look like the target.

    The weights are the odds of a logistic regression that tells the domains apart, each row judged by one that has not
    seen it, raised to a power.

    Parameters
    ----------
    flattening : float, default=0.5
        The power, as for `ImportanceWeighting`.

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

    def _score(self, estimator: Any, parts: _Parts) -> float:
        rng = np.random.default_rng(0)
        chosen = some_rows(len(parts.y_source), WEIGHED, rng)
        source = _safe_indexing(parts.X_source, chosen)
        target = _safe_indexing(parts.X_target, some_rows(_n_rows(parts.X_target), WEIGHED, rng))
        tables = [table.to_numpy() if hasattr(table, "to_numpy") else table for table in (source, target)]
        judged = judge_domains(tables[0], tables[1], CANDIDATES, FOLDS, TOL, seed=0)
        odds = self.flattening * judged.scores[: len(chosen)]
        weights = np.exp(odds - odds.max())
        hits = np.asarray(estimator.predict(source)) == parts.y_source[chosen]
        return float(np.average(hits, weights=weights))


class NeighbourScorer(_DomainScorer):
    """How often the nearest target rows of a target row, by the cosine between them, are labelled as it is.

    It leans towards models that have adapted, whose labels are smoother.

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

    def _score(self, estimator: Any, parts: _Parts) -> float:
        chosen = some_rows(_n_rows(parts.X_target), COMPARED, np.random.default_rng(0))
        if len(chosen) <= NEIGHBOURS:
            return 1.0
        rows = _safe_indexing(parts.X_target, chosen)
        labels = np.asarray(estimator.predict(rows))
        near = nearest(rows.to_numpy() if hasattr(rows, "to_numpy") else rows)
        return float(np.mean(labels[near] == labels[:, None]))


class NeighbourhoodDensityScorer(_DomainScorer):
    """Soft neighbourhood density: whether target rows have many others that are labelled as they are.

    The shares of the classes of every row are compared with those of the others; the entropy of the similarities, made
    sharp by a temperature, is high where rows lie in dense groups [1].

    Parameters
    ----------
    temperature : float, default=0.05
        How sharp the similarities are made.

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
    >>> round(NeighbourhoodDensityScorer()(model, X, y), 2)  # a target of two rows that have no other like them
    0.0
    """

    def __init__(self, temperature: float = 0.05) -> None:
        self.temperature = temperature

    def _score(self, estimator: Any, parts: _Parts) -> float:
        chosen = some_rows(_n_rows(parts.X_target), COMPARED, np.random.default_rng(0))
        shares = np.asarray(estimator.predict_proba(_safe_indexing(parts.X_target, chosen)), dtype=np.float64)
        shares /= np.linalg.norm(shares, axis=1, keepdims=True)
        likeness = shares @ shares.T / self.temperature
        np.fill_diagonal(likeness, -np.inf)
        return float(entr(softmax(likeness, axis=1)).sum(axis=1).mean()) if len(chosen) > 1 else 0.0


class EntropyScorer(_DomainScorer):
    """How little the model hesitates: minus the mean entropy of the shares that it gives the classes.

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

    def _score(self, estimator: Any, parts: _Parts) -> float:
        return -float(entr(np.asarray(estimator.predict_proba(parts.X_target))).sum(axis=1).mean())


class AgreementScorer(_DomainScorer):
    """How far the members agree: the mean of the largest share of a row, which for `AdREM` are votes.

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

    def _score(self, estimator: Any, parts: _Parts) -> float:
        return float(np.asarray(estimator.predict_proba(parts.X_target)).max(axis=1).mean())


def _split(X: Any, y: Any, sample_domain: Any) -> _Parts:
    labels = np.asarray(y)
    is_source = _source_by_mask(labels) if sample_domain is None else _read_domain(sample_domain, len(labels)) >= 0
    if is_source.all() or not is_source.any():
        missing = "target" if is_source.all() else "source"
        raise ValueError(
            f"There is no row of the {missing} to score by. Pass sample_domain (by metadata routing) or mark target "
            "rows by the label -1, and split so that every part has rows of both."
        )
    source, target = np.flatnonzero(is_source), np.flatnonzero(~is_source)
    return _Parts(_safe_indexing(X, source), labels[source], _safe_indexing(X, target))


def _n_rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)
