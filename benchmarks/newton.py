"""Compare coordinate descent and Newton's method (BLAS-3, all classes at once) on one training with the log loss.

    OMP_NUM_THREADS=1 ADREM_DATA=folder python benchmarks/newton.py

Both start from the source classifier and train on the source and half of the target. Newton's steps are found by
conjugate gradients, for all classes in the same products of float32 matrices, each class with its own step length,
halved until its objective falls. It stops within 1e-3 of our objective for every class, or after ten steps; alternated,
medians.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from scipy.special import expit
from solver import TASKS

from adrem.algorithm.sampling import draw
from adrem.algorithm.task import Task
from adrem.machines import decide, make_machine
from adrem.machines.linear import TrainingSet
from adrem.machines.tables import stack

GAP, MOST_STEPS, MOST_PRODUCTS = 1e-3, 10, 30


class Problem:
    """All one-vs-rest problems of a training, in the space of the features."""

    def __init__(self, X: Any, signs: Any, costs: Any) -> None:
        self.X, self.signs, self.costs = X, signs, costs

    def objective(self, weights: Any) -> Any:
        losses = np.logaddexp(0, -self.signs * (self.X @ weights))
        return 0.5 * np.sum(weights**2, axis=0) + np.sum(self.costs * losses, axis=0)

    def direction(self, weights: Any) -> Any:
        """Newton's direction by conjugate gradients, to a tenth of the gradient."""
        missed = expit(-self.signs * (self.X @ weights))
        residual = self.X.T @ (self.costs * self.signs * missed) - weights
        curvature = self.costs * missed * (1 - missed)
        step, search, squares = np.zeros_like(weights), residual, np.sum(residual**2, axis=0)
        goal = 0.01 * squares
        for _ in range(MOST_PRODUCTS):
            product = search + self.X.T @ (curvature * (self.X @ search))
            length = squares / np.maximum(np.sum(search * product, axis=0), 1e-30)
            step, residual = step + length * search, residual - length * product
            previous, squares = squares, np.sum(residual**2, axis=0)
            if np.all(squares <= goal):
                break
            search = residual + squares / np.maximum(previous, 1e-30) * search
        return step

    def newton(self, weights: Any, goal: Any) -> tuple[int, float]:
        """Steps taken, and the largest part by which the objectives miss the goal."""
        values = self.objective(weights)
        for k in range(MOST_STEPS):
            if np.all(values <= (1 + GAP) * goal):
                return k, float(np.max(values / goal - 1))
            step = self.direction(weights)
            for _ in range(10):
                tried = self.objective(weights + step)
                if np.all(tried <= values):
                    break
                step[:, tried > values] *= 0.5
            weights, values = weights + step, tried
        return MOST_STEPS, float(np.max(values / goal - 1))


def compare(name: str, C: float, rounds: int = 3) -> None:
    data = TASKS[name]()
    X = stack([data.X_source, data.X_target]).astype(np.float32)
    labels = np.unique(data.y_source, return_inverse=True)[1].astype(np.intp)
    n_source, n_classes = len(labels), int(labels.max()) + 1
    machine = make_machine(X, n_classes, "log_loss")
    task = Task(
        TrainingSet(machine, labels, np.ones(n_source), len(X) - n_source, C), np.full(n_classes, 1 / n_classes)
    )
    start = task.rows.train_source()
    guess = decide(machine.scores(start))[:, n_source:]
    counts = draw(guess[0], 0.5, task.prior, "balanced", np.random.default_rng(0))[None]
    costs = C * np.concatenate([np.ones(n_source), counts[0]])
    used = costs > 0
    signs = np.where(np.concatenate([labels, guess[0]])[used, None] == np.arange(n_classes), 1, -1).astype(np.float32)
    problem = Problem(X[used], signs, costs[used, None].astype(np.float32))
    times = []
    for _ in range(rounds):
        copy = machine.copies(start, 1)
        begin = perf_counter()
        solution = task.train(guess, counts, copy)
        ours = perf_counter() - begin
        goal, first = (problem.objective(machine.weights(one)[0][0].T) for one in (solution, start))
        weights = machine.weights(start)[0][0].T.copy()
        begin = perf_counter()
        n_steps, gap = problem.newton(weights, goal)
        times.append((ours, perf_counter() - begin))
    a, b = (median(side) for side in zip(*times, strict=True))
    begun = f"start {np.max(first / goal - 1):.2g}, Newton's end {gap:.1e} above ours after {n_steps} steps"
    print(f"{name:15} C {C:g}  ours {a:6.3f} s  Newton {b:6.3f} s  ratio {b / a:5.1f} x  ({begun})", flush=True)


if __name__ == "__main__":
    for task_name, chosen in (("office-31 A>W", 0.01), ("surf A>C", 0.001), ("made dense", 0.001)):
        compare(task_name, chosen)
