"""What pictures ask of a model before they are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem._classifier import check_model


def check_adapted(model: Any) -> None:
    """Refuse a model that has labelled no target."""
    check_model(model)
    if not len(model.transduction_):
        raise ValueError(
            f"This {type(model).__name__} was fitted to the source alone, and there is nothing of a target to show: "
            "give X_target to fit."
        )


def taken(model: Any) -> Any:
    """The model itself, or the one that it took where it tried several."""
    return getattr(model, "best_estimator_", model)


def name_of(model: Any) -> str:
    """What a message calls the model that was taken."""
    name = type(taken(model)).__name__
    return name if taken(model) is model else f"{name}, which {type(model).__name__} took,"


def read_labels(labels: Any, name: str, n_rows: int) -> NDArray[Any]:
    """Labels, one a row."""
    read = np.asarray(labels)
    if read.shape != (n_rows,):
        raise ValueError(f"{name} has the shape {read.shape}, there are {n_rows} rows: give one label a row.")
    return read
