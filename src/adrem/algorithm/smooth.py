"""Minimization of smooth functions of a weight matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from adrem.runtime.notices import NamingText, warn_user

# weights -> (value, gradient)
Objective = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


def minimize_smooth(
    objective: Objective, start: NDArray[np.float64], tol: float, max_steps: int = 1000
) -> tuple[NDArray[np.float64], bool]:
    """Minimize by L-BFGS until the gradient is `tol` times that at zero; return weights and whether it converged."""
    if not start.size:
        return start, True

    def flat(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = objective(weights.reshape(start.shape))
        return value, gradient.ravel()

    largest = float(np.abs(objective(np.zeros_like(start))[1]).max())
    options = {"gtol": max(tol * largest, np.finfo(float).tiny), "ftol": 0.0, "maxiter": max_steps, "maxls": 50}
    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(start.shape), found.nit < max_steps


def warn_not_converged(name: str) -> None:
    """Warn that the solver reached its maximum number of steps."""
    text = "{name} did not converge. Scale the features, or set a smaller {C} or a larger {tol}."
    warn_user(NamingText(text, name=name), ConvergenceWarning)
