"""Randomized expectation maximization: Algorithm 1 of the paper, for several members side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adrem.algorithm.recorder import Member, Recorder
from adrem.algorithm.refine import refine
from adrem.algorithm.sampling import draw
from adrem.algorithm.task import State, Task
from adrem.runtime.progress import Ticker

if TYPE_CHECKING:  # numba, which the machines need, is imported by the first fit
    from adrem.machines import Solution


@dataclass(frozen=True)
class EMOptions:
    """How Algorithm 1 runs: the parameters of `AdREM` that concern it.

    With `until_stable` the iterations end as soon as no label of any member changes, as plain self-training does.
    """

    n_iter: int = 20
    sampling: str = "balanced"
    store_path: bool = False
    until_stable: bool = False
    n_refine: int = 0


class AllRows:
    """Every row takes part in every member; the members keep their classifiers."""

    source_weights = None

    def draw(
        self, task: Task, labels: NDArray[np.intp], fraction: float, sampling: str, rngs: list[np.random.Generator]
    ) -> NDArray[np.float64]:
        """Return how often each member draws each target row (members x rows)."""
        draws = (draw(own, fraction, task.prior, sampling, rng) for own, rng in zip(labels, rngs, strict=True))
        return np.stack(list(draws))

    def finish(self, recorder: Recorder, state: State) -> None:
        """Keep what the caller needs of the last state."""
        recorder.keep_last_classifiers(state)


class HeldOutRows:
    """Some rows take no part in a member (`held_out`: members x rows); the members keep the scores of all rows."""

    def __init__(self, task: Task, held_out: NDArray[np.bool_]) -> None:
        self.source_weights = np.where(held_out[:, : task.rows.n_source], 0.0, task.rows.weights)
        self._target = ~held_out[:, task.rows.n_source :]

    def draw(
        self, task: Task, labels: NDArray[np.intp], fraction: float, sampling: str, rngs: list[np.random.Generator]
    ) -> NDArray[np.float64]:
        """Draw from the rows that take part, as `AllRows` does from all rows."""
        counts = np.zeros(labels.shape)
        for own, drawn, part, rng in zip(labels, counts, self._target, rngs, strict=True):
            drawn[part] = draw(own[part], fraction, task.prior, sampling, rng)
        return counts

    def finish(self, recorder: Recorder, state: State) -> None:
        """Keep the scores."""
        recorder.keep_scores(state)


def randomized_em(
    task: Task,
    source: Solution,
    rngs: list[np.random.Generator],
    options: EMOptions,
    *,
    participants: AllRows | HeldOutRows | None = None,
    ticker: Ticker | None = None,
) -> list[Member]:
    """Train on growing random subsets of the target, and relabel all of it after each training; one member per rng.

    `source` is the classifier of the source alone, trained on the source rows that take part. A member does not depend
    on the others. The ticker counts the trainings, and may stop them.
    """
    participants = AllRows() if participants is None else participants
    ticker = Ticker() if ticker is None else ticker
    recorder = Recorder(task, len(rngs), store_path=options.store_path)
    state = task.observe(task.machine.copies(source, len(rngs)))
    recorder.start(state)
    for k in range(1, options.n_iter + 1):
        previous = state.labels
        counts = participants.draw(task, previous, k / options.n_iter, options.sampling, rngs)
        solution = task.train(
            previous, counts, state.solution, weights=participants.source_weights, seed=k, heartbeat=ticker.check
        )
        state = task.observe(solution)
        recorder.add(state, previous, counts)
        ticker(len(rngs))
        if options.until_stable and np.array_equal(state.labels, previous):
            break
    participants.finish(recorder, state)
    if options.n_refine:
        refine(task, state, recorder, options.n_refine, ticker)
    return recorder.members
