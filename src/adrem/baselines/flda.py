"""Feature-level domain adaptation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.utils._param_validation import StrOptions

from adrem.algorithm.smooth import minimize_smooth, warn_not_converged
from adrem.base.constraints import TargetLabels, common
from adrem.base.known import by_origin
from adrem.base.parameters import read_candidates
from adrem.base.validation import Domains
from adrem.baselines.base import Baseline
from adrem.baselines.span import dense
from adrem.exceptions import ParameterError
from adrem.runtime.memory import check_room
from adrem.runtime.seeds import integer_seed
from adrem.types import Matrix

Array = NDArray[np.float64]
# (C, row weights, start) -> (weights as features x problems, whether the solver converged)
Trainer = Callable[[float, Array, Array], tuple[Array, bool]]
MATRIX_COPIES = 4  # memory of the squared loss, in matrices of products of features or rows


class FLDA(Baseline):
    """Feature-level domain adaptation: minimize the expected loss under a dropout model of the target.

    A feature that is not zero in a fraction ``s`` of the source rows and a fraction ``t`` of the target rows has the
    dropout rate ``max(0, 1 - t / s)``. A target row is modelled as a source row ``x`` whose feature ``j`` is set to
    zero with probability ``rate_j`` and otherwise divided by ``1 - rate_j``: the mean is ``x``, and the variance is
    ``v_j = x_j^2 * rate_j / (1 - rate_j)`` [1]. Each one-vs-rest problem, with labels -1 and 1, minimizes
    ``C * sum(expected losses) + ||w||^2 / 2`` over the source rows, with

    - ``loss="squared"``: ``(y - w x)^2 + sum_j v_j w_j^2``, exactly. This is ridge regression with a penalty per
      feature; the linear system has as many equations as there are rows or features, whichever is smaller.
    - ``loss="log_loss"``: ``log(1 + exp(-y w x)) + p (1 - p) / 2 * sum_j v_j w_j^2`` with ``p = 1 / (1 + exp(-w x))``,
      the second-order expansion around the mean.

    A feature that is absent from the target has infinite variance, so its weight is zero.

    Parameters
    ----------
    loss : {"log_loss", "squared"}, default="log_loss"
        Loss function.
    transfer : {"dropout"}, default="dropout"
        Model of the transfer from source to target rows.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`; the lambda of [1] is ``1 / (2 C)``.
    tol : float, default=0.001
        Tolerance of the gradient of the logistic loss, relative to the gradient at zero.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds for C.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    dropout_ : ndarray of shape (n_features,)
        Dropout rate of each feature.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member.

    Notes
    -----
    The method depends on which values are zero: features may be scaled, but not centred.

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
        **common("C", "tol", "random_state", "target_labels"),
    }

    def __init__(
        self,
        loss: Literal["log_loss", "squared"] = "log_loss",
        transfer: Literal["dropout"] = "dropout",
        C: Any = "cv",
        tol: float = 1e-3,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.loss = loss
        self.transfer = transfer
        self.C = C
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _adapt(self, domains: Domains) -> None:
        from adrem.machines import one_vs_rest
        from adrem.machines.regularization import GRID, N_FOLDS
        from adrem.machines.tables import stack

        candidates = read_candidates(GRID if isinstance(self.C, str) else np.atleast_1d(self.C), domains, N_FOLDS)
        # Copies, because comparing a sparse table sorts it in place.
        source, origin = stack([domains.X_source]), by_origin(domains)
        frequency = presence(stack([origin.X_source]), origin.weights)
        remaining = presence(stack([origin.X_target])) if domains.adapts else frequency
        self.dropout_ = dropout_rates(frequency, remaining)
        # All other features are absent from one of the domains; their weights are zero.
        kept = np.flatnonzero((frequency > 0) & (self.dropout_ < 1))
        rows = source[:, kept].astype(np.float64)
        odds = self.dropout_[kept] / (1.0 - self.dropout_[kept])
        signs = one_vs_rest(domains.labels, len(domains.classes)).T

        def train(C: float, row_weights: Array, start: Array) -> tuple[Array, bool]:
            if self.loss == "squared":
                return minimize_squared(rows, signs, row_weights, odds, C), True
            return minimize_logistic(rows, signs, row_weights, odds, C, start, self.tol)

        start = np.zeros((len(kept), signs.shape[1]))
        self.C_ = candidates[0]
        if len(candidates) > 1:
            self.C_ = _select_c(train, rows, domains, candidates, start, integer_seed(self.random_state))
        coef = np.zeros((signs.shape[1], domains.X_source.shape[1]))
        weights, converged = train(self.C_, domains.weights, start)
        if not converged:
            warn_not_converged("FLDA")
        coef[:, kept] = weights.T
        self.coef_ = coef[None].astype(domains.X_source.dtype)
        self.intercept_ = np.zeros(self.coef_.shape[:2], dtype=self.coef_.dtype)


def presence(rows: Matrix, weights: Array | None = None) -> Array:
    """Return the fraction of rows in which each feature is not zero."""
    weights = np.ones(rows.shape[0]) if weights is None else weights
    return np.asarray(weights @ (rows != 0) / weights.sum())


def dropout_rates(source: Array, target: Array) -> Array:
    """Return the dropout rate of each feature from its fractions in both domains."""
    return np.asarray(np.maximum(0.0, 1.0 - np.divide(target, source, out=np.ones_like(source), where=source > 0)))


def minimize_squared(rows: Matrix, signs: Array, row_weights: Array, odds: Array, C: float) -> Array:
    """Return the weights (features x problems) that minimize the expected squared loss."""
    used = row_weights > 0
    side = min(rows.shape)
    check_room(MATRIX_COPIES * 8 * side**2, f"FLDA's squared loss with a {side} x {side} matrix", "set loss='log_loss'")
    roots = np.sqrt(row_weights[used])[:, None]
    A = rows[used] * roots
    b = signs[used] * roots
    penalty = odds * np.asarray((A * A).sum(axis=0)) + 0.5 / C
    if A.shape[1] <= A.shape[0]:
        return _solve(dense(A.T @ A) + np.diag(penalty), A.T @ b)
    # (A'A + D)^-1 A' = D^-1 A' (I + A D^-1 A')^-1, by the Woodbury identity.
    scaled = A / penalty
    return np.asarray(scaled.T @ _solve(dense(scaled @ A.T) + np.eye(A.shape[0]), b))


def minimize_logistic(
    rows: Matrix, signs: Array, row_weights: Array, odds: Array, C: float, start: Array, tol: float
) -> tuple[Array, bool]:
    """Minimize the expected logistic loss to second order; return the weights and whether the solver converged."""
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
    """Select C by cross-validation on the source, with a warm start from the next smaller value."""
    from adrem.machines import decide
    from adrem.machines.regularization import first_best, make_folds

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
        message = "The penalty vanishes in rounding beside the features. Scale the features or set a smaller C."
        raise ParameterError(message, "C") from error
