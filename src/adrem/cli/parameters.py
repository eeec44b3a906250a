"""The command-line options that set parameters of the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from adrem.exceptions import ParameterError

MODEL_OPTIONS = {
    "loss": "--loss",
    "class_prior": "--prior",
    "n_estimators": "--members",
    "n_iter": "--iterations",
    "C": "--C",
}
PARAMETER_OPTIONS = {
    **MODEL_OPTIONS,
    "random_state": "--seed",
    "label": "--label",
    "target_label": "--target-label",
    "text": "--text",
    "left_out": "--drop",
    "beside": "--id, --keep",
}


@contextmanager
def parameters_as_options() -> Iterator[None]:
    """Turn an error about a parameter into one about the option that sets it."""
    try:
        yield
    except ParameterError as error:
        option = PARAMETER_OPTIONS.get(error.parameter)
        if option is None:
            raise
        raise typer.BadParameter(str(error), param_hint=option) from error
