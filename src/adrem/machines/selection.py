"""The choice of C by cross-validation on the source."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from adrem.machines._machine import Machine, Solution, decide

N_FOLDS = 3
# The paper's grid: 1e-3, 1e-2, ..., 1e4.
GRID = tuple(10.0**power for power in range(-3, 5))
# How far below the highest an accuracy may lie and still count as equal to it. Zero would be the plain maximum.
STANDARD_ERRORS = 1.0


def select_c(
    machine: Machine,
    labels: NDArray[np.intp],
    weights: NDArray[np.float64],
    candidates: tuple[float, ...],
    seed: int,
) -> float:
    """The first candidate of the best cross-validated accuracy.

    Accuracies within one standard error of the highest count as equal to it (Breiman's rule): taking whichever is ahead
    by chance makes the choice a matter of the folds. In the paper's grid the first of equals is the most regularized.

    A row of weight zero takes no part: neither the target, nor the source rows that the user weighted away. A fold is
    left out of a training by setting its weights to zero, so the machine's rows serve all trainings, and each value of
    C starts from the solution of the one below.
    """
    source = np.flatnonzero(weights > 0)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(source, labels[source])
    correct = np.zeros(len(candidates))
    for _, held in folds:
        held_out = source[held]
        training = weights.copy()
        training[held_out] = 0.0
        solution: Solution | None = None
        previous = 1.0
        for k in np.argsort(candidates):
            # Where no row touches its box, the classifier is the same for every larger C.
            if solution is None or machine.grows(solution):
                C = candidates[k]
                start = None if solution is None else machine.rescale(solution, C / previous)
                solution, previous = machine.solve(labels, training, C, start=start), C
                hits = decide(machine.scores(solution)[held_out]) == labels[held_out]
            correct[k] += weights[held_out] @ hits
    return candidates[_first_best(correct / weights.sum(), weights)]


def _first_best(accuracy: NDArray[np.float64], weights: NDArray[np.float64]) -> int:
    best = min(accuracy.max(), 1.0)  # a sum of weights may exceed their total by a rounding error
    n_effective = weights.sum() ** 2 / (weights**2).sum()
    standard_error = np.sqrt(best * (1.0 - best) / n_effective)
    return int(np.argmax(accuracy >= best - STANDARD_ERRORS * standard_error))
