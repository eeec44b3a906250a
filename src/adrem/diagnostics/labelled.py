"""Estimate an accuracy from the labels of some rows, and from what a model says of all rows.

Prediction-powered inference with power tuning (Angelopoulos and others 2023): the mean over all rows of a chance to be
right, times a slope, plus the mean over the labelled rows of what the chance misses. The chances may be wrong in any
way: the labelled rows correct them. The rows are a finite population, as in the difference estimator of surveys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from adrem.base.reading import are_unknown, read_labels
from adrem.exceptions import InvalidDataError, ParameterError

Array = NDArray[np.float64]
CONFIDENCE = 0.9
FEWEST_FOR_SLOPE = 10  # labelled rows, below which the chances are not used
SMALLEST = 1e-12  # a variance below it is a rounding error


@dataclass(frozen=True)
class LabelledRows:
    """The rows whose labels are known, whether the model was right, and how probable it was that they were chosen.

    A row of probability 1 was chosen for certain. Such rows count once each; the others stand for more rows than
    themselves.
    """

    rows: NDArray[np.intp]
    is_right: NDArray[np.bool_]
    probability: Array

    @classmethod
    def at_random(cls, rows: NDArray[np.intp], is_right: NDArray[np.bool_], n_rows: int) -> LabelledRows:
        """Return rows that were drawn at random, each with the same probability."""
        return cls(rows, is_right, np.full(len(rows), len(rows) / n_rows))


@dataclass(frozen=True)
class LabelledEstimate:
    """An accuracy, its bounds, and the number of labels from which it was estimated."""

    accuracy: float
    low: float
    high: float
    n_labels: int


def estimate_from_labels(labelled: LabelledRows, chances: Array) -> LabelledEstimate:
    """Estimate the accuracy over all rows, with a 90 % interval.

    Parameters
    ----------
    labelled : LabelledRows
        Some of the rows.
    chances : ndarray of shape (n_rows,)
        For each row, the probability that the model is right, by any estimate that has not seen these labels.

    Returns
    -------
    LabelledEstimate
        The estimate.
    """
    is_certain = labelled.probability >= 1.0
    n_rows, n_certain = len(chances), int(np.count_nonzero(is_certain))
    known = float(labelled.is_right[is_certain].sum())
    is_rest = np.ones(n_rows, dtype=bool)
    is_rest[labelled.rows[is_certain]] = False
    if not is_rest.any():
        return LabelledEstimate(known / n_rows, known / n_rows, known / n_rows, n_certain)
    mean, n_effective = _estimate_rest(labelled, chances, is_rest)
    low, high = exact_interval(mean, n_effective)
    accuracy, low, high = ((known + np.count_nonzero(is_rest) * own) / n_rows for own in (mean, low, high))
    return LabelledEstimate(accuracy, low, high, len(labelled.rows))


def _estimate_rest(labelled: LabelledRows, chances: Array, is_rest: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the accuracy on the rows that are not certain, and how many labels it is worth."""
    is_drawn = labelled.probability < 1.0
    right = labelled.is_right[is_drawn].astype(np.float64)
    drawn, probability = chances[labelled.rows[is_drawn]], labelled.probability[is_drawn]
    if not len(right):
        return 0.5, 0.0  # nothing is known
    weights = 1.0 / probability
    n_design = weights.sum() ** 2 / max(np.sum((1.0 - probability) * weights**2), 1e-12)
    weights = weights / weights.sum()
    slope, left = _slope(right, drawn, weights)
    mean = float(np.clip(weights @ (right - slope * drawn) + slope * chances[is_rest].mean(), 0.0, 1.0))
    return mean, n_design / (left * _excess(mean, right, weights))


def _excess(mean: float, right: Array, weights: Array) -> float:
    """Return by which factor the variance of the labelled rows exceeds the one that belongs to a mean, 1 at least.

    The interval is that of a share: it takes the variance from the mean, which the chances may have moved.
    """
    variance = weights @ (right - weights @ right) ** 2
    usual = max(mean * (1.0 - mean), 0.25 / (len(right) + 2))
    return max(1.0, float(variance / usual)) if variance > SMALLEST else 1.0


def _slope(right: Array, chances: Array, weights: Array) -> tuple[float, float]:
    """Return how much the chances count, from 0 to 1, and which part of the variance is left with them."""
    n = len(right)
    centred, deviations = chances - weights @ chances, right - weights @ right
    spread, variance = weights @ centred**2, weights @ deviations**2
    if n < FEWEST_FOR_SLOPE or spread <= SMALLEST or variance <= SMALLEST:
        return 0.0, 1.0
    slope = float(np.clip(weights @ (centred * deviations) / spread, 0.0, 1.0))
    # One more row with the whole variance: errors that are rare may not be among the labelled rows.
    left = (weights @ (deviations - slope * centred) ** 2 / variance * n + 1.0) / (n - 1)
    return (slope, float(left)) if left < 1.0 else (0.0, 1.0)


def exact_interval(share: float, n: float) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson; n need not be a whole number (Korn and Graubard 1998)."""
    right, tail = share * n, (1.0 - CONFIDENCE) / 2.0
    low = float(beta.ppf(tail, right, n - right + 1.0)) if right > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, right + 1.0, n - right)) if right < n else 1.0
    return low, high


def labels_needed(half_width: float = 0.03, *, accuracy: float = 0.8, n_target: int | None = None) -> int:
    """Return how many random rows have to be labelled to know an accuracy to some points.

    Parameters
    ----------
    half_width : float, default=0.03
        Half of the width of the 90 % interval.
    accuracy : float, default=0.8
        The accuracy that is expected. The closer to 0.5, the more labels are needed.
    n_target : int, default=None
        The number of rows of the target. Of a small one, fewer are needed. By default it counts as large.

    Returns
    -------
    int
        The number of labels. Fewer are enough where the model knows which of its labels are doubtful.

    Raises
    ------
    ParameterError
        If ``half_width`` or ``accuracy`` is not between 0 and 1, or ``n_target`` is not positive.

    See Also
    --------
    estimate_accuracy : The estimate from these labels, by ``y_known``.

    Examples
    --------
    >>> from adrem.diagnostics import labels_needed
    >>> labels_needed(0.03, accuracy=0.9), labels_needed(0.1), labels_needed(0.03, accuracy=0.9, n_target=500)
    (303, 52, 189)
    """
    for name, value in (("half_width", half_width), ("accuracy", accuracy)):
        if not 0.0 < value < 1.0:
            raise ParameterError(f"{name} is {value}: give a number between 0 and 1.", name)
    if n_target is not None and n_target < 1:
        raise ParameterError(f"n_target is {n_target}: give the number of rows of the target.", "n_target")
    enough, few = 1, 0
    while _half_width(accuracy, enough, n_target) > half_width:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if _half_width(accuracy, middle, n_target) <= half_width else (middle, enough)
    return enough


def _half_width(accuracy: float, n: int, n_target: int | None) -> float:
    if n_target is not None and n >= n_target:
        return 0.0
    low, high = exact_interval(accuracy, n if n_target is None else n / (1.0 - n / n_target))
    return (high - low) / 2.0


def read_labelled(y_known: Any, probability: Any, labels: NDArray[Any], classes: NDArray[Any]) -> LabelledRows:
    """Return the labelled rows of the target.

    Parameters
    ----------
    y_known : array-like of shape (n_target,)
        The known labels, None or NaN elsewhere, or -1 if this is no class. One that is no class counts as an error.
    probability : array-like of shape (n_target,) or None
        How probable it was that a row was chosen to be labelled. Rows with 0, None or NaN are not used. None for rows
        that were drawn at random.
    labels : ndarray of shape (n_target,)
        The labels by the model.
    classes : ndarray of shape (n_classes,)
        The classes.
    """
    n_rows = len(labels)
    given = read_labels(y_known, n_rows, "y_known", "X_target")
    is_used = ~are_unknown(given.tolist(), -1 in classes.tolist(), "y_known")
    if probability is None:
        chosen = np.full(n_rows, max(int(np.count_nonzero(is_used)), 1) / n_rows)
    else:
        chosen = _read_probability(probability, n_rows)
        is_used &= chosen > 0
    rows = np.flatnonzero(is_used)
    if not np.any(chosen[rows] < 1.0) and len(rows) < n_rows:
        which = "no label" if not len(rows) else "only labels of rows that were chosen for certain"
        raise InvalidDataError(
            f"y_known has {which}, which say nothing about the other rows: label some random rows, and give these a "
            "probability below 1."
        )
    is_right = np.array([given[row] == labels[row] for row in rows], dtype=bool)
    return LabelledRows(rows, is_right, chosen[rows])


def _read_probability(probability: Any, n_rows: int) -> Array:
    found = np.asarray([0.0 if own is None else own for own in np.asarray(probability, dtype=object).ravel().tolist()])
    if len(found) != n_rows:
        raise InvalidDataError(
            f"known_probability has {len(found)} entries and X_target has {n_rows} rows: give one for each row."
        )
    found = np.nan_to_num(found.astype(np.float64), nan=0.0)
    if found.min(initial=0.0) < 0.0 or found.max(initial=0.0) > 1.0:
        raise InvalidDataError("known_probability has to be between 0 and 1: give the share of rows that were drawn.")
    return found
