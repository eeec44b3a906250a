"""Checks of a model before it is plotted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.classifier import check_model
from adrem.exceptions import InvalidDataError


def check_adapted(model: Any) -> None:
    """Raise if a model has no target labels."""
    check_model(model)
    if not len(model.transduction_):
        raise InvalidDataError(
            f"This {type(model).__name__} was fitted without a target, nothing to show: pass X_target to fit."
        )


def read_labels(labels: Any, name: str, n_rows: int) -> NDArray[Any]:
    """Return labels as an array with one label per row."""
    read = np.asarray(labels)
    if read.shape != (n_rows,):
        raise InvalidDataError(
            f"{name} has the shape {read.shape}, but there are {n_rows} rows: pass one label per row."
        )
    return read
