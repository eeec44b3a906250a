"""What a diagnosis is made of."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from adrem.diagnostics._evidence import Evidence
from adrem.diagnostics._gap import DomainGap
from adrem.diagnostics._map import Map
from adrem.diagnostics._verdict import Verdict
from adrem.diagnostics._voices import Voice


@dataclass(frozen=True)
class ClassShare:
    """A class: its share of the labelled source, how many target rows get it before and after, the share expected.

    Parameters
    ----------
    label : object
        The class.
    source : float
        Its share of the rows of the source.
    before : int
        How many target rows the classifier of the source alone labels with it.
    after : int
        How many target rows the model labels with it.
    prior : float or None
        The share that the model expects; None for methods that expect none.

    Examples
    --------
    >>> from adrem.diagnostics import ClassShare
    >>> share = ClassShare(label="cat", source=0.5, before=80, after=65, prior=0.6)
    >>> share.after - share.before
    -15
    """

    label: Any
    source: float
    before: int
    after: int
    prior: float | None


@dataclass(frozen=True)
class Move:
    """How many target rows go from one label to another by adapting.

    Parameters
    ----------
    before : object
        The label by the source alone.
    after : object
        The label of the model.
    count : int
        How many rows.

    Examples
    --------
    >>> from adrem.diagnostics import Move
    >>> move = Move(before="cat", after="dog", count=15)
    >>> f"{move.count} rows went from {move.before} to {move.after}"
    '15 rows went from cat to dog'
    """

    before: Any
    after: Any
    count: int


@dataclass(frozen=True)
class Spread:
    """A value of all members: its mean, and the least and the largest.

    Parameters
    ----------
    mean : float
        Their mean.
    low, high : float
        The least and the largest.

    Examples
    --------
    >>> from adrem.diagnostics import Spread
    >>> losses = Spread(mean=2.0, low=1.5, high=3.0)
    >>> losses.high - losses.low
    1.5
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
        Its number, 0 for the source alone.
    drawn : Spread
        How many target rows were drawn.
    changed : Spread
        How many target rows got another label.
    loss, balanced_loss : Spread
        The losses, as in ``history_`` of `AdREM`.

    Examples
    --------
    The course of a model tells when its labels came to rest:

    >>> from adrem import AdREM
    >>> from adrem.datasets import make_rotated_arcs
    >>> from adrem.diagnostics import diagnose
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(20, 20, rotation=60, random_state=0)
    >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> last = diagnose(model, X_source, y_source, X_target).course[-1]
    >>> last.iteration, last.changed.high
    (20, 0.0)
    """

    iteration: int
    drawn: Spread
    changed: Spread
    loss: Spread
    balanced_loss: Spread


@dataclass(frozen=True)
class Bin:
    """Target rows whose confidence lies above `low` and up to `high`, apart by whether adapting changed the label.

    Parameters
    ----------
    low, high : float
        Bounds of the confidence.
    kept : int
        How many rows have the label that they had by the source alone.
    changed : int
        How many have another.

    Examples
    --------
    >>> from adrem.diagnostics import Bin
    >>> bins = [Bin(0.0, 0.5, kept=2, changed=3), Bin(0.5, 1.0, kept=90, changed=5)]
    >>> sum(own.changed for own in bins)
    8
    """

    low: float
    high: float
    kept: int
    changed: int


@dataclass(frozen=True)
class UncertainRow:
    """A target row whose label is least certain: its position, and what speaks for which label.

    Parameters
    ----------
    row : int
        Its position in ``X_target``, from 0.
    label : object
        The label that it got.
    confidence : float
        How sure that is: the share of the members that voted for it.
    second : object
        The label that comes next.
    before : object
        The label by the source alone.

    Examples
    --------
    >>> from adrem.diagnostics import UncertainRow
    >>> row = UncertainRow(row=17, label="cat", confidence=0.55, second="dog", before="dog")
    >>> f"row {row.row}: {row.label} or {row.second}?"
    'row 17: cat or dog?'
    """

    row: int
    label: Any
    confidence: float
    second: Any
    before: Any


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` finds.

    Parameters
    ----------
    method : str
        The class of the model.
    n_source, n_target, n_features : int
        Sizes of the two tables.
    classes : list of ClassShare
        The classes, in the order of ``classes_``.
    n_changed : int
        Target rows whose label differs from what the classifier of the source alone says.
    moves : list of Move
        From which label to which, the most frequent first.
    lost_classes : list
        Classes of the source that no target row is labelled with.
    gap : DomainGap or None
        How well the domains can be told apart; None where one has less than two rows.
    map : Map or None
        Where rows of both domains lie in two dimensions.
    course : list of Step
        The iterations; empty for methods that have none.
    agreement : float or None
        Mean share of the members that agree with the label of a row; None for methods of one classifier.
    members : list of float
        For each member, the share of the target rows on which it agrees with the vote.
    bins : list of Bin
        How sure the labels are.
    uncertain : list of UncertainRow
        The rows that are least certain, first of all those that are worth a look.
    voices : list of Voice
        The features that speak for each class, before and after; empty for models that have no weights.
    evidence : Evidence
        What the verdict is founded on.
    verdict : Verdict
        Which labels to take, and why.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_rotated_arcs
    >>> from adrem.diagnostics import diagnose
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(20, 20, rotation=60, random_state=0)
    >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> diagnosis = diagnose(model, X_source, y_source, X_target)
    >>> diagnosis.moves
    [Move(before=0, after=1, count=1)]
    >>> diagnosis.classes[0]
    ClassShare(label=0, source=0.5, before=11, after=10, prior=0.5)
    >>> diagnosis.verdict.sentence
    'Of the two, take the adapted labels.'
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
    bins: list[Bin]
    uncertain: list[UncertainRow]
    voices: list[Voice]
    evidence: Evidence
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Put all of it in plain lists, dicts, strings and numbers, ready for JSON.

        Returns
        -------
        dict
            The attributes by name.

        Examples
        --------
        >>> import json
        >>> from adrem.baselines import SourceOnly
        >>> from adrem.datasets import make_rotated_arcs
        >>> from adrem.diagnostics import diagnose
        >>> X_source, y_source, X_target, _ = make_rotated_arcs(20, 20, rotation=60, random_state=0)
        >>> model = SourceOnly(C=1.0).fit(X_source, y_source, X_target=X_target)
        >>> diagnosis = diagnose(model, X_source, y_source, X_target)
        >>> json.loads(json.dumps(diagnosis.to_dict()))["n_target"]
        20
        """
        return asdict(self)
