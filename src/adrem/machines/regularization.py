"""The choice of C by cross-validation on the source."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from adrem.machines.interface import MachineLike
from adrem.machines.machine import Machine
from adrem.machines.problems import Solution

N_FOLDS = 3
# The paper's grid: 1e-3, 1e-2, ..., 1e4.
GRID = tuple(10.0**power for power in range(-3, 5))
# Trainings that only serve to choose C are given up this many times sooner. With a large C and rows that are not
# separable they would take most of the time, and such a C is not chosen.
GIVE_UP_FACTOR = 10.0
# Accuracies within this many standard errors of the highest count as equal to it. Zero would be the plain maximum.
STANDARD_ERRORS = 1.0


def select_c(
    machine: Machine,
    labels: NDArray[np.intp],
    weights: NDArray[np.float64],
    candidates: tuple[float, ...],
    seed: int,
) -> float:
    """Return the first candidate with the best cross-validated accuracy.

    Accuracies within one standard error of the highest count as equal to it (Breiman's rule), so that the choice
    depends less on the folds. In the paper's grid the first of equals is the most regularized.

    Rows of weight zero take no part. A fold is left out by setting its weights to zero, so that all folds are trained
    together on the same rows. Each value of C starts from the solution of the next smaller one. Once a training is
    given up, larger values are not tried: they would take long and be given up too.
    """
    source = np.flatnonzero(weights > 0)
    held_out = make_folds(labels, weights, seed)
    training = np.where(held_out, 0.0, weights)
    accuracy = np.zeros(len(candidates))
    solution: Solution | None = None
    previous, correct = 1.0, 0.0
    for k in np.argsort(candidates):
        # If no multiple is at its upper bound, the classifier is the same for every larger C.
        if solution is None or machine.grows(solution):
            C = candidates[k]
            if solution is not None:
                machine.rescale(solution, C / previous)
            solution = machine.solve(
                labels, training, C, start=solution, overwrite=True, among=source, give_up_factor=GIVE_UP_FACTOR
            )
            previous = C
            hits = machine.relabel(machine.scores(solution)) == labels
            correct = float(np.sum(weights * (hits & held_out)))
        accuracy[k] = correct / weights.sum()
        if solution.n_failed.any():
            break
    return candidates[first_best(accuracy, weights)]


def held_out_accuracy(
    machine: MachineLike, labels: NDArray[np.intp], weights: NDArray[np.float64], C: float, seed: int
) -> float:
    """Return the cross-validated accuracy, with the folds by which C is chosen."""
    held_out = make_folds(labels, weights, seed)
    solution = machine.solve(labels, np.where(held_out, 0.0, weights), C, among=np.flatnonzero(weights > 0))
    hits = (machine.relabel(machine.scores(solution)) == labels) & held_out
    return float((hits @ weights).sum() / weights.sum())


def make_folds(labels: NDArray[np.intp], weights: NDArray[np.float64], seed: int) -> NDArray[np.bool_]:
    """Return which rows each fold holds out (folds x rows), stratified; rows of weight zero are in none."""
    rows = np.flatnonzero(weights > 0)
    held_out = np.zeros((N_FOLDS, len(labels)), dtype=bool)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(rows, labels[rows])
    for fold, (_, held) in enumerate(folds):
        held_out[fold, rows[held]] = True
    return held_out


def first_best(accuracy: NDArray[np.float64], weights: NDArray[np.float64]) -> int:
    """Return the position of the first accuracy within one standard error of the highest."""
    best = min(accuracy.max(), 1.0)  # a sum of weights may exceed their total by a rounding error
    shares = weights / weights.max()  # their squares can't overflow
    n_effective = shares.sum() ** 2 / (shares**2).sum()
    standard_error = np.sqrt(best * (1.0 - best) / n_effective)
    return int(np.argmax(accuracy >= best - STANDARD_ERRORS * standard_error))
