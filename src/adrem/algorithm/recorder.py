"""The course of the members: history, classifiers, lost classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.algorithm.task import State, Task
from adrem.types import FloatArray


@dataclass
class Member:
    """One run of Algorithm 1.

    `path` has its classifiers, at least the last one, as the arrays that its machine makes of them: for a linear
    classifier coefficients and intercepts. A run that held rows out has the
    last scores (rows x problems) instead. `lost` are classes that no target row was labelled with at some iteration.
    """

    history: list[dict[str, Any]] = field(default_factory=list)
    path: list[tuple[FloatArray, ...]] = field(default_factory=list)
    scores: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    lost: set[int] = field(default_factory=set)
    n_failed: int = 0
    rounding: float = 0.0
    termination: str = ""


class Recorder:
    """Records the members of a group, iteration by iteration."""

    def __init__(self, task: Task, n_members: int, *, store_path: bool) -> None:
        self._task = task
        self._store_path = store_path
        self.members = [Member() for _ in range(n_members)]

    def start(self, state: State) -> None:
        """Record the classifier of the source."""
        nothing = np.zeros(state.labels.shape)
        for m in range(len(self.members)):
            self.add_to(m, state, state.labels, nothing[m], self._task.class_weights(state.labels[m]))
        self._keep_path(state)

    def add(self, state: State, previous: NDArray[np.intp], counts: NDArray[np.float64]) -> None:
        """Record an iteration of all members: the new state, the labels before it, and the counts of the draws."""
        for m, member in enumerate(self.members):
            self.add_to(m, state, previous, counts[m], self._task.class_weights(state.labels[m]))
            member.n_failed += int(state.solution.n_failed[m])
        self._keep_path(state)

    def add_to(
        self,
        m: int,
        state: State,
        previous: NDArray[np.intp],
        counts: NDArray[np.float64],
        class_weights: NDArray[np.float64],
    ) -> None:
        """Record an iteration of one member; `class_weights` are those of its balanced loss."""
        member, labels = self.members[m], state.labels[m]
        class_counts = np.bincount(labels, minlength=len(self._task.prior))
        loss, balanced_loss = self._task.losses(state, m, class_weights)
        member.history.append(
            {
                "iteration": len(member.history),
                "n_drawn": int(counts.sum()),
                "class_counts": class_counts.tolist(),
                "n_changed": int(np.count_nonzero(labels != previous[m])),
                "loss": loss,
                "balanced_loss": balanced_loss,
                **self._task.source_losses(state.row_losses[m]),
            }
        )
        member.lost |= set(np.flatnonzero((class_counts == 0) & (self._task.prior > 0)).tolist())

    def keep_classifier(self, m: int, *classifier: FloatArray) -> None:
        """Keep a classifier of a member, after the earlier ones or in their place."""
        path = self.members[m].path
        if not self._store_path:
            path.clear()
        path.append(classifier)

    def keep_last_classifiers(self, state: State) -> None:
        """Keep the classifiers of the last iteration, and the rounding errors of their scores."""
        machine = self._task.machine
        if not self._store_path:
            self._keep_classifiers(state)
        for member, rounding in zip(self.members, machine.rounding(state.solution, state.scores), strict=True):
            member.rounding = float(rounding)

    def keep_scores(self, state: State) -> None:
        """Keep the scores of the last iteration."""
        for m, member in enumerate(self.members):
            member.scores = self._task.machine.on_host(state.scores[m])

    def _keep_path(self, state: State) -> None:
        if self._store_path:
            self._keep_classifiers(state)

    def _keep_classifiers(self, state: State) -> None:
        for m, classifier in enumerate(zip(*self._task.machine.weights(state.solution), strict=True)):
            self.keep_classifier(m, *classifier)
