"""Randomized expectation maximization: Algorithm 1 of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem._sampling import draw
from adrem._types import FloatArray

if TYPE_CHECKING:  # numba, behind the machines, is loaded by the first fit
    from adrem.machines import Machine, Solution


@dataclass(frozen=True)
class Task:
    """A source and a target inside a machine, the source's rows first, and all that training on them needs.

    `weights` are the user's, one a source row; `prior` is the share of each class in the draws.
    """

    machine: Machine
    labels: NDArray[np.intp]
    weights: NDArray[np.float64]
    n_target: int
    prior: NDArray[np.float64]
    C: float

    def train(
        self, target_labels: NDArray[np.intp], counts: NDArray[np.float64], start: Solution | None, seed: int = 1
    ) -> Solution:
        """The M-step: train on the source and the target rows that were drawn."""
        return self.machine.solve(
            np.concatenate([self.labels, target_labels]),
            np.concatenate([self.weights, counts]),
            self.C,
            start=start,
            seed=seed,
        )

    def train_source(self) -> Solution:
        """Train on the source alone."""
        return self.train(np.zeros(self.n_target, dtype=np.intp), np.zeros(self.n_target), None)


@dataclass
class Member:
    """One run of Algorithm 1: its last classifier, and how it got there."""

    coef: FloatArray
    intercept: FloatArray
    history: list[dict[str, Any]] = field(default_factory=list)
    path: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    n_failed: int = 0


def randomized_em(
    task: Task,
    source: Solution,
    *,
    n_iter: int,
    sampling: str,
    rng: np.random.Generator,
    store_path: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> Member:
    """Train on growing random subsets of the target, relabelling all of it after each training.

    `source` is the classifier trained on the source alone; iteration 0 of the history describes it.
    """
    from adrem.machines import decide

    n_source = len(task.labels)
    solution = source
    member = Member(*task.machine.weights(source))
    labels = np.zeros(task.n_target, dtype=np.intp)
    for k in range(n_iter + 1):
        counts = np.zeros(task.n_target)
        if k > 0:
            counts = draw(labels, k / n_iter, task.prior, sampling, rng)
            solution = task.train(labels, counts, solution, seed=int(rng.integers(1, 2**63)))
            member.n_failed += solution.n_failed
            advance()
        scores = task.machine.scores(solution)
        previous, labels = labels, decide(scores[n_source:])
        member.history.append(
            {
                "iteration": k,
                "n_drawn": int(counts.sum()),
                "class_counts": np.bincount(labels, minlength=len(task.prior)).tolist(),
                "n_changed": int(np.count_nonzero(labels != previous)) if k > 0 else 0,
                **_losses(task, solution, scores, labels),
            }
        )
        member.lost |= _lost_classes(labels, task.prior)
        if store_path:
            member.path.append(task.machine.weights(solution))
    member.coef, member.intercept = task.machine.weights(solution)
    return member


def _losses(task: Task, solution: Solution, scores: FloatArray, labels: NDArray[np.intp]) -> dict[str, float]:
    """The loss of equation 3 and the balanced loss of equation 4 (for any prior, not the uniform one alone)."""
    row_losses = task.machine.row_losses(scores, np.concatenate([task.labels, labels]))
    on_source, on_target = np.split(row_losses, [len(task.labels)])
    common = 0.5 * task.machine.squared_norm(solution) + task.C * float(task.weights @ on_source)
    counts = np.bincount(labels, minlength=len(task.prior))
    share = task.prior * task.n_target / np.maximum(counts, 1)
    return {
        "loss": common + task.C * float(on_target.sum()),
        "balanced_loss": common + task.C * float(share[labels] @ on_target),
    }


def _lost_classes(labels: NDArray[np.intp], prior: NDArray[np.float64]) -> set[int]:
    """Classes that are wanted and have no row."""
    counts = np.bincount(labels, minlength=len(prior))
    return set(np.flatnonzero((counts == 0) & (prior > 0)).tolist())
