"""Expectation maximization with hard and with soft labels, without the randomization of Ad-REM."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from adrem.algorithm.em import EMOptions
from adrem.algorithm.fitting import FitSettings, fit_members, warn_about
from adrem.algorithm.smooth import Objective, minimize_smooth, warn_not_converged
from adrem.base.constraints import AT_LEAST_ONE, POSITIVE, LossName, TargetLabels, common
from adrem.base.scoring import by_class
from adrem.base.validation import Domains
from adrem.baselines.base import IterativeBaseline, LinearBaseline
from adrem.types import Matrix

Weights = NDArray[np.float64]
LBFGS_STEPS = 10  # maximum per M-step
GRADIENT_TOL = 0.01  # tolerance of the gradient, relative to tol


class HardEM(IterativeBaseline):
    """Self-training with hard labels: alternately predict the target and train on both domains.

    It minimizes, alternately over the weights and the target labels, the objective of equation 3 in the paper [1],

    ``C * sum_S loss(w x, y) + C * sum_T loss(w x, y_T) + ||w||^2 / 2``,

    summed over the one-vs-rest problems. Neither step raises it, so the labels converge. It equals `AdREM` with
    ``sampling="all"`` and one member, stopped when no label changes.

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        Linear support vector machine or logistic regression.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`.
    max_iter : int, default=100
        Maximum number of trainings on both domains.
    tol : float, default=0.1
        Tolerance of the solver, as in liblinear.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds for C.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    n_iter_ : int
        Number of trainings, including the first on the source alone.
    termination_condition_ : str
        Why the iterations ended.
    history_ : list of dict
        As for `AdREM`.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member.

    References
    ----------
    - [1] Twan van Laarhoven and Elena Marchiori, "Domain Adaptation with Randomized Expectation Maximization", 2018.

    Examples
    --------
    >>> from adrem.baselines import HardEM
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> model = HardEM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> model.termination_condition_
    'no label changed'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearBaseline._parameter_constraints,
        "max_iter": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        loss: LossName = "hinge",
        C: Any = "cv",
        max_iter: int = 100,
        tol: float = 0.1,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.loss = loss
        self.C = C
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _adapt(self, domains: Domains) -> None:
        from adrem.machines.linear import LinearHead

        options = EMOptions(self.max_iter, sampling="all", until_stable=True)
        settings = FitSettings(LinearHead(self.loss, self.C, tol=self.tol), options, n_estimators=1)
        fit = fit_members(settings, domains, self.random_state)
        warn_about(fit, settings, domains.classes.tolist())
        [member] = fit.members
        self.C_ = fit.task.rows.C
        self.coef_, self.intercept_ = (part[None] for part in member.path[-1])
        self.history_ = [{"member": 0, **entry} for entry in member.history] or [{"iteration": 0, "n_changed": 0}]
        self._end(domains, self.history_[-1]["n_changed"] == 0, "no label changed")


class SoftEM(IterativeBaseline):
    """Self-training with soft labels: class probabilities replace the target labels.

    The model is logistic regression, ``p = softmax(W x)``, or ``p = 1 / (1 + exp(-w x))`` for two classes. It
    minimizes, alternately over the weights and the soft target labels ``q``,

    ``C * (sum_S -log p(y) + target_weight * sum_T [H(q, p) - temperature * H(q)]) + ||W||^2 / 2``,

    with ``H(q, p)`` the cross-entropy and ``H(q)`` the entropy. The optimal labels for given weights are
    ``q = softmax(W x / temperature)``. Neither step raises the objective; the M-step takes a few steps of L-BFGS.

    With ``temperature=1`` this is the soft expectation maximization of the paper [1]: the labels are the posterior of
    the model, the target term is zero, and the weights stay those of the source. Below 1 the labels are sharper than
    the posterior, which moves the boundary away from target rows, as in entropy minimization [2]; towards 0 they
    become hard.

    Parameters
    ----------
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`.
    target_weight : float, default=1.0
        Weight of the target term, lambda in the paper.
    temperature : float, default=0.5
        Temperature of the soft labels, at most 1.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=0.0001
        Stop when an iteration lowers the objective by less than this fraction of its value. The tolerance of the
        gradient in the M-step is a hundredth of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds for C.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    n_iter_ : int
        Number of trainings, including the first on the source alone.
    termination_condition_ : str
        Why the iterations ended.
    history_ : list of dict
        For each ``iteration``, where 0 is the source classifier: the ``objective`` and ``n_changed``, the number of
        target rows whose class changed.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member.

    References
    ----------
    - [1] Twan van Laarhoven and Elena Marchiori, "Domain Adaptation with Randomized Expectation Maximization", 2018.
    - [2] Yves Grandvalet and Yoshua Bengio, "Entropy regularization", in *Semi-Supervised Learning*, 2006.

    Examples
    --------
    >>> from adrem.baselines import SoftEM
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> model = SoftEM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> objectives = [entry["objective"] for entry in model.history_]
    >>> objectives == sorted(objectives, reverse=True)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **common("C", "random_state", "target_labels"),
        "target_weight": [Interval(Real, 0, None, closed="left")],
        "temperature": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [AT_LEAST_ONE],
        "tol": [POSITIVE],
    }

    loss = "log_loss"

    def __init__(
        self,
        C: Any = "cv",
        target_weight: float = 1.0,
        temperature: float = 0.5,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.C = C
        self.target_weight = target_weight
        self.temperature = temperature
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _adapt(self, domains: Domains) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # this training only selects C and a start
            head = self._train(domains.X_source, domains, tol=0.1)
        problem = _SoftLabels(domains, head.C, self.target_weight, self.temperature)
        start = np.asarray(head.coef.T[problem.used], dtype=np.float64)
        weights, converged = problem.train_source(start, GRADIENT_TOL * self.tol)
        if not converged:
            warn_not_converged("SoftEM's training on the source")
        self.history_ = [{"iteration": 0, "n_changed": 0, "objective": problem.value(weights)}]
        converged = not domains.adapts
        while not converged and len(self.history_) <= self.max_iter:
            earlier = problem.label(weights)
            weights = problem.train(weights, GRADIENT_TOL * self.tol)
            self.history_.append(
                {
                    "iteration": len(self.history_),
                    "n_changed": int(np.count_nonzero(problem.label(weights) != earlier)),
                    "objective": problem.value(weights),
                }
            )
            before, after = (entry["objective"] for entry in self.history_[-2:])
            converged = before - after <= self.tol * abs(before)
        self.coef_, self.intercept_ = np.zeros_like(head.coef)[None], head.intercept[None]
        self.coef_[0][:, problem.used] = weights.T
        self._end(domains, converged, f"the objective fell by less than {self.tol:g} of its value")

    def share_rows(self, rows: Matrix) -> NDArray[np.float64]:
        return np.asarray(softmax(by_class(self._scores(rows)) / (2 if len(self.classes_) == 2 else 1), axis=1))


class _SoftLabels:
    """The objective of `SoftEM`. Weights are features x classes, labels rows x classes; two classes have one column.

    `used` are the features with a value in some row; all other weights are zero.
    """

    def __init__(self, domains: Domains, C: float, target_weight: float, temperature: float) -> None:
        from adrem.machines import one_vs_rest
        from adrem.machines.tables import stack

        rows = stack([domains.X_source, domains.X_target]).astype(np.float64)
        self.used = np.unique(rows.indices) if sp.issparse(rows) else np.arange(rows.shape[1])
        self._rows: Matrix = rows[:, self.used]
        self._n_source = len(domains.labels)
        self._known = (one_vs_rest(domains.labels, len(domains.classes)).T + 1.0) / 2.0
        n_target = domains.X_target.shape[0]
        self._row_weights = C * np.concatenate([domains.weights, np.full(n_target, target_weight)])
        self._temperature = temperature

    def train_source(self, start: Weights, tol: float) -> tuple[Weights, bool]:
        """Return the weights trained on the source alone, and whether the solver converged."""
        n = self._n_source
        return minimize_smooth(self._loss(self._rows[:n], self._known, self._row_weights[:n]), start, tol)

    def train(self, weights: Weights, tol: float) -> Weights:
        """Run one iteration: the E-step, and some steps of the M-step."""
        labels = np.concatenate([self._known, _shares(self._target_scores(weights) / self._temperature)])
        return minimize_smooth(self._loss(self._rows, labels, self._row_weights), weights, tol, max_steps=LBFGS_STEPS)[
            0
        ]

    def label(self, weights: Weights) -> NDArray[np.intp]:
        """Return hard labels of the target."""
        from adrem.machines import decide

        return decide(self._target_scores(weights))

    def value(self, weights: Weights) -> float:
        """Return the objective at the optimal soft labels.

        There, ``H(q, p) - T H(q) = log Z(s) - T log Z(s / T)`` with ``Z`` the sum of the exponentials of the scores.
        """
        source = self._loss(self._rows[: self._n_source], self._known, self._row_weights[: self._n_source])
        scores, T = self._target_scores(weights), self._temperature
        on_target = _log_sum(scores) - T * _log_sum(scores / T)
        return source(weights)[0] + float(self._row_weights[self._n_source :] @ on_target)

    def _target_scores(self, weights: Weights) -> NDArray[np.float64]:
        return np.asarray(self._rows[self._n_source :] @ weights)

    @staticmethod
    def _loss(rows: Matrix, labels: NDArray[np.float64], row_weights: NDArray[np.float64]) -> Objective:
        """Return the weighted cross-entropy of labels and model plus half the squared norm, with its gradient."""

        def loss(weights: Weights) -> tuple[float, Weights]:
            scores = rows @ weights
            entropies = _log_sum(scores) - np.sum(labels * scores, axis=1)
            slopes = row_weights[:, None] * (_shares(scores) - labels)
            return float(row_weights @ entropies + 0.5 * np.sum(weights**2)), rows.T @ slopes + weights

        return loss


def _log_sum(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-sum-exp over the classes; the first of two classes has score zero."""
    return np.asarray(np.logaddexp(0.0, scores[:, 0]) if scores.shape[1] == 1 else logsumexp(scores, axis=1))


def _shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return class probabilities, only of the second class if there are two."""
    return np.asarray(expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1))
