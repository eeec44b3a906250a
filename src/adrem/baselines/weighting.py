"""Methods that weight source rows by their similarity to the target."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.utils._param_validation import Interval, StrOptions

from adrem.base.constraints import COMMON, POSITIVE, LossName, TargetLabels
from adrem.base.known import by_origin
from adrem.base.parameters import read_positive
from adrem.base.validation import Domains
from adrem.baselines.base import LinearBaseline
from adrem.baselines.source import SourceOnly
from adrem.exceptions import InvalidDataError
from adrem.runtime.memory import check_room
from adrem.runtime.notices import warn_user
from adrem.runtime.seeds import integer_seed
from adrem.types import Matrix

Array = NDArray[np.float64]
MIN_WEIGHT = 1e-3  # relative to the mean; keeps every class in the training
KERNEL_COPIES = 4  # memory, in kernel matrices: distances, one triangle of them, and temporary arrays
CHECK_INTERVAL = 10  # iterations between checks for convergence


class _WeightedSource(LinearBaseline):
    """The source classifier trained with the row weights of `_weigh`."""

    source_weight_: Array

    def _weigh(self, domains: Domains) -> Array:
        raise NotImplementedError

    def fit_domains(self, domains: Domains) -> None:
        super().fit_domains(domains)
        own = domains.weights[: domains.n_own]
        weights = np.zeros(len(own))  # rows of sample weight zero keep the weight zero
        weights[own > 0] = self.source_weight_
        self.source_weight_ = weights

    def _adapt(self, domains: Domains) -> None:
        weights = self._weigh(by_origin(domains)) if domains.adapts else np.ones(domains.n_own)
        self.source_weight_ = np.maximum(weights / weights.mean(), MIN_WEIGHT)
        factors = np.append(self.source_weight_, np.ones(domains.n_known))  # those of the target are where they belong
        self._keep(self._train(domains.X_source, domains._replace(weights=domains.weights * factors)))


class ImportanceWeighting(_WeightedSource):
    """Importance weighting: weight each source row by its density ratio between target and source.

    Logistic regression separates the domains. Its odds for the target estimate the density ratio ``p_T(x) / p_S(x)`` up
    to a factor [1, 2]. Rows are scored by cross-validation: a classifier trained on a row would be overconfident about
    its domain.

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        Linear support vector machine or logistic regression.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`; cross-validation uses the row weights.
    domain_C : "cv", float or list of floats, default="cv"
        C of the domain classifier; of several, in ascending order, the last before the cross-validated log loss rises.
    n_folds : int, default=5
        Number of cross-validation folds of the domain classifier.
    flattening : float, default=0.5
        Exponent of the ratios, between 0 (no weighting) and 1 (unbiased). With 1, a few source rows dominate where the
        domains hardly overlap [1].
    tol : float, default=0.1
        Tolerance of the solver, as in liblinear.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    domain_C_ : float
        C of the domain classifier.
    source_weight_ : ndarray of shape (n_source,)
        Weights of the source rows, 1 on average.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member.

    References
    ----------
    - [1] Hidetoshi Shimodaira, "Improving predictive inference under covariate shift by weighting the log-likelihood
      function", *Journal of Statistical Planning and Inference*, 2000.
    - [2] Steffen Bickel, Michael Brueckner and Tobias Scheffer, "Discriminative Learning Under Covariate Shift", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import ImportanceWeighting
    >>> rng = np.random.RandomState(0)
    >>> X_source, X_target = rng.normal(0, 1, (200, 1)), rng.normal(1, 1, (200, 1))
    >>> X_source, X_target = (np.hstack([X, np.ones_like(X)]) for X in (X_source, X_target))
    >>> model = ImportanceWeighting(random_state=0).fit(X_source, X_source[:, 0] > 0.5, X_target=X_target)
    >>> bool(np.corrcoef(model.source_weight_, X_source[:, 0])[0, 1] > 0.7)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearBaseline._parameter_constraints,
        "domain_C": COMMON["C"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "flattening": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        loss: LossName = "hinge",
        C: Any = "cv",
        domain_C: Any = "cv",
        n_folds: int = 5,
        flattening: float = 0.5,
        tol: float = 0.1,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.loss = loss
        self.C = C
        self.domain_C = domain_C
        self.n_folds = n_folds
        self.flattening = flattening
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _weigh(self, domains: Domains) -> Array:
        from adrem.machines.regularization import GRID

        n_source, n_target = len(domains.labels), domains.X_target.shape[0]
        candidates = read_positive(GRID if isinstance(self.domain_C, str) else np.atleast_1d(self.domain_C), "domain_C")
        if min(n_source, n_target) < 2:
            raise InvalidDataError(
                f"ImportanceWeighting needs two rows of each domain: there are {n_source} of the source and {n_target} "
                "of the target."
            )
        separated = separate_domains(
            domains.X_source, domains.X_target, candidates, self.n_folds, self.tol, integer_seed(self.random_state)
        )
        self.domain_C_ = separated.C
        log_ratios = self.flattening * separated.scores[:n_source]
        return np.asarray(np.exp(log_ratios - log_ratios.max()))  # the scale does not matter


class DomainScores(NamedTuple):
    """Log odds of every row for the target, source rows first, and the C of the domain classifier."""

    scores: Array
    C: float


def separate_domains(
    X_source: Matrix, X_target: Matrix, candidates: Sequence[float], n_folds: int, tol: float, seed: int
) -> DomainScores:
    """Score rows by cross-validated domain classifiers, with the last C before the log loss rises."""
    from adrem.machines.tables import stack

    rows = stack([X_source, X_target])
    n_source, n_target = X_source.shape[0], X_target.shape[0]
    is_target = np.repeat([0, 1], [n_source, n_target])
    folds = StratifiedKFold(min(n_folds, n_source, n_target), shuffle=True, random_state=seed)
    parts = list(folds.split(is_target, is_target))
    # Both domains have the same total weight; only then the odds are the density ratio.
    balance = np.where(is_target, 0.5 / n_target, 0.5 / n_source) * len(is_target)
    best, best_loss = DomainScores(np.zeros(len(is_target)), float(candidates[0])), np.inf
    for C in sorted(candidates):
        scores = np.zeros(len(is_target))
        for train, test in parts:
            model = SourceOnly("log_loss", C, tol)
            model.fit(rows[train], is_target[train], sample_weight=balance[train])
            scores[test] = model.decision_function(rows[test])
        loss = float(balance @ np.logaddexp(0.0, np.where(is_target, -scores, scores)))
        if loss >= best_loss:
            break  # larger C overfits
        best, best_loss = DomainScores(scores, C), loss
    return best


class KMM(_WeightedSource):
    """Kernel mean matching: weight source rows so that the domain means agree in the feature space of a kernel.

    The weights ``b`` of the source rows minimize [1]

    ``b' K b / 2 - k' b`` subject to ``0 <= b <= max_weight`` and ``|mean(b) - 1| <= eps``,

    where ``K`` is the kernel matrix of the source rows, ``k = n_source / n_target * sum_T kernel(x, t)``, and
    ``eps = (sqrt(n_source) - 1) / sqrt(n_source)``.

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        Linear support vector machine or logistic regression.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`; cross-validation uses the row weights.
    kernel : {"rbf", "linear"}, default="rbf"
        ``exp(-||x - x'||^2 / (2 width^2))``, or the inner product.
    width : float or None, default=None
        Width of the RBF kernel; None is the median distance between source rows.
    max_weight : float, default=1000.0
        Maximum weight.
    tol : float, default=0.1
        Tolerance of the solver, as in liblinear.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds for C.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    source_weight_ : ndarray of shape (n_source,)
        Weights of the source rows, 1 on average.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member.

    References
    ----------
    - [1] Jiayuan Huang, Alexander Smola, Arthur Gretton, Karsten Borgwardt and Bernhard Schoelkopf, "Correcting Sample
      Selection Bias by Unlabeled Data", 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import KMM
    >>> rng = np.random.RandomState(0)
    >>> X_source, X_target = rng.normal(0, 1, (200, 1)), rng.normal(1, 1, (200, 1))
    >>> model = KMM(random_state=0).fit(X_source, X_source[:, 0] > 0.5, X_target=X_target)
    >>> bool(np.average(X_source[:, 0], weights=model.source_weight_) > 0.7)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearBaseline._parameter_constraints,
        "kernel": [StrOptions({"rbf", "linear"})],
        "width": [POSITIVE, None],
        "max_weight": [Interval(Real, 1, None, closed="left")],
    }

    def __init__(
        self,
        loss: LossName = "hinge",
        C: Any = "cv",
        kernel: Literal["rbf", "linear"] = "rbf",
        width: float | None = None,
        max_weight: float = 1000.0,
        tol: float = 0.1,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.width = width
        self.max_weight = max_weight
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _weigh(self, domains: Domains) -> Array:
        n_source, n_target = len(domains.labels), domains.X_target.shape[0]
        within, across = self._kernels(domains.X_source, domains.X_target)
        pull = across.sum(axis=1) * n_source / n_target
        eps = (np.sqrt(n_source) - 1.0) / np.sqrt(n_source)
        bounds = (n_source * (1.0 - eps), n_source * (1.0 + eps))
        weights, converged = match_means(within, pull, self.max_weight, bounds)
        if not converged:
            warn_user(
                "KMM did not converge. Scale the features or set a smaller width.",
                ConvergenceWarning,
            )
        return weights

    def _kernels(self, source: Matrix, target: Matrix) -> tuple[Array, Array]:
        """Return the kernel matrices of the source rows, and of source and target rows."""
        n_source, n_target = source.shape[0], target.shape[0]
        check_room(
            KERNEL_COPIES * 8 * n_source * (n_source + n_target),
            f"The kernel matrix of {n_source} source rows and {n_target} target rows",
            "use fewer rows or ImportanceWeighting",
        )
        source, target = (_float64(rows) for rows in (source, target))
        if self.kernel == "linear":
            return linear_kernel(source), linear_kernel(source, target)
        within, across = euclidean_distances(source), euclidean_distances(source, target)
        width = self.width
        if width is None:
            apart = within[np.triu_indices(len(within), 1)]
            width = float(np.median(apart)) if apart.size and np.median(apart) > 0 else 1.0
        return np.exp(-0.5 * (within / width) ** 2), np.exp(-0.5 * (across / width) ** 2)


def match_means(
    K: Array, pull: Array, largest: float, bounds: tuple[float, float], tol: float = 1e-3, max_iter: int = 10_000
) -> tuple[Array, bool]:
    """Minimize ``b' K b / 2 - pull' b`` subject to ``0 <= b <= largest`` and bounds on ``sum(b)``.

    Projected gradient descent with momentum and restarts stops when the duality gap is `tol` times its first value.
    Return the weights and whether it converged.
    """
    # Two upper bounds of the largest eigenvalue.
    curvature = min(float(np.abs(K).sum(axis=1).max()), float(np.linalg.norm(K)))
    step = 1.0 / max(curvature, np.finfo(float).tiny)
    weights = ahead = project(np.ones(len(K)), largest, bounds)
    target_gap = tol * _duality_gap(K @ weights - pull, weights, largest, bounds)
    momentum = 1.0
    for k in range(max_iter):
        moved = project(ahead - step * (K @ ahead - pull), largest, bounds)
        change = moved - weights
        if (ahead - moved) @ change > 0:
            momentum = 1.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = moved + (momentum - 1.0) / following * change
        weights, momentum = moved, following
        if k % CHECK_INTERVAL == 0 and _duality_gap(K @ weights - pull, weights, largest, bounds) <= target_gap:
            return weights, True
    return weights, False


def _duality_gap(gradient: Array, weights: Array, largest: float, bounds: tuple[float, float]) -> float:
    """Return the Frank-Wolfe gap: an upper bound of the distance to the minimum, from the gradient."""
    order = np.argsort(gradient, kind="stable")
    allowed = np.full(len(gradient), largest)
    allowed[gradient[order] >= 0] = 0.0  # the best vertex, in the order of the gradient
    sums = np.cumsum(allowed)
    allowed = np.minimum(allowed, np.maximum(bounds[1] - (sums - allowed), 0.0))
    lacking = bounds[0] - allowed.sum()
    if lacking > 0:  # the sum is below its lower bound
        room = largest - allowed
        before = np.cumsum(room) - room
        allowed += np.clip(lacking - before, 0.0, room)
    return float(gradient @ weights - gradient[order] @ allowed)


def project(weights: Array, largest: float, bounds: tuple[float, float]) -> Array:
    """Project weights onto ``0 <= b <= largest`` and bounds on ``sum(b)``."""
    clipped = np.clip(weights, 0.0, largest)
    total = clipped.sum()
    if bounds[0] <= total <= bounds[1]:
        return clipped
    total = bounds[0] if total < bounds[0] else bounds[1]
    low, high = weights.min() - largest, weights.max()  # shifts that set all weights to the maximum, or to zero
    for _ in range(100):
        shift = 0.5 * (low + high)
        low, high = (shift, high) if np.clip(weights - shift, 0.0, largest).sum() > total else (low, shift)
    return np.asarray(np.clip(weights - 0.5 * (low + high), 0.0, largest))


def _float64(rows: Matrix) -> Matrix:
    return rows.astype(np.float64) if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)
