"""The domain adaptation support vector machine."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from adrem.base.constraints import AT_LEAST_ONE, TargetLabels, common
from adrem.base.validation import Domains
from adrem.baselines.base import IterativeBaseline


class DASVM(IterativeBaseline):
    """The domain adaptation support vector machine: target rows gradually replace source rows.

    The first support vector machine is trained on the source. Then each one-vs-rest problem repeats, on both sides of
    the hyperplane [1]:

    - add the target rows inside the margin, those furthest from the hyperplane first, with their current label, at
      most a fraction ``step`` of the target rows;
    - remove target rows whose label has changed;
    - remove as many source rows as were added, those furthest from the hyperplane first; if none was added, a number
      equal to ``step`` of the target rows. The last rows of a class stay while the target has none of it.

    It stops when no source row is removed, at most a fraction ``beta`` of the target rows was added, and the labels of
    at most as many changed.

    Parameters
    ----------
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`; the same for both domains and all iterations.
    step : float, default=0.05
        Fraction of the target rows that may be added on either side per iteration.
    beta : float, default=0.03
        Fraction of the target rows in the stopping rule.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=0.1
        Tolerance of the solver, as in liblinear.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds for C.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    n_iter_ : int
        Number of trainings of the problem that took the most.
    termination_condition_ : str
        Why the iterations ended.
    history_ : list of dict
        For each ``iteration``, summed over the problems: the training rows of each domain, ``n_source``
        and ``n_target``, and ``n_changed``, the number of target rows whose label changed.
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
        **common("C", "tol", "random_state", "target_labels"),
        "step": [Interval(Real, 0, 1, closed="right")],
        "beta": [Interval(Real, 0, 1, closed="left")],
        "max_iter": [AT_LEAST_ONE],
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
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.C = C
        self.step = step
        self.beta = beta
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _adapt(self, domains: Domains) -> None:
        self._keep(self._train(domains.X_source, domains))
        n_problems = self.coef_.shape[1]
        self.history_ = [{"iteration": 0, "n_source": n_problems * len(domains.labels), "n_target": 0, "n_changed": 0}]
        converged = self._replace_source(domains) if domains.adapts else True
        self._end(domains, converged, "the target has taken the place of the source")

    def _replace_source(self, domains: Domains) -> bool:
        """Exchange rows in every problem until all have stopped; return whether they did within ``max_iter``."""
        from adrem.machines import Work, make_machine, one_vs_rest
        from adrem.machines.linear import warn_given_up
        from adrem.machines.tables import stack

        n_source, n_target = len(domains.labels), domains.X_target.shape[0]
        signs = one_vs_rest(domains.labels, len(domains.classes)) > 0
        work = Work(2, n_members=len(signs), n_folds=len(signs), n_kept=len(signs))
        machine = make_machine(stack([domains.X_source, domains.X_target]), 2, "hinge", tol=self.tol, work=work)
        step, few = int(np.ceil(self.step * n_target)), int(np.ceil(self.beta * n_target))
        problems = [_Problem(own, n_target, domains.n_own) for own in signs]
        weights = np.concatenate([domains.weights, np.ones(n_target)])
        solution = machine.zero_solution(len(problems))
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
            n_changed = sum(problems[k].exchange(scores[k], step, few) for k in active)
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
    """Training set of one problem: labels of all rows, source rows first, and which rows are used.

    Labelled rows beyond the first `n_own` come from the target, and stay.
    """

    def __init__(self, positive: NDArray[np.bool_], n_target: int, n_own: int) -> None:
        self._n_own = n_own
        self._n_source = len(positive)
        self.labels = np.concatenate([positive, np.zeros(n_target, dtype=bool)])
        self.used = np.repeat([True, False], [len(positive), n_target])
        self.stopped = False

    def exchange(self, scores: NDArray[np.float64], step: int, few: int) -> int:
        """Add and remove target rows, remove source rows, and return the number of changed labels."""
        n = self._n_source
        is_target, is_own = np.arange(len(scores)) >= n, np.arange(len(scores)) < self._n_own
        sides = (scores > 0, scores <= 0)
        labels = np.where(is_target, scores > 0, self.labels)
        changed = self.used & (labels != self.labels)
        in_margin = is_target & ~self.used & (np.abs(scores) <= 1.0)
        joined = [_furthest(scores, in_margin & side, step) for side in sides]
        n_joined = [len(rows) for rows in joined]
        n_leaving = n_joined if any(n_joined) else [step, step]
        used = self.used & ~changed
        used[np.concatenate(joined)] = True
        leaving = [_furthest(scores, used & is_own & side, most) for side, most in zip(sides, n_leaving, strict=True)]
        kept = used.copy()
        kept[np.concatenate(leaving)] = False
        for label in (True, False):  # keep the rows of a class that would otherwise vanish
            own = labels == label
            if not np.any(kept & own):
                kept |= used & own
        self.stopped = np.array_equal(kept, used) and sum(n_joined) <= few and int(changed.sum()) <= few
        if not self.stopped:
            self.used, self.labels = kept, labels
        return int(changed.sum())


def _furthest(scores: NDArray[np.float64], among: NDArray[np.bool_], n: int) -> NDArray[np.intp]:
    """Return the n rows among some that are furthest from the hyperplane."""
    rows = np.flatnonzero(among)
    return rows[np.argsort(-np.abs(scores[rows]), kind="stable")[:n]]
