"""The domain adaptation support vector machine."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from adrem._validation import Domains
from adrem.baselines._base import IterativeBaseline, LinearBaseline


class DASVM(IterativeBaseline):
    """The domain adaptation support vector machine: rows of the target take the place of those of the source.

    A support vector machine of the source is the first. Then, for every one-vs-rest problem by itself and until its
    stopping rule holds, on either side of the hyperplane [1]_:

    - the rows of the target that lie in the margin, on its far end first, join the training set with their current
      label, at most ``step`` of the target's rows at a time;
    - rows of the target whose label has changed since leave it again;
    - as many rows of the source as have joined leave it, those that lie furthest from the hyperplane first; if none
      have, ``step`` of the target's rows do.

    It stops once no row of the source is left, and at most a share ``beta`` of the target's rows have joined, and at
    most as many have changed their label.

    Parameters
    ----------
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`. It is the same for both domains and all iterations.
    step : float, default=0.05
        Share of the target's rows that may join on either side in one iteration.
    beta : float, default=0.03
        The share of the stopping rule.
    max_iter : int, default=200
        Most iterations.
    tol : float, default=0.1
        Tolerance of the trainings, as liblinear's.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds that choose C.

    Attributes
    ----------
    n_iter_ : int
        Number of trainings, of the problem that took the most.
    termination_condition_ : str
        Why there were no more.
    history_ : list of dict
        For each ``iteration``, summed over the problems: ``n_source`` and ``n_target``, the rows of each domain that
        were trained on, and ``n_changed``, the labels of target rows that changed.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member.

    References
    ----------
    .. [1] Lorenzo Bruzzone and Mattia Marconcini, "Domain Adaptation Problems: A DASVM Classification Technique and a
       Circular Validation Strategy", *IEEE Transactions on Pattern Analysis and Machine Intelligence*, 2010.

    Examples
    --------
    >>> from adrem.baselines import DASVM
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> model = DASVM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> model.termination_condition_
    'the target has taken the place of the source'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: LinearBaseline._parameter_constraints[name] for name in ("C", "tol", "random_state")},
        "step": [Interval(Real, 0, 1, closed="right")],
        "beta": [Interval(Real, 0, 1, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    loss = "hinge"

    def __init__(
        self,
        C: Any = "cv",
        step: float = 0.05,
        beta: float = 0.03,
        max_iter: int = 200,
        tol: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.step = step
        self.beta = beta
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _adapt(self, domains: Domains) -> None:
        head = self._train(domains.X_source, domains)
        self.coef_, self.intercept_ = head.coef_, head.intercept_
        self.history_ = [{"iteration": 0, "n_source": len(domains.labels), "n_target": 0, "n_changed": 0}]
        converged = True
        if domains.adapts:
            converged = self._replace_source(domains)
        self._end(converged, "the target has taken the place of the source" if domains.adapts else "there is no target")

    def _replace_source(self, domains: Domains) -> bool:
        """Train all problems in step, each on its own rows; those that have stopped stay what they are."""
        from adrem.machines import make_machine, one_vs_rest
        from adrem.machines._tables import stack

        n_source, n_target = len(domains.labels), domains.X_target.shape[0]
        machine = make_machine(stack([domains.X_source, domains.X_target]), 2, "hinge", tol=self.tol)
        signs = one_vs_rest(domains.labels, len(domains.classes)) > 0
        rho, few = int(np.ceil(self.step * n_target)), int(np.ceil(self.beta * n_target))
        problems = [_Problem(n_source, n_target) for _ in signs]
        labels = np.concatenate([signs, np.zeros((len(signs), n_target), dtype=bool)], axis=1).astype(np.intp)
        weights = np.tile(np.concatenate([domains.weights, np.ones(n_target)]), (len(signs), 1))
        solution = machine.nothing(len(signs))
        for iteration in range(1, self.max_iter + 1):
            used = np.stack([problem.used for problem in problems])
            labels[:, n_source:] = [problem.labels for problem in problems]
            solution = machine.solve(labels, weights * used, self.C_, start=solution, overwrite=True, seed=iteration)
            n_changed = 0
            for problem, scores in zip(problems, machine.scores(solution)[..., 0], strict=True):
                if not problem.stopped:
                    n_changed += problem.exchange(scores, rho, few, first=iteration == 1)
            of_source = int(used[:, :n_source].sum())
            self.history_.append(
                {
                    "iteration": iteration,
                    "n_source": of_source,
                    "n_target": int(used.sum()) - of_source,
                    "n_changed": n_changed,
                }
            )
            if all(problem.stopped for problem in problems):
                break
        coef, intercept = machine.weights(solution)
        self.coef_, self.intercept_ = coef[None, :, 0], intercept[None, :, 0]
        return all(problem.stopped for problem in problems)


class _Problem:
    """The training set of one problem: the rows that are used, and the labels of those of the target."""

    def __init__(self, n_source: int, n_target: int) -> None:
        self._n_source = n_source
        self.labels = np.zeros(n_target, dtype=bool)
        self.used = np.repeat([True, False], [n_source, n_target])
        self.stopped = False

    def exchange(self, scores: NDArray[np.float64], rho: int, few: int, first: bool) -> int:
        """Let rows of the target join and leave, and rows of the source leave; returns how many labels changed."""
        on_source, on_target = np.split(scores, [self._n_source])
        source, target = np.split(self.used, [self._n_source])
        labels = on_target > 0
        changed = (labels != self.labels) & (not first)
        waiting = np.flatnonzero(~target)
        joined = [waiting[_furthest(sign * on_target[waiting], rho, within=1.0)] for sign in (1.0, -1.0)]
        remaining = np.flatnonzero(source)
        n_joined = [len(rows) for rows in joined]
        n_leaving = n_joined if any(n_joined) else [rho, rho]
        left = [
            remaining[_furthest(sign * on_source[remaining], n, within=np.inf)]
            for sign, n in zip((1.0, -1.0), n_leaving, strict=True)
        ]
        self.stopped = not len(remaining) and sum(n_joined) <= few and int(changed.sum()) <= few and not first
        if not self.stopped:
            target &= ~changed
            target[np.concatenate(joined)] = True
            source[np.concatenate(left)] = False
            self.labels = labels
        return int(changed.sum())


def _furthest(distances: NDArray[np.float64], n: int, within: float) -> NDArray[np.intp]:
    """Positions of the n largest distances between zero and a bound."""
    order = np.argsort(-distances, kind="stable")
    ahead = order[(distances[order] >= 0) & (distances[order] <= within)]
    return ahead[:n]
