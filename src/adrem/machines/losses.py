"""The two losses, as functions of the margin, and their dual variables."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from adrem.exceptions import ParameterError
from adrem.machines.cost_model import Costs
from adrem.machines.loss import Array, Heartbeat, Loss, Optimum
from adrem.machines.newton import interior_point, newton_steps


class Hinge(Loss):
    """The linear support vector machine, as liblinear's ``-s 3``. A dual variable is the multiple itself."""

    name = "hinge"
    empty_dual = 0.0
    # Few of the rows that are visited are updated. Two classes leave SIMD lanes empty.
    costs = Costs(rows_per_entry=12, fixed_binary=300, fixed_multiclass=200)

    @staticmethod
    def losses(margins: Array) -> Array:
        losses: Array = np.maximum(0.0, 1.0 - margins)
        return losses

    @staticmethod
    def multiples(dual: Array, box: Array) -> Array:  # noqa: ARG004
        return dual

    @staticmethod
    def dual(multiples: Array, box: Array) -> Array:  # noqa: ARG004
        return multiples

    @staticmethod
    def best_factor(
        multiples: Array,
        margins: Array,
        box: Array,  # noqa: ARG004
        most: float,
    ) -> Array:
        """Minimize a parabola: half the squared norm, which is multiples times margins, less the multiples."""
        total, squared_norm = multiples.sum(axis=-1), np.sum(multiples * margins, axis=-1)
        is_inside = total < most * squared_norm
        best: Array = np.where(is_inside, total / np.where(is_inside, squared_norm, 1.0), most)
        return np.maximum(best, 1.0)

    @staticmethod
    def grows(multiples: Array, box: Array) -> bool:
        """Return whether a multiple is at its upper bound."""
        box = box[:, None, :]
        return bool(np.any((np.abs(multiples) >= box) & (box > 0)))

    def minimize(self, rows: Array, box: Array, tol: float, heartbeat: Heartbeat) -> Optimum:
        return interior_point(self, rows, box, tol, heartbeat)


class LogLoss(Loss):
    """Logistic regression, as liblinear's ``-s 7``. A dual variable is the logit of the multiple's share of the box."""

    name = "log_loss"
    empty_dual = -np.inf
    costs = Costs(rows_per_entry=4, fixed_binary=100, fixed_multiclass=100)

    @staticmethod
    def losses(margins: Array) -> Array:
        return np.logaddexp(0.0, -margins)

    @staticmethod
    def multiples(dual: Array, box: Array) -> Array:
        multiples: Array = box * expit(dual)
        return multiples

    @staticmethod
    def dual(multiples: Array, box: Array) -> Array:
        logits: Array = logit(multiples / np.where(box > 0, box, np.inf))
        return logits

    @staticmethod
    def best_factor(multiples: Array, margins: Array, box: Array, most: float) -> Array:
        """Find the zero of an increasing derivative by bisection."""
        low, high = np.ones(multiples.shape[:-1]), np.full(multiples.shape[:-1], most)
        for _ in range(20):
            middle = 0.5 * (low + high)
            logits = LogLoss.dual(middle[..., None] * multiples, box)
            slope = np.sum(multiples * (middle[..., None] * margins + np.maximum(logits, -1e300)), axis=-1)
            low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
        return low

    @staticmethod
    def grows(multiples: Array, box: Array) -> bool:  # noqa: ARG004
        """Return True: the log loss is never zero."""
        return True

    def minimize(self, rows: Array, box: Array, tol: float, heartbeat: Heartbeat) -> Optimum:
        return newton_steps(self, LogLoss.curvature, rows, box, tol, heartbeat)

    @staticmethod
    def curvature(dual: Array, box: Array) -> Array:
        """Return the second derivative of each row's loss, times its box, where the dual variable is optimal."""
        chances = expit(dual)
        return np.asarray(box * chances * (1.0 - chances))


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), LogLoss())}


def find_loss(name: str) -> Loss:
    """Return the loss of this name."""
    if name not in LOSSES:
        raise ParameterError(f"loss={name!r} is none of {', '.join(LOSSES)}.", "loss")
    return LOSSES[name]
