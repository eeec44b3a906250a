"""Which labels to use: the adapted ones, those of the source alone, or neither without a check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from adrem.diagnostics.evidence import BeforeAfter, Evidence
from adrem.runtime.notices import NamingText
from adrem.runtime.text import some_names

# A change of the agreement of neighbours is significant beyond this many standard errors.
CLEAR_ERRORS = 1.0
# If this part of the changes is in one direction, the labels depend on the class shares that were assumed.
# docs/diagnosis.md has how it was chosen, and the results of the rules on data sets that had no part in the choice.
ONE_SIDED = 0.7
# If at least this part of the families of kinds opposes the changed labels, the others decide alone.
OPPOSED = 0.5
NO_SKILL = (
    "On held-out rows of the source, its classifier is hardly better than always giving the most common label: the "
    "columns tell little about the labels, or there are too few rows."
)
CHECK_FIRST = (
    "Check the labels first: label some of the least certain rows by hand (adrem label, or --save, adrem ask and "
    "--known; in Python y_target), and compare."
)
OF_ONE_FAMILY = (
    "Where labels changed, at least half of the forms of classifiers that adapt (linear, RBF kernel, discriminant) "
    "prefer the label of the source alone."
)

FEWER_BEFORE = (
    "{reason} But before, very few rows were labelled {named}: with fewer classes, neighbours agree more. If there are "
    "few or no such rows in the target, set {class_prior}; if there are more, the source's classifier misses them. "
    "Look at some rows that changed: the labels before are {the labels of SourceOnly}."
)


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
            "unsure": CHECK_FIRST,
        }[self.choice]


def judge(
    evidence: Evidence, lost_classes: list[Any], n_changed: int, recovered: list[Any], missing: Sequence[Any] = ()
) -> Verdict:
    """Return the verdict; docs/diagnosis.md has the rules and how well they work."""
    verdict = _judge(evidence, lost_classes, n_changed, recovered)
    return replace(verdict, reasons=[*verdict.reasons, _of_missing(missing)]) if missing else verdict


def _judge(evidence: Evidence, lost_classes: list[Any], n_changed: int, recovered: list[Any]) -> Verdict:
    doubts = reasons_against(evidence)
    if evidence.largest_share.adapted > evidence.nearly_all:
        return Verdict("unsure", doubts, same=not n_changed)
    if not n_changed:
        return Verdict("unsure" if doubts else "adapted", doubts, same=True)
    return _judge_changes(evidence, lost_classes, recovered, doubts)


def _judge_changes(evidence: Evidence, lost_classes: list[Any], recovered: list[Any], doubts: list[str]) -> Verdict:
    near = evidence.neighbours
    reasons = [] if near is None else [_of_neighbours(near, evidence.neighbours_z)]
    if evidence.largest_share.source > evidence.nearly_all and not doubts:
        return Verdict("adapted", [*reasons, _of_one_class(evidence.largest_share.source)])
    if near is not None and evidence.neighbours_z < -CLEAR_ERRORS:
        return _less_agreement(reasons[0], recovered)
    against = _against_changes(evidence, lost_classes)
    if against:
        return Verdict("source", [*reasons, *against])
    if lost_classes:
        doubts = [*doubts, f"No target row is labelled {some_names(lost_classes)} any more."]
    if near is not None and evidence.neighbours_z <= CLEAR_ERRORS:
        doubts = [*doubts, *reasons]
    return Verdict("unsure", doubts) if doubts else Verdict("adapted", reasons)


def _against_changes(evidence: Evidence, lost_classes: list[Any]) -> list[str]:
    """Return why the changes have done harm although neighbours agree; nothing if they have not."""
    if evidence.one_sided >= ONE_SIDED:
        return [_of_one_side(evidence.one_sided)]
    return [OF_ONE_FAMILY] if evidence.opposed >= OPPOSED and not lost_classes else []


def reasons_against(evidence: Evidence) -> list[str]:
    """Return why neither the labels nor an estimate of their accuracy can be trusted; nothing if they can."""
    found = [NO_SKILL] if evidence.skill < evidence.least_skill else []  # NaN if it is not known
    if evidence.largest_share.adapted > evidence.nearly_all:
        share = _percent(evidence.largest_share.adapted)
        found.append(f"{share} of the target rows have the same label: check whether the columns mean the same there.")
    return found


def _of_missing(classes: Sequence[Any]) -> NamingText:
    return NamingText(
        "Of the source's classes, these seem to be missing from the target, and no row has their label: {named}. Name "
        "those that are there in {protected_classes}.",
        named=some_names(classes),
    )


def _of_one_class(share: float) -> str:
    return (
        f"The classifier of the source gives {_percent(share)} of the rows the same label, so neighbours agree anyway."
    )


def _of_one_side(part: float) -> NamingText:
    return NamingText(
        "{part} of the changes only bring the two classes closer to equal shares, which the model assumes. If the "
        "classes are equally common in the target, use the adapted labels; if not, set {class_prior}.",
        part=_percent(part),
    )


def _of_neighbours(near: BeforeAfter, z: float) -> str:
    often = "less often than" if z < -CLEAR_ERRORS else "more often than" if z > CLEAR_ERRORS else "as often as"
    shares = f"{_percent(near.adapted)} of neighbours, {_percent(near.source)} before."
    return f"Similar rows have the same label {often} before adapting: {shares}"


def _less_agreement(reason: str, recovered: list[Any]) -> Verdict:
    """Return the verdict if neighbours agree less, which proves nothing if there were fewer classes before."""
    if not recovered:
        return Verdict("source", [reason])
    return Verdict("unsure", [NamingText(FEWER_BEFORE, reason=reason, named=some_names(recovered))])


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
