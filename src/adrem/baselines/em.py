"""Expectation maximization as the paper has it before it randomizes: hard labels, and soft ones."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from adrem._adrem import AdREM
from adrem._types import Matrix
from adrem._validation import Domains
from adrem._voting import by_class
from adrem.baselines._base import IterativeBaseline, LinearBaseline, Loss
from adrem.baselines._smooth import Objective, minimize_smooth, warn_of_steps

Weights = NDArray[np.float64]
# Steps of L-BFGS in a training on soft labels.
M_STEPS = 10
# The tolerance of the gradient, in that of the objective.
EXACT = 0.01


class _SelfTraining(AdREM):
    """Ad-REM that stops once its labels do not change any more."""

    _until_stable = True


class HardEM(IterativeBaseline):
    """Self-training: the classifier of the source labels the target, is trained on both, and labels it again.

    Minimized in turn over the weights and the labels of the target, equation 3 of the paper [1], is

    ``C * sum_S loss(w x, y) + C * sum_T loss(w x, y_T) + ||w||^2 / 2``,

    summed over the one-vs-rest problems. Either step lowers it, so the labels come to rest: it is `AdREM` with
    ``sampling="all"`` and one member, up to that moment.

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        A linear support vector machine, or logistic regression.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`.
    max_iter : int, default=100
        Most trainings on both domains.
    tol : float, default=0.1
        Tolerance of the trainings, as liblinear's.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds that choose C.

    Attributes
    ----------
    n_iter_ : int
        Number of trainings, the first of them on the source alone.
    termination_condition_ : str
        Why there were no more.
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
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, loss: Loss = "hinge", C: Any = "cv", max_iter: int = 100, tol: float = 0.1, random_state: Any = None
    ) -> None:
        self.loss = loss
        self.C = C
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _adapt(self, domains: Domains) -> None:
        model = _SelfTraining(
            self.loss,
            self.C,
            n_iter=self.max_iter,
            n_estimators=1,
            sampling="all",
            tol=self.tol,
            random_state=self.random_state,
        )
        model._learn(domains)
        self.C_, self.coef_, self.intercept_ = model.C_, model.coef_, model.intercept_
        self.history_ = model.history_ or [{"iteration": 0, "n_changed": 0}]
        self._end(domains, self.history_[-1]["n_changed"] == 0, "no label changed")


class SoftEM(IterativeBaseline):
    """Self-training with soft labels: the shares of the classes take the place of the labels of the target.

    The model is logistic regression, ``p = softmax(W x)``, or ``p = 1 / (1 + exp(-w x))`` for two classes. Minimized in
    turn over the weights and the soft labels ``q`` of the target is

    ``C * (sum_S -log p(y) + target_weight * sum_T [H(q, p) - temperature * H(q)]) + ||W||^2 / 2``,

    with ``H(q, p)`` the cross-entropy and ``H(q)`` the entropy. The best labels for given weights are
    ``q = softmax(W x / temperature)``. Neither step raises the objective; the step for the weights takes a few steps of
    L-BFGS towards its optimum.

    With ``temperature=1`` this is the soft expectation maximization of the paper [1]: the labels are the model's own
    posterior, the second term is zero wherever one stands, and the weights stay those of the source. Below 1 the labels
    are sharper than the posterior, and the target pulls the boundary away from its rows, as in the minimization of
    entropy [2]; towards 0 they become hard.

    Parameters
    ----------
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`.
    target_weight : float, default=1.0
        Weight of the target's term, the paper's lambda.
    temperature : float, default=0.5
        At most 1; how much the labels are softened.
    max_iter : int, default=100
        Most iterations.
    tol : float, default=0.0001
        An iteration that lowers the objective by less than this share of its value is the last. The steps for the
        weights end where the gradient is a hundredth of that.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds that choose C.

    Attributes
    ----------
    n_iter_ : int
        Number of trainings, the first of them on the source alone.
    termination_condition_ : str
        Why there were no more.
    history_ : list of dict
        For each ``iteration``, 0 being the source classifier: the ``objective``, and ``n_changed``, how many rows of
        the target went over to another class.
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
        "C": LinearBaseline._parameter_constraints["C"],
        "target_weight": [Interval(Real, 0, None, closed="left")],
        "temperature": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
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
    ) -> None:
        self.C = C
        self.target_weight = target_weight
        self.temperature = temperature
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _adapt(self, domains: Domains) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it chooses C, and is only where the training starts
            head = self._train(domains.X_source, domains, tol=0.1)
        problem = _SoftLabels(domains, head.C_, self.target_weight, self.temperature)
        start = np.asarray(head.coef_[0].T[problem.used], dtype=np.float64)
        weights, reached = problem.train_source(start, EXACT * self.tol)
        if not reached:
            warn_of_steps("SoftEM's training on the source")
        self.history_ = [{"iteration": 0, "n_changed": 0, "objective": problem.value(weights)}]
        converged = not domains.adapts
        while not converged and len(self.history_) <= self.max_iter:
            earlier = problem.label(weights)
            weights = problem.train(weights, EXACT * self.tol)
            self.history_.append(
                {
                    "iteration": len(self.history_),
                    "n_changed": int(np.count_nonzero(problem.label(weights) != earlier)),
                    "objective": problem.value(weights),
                }
            )
            before, after = (entry["objective"] for entry in self.history_[-2:])
            converged = before - after <= self.tol * abs(before)
        self.coef_, self.intercept_ = np.zeros_like(head.coef_), head.intercept_
        self.coef_[0][:, problem.used] = weights.T
        self._end(domains, converged, f"the objective fell by less than {self.tol:g} of its value")

    def _share(self, rows: Matrix) -> NDArray[np.float64]:
        return np.asarray(softmax(by_class(self._scores(rows)) / (2 if len(self.classes_) == 2 else 1), axis=1))


class _SoftLabels:
    """The objective of `SoftEM`. Weights are features x classes, labels rows x classes; two classes have one column.

    The features are those that any row has, `used`: the weights of the others are zero.
    """

    def __init__(self, domains: Domains, C: float, target_weight: float, temperature: float) -> None:
        from adrem.machines import one_vs_rest
        from adrem.machines._tables import stack

        rows = stack([domains.X_source, domains.X_target]).astype(np.float64)
        self.used = np.unique(rows.indices) if sp.issparse(rows) else np.arange(rows.shape[1])
        self._rows: Matrix = rows[:, self.used]
        self._n_source = len(domains.labels)
        self._known = (one_vs_rest(domains.labels, len(domains.classes)).T + 1.0) / 2.0
        n_target = domains.X_target.shape[0]
        self._row_weights = C * np.concatenate([domains.weights, np.full(n_target, target_weight)])
        self._temperature = temperature

    def train_source(self, start: Weights, tol: float) -> tuple[Weights, bool]:
        """Weights of the source alone, and whether they are its optimum."""
        n = self._n_source
        return minimize_smooth(self._loss(self._rows[:n], self._known, self._row_weights[:n]), start, tol)

    def train(self, weights: Weights, tol: float) -> Weights:
        """An iteration: the E-step, the best soft labels for the weights, and some way of the M-step."""
        labels = np.concatenate([self._known, _shares(self._target_scores(weights) / self._temperature)])
        return minimize_smooth(self._loss(self._rows, labels, self._row_weights), weights, tol, max_steps=M_STEPS)[0]

    def label(self, weights: Weights) -> NDArray[np.intp]:
        """Labels of the target."""
        from adrem.machines import decide

        return decide(self._target_scores(weights))

    def value(self, weights: Weights) -> float:
        """The objective, with the best soft labels for the weights.

        Theirs is ``H(q, p) - T H(q) = log Z(s) - T log Z(s / T)`` with ``Z`` the sum of the exponentials of the scores.
        """
        source = self._loss(self._rows[: self._n_source], self._known, self._row_weights[: self._n_source])
        scores, T = self._target_scores(weights), self._temperature
        on_target = _log_sum(scores) - T * _log_sum(scores / T)
        return source(weights)[0] + float(self._row_weights[self._n_source :] @ on_target)

    def _target_scores(self, weights: Weights) -> NDArray[np.float64]:
        return np.asarray(self._rows[self._n_source :] @ weights)

    @staticmethod
    def _loss(rows: Matrix, labels: NDArray[np.float64], row_weights: NDArray[np.float64]) -> Objective:
        """Weighted cross-entropies between labels and model, and half the squared norm; with its gradient."""

        def loss(weights: Weights) -> tuple[float, Weights]:
            scores = rows @ weights
            entropies = _log_sum(scores) - np.sum(labels * scores, axis=1)
            slopes = row_weights[:, None] * (_shares(scores) - labels)
            return float(row_weights @ entropies + 0.5 * np.sum(weights**2)), rows.T @ slopes + weights

        return loss


def _log_sum(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the sum of the classes' exponentials, where the first of two classes has the score zero."""
    return np.asarray(np.logaddexp(0.0, scores[:, 0]) if scores.shape[1] == 1 else logsumexp(scores, axis=1))


def _shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the classes, that of the second of two."""
    return np.asarray(expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1))
