"""One page about an adapted model: `adrem.report`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adrem._report.page import About, Report, make_page

__all__ = ["About", "Report", "make_page", "report"]


def report(
    model: Any,
    X_source: Any,
    y_source: Any,
    X_target: Any,
    *,
    title: str = "A new domain, labelled",
    feature_names: Sequence[str] | None = None,
    source_rows: Sequence[str] | None = None,
    target_rows: Sequence[str] | None = None,
) -> Report:
    """Make the page about an adapted model.

    Parameters
    ----------
    model : AdREM or a baseline
        A fitted model.
    X_source, y_source, X_target
        What it was fitted to.
    title : str
        What stands at the top.
    feature_names : sequence of str, default=None
        Names of the features; by default those that the model has seen, else their numbers.
    source_rows, target_rows : sequence of str, default=None
        What each row says, for whoever points at it.

    Returns
    -------
    Report
        A notebook shows it; ``save`` writes it to a file, ``diagnosis`` has its numbers.
    """
    import numpy as np

    from adrem.diagnostics import diagnose

    for name, rows, table in (("source_rows", source_rows, X_source), ("target_rows", target_rows, X_target)):
        if rows is not None and len(rows) != np.shape(table)[0]:
            raise ValueError(f"{name} describes {len(rows)} rows, there are {np.shape(table)[0]}.")
    diagnosis = diagnose(model, X_source, y_source, X_target, feature_names=feature_names)
    params = {name: repr(value) for name, value in model.get_params().items()}
    about = About(
        title=title,
        source_rows=source_rows,
        target_rows=target_rows,
        facts={"parameters": ", ".join(f"{name}={value}" for name, value in params.items())},
    )
    labels = {"source": np.asarray(y_source).tolist(), "target": np.asarray(model.predict(X_target)).tolist()}
    return make_page(diagnosis, labels, about)
