"""Feature-level domain adaptation."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.utils._param_validation import Interval, StrOptions

from adrem._memory import check_room
from adrem._types import Matrix
from adrem._validation import Domains, read_candidates
from adrem.baselines._base import Baseline, whole_seed
from adrem.baselines._smooth import minimize_smooth, warn_of_steps
from adrem.baselines._span import dense

Array = NDArray[np.float64]
# Weights (features x problems) for some C and weights of the rows, from a start, and whether they are the optimum.
Trainer = Callable[[float, Array, Array], tuple[Array, bool]]
MATRICES = 4  # that the squared loss makes of the products of features or of rows


class FLDA(Baseline):
    """Feature-level domain adaptation: the loss that is expected when features drop out as they do in the target.

    A feature that is present (not zero) in a share ``s`` of the rows of the source and a share ``t`` of those of the
    target drops out with the rate ``1 - t / s``, or never where it is as frequent there. Under that model a row ``z``
    of the target is one ``x`` of the source whose feature ``j`` is set to zero with probability ``rate_j``, and else
    divided by ``1 - rate_j``: its mean is ``x``, and its variance is ``v_j = x_j^2 * rate_j / (1 - rate_j)`` [1].
    Minimized over the rows of the source, for every one-vs-rest problem with labels -1 and 1, is
    ``C * sum(expected losses) + ||w||^2 / 2`` with

    - ``loss="squared"``: ``(y - w x)^2 + sum_j v_j w_j^2``, exactly. Its solution is ridge regression with a penalty
      for each feature, found in a system of as many equations as there are rows or features, whichever are fewer.
    - ``loss="log_loss"``: ``log(1 + exp(-y w x)) + p (1 - p) / 2 * sum_j v_j w_j^2`` with ``p = 1 / (1 + exp(-w x))``,
      the expansion to second order around the mean.

    A feature that the target lacks has an infinite variance, and its weight is zero.

    Parameters
    ----------
    loss : {"log_loss", "squared"}, default="log_loss"
        The loss whose expectation is taken.
    transfer : {"dropout"}, default="dropout"
        The model of how rows of the source turn into rows of the target.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`; the lambda of [1] is ``1 / (2 C)``.
    tol : float, default=0.001
        The logistic loss is minimized until its gradient has shrunk by this factor.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds that choose C.

    Attributes
    ----------
    dropout_ : ndarray of shape (n_features,)
        The rate of each feature.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member.

    Notes
    -----
    Presence is what it goes by: scaling may divide features, and must not centre them.

    References
    ----------
    - [1] Wouter Kouw, Laurens van der Maaten, Jesse Krijthe and Marco Loog, "Feature-Level Domain Adaptation", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import FLDA
    >>> X_source = np.array([[1.0, 1.0], [-1.0, -1.0]] * 6)
    >>> X_target = np.array([[1.0, 0.0], [-1.0, 0.0]] * 6)
    >>> model = FLDA().fit(X_source, [1, 0] * 6, X_target=X_target)
    >>> model.dropout_.tolist()
    [0.0, 1.0]
    >>> bool(model.coef_[0, 0, 0] > 0), float(model.coef_[0, 0, 1])
    (True, 0.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"log_loss", "squared"})],
        "transfer": [StrOptions({"dropout"})],
        "C": [StrOptions({"cv"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        loss: Literal["log_loss", "squared"] = "log_loss",
        transfer: Literal["dropout"] = "dropout",
        C: Any = "cv",
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.transfer = transfer
        self.C = C
        self.tol = tol
        self.random_state = random_state

    def _adapt(self, domains: Domains) -> None:
        from adrem.machines import one_vs_rest
        from adrem.machines._tables import stack
        from adrem.machines.selection import GRID, N_FOLDS

        candidates = read_candidates(GRID if isinstance(self.C, str) else np.atleast_1d(self.C), domains, N_FOLDS)
        # Tables of its own: a comparison sorts out a sparse one in place.
        source, target = stack([domains.X_source]), stack([domains.X_target])
        frequency = presence(source, domains.weights)
        remaining = presence(target) if domains.adapts else frequency
        self.dropout_ = dropout_rates(frequency, remaining)
        # The weights of all other features are zero: nothing in the source asks for them, or the target lacks them.
        kept = np.flatnonzero((frequency > 0) & (self.dropout_ < 1))
        rows = source[:, kept].astype(np.float64)
        odds = self.dropout_[kept] / (1.0 - self.dropout_[kept])
        signs = one_vs_rest(domains.labels, len(domains.classes)).T

        def train(C: float, row_weights: Array, start: Array) -> tuple[Array, bool]:
            if self.loss == "squared":
                return minimize_squared(rows, signs, row_weights, odds, C), True
            return minimize_logistic(rows, signs, row_weights, odds, C, start, self.tol)

        nothing = np.zeros((len(kept), signs.shape[1]))
        self.C_ = candidates[0]
        if len(candidates) > 1:
            self.C_ = _select_c(train, rows, domains, candidates, nothing, whole_seed(self.random_state))
        coef = np.zeros((signs.shape[1], domains.X_source.shape[1]))
        weights, reached = train(self.C_, domains.weights, nothing)
        if not reached:
            warn_of_steps("FLDA's training")
        coef[:, kept] = weights.T
        self.coef_ = coef[None].astype(domains.X_source.dtype)
        self.intercept_ = np.zeros(self.coef_.shape[:2], dtype=self.coef_.dtype)


def presence(rows: Matrix, weights: Array | None = None) -> Array:
    """Share of the rows in which each feature is not zero."""
    weights = np.ones(rows.shape[0]) if weights is None else weights
    return np.asarray(weights @ (rows != 0) / weights.sum())


def dropout_rates(source: Array, target: Array) -> Array:
    """How often a feature drops out on the way to the target, from its shares in both."""
    return np.asarray(np.maximum(0.0, 1.0 - np.divide(target, source, out=np.ones_like(source), where=source > 0)))


def minimize_squared(rows: Matrix, signs: Array, row_weights: Array, odds: Array, C: float) -> Array:
    """Weights (features x problems) of the expected squared loss."""
    used = row_weights > 0
    side = min(rows.shape)
    check_room(MATRICES * 8 * side**2, f"FLDA's squared loss with a matrix of side {side}", "set loss='log_loss'")
    roots = np.sqrt(row_weights[used])[:, None]
    A = rows[used] * roots
    b = signs[used] * roots
    penalty = odds * np.asarray((A * A).sum(axis=0)) + 0.5 / C
    if A.shape[1] <= A.shape[0]:
        return _solve(dense(A.T @ A) + np.diag(penalty), A.T @ b)
    # (A'A + D)^-1 A' = D^-1 A' (I + A D^-1 A')^-1, by Woodbury's identity.
    scaled = A / penalty
    return np.asarray(scaled.T @ _solve(dense(scaled @ A.T) + np.eye(A.shape[0]), b))


def minimize_logistic(
    rows: Matrix, signs: Array, row_weights: Array, odds: Array, C: float, start: Array, tol: float
) -> tuple[Array, bool]:
    """Weights (features x problems) of the expected logistic loss, to second order, and whether that is its optimum."""
    used = row_weights > 0
    rows, signs, row_weights = rows[used], signs[used], C * row_weights[used][:, None]
    squares = rows * rows
    odds = odds[:, None]

    def objective(weights: Array) -> tuple[float, Array]:
        scores = rows @ weights
        variances = squares @ (odds * weights**2)
        shares = expit(scores)
        curvature = shares * (1.0 - shares)
        losses = np.logaddexp(0.0, -signs * scores) + 0.5 * curvature * variances
        slopes = shares - (signs > 0) + 0.5 * curvature * (1.0 - 2.0 * shares) * variances
        gradient = rows.T @ (row_weights * slopes) + odds * weights * (squares.T @ (row_weights * curvature))
        return float(np.sum(row_weights * losses) + 0.5 * np.sum(weights**2)), gradient + weights

    return minimize_smooth(objective, start, tol)


def _select_c(
    train: Trainer, rows: Matrix, domains: Domains, candidates: tuple[float, ...], start: Array, seed: int
) -> float:
    """C by cross-validation on the source, each value starting from the weights of the one below."""
    from adrem.machines import decide
    from adrem.machines.selection import first_best, make_folds

    accuracy = np.zeros(len(candidates))
    for held_out in make_folds(domains.labels, domains.weights, seed):
        training, weights = np.where(held_out, 0.0, domains.weights), start
        for k in np.argsort(candidates):
            weights, _ = train(candidates[k], training, weights)
            hits = decide(rows[held_out] @ weights) == domains.labels[held_out]
            accuracy[k] += float(domains.weights[held_out] @ hits) / domains.weights.sum()
    return candidates[first_best(accuracy, domains.weights)]


def _solve(matrix: Array, right: Array) -> Array:
    try:
        return np.asarray(cho_solve(cho_factor(matrix, overwrite_a=True), right))
    except np.linalg.LinAlgError as error:
        raise ValueError("The penalty is lost beside the features: scale them, or give a smaller C.") from error
