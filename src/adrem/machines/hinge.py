"""The linear support vector machine: hinge loss, as liblinear's ``-s 3``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adrem._types import FloatArray
from adrem.machines._kernels import move_hinge, solve_hinge, solve_hinge_gram
from adrem.machines._machine import Machine, Solution


class HingeMachine(Machine):
    """Machine for the hinge loss. Dual variables are kept as they are, between zero and the box."""

    _move = move_hinge
    _solve = solve_hinge
    _solve_gram = solve_hinge_gram
    _empty_dual = 0.0

    @staticmethod
    def losses(margins: FloatArray) -> FloatArray:
        losses: FloatArray = np.maximum(0.0, 1.0 - margins)
        return losses

    @staticmethod
    def _coefficients(solution: Solution) -> NDArray[np.float64]:
        return solution.dual

    @staticmethod
    def _rescaled_dual(solution: Solution, factor: float) -> NDArray[np.float64]:
        return solution.dual * factor

    @staticmethod
    def grows(solution: Solution) -> bool:
        """Whether a larger C would change this solution: not if no dual variable touches its box."""
        return bool(np.any((solution.dual >= solution.box) & (solution.box > 0)))
