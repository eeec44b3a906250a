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


def plain_estimate(examined: Examination, reasons: list[str], pair: Pair) -> dict[str, Any]:
    """Return the estimate for the labels that are written; its accuracy is None where there are reasons against it.

    Labels of random rows correct it, if the adapted labels are written.
    """
    from adrem.diagnostics.accuracy import correct_estimate, estimate_from, held_out_chances
    from adrem.diagnostics.unknown import NO_ESTIMATE

    reasons = [*reasons, *([NO_ESTIMATE] if hasattr(examined.model, "unknown_share_") else [])]
    if reasons:
        return {"accuracy": None, "low": 0.0, "high": 1.0, "reasons": reasons, "n_labels": 0}
    chances = held_out_chances(examined)
    estimate = estimate_from(chances, examined, examined.chosen)
    if examined.verdict.choice != "source" and _has_random_labels(pair):
        estimate = correct_estimate(estimate, chances, examined, pair.known, pair.known_probability)
    found = asdict(estimate)
    return found | {"accuracy": None} if found["reasons"] else found


def _has_random_labels(pair: Pair) -> bool:
    """Return whether labels of rows are known that were drawn at random."""
    if pair.known is None or pair.known_probability is None:
        return False
    given = zip(pair.known.tolist(), pair.known_probability.tolist(), strict=True)
    return any(label is not None and probability < 1.0 for label, probability in given)
