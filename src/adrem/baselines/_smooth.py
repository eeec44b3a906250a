"""Minimizing smooth functions of a matrix of weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

# Value and gradient at some weights.
Objective = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


def minimize_smooth(
    objective: Objective, start: NDArray[np.float64], tol: float, max_steps: int = 1000
) -> tuple[NDArray[np.float64], bool]:
    """Weights, of the start's shape, at which the gradient has shrunk to `tol` times that at zero; by L-BFGS.

    After `max_steps` steps they are what has been reached, never worse than the start, and it says that it was not all.
    """
    if not start.size:
        return start, True

    def flat(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = objective(weights.reshape(start.shape))
        return value, gradient.ravel()

    largest = float(np.abs(objective(np.zeros_like(start))[1]).max())
    options = {"gtol": max(tol * largest, np.finfo(float).tiny), "ftol": 0.0, "maxiter": max_steps, "maxls": 50}
    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(start.shape), found.nit < max_steps


def warn_of_steps(name: str) -> None:
    """Say that a minimum was not reached."""
    warnings.warn(
        f"{name} was given up before it reached its tol. Scale the features, give a smaller C or a larger tol.",
        ConvergenceWarning,
        stacklevel=6,
    )
