"""The command-line options that set parameters of the library, and texts of the library in their terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from adrem.exceptions import ParameterError
from adrem.runtime.notices import NamingText

if TYPE_CHECKING:
    from adrem.diagnostics import Verdict

MODEL_OPTIONS = {
    "loss": "--loss",
    "class_prior": "--prior",
    "protected_classes": "--protected",
    "unknown": "--unknown",
    "unknown_label": "--unknown-label",
    "n_estimators": "--members",
    "n_iter": "--iterations",
    "effort": "--effort",
    "C": "--C",
}
PARAMETER_OPTIONS = {
    **MODEL_OPTIONS,
    "random_state": "--seed",
    "label": "--label",
    "target_label": "--target-label",
    "text": "--text",
    "numeric": "--numeric",
    "categorical": "--categorical",
    "missing": "--missing",
    "domain": "--domain",
    "target": "--target",
    "encoder": "--encoder",
    "model": "--encoder",
    "chunks": "--chunks mean",
    "header": "--no-header",
    "left_out": "--drop",
    "beside": "--id, --keep",
    "keep": "--keep",
    "known": "--known",
    "identifier": "--id",
    "unknown='reject'": "--unknown reject",
    "the labels of SourceOnly": "in the column 'source_label'",
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
        raise typer.BadParameter(error_with_options(error), param_hint=option) from error


def error_with_options(error: Exception) -> str:
    """Return the text of an error with options in place of the parameters that it names."""
    return with_options(error.args[0]) if error.args and isinstance(error.args[0], str) else str(error)


def with_options(text: str) -> str:
    """Return a text of the library with options in place of the parameters that it names."""
    return text.renamed(PARAMETER_OPTIONS) if isinstance(text, NamingText) else text


def warning_with_options(warning: Warning | str) -> str:
    """Return the text of a warning with options in place of the parameters that it names."""
    parts = warning.args if isinstance(warning, Warning) else (warning,)
    return with_options(parts[0]) if len(parts) == 1 and isinstance(parts[0], str) else str(warning)


def verdict_with_options(verdict: Verdict) -> Verdict:
    """Return a verdict whose reasons have options in place of the parameters that they name."""
    return replace(verdict, reasons=[with_options(reason) for reason in verdict.reasons])
