"""The HTML page about an adapted model: `adrem.report`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adrem.exceptions import InvalidDataError
from adrem.reports.page import About, Report, make_page

__all__ = ["About", "Report", "make_page", "report"]


def report(
    model: Any,
    X_source: Any,
    y_source: Any,
    X_target: Any,
    *,
    title: str = "Domain adaptation report",
    feature_names: Sequence[str] | None = None,
    source_rows: Sequence[str] | None = None,
    target_rows: Sequence[str] | None = None,
    y_target: Any = None,
    samples: bool = True,
) -> Report:
    """Make an HTML report about an adapted model.

    Parameters
    ----------
    model : Committee, AdREM, a baseline, or a pipeline that ends with one
        A fitted model. The steps of a pipeline before it transform the rows.
    X_source : {array-like, sparse matrix, frame} of shape (n_source, n_features)
        Source rows that the model was fitted to.
    y_source : array-like of shape (n_source,)
        Their labels.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Target rows that the model was fitted to.
    title : str, default="Domain adaptation report"
        Title of the page.
    feature_names : sequence of str, default=None
        Names of the features; by default those seen in ``fit``, else their numbers.
    source_rows, target_rows : sequence of str, default=None
        Description of each row, shown as a tooltip.
    y_target : array-like of shape (n_target,), default=None
        True labels of the target, if known. They are only used to show the accuracy. Blank ones are unknown.
    samples : bool, default=True
        Whether the page shows single rows: the map, and the least certain rows.

    Returns
    -------
    Report
        The report. Notebooks show it, ``save`` writes it to a file, ``diagnosis`` has its numbers.

    Raises
    ------
    InvalidDataError
        If the model was fitted to other rows.

    See Also
    --------
    adrem.diagnostics.diagnose : The numbers without the page.

    Examples
    --------
    >>> import adrem
    >>> from adrem.datasets import load_digits_shift
    >>> X_source, y_source, X_target, _ = (part[::3] for part in load_digits_shift())
    >>> model = adrem.AdREM(C=0.1, n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> page = adrem.report(model, X_source, y_source, X_target, title="Digits")
    >>> page.diagnosis.verdict.sentence
    'Use the adapted labels.'
    """
    import numpy as np

    from adrem.diagnostics.diagnosis import examine

    for name, rows, table in (("source_rows", source_rows, X_source), ("target_rows", target_rows, X_target)):
        if rows is not None and len(rows) != np.shape(table)[0]:
            raise InvalidDataError(f"{name} describes {len(rows)} rows, but there are {np.shape(table)[0]}.")
    examined = examine(model, X_source, y_source, X_target, feature_names)
    model = examined.model
    after = model.classes_[examined.after]
    if y_target is not None and np.shape(y_target) != after.shape:
        raise InvalidDataError(f"y_target has the shape {np.shape(y_target)}, but there are {len(after)} rows.")
    params = {name: repr(value) for name, value in model.get_params().items()}
    about = About(
        title=title,
        source_rows=source_rows,
        target_rows=target_rows,
        facts={"parameters": ", ".join(f"{name}={value}" for name, value in params.items())},
        scores=examined.score(y_target),
        baseline=examined.baseline.chosen_,
        samples=samples,
    )
    labels = {"source": np.asarray(y_source).tolist(), "target": after.tolist()}
    return make_page(examined.diagnosis(), labels, about)
