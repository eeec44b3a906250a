"""The values that parameters of estimators may have, as scikit-learn declares them, and their check."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal, get_args

from sklearn.utils._param_validation import (
    Hidden,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)

from adrem.exceptions import ParameterError
from adrem.runtime.notices import NamingText

LossName = Literal["hinge", "log_loss"]
TargetLabels = Literal["ignore", "use"]
Unknowns = Literal["ignore", "reject"]
LOSS_NAMES: tuple[str, ...] = get_args(LossName)
POSITIVE = Interval(Real, 0, None, closed="neither")
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
# Parameters that several estimators have.
COMMON: dict[str, list[Any]] = {
    "loss": [StrOptions(set(LOSS_NAMES))],
    "C": [StrOptions({"cv"}), POSITIVE, "array-like"],
    "n_estimators": [AT_LEAST_ONE],
    "n_iter": [AT_LEAST_ONE],
    "tol": [POSITIVE],
    "memory_limit": [AT_LEAST_ONE],
    "device": [StrOptions({"cpu", "cuda", "auto"}), Hidden(StrOptions({"torch-cpu"}))],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "target_labels": [StrOptions(set(get_args(TargetLabels)))],
}


# Parameters that some of them have.
REJECTING: dict[str, list[Any]] = {"unknown": [StrOptions(set(get_args(Unknowns)))], "unknown_label": [str, Real]}


def common(*names: str) -> dict[str, list[Any]]:
    """Return the allowed values of some parameters that several estimators have."""
    return {name: {**COMMON, **REJECTING}[name] for name in names}


def check_params(estimator: Any) -> None:
    """Raise a `ParameterError` for the first parameter whose value the constraints of the estimator don't allow."""
    allowed, owner = estimator._parameter_constraints, type(estimator).__name__
    for name, value in estimator.get_params(deep=False).items():
        try:
            validate_parameter_constraints(allowed, {name: value}, caller_name=owner)
        except InvalidParameterError as error:
            raise ParameterError(_of_options(name, value, allowed[name]) or str(error), name) from error


def _of_options(name: str, value: Any, allowed: list[Any]) -> str:
    """Return what is wrong with a string where only some are allowed, "" where other values are too."""
    if not isinstance(value, str) or not all(isinstance(own, (StrOptions, Hidden)) for own in allowed):
        return ""
    options = sorted(option for own in allowed if isinstance(own, StrOptions) for option in own.options)
    return NamingText(
        f"{{{name}}} {{value!r}} is not one of {{options}}.", value=value, options=", ".join(map(repr, options))
    )
