"""Warnings where the rows contradict what equal draws assume: that all classes are in the target, equally often.

Equal draws move the shares of the labels towards equal ones. What is left of the difference is strong evidence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from adrem.exceptions import MissingClassWarning, UnequalSharesWarning
from adrem.runtime.notices import NamingText, warn_user

# A class has few rows if it has less than this part of an equal share, and if even the upper bound of its share is
# below an equal one.
LOW_PART, CONFIDENCE = 0.25, 0.95
# Shares are clearly not equal beyond this distance from equal ones, as a total variation, and so many times the
# distance of random rows. Chosen on the Amazon reviews and Office-Caltech with ResNet-50 features.
LEAST_DISTANCE, NOISES = 0.03, 3.0
# The expected distance of random rows of equally common classes, for one class and row.
NOISE = 0.4
MOST_LISTED = 5

MISSING = (
    "Few or no target rows are labelled {named}, although every class was drawn equally often. If the target lacks "
    "classes of the source, set {class_prior} to 'estimate', or to shares that you know."
)
UNEQUAL = (
    "The classes seem not to be equally common in the target, although they were drawn equally often: {share} of the "
    "labels are {label!r}. Set {class_prior} to 'estimate', or to shares that you know."
)


def warn_of_shares(labels: NDArray[np.intp], classes: list[Any]) -> None:
    """Warn if the labels of the target contradict equal shares of the classes."""
    counts = np.bincount(labels, minlength=len(classes))
    rare = few_labels(counts)
    if rare:
        more = f" and {len(rare) - MOST_LISTED} more" if len(rare) > MOST_LISTED else ""
        named = ", ".join(repr(classes[c]) for c in rare[:MOST_LISTED]) + more
        warn_user(NamingText(MISSING, named=named), MissingClassWarning)
    elif are_unequal(counts):
        largest = int(counts.argmax())
        share = f"{counts[largest] / counts.sum():.0%}"
        warn_user(NamingText(UNEQUAL, share=share, label=classes[largest]), UnequalSharesWarning)


def few_labels(counts: NDArray[np.intp]) -> list[int]:
    """Return the classes with clearly fewer labels than an equal share."""
    n_rows, equal = int(counts.sum()), 1.0 / len(counts)
    few = np.flatnonzero(counts < LOW_PART * equal * n_rows)
    return [int(c) for c in few if upper_bound(int(counts[c]), n_rows) < equal]


def are_unequal(counts: NDArray[np.intp]) -> bool:
    """Return whether the shares of the labels are clearly not equal."""
    n_rows, n_classes = int(counts.sum()), len(counts)
    distance = 0.5 * float(np.abs(counts / n_rows - 1.0 / n_classes).sum())
    return distance > LEAST_DISTANCE + NOISES * NOISE * float(np.sqrt(n_classes / n_rows))


def lower_bound(count: int, n_rows: int) -> float:
    """Return the lower bound of a share, by Wilson's interval."""
    found = binomtest(count, n_rows, alternative="greater")
    return float(found.proportion_ci(CONFIDENCE, method="wilson").low)


def upper_bound(count: int, n_rows: int) -> float:
    """Return the upper bound of the share of a class, by Wilson's interval."""
    found = binomtest(count, n_rows, alternative="less")
    return float(found.proportion_ci(CONFIDENCE, method="wilson").high)
