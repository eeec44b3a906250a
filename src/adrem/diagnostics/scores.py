"""How good labels are, where the true ones are known: accuracy, balanced accuracy, recall and confusion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.diagnostics.evidence import BeforeAfter

BLANK = ("", "nan", "None", "NaN", "NaT", "<NA>")
# A smaller difference of two accuracies is no loss, and one of two balanced accuracies none worth a word.
LOSS, CLEAR_LOSS = 1e-12, 0.02


@dataclass(frozen=True)
class ClassScore:
    """The scores of a class.

    Parameters
    ----------
    label : str
        The class.
    rows : int
        Number of rows whose true label it is.
    recall : BeforeAfter
        The share of these rows that get the label, NaN without such a row.
    labelled, labelled_by_source : list of int
        Numbers of these rows by their adapted label, and by that of the source classifier, in the order of the classes.
    """

    label: str
    rows: int
    recall: BeforeAfter
    labelled: list[int]
    labelled_by_source: list[int]


@dataclass(frozen=True)
class Scores:
    """Scores of the labels of the source classifier and of the adapted ones, over the rows with a true label.

    Parameters
    ----------
    rows : int
        Number of rows with a true label.
    unlabelled : int
        Number of rows without one. They count neither as right nor as wrong.
    accuracy, balanced_accuracy : BeforeAfter
        The share of right labels; and the mean of that share over the true classes.
    classes : list of ClassScore
        The classes of the source.
    unknown : dict of str to int
        True labels that are not classes of the source, with their numbers of rows. They count as wrong.
    """

    rows: int
    unlabelled: int
    accuracy: BeforeAfter
    balanced_accuracy: BeforeAfter
    classes: list[ClassScore]
    unknown: dict[str, int]

    @property
    def lost(self) -> bool:
        """Whether the adapted labels are less accurate than those of the source."""
        return self.accuracy.gain < -LOSS

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; NaN becomes None."""
        plain = asdict(self)
        for own in plain["classes"]:
            own["recall"] = {side: None if np.isnan(value) else value for side, value in own["recall"].items()}
        return plain


def score_labels(before: Any, after: Any, truth: Any, classes: Sequence[Any]) -> Scores | None:
    """Score labels by the true ones, compared as text; None if all true labels are blank."""
    names = [as_text(label) for label in classes]
    given = (np.asarray(own).tolist() for own in (before, after, truth))
    old, new, right = (np.array([as_text(label) for label in own]) for own in given)
    known = ~np.isin(right, BLANK)
    if not known.any():
        return None
    old, new, right = old[known], new[known], right[known]
    others, counts = np.unique(right[~np.isin(right, names)], return_counts=True)
    every = [np.mean([np.mean(own[right == name] == name) for name in np.unique(right)]) for own in (old, new)]
    return Scores(
        rows=len(right),
        unlabelled=int(np.count_nonzero(~known)),
        accuracy=BeforeAfter(float(np.mean(old == right)), float(np.mean(new == right))),
        balanced_accuracy=BeforeAfter(float(every[0]), float(every[1])),
        classes=[_class_score(name, names, old, new, right) for name in names],
        unknown=dict(zip(others.tolist(), counts.tolist(), strict=True)),
    )


def contradiction(choice: str, scores: Scores | None) -> str:
    """Return what the true labels say against a verdict, "" if they do not contradict it."""
    if scores is None or choice == "unsure" or scores.accuracy.gain == 0.0:
        return ""
    adapted, source = (f"{100 * share:.1f} %" for share in (scores.accuracy.adapted, scores.accuracy.source))
    if scores.accuracy.gain > 0 and choice == "source":
        return f"But by the true labels, the adapted ones are better: {adapted}, the source alone {source}."
    if scores.lost and choice == "adapted":
        return f"But by the true labels, the source alone is better: {source}, adapted {adapted}."
    return _less_balanced(scores.balanced_accuracy) if choice == "adapted" else ""


def _less_balanced(balanced: BeforeAfter) -> str:
    """Return that rare classes are found less often, although more labels are right, "" if they are not."""
    if balanced.gain > -CLEAR_LOSS:
        return ""
    adapted, source = (f"{100 * share:.1f} %" for share in (balanced.adapted, balanced.source))
    return (
        "But rare classes are found less often: by the true labels, the mean recall of the classes is "
        f"{adapted}, and {source} by the source alone."
    )


def _class_score(name: str, names: list[str], old: NDArray[Any], new: NDArray[Any], right: NDArray[Any]) -> ClassScore:
    of_class = right == name
    n_rows = int(np.count_nonzero(of_class))
    recall = [float(np.mean(own[of_class] == name)) if n_rows else float("nan") for own in (old, new)]
    by_source, adapted = ([int(np.sum(own[of_class] == other)) for other in names] for own in (old, new))
    return ClassScore(name, n_rows, BeforeAfter(*recall), adapted, by_source)


def as_text(label: Any) -> str:
    """Return a label as text; ``3.0`` and ``3`` are one label."""
    text = str(label).strip()
    whole, point, rest = text.partition(".")
    return whole if point and whole.lstrip("+-").isdigit() and rest and not rest.strip("0") else text
