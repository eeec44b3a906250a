"""The formulas of each loss for one row of one problem, and the objects that carry them into the kernels.

A kernel takes a `CompiledLoss` as its first argument and calls its methods. Each loss has a numba type of its own, so
that numba compiles every kernel once for each loss, with the formulas inlined, and caches it on disk.

* Hinge loss (Hsieh et al. 2008): the dual variable is the multiple of the row itself.
* Log loss (Yu et al. 2011): the multiple is ``box * sigmoid(dual)``. At the optimum the dual variable is minus the
  margin, so their sum is the gradient. With logits no variable reaches an end of its box, and no logarithm is taken
  near zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import NativeValue, models, overload_method, register_model, unbox

from adrem.machines.compiled.cache import jit

# Violations are clipped to this size: the dual variable of a row that was not trained on before is infinite.
MAX_LOGIT_VIOLATION = 30.0


@jit
def sigmoid(t: Any) -> Any:
    """Return the logistic function of a number."""
    return 1.0 / (1.0 + np.exp(-t))


@jit
def _hinge_multiple(dual: Any, box: Any) -> Any:
    return dual


@jit
def _hinge_violation(margin: Any, dual: Any, box: Any) -> Any:
    """Return the projected gradient."""
    gradient = margin - 1.0
    may_grow = min(gradient, 0.0) if dual < box else 0.0
    may_shrink = max(gradient, 0.0) if dual > 0.0 else 0.0
    return may_grow + may_shrink


@jit
def _hinge_update(norm: Any, margin: Any, dual: Any, box: Any) -> Any:
    if norm > 0.0:
        return min(max(dual - (margin - 1.0) / norm, 0.0), box)
    return box  # the loss of an empty row is always 1


@jit
def _hinge_transfer(dual: Any, same_sign: Any, box: Any) -> Any:
    return min(dual, box) if same_sign else 0.0


@jit
def _hinge_can_shrink(margin: Any, violation: Any, low: Any, high: Any) -> Any:
    return violation == 0.0 and not low <= margin - 1.0 <= high


@jit
def _logit_multiple(dual: Any, box: Any) -> Any:
    return box * sigmoid(dual)


@jit
def _logit_violation(margin: Any, dual: Any, box: Any) -> Any:
    """Return the gradient."""
    return dual + margin if box > 0.0 else 0.0


@jit
def _logit_clipped(margin: Any, dual: Any, box: Any) -> Any:
    return min(max(_logit_violation(margin, dual, box), -MAX_LOGIT_VIOLATION), MAX_LOGIT_VIOLATION)


@jit
def solve_logit(norm: Any, box: Any, alpha: Any, margin: Any, start: Any) -> Any:
    """Return the root of t + margin + norm * (box * sigmoid(t) - alpha), increasing in t, by bracketed Newton steps."""
    low, high = -margin - norm * (box - alpha), -margin + norm * alpha
    t = min(max(start, low), high)
    for _ in range(200):
        p = sigmoid(t)
        value = t + margin + norm * (box * p - alpha)
        if value > 0.0:
            high = t
        else:
            low = t
        step = value / (1.0 + norm * box * p * (1.0 - p))
        if abs(step) <= 1e-5 * max(1.0, abs(t)):  # the error after this step is of the order of its square
            return t - step
        t = t - step if low < t - step < high else 0.5 * (low + high)
    return t


@jit
def _logit_update(norm: Any, margin: Any, dual: Any, box: Any) -> Any:
    start = dual if np.isfinite(dual) else -margin
    return solve_logit(norm, box, box * sigmoid(dual), margin, start)


@jit
def _logit_transfer(dual: Any, same_sign: Any, box: Any) -> Any:
    return dual if same_sign and box > 0.0 else -np.inf


@jit
def _logit_can_shrink(margin: Any, violation: Any, low: Any, high: Any) -> Any:
    return False


class LossType(types.Type):
    """The numba type of one loss."""

    def __init__(self, loss: str) -> None:
        self.loss = loss
        super().__init__(name=f"Loss({loss})")


class CompiledLoss:
    """A loss inside the kernels: ``loss.violation(margin, dual, box)`` and so on, for one row of one problem.

    Parameters
    ----------
    name : str
        Name of the loss.
    multiple : (dual, box)
        The multiple of the row in the weight vector, without its sign.
    violation : (margin, dual, box)
        How far the dual variable is from its optimum; zero for a row of weight zero.
    clipped_violation : (margin, dual, box)
        The same, clipped where it may be infinite.
    update : (norm, margin, dual, box)
        The dual variable that is optimal while all others are fixed.
    transfer : (dual, same_sign, box)
        The dual variable for a new label and box: it is reset where the sign of the label has changed.
    can_shrink : (margin, violation, low, high)
        Whether the row may be skipped until the others have converged, given the extremes of the last sweep.
    """

    def __init__(
        self,
        name: str,
        multiple: Any,
        violation: Any,
        clipped_violation: Any,
        update: Any,
        transfer: Any,
        can_shrink: Any,
    ) -> None:
        self.name = name
        self.multiple = multiple
        self.violation = violation
        self.clipped_violation = clipped_violation
        self.update = update
        self.transfer = transfer
        self.can_shrink = can_shrink
        self._numba_type_ = LossType(name)

    def __reduce__(self) -> Any:
        return COMPILED_LOSSES.__getitem__, (self.name,)


COMPILED_LOSSES = {
    loss.name: loss
    for loss in (
        CompiledLoss(
            "hinge",
            _hinge_multiple,
            _hinge_violation,
            _hinge_violation,
            _hinge_update,
            _hinge_transfer,
            _hinge_can_shrink,
        ),
        CompiledLoss(
            "log_loss",
            _logit_multiple,
            _logit_violation,
            _logit_clipped,
            _logit_update,
            _logit_transfer,
            _logit_can_shrink,
        ),
    )
}

register_model(LossType)(models.OpaqueModel)


@unbox(LossType)
def _unbox(typ: Any, obj: Any, c: Any) -> Any:
    """Pass nothing at run time: the type determines the loss."""
    return NativeValue(c.context.get_dummy_value())


def _register(method: str) -> None:
    """Let compiled code call a method of a loss."""

    @overload_method(LossType, method)
    def _choose(loss: Any, *arguments: Any) -> Any:
        formula = getattr(COMPILED_LOSSES[loss.loss], method)

        def call(loss: Any, *arguments: Any) -> Any:
            return formula(*arguments)

        return call


for _method in ("multiple", "violation", "clipped_violation", "update", "transfer", "can_shrink"):
    _register(_method)


@jit
def violations(loss: Any, margins: Any, dual: Any, box: Any) -> Any:
    """Return how far the dual variable of each row is from its optimum."""
    found = np.empty_like(margins)
    for i in range(len(margins)):
        found[i] = loss.violation(margins[i], dual[i], box[i])
    return found
