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
        return {"accuracy": None, "low": 0.0, "high": 1.0, "reasons": reasons, "n_labels": 0, "unused_labels": ""}
    chances = held_out_chances(examined)
    estimate = estimate_from(chances, examined, examined.chosen)
    unused = _why_unused(examined, pair)
    if pair.given is not None and not unused:
        estimate = correct_estimate(estimate, chances, examined, pair.given, pair.known_probability)
    found = {**asdict(estimate), "unused_labels": unused}
    return found | {"accuracy": None} if found["reasons"] else found


def _why_unused(examined: Examination, pair: Pair) -> str:
    """Return why known labels have no part in the estimate; nothing if they have one, or none is known."""
    from adrem.columns.known_labels import CHOSEN, PROBABILITY

    given = [] if pair.given is None else pair.given.tolist()
    n_given = sum(label is not None for label in given)
    if not n_given:
        return ""
    text = f"The {n_given} known labels are not used for the estimate: "
    if examined.verdict.choice == "source":
        return f"{text}it is for the labels of the source alone, which are written."
    if not _has_random_labels(pair):
        return (
            f"{text}it is not known that their rows are random (columns {CHOSEN!r} and {PROBABILITY!r}, as adrem ask "
            "writes them)."
        )
    return ""


def _has_random_labels(pair: Pair) -> bool:
    """Return whether labels of rows are known that were drawn at random."""
    if pair.given is None or pair.known_probability is None:
        return False
    given = zip(pair.given.tolist(), pair.known_probability.tolist(), strict=True)
    return any(label is not None and probability < 1.0 for label, probability in given)
