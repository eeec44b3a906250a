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
    y_target: Any = None,
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
    y_target : array-like, default=None
        Labels of the target, where they are known after all: only to show the accuracy.

    Returns
    -------
    Report
        A notebook shows it; ``save`` writes it to a file, ``diagnosis`` has its numbers.
    """
    import numpy as np

    from adrem.diagnostics import examine

    for name, rows, table in (("source_rows", source_rows, X_source), ("target_rows", target_rows, X_target)):
        if rows is not None and len(rows) != np.shape(table)[0]:
            raise ValueError(f"{name} describes {len(rows)} rows, there are {np.shape(table)[0]}.")
    examined = examine(model, X_source, y_source, X_target, feature_names)
    before, after = (model.classes_[labels] for labels in (examined.before, examined.after))
    accuracy = None
    if y_target is not None:
        truth = np.asarray(y_target)
        if truth.shape != after.shape:
            raise ValueError(f"y_target has the shape {truth.shape}, there are {len(after)} rows.")
        accuracy = {"adapted": float(np.mean(after == truth)), "source": float(np.mean(before == truth))}
    params = {name: repr(value) for name, value in model.get_params().items()}
    about = About(
        title=title,
        source_rows=source_rows,
        target_rows=target_rows,
        facts={"parameters": ", ".join(f"{name}={value}" for name, value in params.items())},
        accuracy=accuracy,
    )
    labels = {"source": np.asarray(y_source).tolist(), "target": after.tolist()}
    return make_page(examined.diagnosis(), labels, about)
