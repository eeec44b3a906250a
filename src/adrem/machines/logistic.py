"""Logistic regression: log loss, as liblinear's ``-s 7``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from adrem._types import FloatArray
from adrem.machines._kernels import move_log_loss, solve_log_loss
from adrem.machines._machine import Machine, Solution


class LogisticMachine(Machine):
    """Machine for the log loss. A dual variable is kept as the logit of its share of the box."""

    _move = move_log_loss
    _solve = solve_log_loss
    _solve_gram = solve_log_loss
    _empty_dual = -np.inf

    @staticmethod
    def losses(margins: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, -margins)

    @staticmethod
    def _coefficients(solution: Solution) -> NDArray[np.float64]:
        multiples: NDArray[np.float64] = solution.box * expit(solution.dual)
        return multiples

    @staticmethod
    def _rescaled_dual(solution: Solution, factor: float) -> NDArray[np.float64]:  # noqa: ARG004 - shares have no scale
        return solution.dual

    @staticmethod
    def grows(solution: Solution) -> bool:  # noqa: ARG004 - no dual variable ever stops at a finite C
        return True
