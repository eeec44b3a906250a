"""Beyond the paper: after the last draw, train on all of the target until its labels no longer change."""

from __future__ import annotations

import numpy as np

from adrem.algorithm.recorder import Recorder
from adrem.algorithm.task import State, Task
from adrem.runtime.progress import Ticker

NO_CHANGE = "no label changed"
RISING = "the balanced loss would have risen"


def refine(task: Task, state: State, recorder: Recorder, n_steps: int, ticker: Ticker) -> None:
    """Train on all of the target and relabel it, for at most `n_steps` steps, until no label of a member changes.

    The weight of a row is that of its class in the balanced loss (equation 4 of the paper). The class weights are
    computed once, from the labels at the start, so that all steps have the same loss. A step that would raise the loss
    of a member is discarded, and the member stops.
    """
    members, labels = recorder.members, state.labels.copy()
    class_weights = np.stack([task.class_weights(own) for own in labels])
    losses = [task.losses(state, m, class_weights[m])[1] for m in range(len(members))]
    everything = np.ones(task.rows.n_target)
    for step in range(1, n_steps + 1):
        row_weights = np.take_along_axis(class_weights, labels, axis=1)
        state = task.observe(task.train(labels, row_weights, state.solution, seed=step, heartbeat=ticker.check))
        coef, intercept = task.machine.weights(state.solution)
        for m, member in enumerate(members):
            if member.termination:
                continue
            balanced_loss = task.losses(state, m, class_weights[m])[1]
            if balanced_loss > losses[m]:
                member.termination = RISING
                continue
            recorder.add_to(m, state, labels, everything, class_weights[m])
            recorder.keep_classifier(m, coef[m], intercept[m])
            member.n_failed += int(state.solution.n_failed[m])
            if np.array_equal(state.labels[m], labels[m]):
                member.termination = NO_CHANGE
            losses[m], labels[m] = balanced_loss, state.labels[m]
        if all(member.termination for member in members):
            return
    for member in members:
        member.termination = member.termination or f"refine={n_steps} was reached"
