"""The choice of C by cross-validation on the source."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from adrem.machines._machine import Machine
from adrem.machines._problems import Solution

N_FOLDS = 3
# The paper's grid: 1e-3, 1e-2, ..., 1e4.
GRID = tuple(10.0**power for power in range(-3, 5))
# How much sooner than others the trainings are given up that choose C: where they do not come to an end, with a large C
# on rows that can't be separated, they would take most of the time, and are not what is chosen.
HURRY = 10.0
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
    left out of a training by setting its weights to zero, so the machine's rows serve all trainings, the folds are
    trained side by side, and each value of C starts from the solution of the one below. Where a training was given up,
    those with a larger C would be too, at great length: they are not tried.
    """
    source = np.flatnonzero(weights > 0)
    held_out = make_folds(labels, weights, seed)
    training = np.where(held_out, 0.0, weights)
    accuracy = np.zeros(len(candidates))
    solution: Solution | None = None
    previous, correct = 1.0, 0.0
    for k in np.argsort(candidates):
        # Where no row touches its box, the classifier is the same for every larger C.
        if solution is None or machine.grows(solution):
            C = candidates[k]
            if solution is not None:
                machine.rescale(solution, C / previous)
            with machine.hurried(HURRY):
                solution = machine.solve(labels, training, C, start=solution, overwrite=True, among=source)
            previous = C
            hits = machine.relabel(machine.scores(solution)) == labels
            correct = float(np.sum(weights * (hits & held_out)))
        accuracy[k] = correct / weights.sum()
        if solution.n_failed.any():
            break
    return candidates[first_best(accuracy, weights)]


def held_out_accuracy(
    machine: Machine, labels: NDArray[np.intp], weights: NDArray[np.float64], C: float, seed: int
) -> float:
    """Accuracy on rows that had no part in the training, over the folds by which C is chosen."""
    held_out = make_folds(labels, weights, seed)
    solution = machine.solve(labels, np.where(held_out, 0.0, weights), C, among=np.flatnonzero(weights > 0))
    hits = (machine.relabel(machine.scores(solution)) == labels) & held_out
    return float((hits @ weights).sum() / weights.sum())


def make_folds(labels: NDArray[np.intp], weights: NDArray[np.float64], seed: int) -> NDArray[np.bool_]:
    """Which rows each fold (folds x rows) holds out, stratified; rows of weight zero are in none."""
    rows = np.flatnonzero(weights > 0)
    held_out = np.zeros((N_FOLDS, len(labels)), dtype=bool)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(rows, labels[rows])
    for fold, (_, held) in enumerate(folds):
        held_out[fold, rows[held]] = True
    return held_out


def first_best(accuracy: NDArray[np.float64], weights: NDArray[np.float64]) -> int:
    """Position of the first accuracy on rows of these weights that is within one standard error of the highest."""
    best = min(accuracy.max(), 1.0)  # a sum of weights may exceed their total by a rounding error
    shares = weights / weights.max()  # of any size, and their squares may be beyond all numbers
    n_effective = shares.sum() ** 2 / (shares**2).sum()
    standard_error = np.sqrt(best * (1.0 - best) / n_effective)
    return int(np.argmax(accuracy >= best - STANDARD_ERRORS * standard_error))
