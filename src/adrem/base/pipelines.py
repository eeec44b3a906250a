"""A scikit-learn pipeline whose last step is a model of the package, taken apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from adrem.exceptions import InvalidDataError


class Unwrapped(NamedTuple):
    """The last step of a pipeline, rows as the steps before it make them, and names of their features if known."""

    model: Any
    X_source: Any
    X_target: Any
    names: list[str] | None


def unwrap(model: Any, X_source: Any, X_target: Any) -> Unwrapped:
    """Return the last step of a pipeline and the rows that it sees; another model as it is."""
    if not isinstance(model, Pipeline):
        return Unwrapped(model, X_source, X_target, None)
    for _, step in model.steps[:-1]:
        if step is not None and step != "passthrough":
            X_source, X_target = _transform_source(step, X_source), step.transform(X_target)
    return Unwrapped(model.steps[-1][1], X_source, X_target, _names(model))


def _transform_source(step: Any, rows: Any) -> Any:
    """Transform rows of the source; a step that treats each domain by itself gets their domain."""
    domains = getattr(step, "domains_", None)
    if domains is None:
        return step.transform(rows)
    sources = domains[domains >= 0]
    if len(sources) != 1:
        raise InvalidDataError(
            f"{type(step).__name__} was fitted to {len(sources)} sources: transform the rows with their sample_domain, "
            "and give the last step of the pipeline."
        )
    return step.transform(rows, sample_domain=np.full(np.shape(rows)[0], sources[0]))


def _names(pipeline: Any) -> list[str] | None:
    """Return names of the features that the last step sees, if the steps before it can tell them."""
    if len(pipeline.steps) < 2:
        return None
    try:
        return [str(name) for name in pipeline[:-1].get_feature_names_out()]
    except (AttributeError, ValueError):
        return None
