"""Checks of the parameters of an estimator, as scikit-learn declares them."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from adrem.exceptions import ParameterError


def check_params(estimator: Any) -> None:
    """Raise a `ParameterError` for the first parameter whose value the constraints of the estimator don't allow."""
    allowed, owner = estimator._parameter_constraints, type(estimator).__name__
    for name, value in estimator.get_params(deep=False).items():
        try:
            validate_parameter_constraints(allowed, {name: value}, caller_name=owner)
        except InvalidParameterError as error:
            raise ParameterError(str(error), name) from error
