"""Estimate the accuracy in the target without target labels, or from a few."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone

from adrem.algorithm.calibration import calibrate
from adrem.base.known import fit_beside
from adrem.base.reading import UNKNOWN
from adrem.base.scoring import by_class
from adrem.base.validation import Domains
from adrem.diagnostics.labelled import estimate_from_labels, read_labelled
from adrem.diagnostics.unknown import NO_ESTIMATE
from adrem.diagnostics.verdict import reasons_against
from adrem.exceptions import InvalidDataError
from adrem.types import Matrix

if TYPE_CHECKING:
    from adrem.diagnostics.diagnosis import Examination

Array = NDArray[np.float64]
# The half-width of the interval, in standard deviations of the correctness of one row, is WIDTH times this much: the
# distance of the source's labels from the assumed class shares, as a total variation, and a constant. docs/estimate.md
# has how both were chosen, and the results on data sets that had no part in the choice.
WIDTH, LEAST_DISTANCE = 1.2, 0.3
NORMAL_QUANTILE = 1.645  # of a two-sided 90 % interval, for the sampling error of the target rows
FEW_ROWS = 20


@dataclass(frozen=True)
class AccuracyEstimate:
    """Estimated accuracy of the predicted target labels.

    Parameters
    ----------
    accuracy : float
        The estimate: the mean probability of the predicted labels, by models fitted without the row and calibrated on
        held-out source rows.
    low, high : float
        Bounds that contain the accuracy in about nine of ten cases; 0 and 1 if it is unknown.
    confidence : float
        The same as ``accuracy``.
    drift : float
        Accuracy of the adapted models on held-out source rows, minus that of the classifier of the source. Below zero
        if adapting moved away from the source.
    difference_of_confidences : float
        Another estimate: the accuracy on held-out source rows minus the loss of confidence from source to target.
    reasons : list of str
        Why the accuracy is unknown; empty otherwise.
    n_labels : int
        The number of labels of the target that ``accuracy``, ``low`` and ``high`` come from; 0 for an estimate without
        labels.
    """

    accuracy: float
    low: float
    high: float
    confidence: float
    drift: float
    difference_of_confidences: float
    reasons: list[str] = field(default_factory=list)
    n_labels: int = 0

    @property
    def is_known(self) -> bool:
        """Whether the estimate says anything."""
        return not self.reasons


def estimate_accuracy(
    model: Any,
    X_source: Any,
    y_source: Any,
    X_target: Any,
    *,
    y_known: Any = None,
    known_probability: Any = None,
    random_state: int = 0,
) -> AccuracyEstimate:
    """Estimate the accuracy of a model in the target, without target labels or from a few.

    The model is fitted three more times, each time without a third of the rows of both domains, which it then scores.
    Labels of the target that were known in the fit are known in these fits too, but for the third that is left out. The
    estimate is for the other labels.

    With ``y_known``, labels of some random rows, the estimate without labels is corrected by these
    (prediction-powered inference), and the interval is valid however wrong the model is.

    - The rows have to be a random sample of the target. If `adrem.active.suggest` chose some, leave these out, or say
      in ``known_probability`` that they were chosen for certain, and with which probability the others were.
    - If labels were known in the fit, the estimate is one by cross-validation: for the labels of models that were
      fitted without a third of the rows and of the known labels, on all rows. It may be a little low.

    Parameters
    ----------
    model : Committee, AdREM, a baseline, or a pipeline that ends with one
        A fitted model. The steps of a pipeline before it transform the rows.
    X_source : {array-like, sparse matrix, frame} of shape (n_source, n_features)
        Source rows of the fit. Several sources are pooled, and all rows count the same, whatever their weight.
    y_source : array-like of shape (n_source,)
        Labels of the source.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Target rows of the fit.
    y_known : array-like of shape (n_target,), default=None
        Labels of some rows of ``X_target``; None, NaN or -1 for the others, as in ``fit``. A label that is no class of
        the source counts as an error of the model.
    known_probability : array-like of shape (n_target,), default=None
        The probability with which a labelled row had been chosen: 1 for rows that were chosen for certain, and for
        random ones their share of the rows they were drawn from. Rows with 0 or NaN are not used. By default, all
        labelled rows were drawn at random from all.
    random_state : int, default=0
        Seed of the cross-validation folds.

    Returns
    -------
    AccuracyEstimate
        The estimate ``accuracy``, its bounds ``low`` and ``high``, and its parts.

    Raises
    ------
    InvalidDataError
        If a class of the source or the target has fewer than three rows, or ``y_known`` has no label of a random row.

    See Also
    --------
    diagnose : Further diagnostics without target labels.
    labels_needed : How many labels an interval of some width needs.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import load_digits_shift
    >>> from adrem.diagnostics import estimate_accuracy
    >>> X_source, y_source, X_target, y_target = (part[::3] for part in load_digits_shift())
    >>> model = AdREM(C=0.1, n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> found = estimate_accuracy(model, X_source, y_source, X_target)
    >>> bool(found.low < (model.transduction_ == y_target).mean() < found.high)
    True

    With the labels of every sixth row, the interval is narrower:

    >>> known = [label if row % 6 == 0 else None for row, label in enumerate(y_target)]
    >>> by_labels = estimate_accuracy(model, X_source, y_source, X_target, y_known=known)
    >>> by_labels.n_labels, bool(by_labels.high - by_labels.low < (found.high - found.low) / 2)
    (50, True)
    """
    from adrem.diagnostics.diagnosis import examine

    examined = examine(model, X_source, y_source, X_target)
    if y_known is None:
        return estimate_examined(examined, random_state)
    read_labelled(y_known, known_probability, examined.after, examined.model.classes_)  # its errors, before the fits
    chances = held_out_chances(examined, random_state)
    return correct_estimate(estimate_from(chances, examined), chances, examined, y_known, known_probability)


def correct_estimate(
    estimate: AccuracyEstimate, chances: Chances, examined: Examination, y_known: Any, probability: Any
) -> AccuracyEstimate:
    """Return an estimate that labels of some rows correct."""
    labels = examined.after if examined.domains.known is None else chances.labels
    right = chances.unknown[np.arange(len(labels)), labels]
    classes = examined.model.classes_
    found = estimate_from_labels(read_labelled(y_known, probability, classes[labels], classes), right)
    return replace(
        estimate, accuracy=found.accuracy, low=found.low, high=found.high, reasons=[], n_labels=found.n_labels
    )


def estimate_examined(
    examined: Examination, random_state: int = 0, labels: NDArray[np.intp] | None = None
) -> AccuracyEstimate:
    """Estimate the accuracy of the labels of an examined model, or of other labels of the same rows."""
    return estimate_from(held_out_chances(examined, random_state), examined, labels)


class Chances(NamedTuple):
    """Calibrated class probabilities (rows x classes) of source and target rows, by models fitted without the row.

    `labels` are the labels of the target rows by these models.
    """

    known: Array
    unknown: Array
    labels: NDArray[np.intp]


def held_out_chances(examined: Examination, random_state: int = 0) -> Chances:
    """Return class probabilities of all rows, for the class shares that the model assumes."""
    domains = examined.domains
    if not examined.is_unknown.any():
        raise InvalidDataError("Every label of the target was known in the fit: there is nothing to estimate.")
    if hasattr(examined.model, "unknown_share_"):
        raise InvalidDataError(NO_ESTIMATE)
    check_rows(domains.classes[domains.labels], domains.X_target.shape[0])
    counts = np.bincount(domains.labels, minlength=len(domains.classes))
    known, unknown, labels = _held_out_scores(examined.model, domains, random_state)
    calibrated = calibrate(known, domains.labels, np.ones(len(known)))
    chances = softmax(calibrated(unknown), axis=1)
    if examined.prior is not None:  # the calibration holds for the class prior of the source
        chances = chances * examined.prior / (counts / counts.sum())
        chances /= chances.sum(axis=1, keepdims=True)
    return Chances(softmax(calibrated(known), axis=1), chances, labels)


def estimate_from(chances: Chances, examined: Examination, labels: NDArray[np.intp] | None = None) -> AccuracyEstimate:
    """Estimate the accuracy of labels from class probabilities."""
    labels = examined.after if labels is None else labels
    known, unknown = chances.known, chances.unknown
    source_accuracy = float(np.mean(known.argmax(axis=1) == examined.domains.labels))
    rows = np.flatnonzero(examined.is_unknown)
    confidence = float(unknown[rows, labels[rows]].mean())
    low, high = interval_of(confidence, len(rows), examined.distance_before)
    reasons = _why_unknown(examined)
    return AccuracyEstimate(
        accuracy=confidence,
        low=0.0 if reasons else low,
        high=1.0 if reasons else high,
        confidence=confidence,
        drift=source_accuracy - examined.source_accuracy,
        difference_of_confidences=source_accuracy - float(known.max(axis=1).mean() - unknown.max(axis=1).mean()),
        reasons=reasons,
    )


def _why_unknown(examined: Examination) -> list[str]:
    """Return why the accuracy can't be told; nothing if it can."""
    n_target = int(np.count_nonzero(examined.is_unknown))
    which = "" if examined.domains.known is None else " without a known label"
    few = [f"The target has only {n_target} rows{which}."] if n_target < FEW_ROWS else []
    return [*few, *reasons_against(examined.evidence)]


def check_rows(y_source: NDArray[Any], n_target: int) -> None:
    """Raise an error if there are too few rows for an estimate."""
    from adrem.machines.regularization import N_FOLDS

    classes, counts = np.unique(y_source, return_counts=True)
    short = [f"{name!r} has {count}" for name, count in zip(classes.tolist(), counts, strict=True) if count < N_FOLDS]
    if n_target < N_FOLDS:
        short.append(f"the target has {n_target}")
    if short:
        raise InvalidDataError(
            f"An estimate of the accuracy needs {N_FOLDS} rows of the target and of each class of the source, but "
            f"{', '.join(short)}. Skip the estimate, or add rows."
        )


def interval_of(accuracy: float, n_rows: int, distance: float) -> tuple[float, float]:
    """Return the bounds: a Wilson interval, which has a width even if the estimate is 1, widened by the usual error."""
    n_adjusted = n_rows + NORMAL_QUANTILE**2
    middle = (accuracy * n_rows + 0.5 * NORMAL_QUANTILE**2) / n_adjusted
    usual = WIDTH * (LEAST_DISTANCE + distance)
    half_width = float(np.sqrt(middle * (1.0 - middle)) * np.hypot(usual, NORMAL_QUANTILE / np.sqrt(n_adjusted)))
    return max(accuracy - half_width, 0.0), min(accuracy + half_width, 1.0)


def _held_out_scores(model: Any, domains: Domains, seed: int) -> tuple[Array, Array, NDArray[np.intp]]:
    """Return class scores of all source and target rows, each by a model fitted without the row, and target labels."""
    from adrem.machines.regularization import N_FOLDS, make_folds

    rng = np.random.default_rng(seed)
    n_source, n_target, n_classes = len(domains.labels), domains.X_target.shape[0], len(domains.classes)
    folds = make_folds(domains.labels, np.ones(n_source), seed)
    of_target = rng.permutation(n_target) % N_FOLDS
    known, unknown = np.zeros((n_source, n_classes)), np.zeros((n_target, n_classes))
    labels = np.zeros(n_target, dtype=np.intp)
    for fold, held_source in enumerate(folds):
        also_held = of_target == fold
        part = clone(model).set_params(**model.refit_params(int(np.count_nonzero(~also_held))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # these models are not returned
            fit_beside(
                part,
                Domains(
                    domains.X_source[~held_source],
                    domains.labels[~held_source],
                    domains.weights[~held_source],
                    domains.X_target[~also_held],
                    domains.classes,
                    known=None if domains.known is None else _unless_none(domains.known[~also_held]),
                ),
            )
        known[held_source] = _scores(part, domains.X_source[held_source])
        unknown[also_held] = _scores(part, domains.X_target[also_held])
        labels[also_held] = part.label_rows(domains.X_target[also_held])
    return known, unknown, labels


def _unless_none(known: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return the known labels; None if none is known."""
    return known if np.any(known != UNKNOWN) else None


def _scores(model: Any, rows: Matrix) -> Array:
    return by_class(np.mean(list(model.member_scores(rows)), axis=0))
