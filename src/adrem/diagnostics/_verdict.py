"""Which labels to take: the adapted ones, those of the source alone, or neither without a look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from adrem.diagnostics._evidence import Evidence, Sides

# Neighbours agree less often, and not by chance.
CHANCE = 1.0
# Training back may lose so much accuracy on the source before it is a reason to doubt.
CIRCULAR_LOSS = 0.1
# So many members have to agree with a label, on average.
AGREEMENT = 0.85
# If so many labels would have to change to have the shares that the model was told, and adapting brought them closer by
# so many, the shares themselves are in doubt.
OFF_PRIOR, CLOSER = 0.3, 0.05
ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """Which labels to take, and the reasons.

    Parameters
    ----------
    choice : {"adapted", "source", "unsure"}
        The labels to take: those of the model, those of the source alone, or neither without a look.
    reasons : list of str
        Why, each a sentence.
    same : bool, default=False
        Whether adapting changed no label.

    Examples
    --------
    >>> from adrem.diagnostics import Verdict
    >>> verdict = Verdict("unsure", ["No target row is labelled 'cat'."])
    >>> verdict.choice, verdict.reasons[0]
    ('unsure', "No target row is labelled 'cat'.")
    """

    choice: Literal["adapted", "source", "unsure"]
    reasons: list[str]
    same: bool = False

    @property
    def sentence(self) -> str:
        """The choice in plain words.

        Examples
        --------
        >>> from adrem.diagnostics import Verdict
        >>> Verdict("adapted", []).sentence
        'Of the two, take the adapted labels.'
        """
        if self.same and self.choice == "adapted":
            return "Adapting changed no label: there is nothing to choose."
        return {
            "adapted": "Of the two, take the adapted labels.",
            "source": "Of the two, take the labels of the source alone: adapting seems to have done harm.",
            "unsure": "Look before you trust: label some of the least certain rows by hand, and compare.",
        }[self.choice]


def judge(evidence: Evidence, lost_classes: list[Any], n_changed: int, revived: list[Any]) -> Verdict:
    """The verdict of the evidence; its rules and what they are worth are in docs/diagnosis.md."""
    reasons, doubts = [], []
    near = evidence.neighbours
    if near is not None:
        said = _of_neighbours(near, evidence.neighbours_z)
        if evidence.neighbours_z < -CHANCE:
            return _fallen(said, revived)
        reasons.append(said)
    back = evidence.circular
    if back is None:
        doubts.append("All target rows have one label.")
    else:
        found = (
            f"A classifier of the target with its new labels gets {_percent(back.adapted)} of the source right, one "
            f"with the labels before adapting {_percent(back.source)}"
        )
        if back.gain < -CIRCULAR_LOSS - ROUNDING:
            doubts.append(f"{found}: the two domains no longer agree on what the classes are.")
        elif back.gain < 0:
            reasons.append(f"{found}: so small a loss is usual, and says little.")
        else:
            reasons.append(f"{found}.")
    if evidence.agreement is not None and evidence.agreement < AGREEMENT:
        doubts.append(f"The members disagree: {_percent(evidence.agreement)} of them stand behind a label, on average.")
    off = evidence.off_prior
    if off is not None and off.source >= OFF_PRIOR and off.gain < -CLOSER:
        doubts.append(
            f"Before adapting {_percent(off.source)} of the labels were off the class shares that the model assumes, "
            f"now {_percent(off.adapted)}: if these shares are not those of the target, say so by class_prior."
        )
    if lost_classes:
        doubts.append(f"No target row is labelled {', '.join(map(repr, lost_classes))}.")
    if doubts:
        return Verdict("unsure", doubts, same=not n_changed)
    return Verdict("adapted", reasons if n_changed else [], same=not n_changed)


def _of_neighbours(near: Sides, z: float) -> str:
    often = "less often than" if z < -CHANCE else "more often than" if z > CHANCE else "as often as"
    said = f"{_percent(near.adapted)} of neighbours, {_percent(near.source)} before."
    return f"Rows that are alike have the same label {often} before adapting: {said}"


def _fallen(said: str, revived: list[Any]) -> Verdict:
    """The verdict where neighbours agree less often: labels of fewer classes agree more easily, and prove nothing."""
    if not revived:
        return Verdict("source", [said])
    named = ", ".join(map(repr, revived))
    return Verdict("unsure", [f"{said} But before, hardly any row was labelled {named}: fewer labels agree easily."])


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
