"""Whether the accuracy is estimated, and the estimate as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from adrem.exceptions import InvalidDataError

if TYPE_CHECKING:
    from adrem.columns import Pair
    from adrem.diagnostics.diagnosis import Examination


def wants_estimate(pair: Pair, asked: bool | None, for_report: bool) -> list[str] | None:
    """Return why the accuracy can't be estimated, nothing if it can; None if no estimate is wanted.

    An error is raised if it was asked for and there are too few rows.
    """
    from adrem.diagnostics.accuracy import check_rows

    if not (asked or (asked is None and for_report)):
        return None
    try:
        check_rows(pair.y_source, pair.X_target.shape[0])
    except InvalidDataError as error:
        if asked:
            raise
        reason, _, _ = str(error).partition(". ")
        return [f"{reason}."]
    return []


def plain_estimate(examined: Examination, reasons: list[str]) -> dict[str, Any]:
    """Return the estimate for the labels that are written; its accuracy is None where there are reasons against it."""
    from adrem.diagnostics.accuracy import estimate_examined
    from adrem.diagnostics.unknown import NO_ESTIMATE

    reasons = [*reasons, *([NO_ESTIMATE] if hasattr(examined.model, "unknown_share_") else [])]
    if reasons:
        return {"accuracy": None, "low": 0.0, "high": 1.0, "reasons": reasons}
    found = asdict(estimate_examined(examined, labels=examined.chosen))
    return found | {"accuracy": None} if found["reasons"] else found
