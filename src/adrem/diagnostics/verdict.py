"""Which labels to use: the adapted ones, those of the source alone, or neither without a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from adrem.diagnostics.evidence import BeforeAfter, Evidence
from adrem.runtime.notices import NamingText

# A change of the agreement of neighbours is significant beyond this many standard errors.
CLEAR_ERRORS = 1.0
# A larger loss of accuracy in circular validation is a doubt.
CIRCULAR_LOSS = 0.1
# A smaller mean share of members that agree with a label is a doubt.
MIN_AGREEMENT = 0.85
# The class shares are in doubt if this share of the labels was off the prior before adapting, and adapting brought them
# closer by this much.
OFF_PRIOR, CLOSER = 0.3, 0.05
ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """Which labels to use, and why.

    Parameters
    ----------
    choice : {"adapted", "source", "unsure"}
        The labels to use: those of the model, those of the source alone, or neither without a check.
    reasons : list of str
        Why, in sentences.
    same : bool, default=False
        Whether adapting changed no label.
    """

    choice: Literal["adapted", "source", "unsure"]
    reasons: list[str]
    same: bool = False

    @property
    def sentence(self) -> str:
        """The choice in one sentence."""
        if self.same and self.choice == "adapted":
            return "Adapting changed no label."
        return {
            "adapted": "Use the adapted labels.",
            "source": "Use the labels of the source alone: adapting seems to have made them worse.",
            "unsure": "Check the labels first: label some of the least certain rows by hand, and compare.",
        }[self.choice]


def judge(evidence: Evidence, lost_classes: list[Any], n_changed: int, recovered: list[Any]) -> Verdict:
    """Return the verdict; docs/diagnosis.md has the rules and how well they work."""
    reasons = []
    near = evidence.neighbours
    if near is not None:
        reason = _of_neighbours(near, evidence.neighbours_z)
        if evidence.neighbours_z < -CLEAR_ERRORS:
            return _less_agreement(reason, recovered)
        reasons.append(reason)
    back = evidence.circular
    if back is not None:
        reasons.append(_of_circular(back))
    doubts = _doubts(evidence, lost_classes)
    if doubts:
        return Verdict("unsure", doubts, same=not n_changed)
    return Verdict("adapted", reasons if n_changed else [], same=not n_changed)


def _doubts(evidence: Evidence, lost_classes: list[Any]) -> list[str]:
    doubts: list[str] = []
    back = evidence.circular
    if back is None:
        doubts.append("All target rows have one label.")
    elif _contradicts(back):
        doubts.append(_of_circular(back))
    if evidence.agreement is not None and evidence.agreement < MIN_AGREEMENT:
        doubts.append(f"The members disagree: on average {_percent(evidence.agreement)} of them agree with a label.")
    off = evidence.off_prior
    if off is not None and off.source >= OFF_PRIOR and off.gain < -CLOSER:
        doubts.append(
            NamingText(
                "Before adapting {before} of the labels were off the class shares that the model assumes, now {now}. "
                "If these shares are not those of the target, set {class_prior}.",
                before=_percent(off.source),
                now=_percent(off.adapted),
            )
        )
    if lost_classes:
        doubts.append(f"No target row is labelled {', '.join(map(repr, lost_classes))}.")
    return doubts


def _contradicts(back: BeforeAfter) -> bool:
    return back.gain < -CIRCULAR_LOSS - ROUNDING


def _of_circular(back: BeforeAfter) -> str:
    found = (
        f"A classifier trained on the target labels the source with an accuracy of {_percent(back.adapted)} after "
        f"adapting, and {_percent(back.source)} before"
    )
    if _contradicts(back):
        return f"{found}: the two domains no longer agree on the classes."
    return f"{found}: a loss this small is common." if back.gain < 0 else f"{found}."


def _of_neighbours(near: BeforeAfter, z: float) -> str:
    often = "less often than" if z < -CLEAR_ERRORS else "more often than" if z > CLEAR_ERRORS else "as often as"
    shares = f"{_percent(near.adapted)} of neighbours, {_percent(near.source)} before."
    return f"Similar rows have the same label {often} before adapting: {shares}"


def _less_agreement(reason: str, recovered: list[Any]) -> Verdict:
    """Return the verdict if neighbours agree less, which proves nothing if there were fewer classes before."""
    if not recovered:
        return Verdict("source", [reason])
    named = ", ".join(map(repr, recovered))
    return Verdict(
        "unsure",
        [f"{reason} But before, very few rows were labelled {named}: with fewer classes, neighbours agree more."],
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
