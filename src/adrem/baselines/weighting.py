"""Methods that weight the rows of the source by how much they look like the target."""

from __future__ import annotations

import warnings
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

from adrem._memory import check_room
from adrem._types import Matrix
from adrem._validation import Domains, read_positive
from adrem.baselines._base import LinearBaseline, Loss, whole_seed
from adrem.baselines.source import SourceOnly

Array = NDArray[np.float64]
# No row's weight falls below this share of the mean: a class that vanished could not be learnt.
LEAST_WEIGHT = 1e-3
KERNEL_COPIES = 4  # distances, those of each pair once, and what is made on the way
LOOK = 10  # steps between two looks at what could still be gained


class _WeightedSource(LinearBaseline):
    """The classifier of the source, with the weights that `_weigh` gives its rows."""

    source_weight_: Array

    def _weigh(self, domains: Domains) -> Array:
        raise NotImplementedError

    def _learn(self, domains: Domains) -> None:
        super()._learn(domains)
        weights = np.zeros(len(domains.weights))  # a row that the user gave no weight has none
        weights[domains.weights > 0] = self.source_weight_
        self.source_weight_ = weights

    def _adapt(self, domains: Domains) -> None:
        n_source = len(domains.labels)
        weights = self._weigh(domains) if domains.adapts else np.ones(n_source)
        self.source_weight_ = np.maximum(weights / weights.mean(), LEAST_WEIGHT)
        head = self._train(domains.X_source, domains._replace(weights=domains.weights * self.source_weight_))
        self.coef_, self.intercept_ = head.coef_, head.intercept_


class ImportanceWeighting(_WeightedSource):
    """The classifier of the source, each row weighted by how much more likely it is in the target.

    Logistic regression tells the domains apart. Its odds for the target estimate the ratio ``p_T(x) / p_S(x)`` of the
    densities, up to a factor [1, 2]. Every row is judged by a classifier that was trained without
    it: one that knows the row would be too sure, and with many features quite sure, of where it is from.

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        A linear support vector machine, or logistic regression.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`; cross-validation counts rows by their weights.
    domain_C : "cv", float or list of floats, default="cv"
        C of the classifier of the domains: of several, in rising order, the last before the log loss on rows that it
        was not trained on rises.
    n_folds : int, default=5
        Number of parts of the rows that are judged by a classifier of the others.
    flattening : float, default=0.5
        Power to which the ratios are raised, between 0, which leaves the source as it is, and 1, which is unbiased:
        where the domains hardly overlap, a few rows of the source would be all that counts [1].
    tol : float, default=0.1
        Tolerance of the trainings, as liblinear's.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    domain_C_ : float
        The C of the classifier of the domains.
    source_weight_ : ndarray of shape (n_source,)
        Weights of the rows of the source, 1 on average.
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
        "domain_C": LinearBaseline._parameter_constraints["C"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "flattening": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        loss: Loss = "hinge",
        C: Any = "cv",
        domain_C: Any = "cv",
        n_folds: int = 5,
        flattening: float = 0.5,
        tol: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.domain_C = domain_C
        self.n_folds = n_folds
        self.flattening = flattening
        self.tol = tol
        self.random_state = random_state

    def _weigh(self, domains: Domains) -> Array:
        from adrem.machines.selection import GRID

        n_source, n_target = len(domains.labels), domains.X_target.shape[0]
        candidates = read_positive(GRID if isinstance(self.domain_C, str) else np.atleast_1d(self.domain_C), "domain_C")
        if min(n_source, n_target) < 2:
            raise ValueError(
                f"ImportanceWeighting judges rows by classifiers of the others, and needs two rows of each domain: "
                f"there are {n_source} of the source and {n_target} of the target."
            )
        judged = judge_domains(
            domains.X_source, domains.X_target, candidates, self.n_folds, self.tol, whole_seed(self.random_state)
        )
        self.domain_C_ = judged.C
        ratios = self.flattening * judged.scores[:n_source]
        return np.asarray(np.exp(ratios - ratios.max()))  # their scale does not matter


class Judged(NamedTuple):
    """How much every row looks like the target, those of the source first: log odds, and the C that they are due to."""

    scores: Array
    C: float


def judge_domains(
    X_source: Matrix, X_target: Matrix, candidates: Sequence[float], n_folds: int, tol: float, seed: int
) -> Judged:
    """Tell the domains apart, each row by a classifier of others: with the last C before their log loss rises."""
    from adrem.machines._tables import stack

    rows = stack([X_source, X_target])
    n_source, n_target = X_source.shape[0], X_target.shape[0]
    is_target = np.repeat([0, 1], [n_source, n_target])
    folds = StratifiedKFold(min(n_folds, n_source, n_target), shuffle=True, random_state=seed)
    parts = list(folds.split(is_target, is_target))
    # Either domain counts as much as the other, however many rows it has: only then are the odds the ratio.
    balance = np.where(is_target, 0.5 / n_target, 0.5 / n_source) * len(is_target)
    best, best_loss = Judged(np.zeros(len(is_target)), float(candidates[0])), np.inf
    for C in sorted(candidates):
        scores = np.zeros(len(is_target))
        for known, judged in parts:
            model = SourceOnly("log_loss", C, tol)
            model.fit(rows[known], is_target[known], sample_weight=balance[known])
            scores[judged] = model.decision_function(rows[judged])
        loss = float(balance @ np.logaddexp(0.0, np.where(is_target, -scores, scores)))
        if loss >= best_loss:
            break  # the domains are overfitted from here on
        best, best_loss = Judged(scores, C), loss
    return best


class KMM(_WeightedSource):
    """Kernel mean matching: the weights under which the source has the mean of the target, in the space of a kernel.

    Minimized over the weights ``b`` of the rows of the source is [1]

    ``b' K b / 2 - k' b`` subject to ``0 <= b <= max_weight`` and ``|mean(b) - 1| <= eps``,

    where ``K`` holds the kernel between rows of the source, ``k = n_source / n_target * sum_T kernel(x, t)``, and
    ``eps = (sqrt(n_source) - 1) / sqrt(n_source)``.

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        A linear support vector machine, or logistic regression.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`; cross-validation counts rows by their weights.
    kernel : {"rbf", "linear"}, default="rbf"
        ``exp(-||x - x'||^2 / (2 width^2))``, or the inner product.
    width : float or None, default=None
        Width of the first; None is the median of the distances between rows of the source.
    max_weight : float, default=1000.0
        Largest weight.
    tol : float, default=0.1
        Tolerance of the trainings, as liblinear's.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds that choose C.

    Attributes
    ----------
    source_weight_ : ndarray of shape (n_source,)
        Weights of the rows of the source, 1 on average.
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
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "max_weight": [Interval(Real, 1, None, closed="left")],
    }

    def __init__(
        self,
        loss: Loss = "hinge",
        C: Any = "cv",
        kernel: Literal["rbf", "linear"] = "rbf",
        width: float | None = None,
        max_weight: float = 1000.0,
        tol: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.width = width
        self.max_weight = max_weight
        self.tol = tol
        self.random_state = random_state

    def _weigh(self, domains: Domains) -> Array:
        n_source, n_target = len(domains.labels), domains.X_target.shape[0]
        within, across = self._kernels(domains.X_source, domains.X_target)
        pull = across.sum(axis=1) * n_source / n_target
        eps = (np.sqrt(n_source) - 1.0) / np.sqrt(n_source)
        bounds = (n_source * (1.0 - eps), n_source * (1.0 + eps))
        weights, reached = match_means(within, pull, self.max_weight, bounds)
        if not reached:
            warnings.warn(
                "KMM's weights were given up before they were the best: scale the features, or give a smaller width.",
                ConvergenceWarning,
                stacklevel=6,
            )
        return weights

    def _kernels(self, source: Matrix, target: Matrix) -> tuple[Array, Array]:
        """The kernel between rows of the source, and between those and rows of the target."""
        n_source, n_target = source.shape[0], target.shape[0]
        check_room(
            KERNEL_COPIES * 8 * n_source * (n_source + n_target),
            f"The kernel of {n_source} source rows with each other and with {n_target} target rows",
            "give a part of the rows, or take ImportanceWeighting",
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
    """Minimize ``b' K b / 2 - pull' b`` with b between zero and a bound, and its sum between two others.

    By projected gradients with momentum, which starts anew wherever it leads uphill. It ends when what could still be
    gained, a bound by the gradient, is down to `tol` of what it was at first; and says whether it was.
    """
    # Two bounds of the largest eigenvalue.
    curvature = min(float(np.abs(K).sum(axis=1).max()), float(np.linalg.norm(K)))
    step = 1.0 / max(curvature, np.finfo(float).tiny)
    weights = ahead = project(np.ones(len(K)), largest, bounds)
    wanted = tol * _possible_gain(K @ weights - pull, weights, largest, bounds)
    momentum = 1.0
    for k in range(max_iter):
        moved = project(ahead - step * (K @ ahead - pull), largest, bounds)
        change = moved - weights
        if (ahead - moved) @ change > 0:
            momentum = 1.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = moved + (momentum - 1.0) / following * change
        weights, momentum = moved, following
        if k % LOOK == 0 and _possible_gain(K @ weights - pull, weights, largest, bounds) <= wanted:
            return weights, True
    return weights, False


def _possible_gain(gradient: Array, weights: Array, largest: float, bounds: tuple[float, float]) -> float:
    """A bound of how far the value lies above the minimum: as far as its slope falls towards any allowed weights."""
    order = np.argsort(gradient, kind="stable")
    allowed = np.full(len(gradient), largest)
    allowed[gradient[order] >= 0] = 0.0  # in the order of the gradients, as long as they fall
    sums = np.cumsum(allowed)
    allowed = np.minimum(allowed, np.maximum(bounds[1] - (sums - allowed), 0.0))
    lacking = bounds[0] - allowed.sum()
    if lacking > 0:  # and further, where their sum is too small
        room = largest - allowed
        before = np.cumsum(room) - room
        allowed += np.clip(lacking - before, 0.0, room)
    return float(gradient @ weights - gradient[order] @ allowed)


def project(weights: Array, largest: float, bounds: tuple[float, float]) -> Array:
    """The nearest weights between zero and a bound whose sum lies between two others."""
    clipped = np.clip(weights, 0.0, largest)
    total = clipped.sum()
    if bounds[0] <= total <= bounds[1]:
        return clipped
    wanted = bounds[0] if total < bounds[0] else bounds[1]
    low, high = weights.min() - largest, weights.max()  # shifts that make all weights the largest, or zero
    for _ in range(100):
        shift = 0.5 * (low + high)
        low, high = (shift, high) if np.clip(weights - shift, 0.0, largest).sum() > wanted else (low, shift)
    return np.asarray(np.clip(weights - 0.5 * (low + high), 0.0, largest))


def _float64(rows: Matrix) -> Matrix:
    return rows.astype(np.float64) if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)
