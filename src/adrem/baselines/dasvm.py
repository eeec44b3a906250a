"""The domain adaptation support vector machine."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from adrem._adrem import warn_given_up
from adrem._validation import Domains
from adrem.baselines._base import IterativeBaseline, LinearBaseline


class DASVM(IterativeBaseline):
    """The domain adaptation support vector machine: rows of the target take the place of those of the source.

    A support vector machine of the source is the first. Then, for every one-vs-rest problem by itself and until its
    stopping rule holds, on either side of the hyperplane [1]:

    - the rows of the target that lie in the margin, on its far end first, join the training set with their current
      label, at most ``step`` of the target's rows at a time;
    - rows of the target whose label has changed since leave it again;
    - as many rows of the source as have joined leave it, those that lie furthest from the hyperplane first; if none
      have, as many as are ``step`` of the target's rows. The last rows of a class stay as long as the target has none.

    It stops once no row of the source leaves, at most a share ``beta`` of the target's rows has joined, and at most as
    many have changed their label.

    Parameters
    ----------
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`. It is the same for both domains and all iterations.
    step : float, default=0.05
        Share of the target's rows that may join on either side in one iteration.
    beta : float, default=0.03
        The share of the stopping rule.
    max_iter : int, default=1000
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
    - [1] Lorenzo Bruzzone and Mattia Marconcini, "Domain Adaptation Problems: A DASVM Classification Technique and a
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
        max_iter: int = 1000,
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
        n_problems = self.coef_.shape[1]
        self.history_ = [{"iteration": 0, "n_source": n_problems * len(domains.labels), "n_target": 0, "n_changed": 0}]
        converged = self._replace_source(domains) if domains.adapts else True
        self._end(domains, converged, "the target has taken the place of the source")

    def _replace_source(self, domains: Domains) -> bool:
        """Exchange rows for all problems in step, each on its own, until each has stopped."""
        from adrem.machines import Work, make_machine, one_vs_rest
        from adrem.machines._tables import stack

        n_source, n_target = len(domains.labels), domains.X_target.shape[0]
        signs = one_vs_rest(domains.labels, len(domains.classes)) > 0
        work = Work(2, n_members=len(signs), n_folds=len(signs), n_kept=len(signs))  # all problems in step
        machine = make_machine(stack([domains.X_source, domains.X_target]), 2, "hinge", tol=self.tol, work=work)
        rho, few = int(np.ceil(self.step * n_target)), int(np.ceil(self.beta * n_target))
        problems = [_Problem(own, n_target) for own in signs]
        weights = np.concatenate([domains.weights, np.ones(n_target)])
        solution = machine.nothing(len(problems))
        coef, intercept = self.coef_.copy(), self.intercept_.copy()
        n_failed = 0
        for iteration in range(self.max_iter + 1):
            labels = np.stack([problem.labels for problem in problems]).astype(np.intp)
            used = np.stack([problem.used for problem in problems])
            solution = machine.solve(labels, weights * used, self.C_, start=solution, overwrite=True, seed=iteration)
            active = [k for k, problem in enumerate(problems) if not problem.stopped]
            n_failed += int(solution.n_failed[active].sum())
            new_coef, new_intercept = machine.weights(solution)
            coef[0, active], intercept[0, active] = new_coef[active, 0], new_intercept[active, 0]
            scores = machine.scores(solution)[..., 0]
            n_changed = sum(problems[k].exchange(scores[k], rho, few) for k in active)
            if iteration:
                of_source = int(used[:, :n_source].sum())
                counts = {"n_source": of_source, "n_target": int(used.sum()) - of_source, "n_changed": n_changed}
                self.history_.append({"iteration": iteration, **counts})
            if all(problem.stopped for problem in problems):
                break
        self.coef_, self.intercept_ = coef, intercept
        warn_given_up(n_failed, len(problems) * len(self.history_), self.tol, self.C_)
        return all(problem.stopped for problem in problems)


class _Problem:
    """The training set of one problem: labels of all rows, those of the source first, and which of them are used."""

    def __init__(self, positive: NDArray[np.bool_], n_target: int) -> None:
        self._n_source = len(positive)
        self.labels = np.concatenate([positive, np.zeros(n_target, dtype=bool)])
        self.used = np.repeat([True, False], [len(positive), n_target])
        self.stopped = False

    def exchange(self, scores: NDArray[np.float64], rho: int, few: int) -> int:
        """Let rows of the target join and leave, and rows of the source leave; returns how many labels changed."""
        n = self._n_source
        is_target = np.arange(len(scores)) >= n
        sides = (scores > 0, scores <= 0)
        labels = np.where(is_target, scores > 0, self.labels)
        changed = self.used & (labels != self.labels)
        in_margin = is_target & ~self.used & (np.abs(scores) <= 1.0)
        joined = [_furthest(scores, in_margin & side, rho) for side in sides]
        n_joined = [len(rows) for rows in joined]
        n_leaving = n_joined if any(n_joined) else [rho, rho]
        used = self.used & ~changed
        used[np.concatenate(joined)] = True
        leaving = [
            _furthest(scores, used & ~is_target & side, most) for side, most in zip(sides, n_leaving, strict=True)
        ]
        kept = used.copy()
        kept[np.concatenate(leaving)] = False
        for label in (True, False):  # rows of the source stay while nothing else holds a side
            own = labels == label
            if not np.any(kept & own):
                kept |= used & own
        self.stopped = np.array_equal(kept, used) and sum(n_joined) <= few and int(changed.sum()) <= few
        if not self.stopped:
            self.used, self.labels = kept, labels
        return int(changed.sum())


def _furthest(scores: NDArray[np.float64], among: NDArray[np.bool_], n: int) -> NDArray[np.intp]:
    """Rows, of some, that lie furthest from the hyperplane, at most n."""
    rows = np.flatnonzero(among)
    return rows[np.argsort(-np.abs(scores[rows]), kind="stable")[:n]]
