"""Structural correspondence learning."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
from sklearn.utils._param_validation import Interval

from adrem.base.constraints import AT_LEAST_ONE, POSITIVE, LossName, TargetLabels
from adrem.base.validation import Domains
from adrem.baselines.base import LinearBaseline
from adrem.baselines.span import RowSpace, dense
from adrem.preprocessing.selection import mutual_information
from adrem.runtime.notices import warn_user
from adrem.types import Matrix

Array = NDArray[np.float64]


class SCL(LinearBaseline):
    """Structural correspondence learning: features correspond if they predict the same pivots.

    Pivots are the features that are frequent in both domains and have the highest mutual information with the source
    labels [1, 2]. Linear predictors of the presence of each pivot are learnt from all other features of both domains,
    here by ridge regression. The first ``n_components`` left singular vectors ``theta`` of their weight matrix are
    directions in which features of both domains correspond. The classifier is trained on ``x`` and ``theta' x``.

    A feature is present where it is positive: for example a term count, or a standardized count above the mean.

    Parameters
    ----------
    n_pivots : int, default=500
        Number of pivots, at most half of the frequent features.
    min_count : int, default=10
        Minimum number of rows in each domain in which a pivot is present.
    n_components : int, default=50
        Number of directions.
    ridge : float, default=1.0
        Penalty of the predictors, relative to the mean squared norm of the rows.
    scale : float, default=1.0
        Norm of the new features relative to the rows, on average.
    loss : {"hinge", "log_loss"}, default="hinge"
        Linear support vector machine or logistic regression.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`.
    tol : float, default=0.1
        Tolerance of the solver, as in liblinear.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds for C.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    pivots_ : ndarray
        Indices of the pivots, the most informative first.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member; the weights of the new features are mapped back to the original ones.

    References
    ----------
    - [1] John Blitzer, Ryan McDonald and Fernando Pereira, "Domain Adaptation with Structural Correspondence
      Learning", 2006.
    - [2] John Blitzer, Mark Dredze and Fernando Pereira, "Biographies, Bollywood, Boom-boxes and Blenders: Domain
      Adaptation for Sentiment Classification", 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import SCL
    >>> rng = np.random.RandomState(0)
    >>> y = rng.randint(0, 2, 200)  # "good" occurs with "gripping" in the source, with "sharp" in the target
    >>> good, it = rng.rand(200) < np.where(y == 1, 0.5, 0.1), rng.rand(200) < 0.5
    >>> own = (y == 1) & (rng.rand(200) < 0.9)
    >>> X_source = np.stack([good, own, np.zeros(200), it], axis=1)[:100].astype(float)
    >>> X_target = np.stack([good, np.zeros(200), own, it], axis=1)[100:].astype(float)
    >>> model = SCL(n_pivots=1, C=1.0).fit(X_source, y[:100], X_target=X_target)
    >>> model.pivots_.tolist(), bool(model.coef_[0, 0, 2] > 0)
    ([0], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearBaseline._parameter_constraints,
        "n_pivots": [AT_LEAST_ONE],
        "min_count": [AT_LEAST_ONE],
        "n_components": [AT_LEAST_ONE],
        "ridge": [POSITIVE],
        "scale": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_pivots: int = 500,
        min_count: int = 10,
        n_components: int = 50,
        ridge: float = 1.0,
        scale: float = 1.0,
        loss: LossName = "hinge",
        C: Any = "cv",
        tol: float = 0.1,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.n_pivots = n_pivots
        self.min_count = min_count
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.loss = loss
        self.C = C
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _adapt(self, domains: Domains) -> None:
        theta = self._correspondences(domains) if domains.adapts else np.zeros((0, domains.X_source.shape[1]))
        head = self._train(_append_columns(domains.X_source, np.asarray(domains.X_source @ theta.T)), domains)
        n_features = domains.X_source.shape[1]
        weights = np.asarray(head.coef, dtype=np.float64)
        self.coef_ = (weights[:, :n_features] + weights[:, n_features:] @ theta)[None].astype(head.coef.dtype)
        self.intercept_ = head.intercept[None]

    def _correspondences(self, domains: Domains) -> Array:
        """Return the scaled directions ``theta`` (n_components x features)."""
        from adrem.machines.tables import squared_norms, stack

        rows = stack([domains.X_source, domains.X_target])
        present = rows > 0
        self.pivots_ = self._choose_pivots(present, domains)
        norm = squared_norms(rows).mean()
        others = np.setdiff1d(np.arange(rows.shape[1]), self.pivots_)
        space = RowSpace(rows[:, others])
        targets = dense(present[:, self.pivots_])
        directions = np.zeros((space.coordinates.shape[1], 0))
        if targets.size and norm > 0:
            predictors = _ridge(space.coordinates, targets - targets.mean(axis=0), self.ridge * norm)
            directions = _leading_directions(predictors, self.n_components)
        theta = np.zeros((directions.shape[1], rows.shape[1]))
        if not len(theta):
            warn_user(
                f"SCL found no correspondence between the domains with {len(self.pivots_)} pivot(s), so it does not "
                "adapt. A pivot must be positive in some rows of both domains, but not in all: set a smaller "
                "min_count or use features that are zero where absent.",
                UserWarning,
            )
            return theta
        found = space.coordinates @ directions
        scale = self.scale * np.sqrt(norm / (found**2).sum(axis=1).mean())
        theta[:, others] = scale * space.lift(directions.T)
        return theta

    def _choose_pivots(self, present: Matrix, domains: Domains) -> NDArray[np.intp]:
        of_source, of_target = present[: len(domains.labels)], present[len(domains.labels) :]
        counts = np.minimum(_count(of_source), _count(of_target))
        frequent = np.flatnonzero(counts >= self.min_count)
        information = mutual_information(of_source[:, frequent], domains.labels, domains.weights)
        order = np.argsort(-information, kind="stable")
        n_pivots = min(self.n_pivots, len(frequent) // 2)
        return frequent[order[:n_pivots]]


def _ridge(rows: Array, targets: Array, penalty: float) -> Array:
    """Return the weights (columns x targets) of ridge regression."""
    matrix = rows.T @ rows
    matrix[np.diag_indices_from(matrix)] += penalty
    return np.asarray(cho_solve(cho_factor(matrix, overwrite_a=True), rows.T @ targets))


def _leading_directions(predictors: Array, n: int) -> Array:
    """Return the left singular vectors of the n largest non-zero singular values as columns."""
    values, vectors = eigh(predictors.T @ predictors)
    values, vectors = values[::-1][:n], vectors[:, ::-1][:, :n]
    kept = values > max(1e-10 * values[0], np.finfo(float).tiny)
    return np.asarray(predictors @ (vectors[:, kept] / np.sqrt(values[kept])))


def _append_columns(rows: Matrix, more: Array) -> Matrix:
    if sp.issparse(rows):
        return sp.csr_array(sp.hstack([rows, sp.csr_array(more.astype(rows.dtype))], format="csr"))
    return np.hstack([rows, more.astype(rows.dtype)])


def _count(present: Matrix) -> Array:
    return np.asarray(present.sum(axis=0)).ravel()
