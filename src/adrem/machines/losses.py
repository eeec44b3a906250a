"""The two losses, as functions of the margin, and their dual variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from adrem.machines.compiled.losses import COMPILED_LOSSES, CompiledLoss


class Loss(ABC):
    """A loss of the margin, the score times the sign of the label."""

    name: ClassVar[str]
    is_smooth: ClassVar[bool]
    empty_dual: ClassVar[float]

    @property
    def compiled(self) -> CompiledLoss:
        """The same loss inside the compiled kernels."""
        return COMPILED_LOSSES[self.name]

    @staticmethod
    @abstractmethod
    def losses(margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss at every margin."""

    @staticmethod
    @abstractmethod
    def multiples(dual: NDArray[np.float64], box: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the multiple of every row in the weight vector, without its sign."""

    @staticmethod
    @abstractmethod
    def dual(multiples: NDArray[np.float64], box: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the dual variables for these multiples."""

    @staticmethod
    @abstractmethod
    def violations(
        margins: NDArray[np.float64], dual: NDArray[np.float64], box: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how far each dual variable is from its optimum, for rows whose box is not empty."""

    @staticmethod
    @abstractmethod
    def best_factor(
        multiples: NDArray[np.float64], margins: NDArray[np.float64], box: NDArray[np.float64], most: float
    ) -> NDArray[np.float64]:
        """Return the best common factor, between 1 and `most`, of a problem's multiples, given larger boxes."""

    @staticmethod
    @abstractmethod
    def grows(multiples: NDArray[np.float64], box: NDArray[np.float64]) -> bool:
        """Return whether larger boxes would change a solution with these multiples."""


class Hinge(Loss):
    """The linear support vector machine, as liblinear's ``-s 3``. A dual variable is the multiple itself."""

    name = "hinge"
    is_smooth = False
    empty_dual = 0.0

    @staticmethod
    def losses(margins: NDArray[np.float64]) -> NDArray[np.float64]:
        losses: NDArray[np.float64] = np.maximum(0.0, 1.0 - margins)
        return losses

    @staticmethod
    def multiples(dual: NDArray[np.float64], box: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG004
        return dual

    @staticmethod
    def dual(multiples: NDArray[np.float64], box: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG004
        return multiples

    @staticmethod
    def violations(
        margins: NDArray[np.float64], dual: NDArray[np.float64], box: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the projected gradient."""
        gradient = margins - 1.0
        may_go = np.where(gradient < 0, dual < box, dual > 0)
        return np.where(may_go, gradient, 0.0)

    @staticmethod
    def best_factor(
        multiples: NDArray[np.float64],
        margins: NDArray[np.float64],
        box: NDArray[np.float64],  # noqa: ARG004
        most: float,
    ) -> NDArray[np.float64]:
        """Minimize a parabola: half the squared norm, which is multiples times margins, less the multiples."""
        total, squared_norm = multiples.sum(axis=-1), np.sum(multiples * margins, axis=-1)
        is_inside = total < most * squared_norm
        best: NDArray[np.float64] = np.where(is_inside, total / np.where(is_inside, squared_norm, 1.0), most)
        return np.maximum(best, 1.0)

    @staticmethod
    def grows(multiples: NDArray[np.float64], box: NDArray[np.float64]) -> bool:
        """Return whether a multiple is at its upper bound."""
        box = box[:, None, :]
        return bool(np.any((np.abs(multiples) >= box) & (box > 0)))


class LogLoss(Loss):
    """Logistic regression, as liblinear's ``-s 7``. A dual variable is the logit of the multiple's share of the box."""

    name = "log_loss"
    is_smooth = True
    empty_dual = -np.inf

    @staticmethod
    def losses(margins: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.logaddexp(0.0, -margins)

    @staticmethod
    def multiples(dual: NDArray[np.float64], box: NDArray[np.float64]) -> NDArray[np.float64]:
        multiples: NDArray[np.float64] = box * expit(dual)
        return multiples

    @staticmethod
    def dual(multiples: NDArray[np.float64], box: NDArray[np.float64]) -> NDArray[np.float64]:
        logits: NDArray[np.float64] = logit(multiples / np.where(box > 0, box, np.inf))
        return logits

    @staticmethod
    def violations(
        margins: NDArray[np.float64],
        dual: NDArray[np.float64],
        box: NDArray[np.float64],  # noqa: ARG004
    ) -> NDArray[np.float64]:
        """Return the gradient, the logit plus the margin."""
        violations: NDArray[np.float64] = dual + margins
        return violations

    @staticmethod
    def best_factor(
        multiples: NDArray[np.float64], margins: NDArray[np.float64], box: NDArray[np.float64], most: float
    ) -> NDArray[np.float64]:
        """Find the zero of an increasing derivative by bisection."""
        low, high = np.ones(multiples.shape[:-1]), np.full(multiples.shape[:-1], most)
        for _ in range(20):
            middle = 0.5 * (low + high)
            logits = LogLoss.dual(middle[..., None] * multiples, box)
            slope = np.sum(multiples * (middle[..., None] * margins + np.maximum(logits, -1e300)), axis=-1)
            low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
        return low

    @staticmethod
    def grows(multiples: NDArray[np.float64], box: NDArray[np.float64]) -> bool:  # noqa: ARG004
        """Return True: the log loss is never zero."""
        return True


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), LogLoss())}
