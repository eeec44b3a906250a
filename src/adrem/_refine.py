"""Beyond the paper: after the last draw, all of the target takes part until its labels stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adrem._progress import Ticker

if TYPE_CHECKING:
    from adrem._em import Member, Task
    from adrem.machines import Solution

NO_CHANGE = "no label changed"
RISING = "the balanced loss would have risen"


def refine(
    task: Task,
    solution: Solution,
    labels: NDArray[np.intp],
    members: list[Member],
    n_steps: int,
    *,
    store_path: bool,
    ticker: Ticker,
) -> None:
    """Train on all of the target and relabel it, for so many steps or until nothing changes, member by member.

    A row weighs what its class does in the balanced loss (equation 4 of the paper), by the labels at the start: weights
    that followed the labels would be another loss at every step. A step after which that loss is higher is not taken,
    and ends the member. The members are changed in place, those that have ended no more.
    """
    class_weights = np.stack([task.class_weights(own) for own in labels])
    scores = task.machine.scores(solution)
    norms = task.machine.squared_norms(solution, scores)
    row_losses = task.row_losses(scores, labels)
    losses = [task.losses(*state)[1] for state in zip(norms, row_losses, labels, class_weights, strict=True)]
    for step in range(1, n_steps + 1):
        row_weights = np.take_along_axis(class_weights, labels, axis=1)
        solution = task.train(labels, row_weights, solution, seed=step, pulse=ticker.check)
        scores = task.machine.scores(solution)
        norms = task.machine.squared_norms(solution, scores)
        found = task.relabel(scores)
        row_losses = task.row_losses(scores, found)
        coef, intercept = task.machine.weights(solution)
        for m, member in enumerate(members):
            if member.termination:
                continue
            loss, balanced_loss = task.losses(norms[m], row_losses[m], found[m], class_weights[m])
            if balanced_loss > losses[m]:
                member.termination = RISING
                continue
            n_changed = int(np.count_nonzero(found[m] != labels[m]))
            if n_changed == 0:
                member.termination = NO_CHANGE
            losses[m], labels[m] = balanced_loss, found[m]
            member.n_failed += int(solution.n_failed[m])
            member.keep(coef[m], intercept[m], store_path)
            member.history.append(
                {
                    "iteration": member.history[-1]["iteration"] + 1,
                    "n_drawn": task.n_target,
                    "class_counts": np.bincount(found[m], minlength=len(task.prior)).tolist(),
                    "n_changed": n_changed,
                    "loss": loss,
                    "balanced_loss": balanced_loss,
                    **task.source_losses(row_losses[m]),
                }
            )
        if all(member.termination for member in members):
            return
    for member in members:
        member.termination = member.termination or f"refine={n_steps} was reached"
