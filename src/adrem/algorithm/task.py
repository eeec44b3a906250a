"""The two steps of Algorithm 1: training on some rows of the target, and relabelling all of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.base.scoring import without_classes
from adrem.types import FloatArray

if TYPE_CHECKING:  # numba, which the machines need, is imported by the first fit
    from adrem.machines import Solution
    from adrem.machines.interface import MachineLike
    from adrem.machines.linear import TrainingSet


class State(NamedTuple):
    """Classifiers of some members, and what follows from them: scores, labels of the target, losses of all rows."""

    solution: Solution
    scores: Any
    labels: NDArray[np.intp]
    squared_norms: NDArray[np.float64]
    row_losses: NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """The rows of a source and a target, and what the algorithm needs beside them.

    `prior` is the share of each class in the draws. `sources` gives the source of each source row where there are
    several. `mixing` mixes the scores of target rows that are close to each other. `absent` marks classes that no
    target row is labelled with.
    """

    rows: TrainingSet
    prior: NDArray[np.float64]
    sources: NDArray[np.intp] | None = None
    mixing: Callable[[FloatArray], FloatArray] | None = None
    absent: NDArray[np.bool_] | None = None

    @property
    def is_present(self) -> NDArray[np.bool_]:
        """Which classes target rows may be labelled with."""
        return np.ones(len(self.prior), dtype=bool) if self.absent is None else ~self.absent

    @property
    def machine(self) -> MachineLike:
        """The machine that owns the rows."""
        return self.rows.machine

    def train(
        self,
        target_labels: NDArray[np.intp],
        counts: NDArray[np.float64],
        start: Solution | None = None,
        *,
        weights: NDArray[np.float64] | None = None,
        seed: int = 1,
        heartbeat: Callable[[], None] = lambda: None,
    ) -> Solution:
        """The M-step: train on the source and on the target rows that each member has drawn.

        The start is overwritten. `weights` (members x source rows) replace the weights of the source.
        """
        solution: Solution = self.machine.solve(
            self._all_rows(self.rows.labels, target_labels),
            self._all_rows(self.rows.weights if weights is None else weights, counts),
            self.rows.C,
            start=start,
            overwrite=True,
            seed=seed,
            heartbeat=heartbeat,
        )
        return solution

    def observe(self, solution: Solution) -> State:
        """The E-step: label the target, and compute the losses for these labels."""
        scores = self.machine.scores(solution)
        labels = self._relabel(scores)
        norms = self.machine.squared_norms(solution, scores)
        row_losses = self.machine.row_losses(scores, self._all_rows(self.rows.labels, labels))
        return State(solution, scores, labels, norms, row_losses)

    def _relabel(self, scores: Any) -> NDArray[np.intp]:
        from adrem.machines import decide

        of_target = scores[:, self.rows.n_source :]
        if self.mixing is None and self.absent is None:
            return self.machine.relabel(of_target)
        found: FloatArray = self.machine.on_host(of_target)
        if self.mixing is not None:
            found = self.mixing(found)
        return decide(found) if self.absent is None else without_classes(found, self.absent).argmax(axis=-1)

    def _all_rows(self, source: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
        """Concatenate source values, common or one row a member, with the target values of each member."""
        return np.concatenate([np.broadcast_to(source, (len(target), source.shape[-1])), target], axis=1)

    def class_weights(self, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """The weight of a row of each class in the balanced loss, equation 4 of the paper, for any prior."""
        counts = np.bincount(labels, minlength=len(self.prior))
        return np.asarray(self.prior * self.rows.n_target / np.maximum(counts, 1))

    def losses(self, state: State, m: int, class_weights: NDArray[np.float64]) -> tuple[float, float]:
        """The loss of a member by equation 3 of the paper, and the balanced loss of equation 4."""
        # A copy: sums round by the place in memory, and must not depend on the other members.
        on_source, on_target = np.split(state.row_losses[m].copy(), [self.rows.n_source])
        common = 0.5 * state.squared_norms[m] + self.rows.C * float(self.rows.weights @ on_source)
        balanced = float(class_weights[state.labels[m]] @ on_target)
        return common + self.rows.C * float(on_target.sum()), common + self.rows.C * balanced

    def source_losses(self, row_losses: NDArray[np.float64]) -> dict[str, list[float]]:
        """The mean loss of each source, where there are several."""
        if self.sources is None:
            return {}
        means = np.bincount(self.sources, row_losses[: len(self.sources)]) / np.bincount(self.sources)
        return {"source_losses": means.tolist()}


def without(task: Task, missing: Collection[int]) -> Task:
    """Return the task without the missing classes, and without those that it lacks already."""
    absent = ~task.is_present | np.isin(np.arange(len(task.prior)), list(missing))
    return replace(task, absent=absent) if missing else task
