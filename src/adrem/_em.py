"""Randomized expectation maximization: Algorithm 1 of the paper, for several members in step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adrem._progress import Ticker
from adrem._refine import refine
from adrem._sampling import draw
from adrem._types import FloatArray

if TYPE_CHECKING:  # numba, behind the machines, is loaded by the first fit
    from adrem.machines import Machine, Solution


@dataclass(frozen=True)
class Task:
    """A source and a target inside a machine, the source's rows first, and all that training on them needs.

    `weights` are the user's, one a source row; `prior` is the share of each class in the draws. `sources` tells which
    of several sources a row of the source is from. `mixing`, if any, mixes the scores of target rows that are alike.
    """

    machine: Machine
    labels: NDArray[np.intp]
    weights: NDArray[np.float64]
    n_target: int
    prior: NDArray[np.float64]
    C: float
    sources: NDArray[np.intp] | None = None
    mixing: Callable[[FloatArray], FloatArray] | None = None

    def relabel(self, scores: Any) -> NDArray[np.intp]:
        """The E-step of some members: labels of the target by the scores of all rows (members x rows x problems)."""
        from adrem.machines import decide

        of_target = scores[:, len(self.labels) :]
        if self.mixing is None:
            return self.machine.relabel(of_target)
        return decide(self.mixing(self.machine.on_host(of_target)))

    def row_losses(self, scores: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Losses of all rows (members x rows) under the scores, and the labels of the target, of some members."""
        return self.machine.row_losses(scores, self.beside_source(self.labels, labels))

    def train(
        self,
        target_labels: NDArray[np.intp],
        counts: NDArray[np.float64],
        start: Solution | None = None,
        *,
        weights: NDArray[np.float64] | None = None,
        seed: int = 1,
        pulse: Callable[[], None] = lambda: None,
    ) -> Solution:
        """The M-step of some members: train on the source and the target rows that each has drawn.

        The start becomes the solution. `weights` of the source are the user's unless others are given, for each member.
        """
        return self.machine.solve(
            self.beside_source(self.labels, target_labels),
            self.beside_source(self.weights if weights is None else weights, counts),
            self.C,
            start=start,
            overwrite=True,
            seed=seed,
            pulse=pulse,
        )

    def beside_source(self, source: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
        """Values for all rows from those of the source, common or each member's, and each member's for the target."""
        return np.concatenate([np.broadcast_to(source, (len(target), source.shape[-1])), target], axis=1)

    def train_source(self) -> Solution:
        """Train on the source alone."""
        nothing = np.zeros(self.n_target)
        labels, weights = (np.concatenate([own, nothing]) for own in (self.labels, self.weights))
        return self.machine.solve(labels.astype(np.intp), weights, self.C, among=np.arange(len(self.labels)))

    def source_losses(self, row_losses: NDArray[np.float64]) -> dict[str, list[float]]:
        """The mean loss of each of several sources by one member's losses of all rows; nothing for one source."""
        if self.sources is None:
            return {}
        means = np.bincount(self.sources, row_losses[: len(self.labels)]) / np.bincount(self.sources)
        return {"source_losses": means.tolist()}

    def class_weights(self, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """What a row of each class weighs in the balanced loss, for the prior, not the uniform one alone."""
        counts = np.bincount(labels, minlength=len(self.prior))
        return np.asarray(self.prior * self.n_target / np.maximum(counts, 1))

    def losses(
        self,
        squared_norm: float,
        row_losses: NDArray[np.float64],
        labels: NDArray[np.intp],
        class_weights: NDArray[np.float64],
    ) -> tuple[float, float]:
        """The loss of one member by equation 3 of the paper, and that with weights of the classes, as in equation 4."""
        # A copy, so that its place in memory, by which sums round, is not that of the member among others.
        on_source, on_target = np.split(row_losses.copy(), [len(self.labels)])
        common = 0.5 * squared_norm + self.C * float(self.weights @ on_source)
        balanced = float(class_weights[labels] @ on_target)
        return common + self.C * float(on_target.sum()), common + self.C * balanced


@dataclass
class Member:
    """One run of Algorithm 1: how it went, and its classifiers, at least the last: coefficients and intercepts.

    A run that held rows out has its last scores (rows x problems) instead.
    """

    history: list[dict[str, Any]] = field(default_factory=list)
    path: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    scores: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    lost: set[int] = field(default_factory=set)
    n_failed: int = 0
    rounding: float = 0.0
    termination: str = ""

    def keep(self, coef: FloatArray, intercept: FloatArray, store_path: bool) -> None:
        """Take a classifier, beside the earlier ones or in their place."""
        if not store_path:
            self.path.clear()
        self.path.append((coef, intercept))


def randomized_em(
    task: Task,
    source: Solution,
    rngs: list[np.random.Generator],
    *,
    n_iter: int,
    sampling: str,
    store_path: bool = False,
    until_stable: bool = False,
    held_out: NDArray[np.bool_] | None = None,
    n_refine: int = 0,
    ticker: Ticker | None = None,
) -> list[Member]:
    """Train on growing random subsets of the target, relabelling all of it after each training; a member for each rng.

    `source` is the classifier trained on the source alone; iteration 0 of the history describes it. Members only share
    the machine: what becomes of one does not depend on the others. The ticker hears of every training, and may stop it.
    With `until_stable` the iterations end as soon as no label of any member changes. The rows that `held_out` marks for
    each member (members x rows) have no part in its trainings; `source` must have been trained so too. After the last
    iteration up to `n_refine` steps go on with all of the target.
    """
    ticker = Ticker() if ticker is None else ticker
    machine = task.machine
    solution = machine.copies(source, len(rngs))
    members = [Member() for _ in rngs]
    labels = np.zeros((len(rngs), task.n_target), dtype=np.intp)
    n_source = len(task.labels)
    takes_part = np.full((len(rngs), n_source + task.n_target), True) if held_out is None else ~held_out
    weights = np.where(takes_part[:, :n_source], task.weights, 0.0)
    for k in range(n_iter + 1):
        counts = np.zeros(labels.shape)
        if k > 0:
            for own, drawn, part, rng in zip(labels, counts, takes_part[:, n_source:], rngs, strict=True):
                drawn[part] = draw(own[part], k / n_iter, task.prior, sampling, rng)
            solution = task.train(labels, counts, solution, weights=weights, seed=k, pulse=ticker.check)
        scores = machine.scores(solution)
        previous, labels = labels, task.relabel(scores)
        squared_norms, row_losses = machine.squared_norms(solution, scores), task.row_losses(scores, labels)
        last = k == n_iter or (until_stable and k > 0 and np.array_equal(labels, previous))
        coef, intercept = machine.weights(solution) if store_path or (last and held_out is None) else (None, None)
        rounding = machine.rounding(solution, scores) if last and held_out is None else np.zeros(len(rngs))
        for m, member in enumerate(members):
            class_counts = np.bincount(labels[m], minlength=len(task.prior))
            loss, balanced_loss = task.losses(squared_norms[m], row_losses[m], labels[m], task.class_weights(labels[m]))
            member.history.append(
                {
                    "iteration": k,
                    "n_drawn": int(counts[m].sum()),
                    "class_counts": class_counts.tolist(),
                    "n_changed": int(np.count_nonzero(labels[m] != previous[m])) if k > 0 else 0,
                    "loss": loss,
                    "balanced_loss": balanced_loss,
                    **task.source_losses(row_losses[m]),
                }
            )
            member.lost |= set(np.flatnonzero((class_counts == 0) & (task.prior > 0)).tolist())
            if coef is not None and intercept is not None:
                member.keep(coef[m], intercept[m], store_path)
            member.rounding = float(rounding[m])
            if last and held_out is not None:
                member.scores = machine.on_host(scores[m])
            if k > 0:
                member.n_failed += int(solution.n_failed[m])
                ticker()
        if last:
            break
    if n_refine:
        refine(task, solution, labels, members, n_refine, store_path=store_path, ticker=ticker)
    return members
