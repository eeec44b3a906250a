"""The result of a diagnosis, and its parts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.diagnostics.contributions import ClassFeatures
from adrem.diagnostics.evidence import Evidence
from adrem.diagnostics.gap import DomainGap
from adrem.diagnostics.map import Map
from adrem.diagnostics.verdict import Verdict

N_BINS = 10
MAX_MEMBERS_PER_BIN = 20


@dataclass(frozen=True)
class ClassShare:
    """A class: its share of the source, and its number of target rows before and after adapting.

    Parameters
    ----------
    label : object
        The class.
    source : float
        Its share of the rows of the source.
    before : int
        Number of target rows with this label by the source classifier.
    after : int
        Number of target rows with this label by the model.
    prior : float or None
        The share in ``class_prior_``; None for methods without it.
    """

    label: Any
    source: float
    before: int
    after: int
    prior: float | None


@dataclass(frozen=True)
class Move:
    """Number of target rows whose label changes from one class to another by adapting.

    Parameters
    ----------
    before : object
        The label by the source classifier.
    after : object
        The label by the model.
    count : int
        Number of rows.
    """

    before: Any
    after: Any
    count: int


@dataclass(frozen=True)
class Spread:
    """The mean, minimum and maximum of a value over the members.

    Parameters
    ----------
    mean : float
        Mean.
    low, high : float
        Minimum and maximum.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Step:
    """An iteration, over the members.

    Parameters
    ----------
    iteration : int
        Number of the iteration, 0 for the source alone.
    drawn : Spread
        Number of target rows drawn.
    changed : Spread
        Number of target rows with a new label.
    loss, balanced_loss : Spread
        The losses, as in ``history_`` of `AdREM`.
    """

    iteration: int
    drawn: Spread
    changed: Spread
    loss: Spread
    balanced_loss: Spread


@dataclass(frozen=True)
class Bin:
    """Number of target rows with a confidence above `low` and up to `high`.

    Parameters
    ----------
    low, high : float
        Bounds of the confidence.
    kept : int
        Number of rows whose label is that of the source classifier.
    changed : int
        Number of rows whose label has changed.
    """

    low: float
    high: float
    kept: int
    changed: int


@dataclass(frozen=True)
class ClassExamples:
    """Target rows to look at for one label, by their positions.

    Parameters
    ----------
    label : object
        The label that the model gives them.
    surest, unsurest, changed : list of int
        The rows with the highest and with the lowest confidence, and the surest of those whose label is not that of the
        source classifier.
    """

    label: Any
    surest: list[int]
    unsurest: list[int]
    changed: list[int]


@dataclass(frozen=True)
class UncertainRow:
    """A target row with an uncertain label.

    Parameters
    ----------
    row : int
        Its position in ``X_target``, from 0.
    label : object
        The label by the model.
    confidence : float
        The share of the members that voted for it.
    second : object
        The next best label.
    before : object
        The label by the source classifier.
    """

    row: int
    label: Any
    confidence: float
    second: Any
    before: Any


@dataclass(frozen=True)
class Diagnosis:
    """The result of `diagnose`.

    Parameters
    ----------
    method : str
        The class of the model.
    n_source, n_target, n_features : int
        Sizes of the two tables.
    classes : list of ClassShare
        The classes, in the order of ``classes_``.
    n_changed : int
        Number of target rows whose label differs from that of the source classifier.
    moves : list of Move
        The changes of labels, the most frequent first.
    lost_classes : list
        Classes of the source that no target row is labelled with.
    gap : DomainGap or None
        How well a classifier separates the domains; None if one has fewer than two rows.
    map : Map or None
        Rows of both domains in two dimensions.
    course : list of Step
        The iterations; empty for methods without them.
    agreement : float or None
        Mean share of the members that agree with the label of a row; None for methods with one classifier.
    members : list of float
        For each member, or each kind of a committee, the share of the target rows on which it agrees with the vote.
    kinds : list of str
        The kinds of a committee, in the order of ``members``; empty for other models.
    findings : list of str
        What the fit chose or estimated, in words.
    bins : list of Bin
        The distribution of the confidence.
    uncertain : list of UncertainRow
        The least certain rows, the least certain first.
    class_features : list of ClassFeatures
        The features with the largest weights for each class; empty for models without weights.
    evidence : Evidence
        The tests behind the verdict.
    verdict : Verdict
        Which labels to use, and why.
    """

    method: str
    n_source: int
    n_target: int
    n_features: int
    classes: list[ClassShare]
    n_changed: int
    moves: list[Move]
    lost_classes: list[Any]
    gap: DomainGap | None
    map: Map | None
    course: list[Step]
    agreement: float | None
    members: list[float]
    kinds: list[str]
    findings: list[str]
    bins: list[Bin]
    uncertain: list[UncertainRow]
    class_features: list[ClassFeatures]
    evidence: Evidence
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, dicts, strings and numbers, ready for JSON."""
        return asdict(self)


def bins_of(confidence: NDArray[np.float64], n_members: int) -> tuple[int, NDArray[np.intp]]:
    """Return the number of bins, one for each number of votes if there are few members, and the bin of each row."""
    n_bins = n_members if 0 < n_members <= MAX_MEMBERS_PER_BIN else N_BINS
    places = np.ceil(confidence * n_bins - 1e-9).astype(np.intp) - 1
    return n_bins, np.clip(places, 0, n_bins - 1)
