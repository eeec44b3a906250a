"""The interface of the losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.machines.compiled.losses import COMPILED_LOSSES, CompiledLoss, violations
from adrem.machines.cost_model import Costs

Array = NDArray[np.float64]
Heartbeat = Callable[[], None]


class Optimum(NamedTuple):
    """Dual variables of the rows, as defined by the loss, and their weight vector.

    `width` is the largest violation less the smallest, which is liblinear's stopping criterion.
    """

    dual: Array
    weights: Array
    width: float


class Loss(ABC):
    """A loss of the margin, the score times the sign of the label."""

    name: ClassVar[str]
    # The dual variable of a row of weight zero.
    empty_dual: ClassVar[float]
    # What a Gram matrix costs and saves, for the cost model.
    costs: ClassVar[Costs]

    @property
    def compiled(self) -> CompiledLoss:
        """The same loss inside the compiled kernels."""
        return COMPILED_LOSSES[self.name]

    @staticmethod
    @abstractmethod
    def losses(margins: Array) -> Array:
        """Return the loss at every margin."""

    @staticmethod
    @abstractmethod
    def multiples(dual: Array, box: Array) -> Array:
        """Return the multiple of every row in the weight vector, without its sign."""

    @staticmethod
    @abstractmethod
    def dual(multiples: Array, box: Array) -> Array:
        """Return the dual variables for these multiples."""

    @staticmethod
    @abstractmethod
    def best_factor(multiples: Array, margins: Array, box: Array, most: float) -> Array:
        """Return the best common factor, between 1 and `most`, of a problem's multiples, given larger boxes."""

    @staticmethod
    @abstractmethod
    def grows(multiples: Array, box: Array) -> bool:
        """Return whether larger boxes would change a solution with these multiples."""

    @abstractmethod
    def minimize(self, rows: Array, box: Array, tol: float, heartbeat: Heartbeat) -> Optimum:
        """Return the optimum within `tol` by Newton's method, or the best point found.

        `box` is the weight of each row times C.
        """

    @np.errstate(all="ignore")  # overflow makes the width infinite
    def judge(self, rows: Array, dual: Array, box: Array) -> Optimum:
        """Return dual variables with their weight vector and their violations; rows have the signs of their labels."""
        weights = self.multiples(dual, box) @ rows
        found = violations(self.compiled, rows @ weights, dual, box)
        width = found.max(initial=0.0) - found.min(initial=0.0)
        return Optimum(dual, weights, float(width) if np.isfinite(width) else np.inf)
