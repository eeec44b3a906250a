"""Estimates by others of the accuracy of adapted labels, scores that grow with it, and evidence for a verdict.

The matrix norm and the mixed rows give no accuracy, but a score; `as_accuracies` learns the accuracy from it, by a line
through the results of other data sets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from adrem.base.scoring import by_class
from adrem.diagnostics.accuracy import Chances, estimate_from
from adrem.diagnostics.diagnosis import Examination

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
# The order of the matrix norm, and the divergence from equal shares above which its authors trust the softmax.
NORM, TRUSTED = 4, 5.0
# The weight of the row that gives a mixed row its label.
MIXED = 0.55
TINY = 1e-12
# Scores of the labels that are no accuracies.
SCORES = ("norm", "mixed")
# Evidence that other rules for the verdict take.
EVIDENCE = ("norm_adapted", "norm_source", "mixed_source", "reversed")
# The fields of a row of results, and whose estimates they are.
ESTIMATES = {
    "ours": "estimate of this package",
    "expected": "expected accuracy, as NannyML's CBPE",
    "thresholded": "average thresholded confidence",
    "difference": "difference of confidences",
    "agreement": "agreement of two kinds",
    "norm": "matrix norm (MaNo), by a line",
    "mixed": "mixed rows (MixVal), by a line",
}


def estimates_of(examined: Examination, chances: Chances, seed: int) -> dict[str, float]:
    """Return our estimate of the accuracy of the adapted labels, and those of others."""
    known, unknown = (own.max(axis=1) for own in (chances.known, chances.unknown))
    found = estimate_from(chances, examined)
    source_accuracy = float(np.mean(chances.known.argmax(axis=1) == examined.domains.labels))
    rows = examined.domains.X_target
    winners = [scores.argmax(axis=1) for scores in map(by_class, examined.model.member_scores(rows))]
    pairs = [float(np.mean(one == other)) for one, other in combinations(winners, 2)]
    return {
        "ours": found.accuracy,
        "expected": float(unknown.mean()),
        "thresholded": float(np.mean(unknown >= np.quantile(known, 1.0 - source_accuracy))),
        "difference": found.difference_of_confidences,
        "agreement": float(np.mean(pairs)) if pairs else 1.0,
        "norm": matrix_norm(_logits(chances.unknown)),
        "mixed": mixed_consistency(examined.model.label_rows, rows, examined.after, seed),
    }


def evidence_of(examined: Examination, seed: int) -> dict[str, float]:
    """Return the scores of the labels before adapting, and the result of reverse validation."""
    baseline, rows = examined.baseline, examined.domains.X_target
    return {
        "norm_adapted": matrix_norm(_logits(examined.model.share_rows(rows))),
        "norm_source": matrix_norm(_logits(baseline.share_rows(rows))),
        "mixed_source": mixed_consistency(baseline.label_rows, rows, examined.before, seed),
        "reversed": reversed_errors(examined),
    }


def reversed_errors(examined: Examination) -> float:
    """Return how much better a classifier of the target labels the source if trained by the adapted labels.

    That is reverse validation (Zhong and others, 2010): logistic regression, trained on the target by the labels before
    and after adapting, in standard errors of the difference of their right source labels.
    """
    domains = examined.domains
    old, new = (
        _trained(domains.X_target, labels, domains.X_source) == domains.labels
        for labels in (examined.before, examined.after)
    )
    won, lost = int(np.count_nonzero(new & ~old)), int(np.count_nonzero(old & ~new))
    return float((won - lost) / np.sqrt(max(won + lost, 1)))


def _trained(rows: Any, labels: Labels, others: Any) -> Labels:
    if len(np.unique(labels)) == 1:
        return np.full(others.shape[0], labels[0])
    scaler = MaxAbsScaler() if sp.issparse(rows) else StandardScaler()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a training that does not converge is good enough
        found: Labels = make_pipeline(scaler, LogisticRegression()).fit(rows, labels).predict(others)
    return found


def _logits(shares: Array) -> Array:
    return np.log(np.maximum(shares, TINY))


def matrix_norm(logits: Array) -> float:
    """Return the norm of the normalized logits (Xie and others, 2024), divided by that of certain labels.

    Logits are normalized by the second-order series of the exponential function, or by the function itself where the
    classifier is certain of many labels.
    """
    logits = logits - logits.mean(axis=1, keepdims=True)  # a series, unlike a softmax, depends on the origin
    shares = softmax(logits, axis=1)
    divergence = -float(np.mean(np.log(np.maximum(shares, TINY))))
    if divergence <= TRUSTED:
        series = 1.0 + logits + 0.5 * logits**2
        shares = series / series.sum(axis=1, keepdims=True)
    return float(np.mean(np.sum(shares**NORM, axis=1)) ** (1.0 / NORM))


def mixed_consistency(label_rows: Callable[[Any], Labels], rows: Any, labels: Labels, seed: int) -> float:
    """Return how often a mixed row has the label of its larger part (Hu and others, 2023).

    Each row is mixed with a random one. The mean of rows of one label, which tell whether a class holds together, and
    of rows of two labels, which tell whether the border runs between classes; one of them if there is no other.
    """
    other = np.random.default_rng(seed).permutation(len(labels))
    kept = label_rows(_mix(rows, other)) == labels
    is_same = labels == labels[other]
    return float(np.mean([kept[part].mean() for part in (is_same, ~is_same) if part.any()]))


def _mix(rows: Any, other: NDArray[np.intp]) -> Any:
    mixed = rows * MIXED + rows[other] * (1.0 - MIXED)
    return sp.csr_array(mixed) if sp.issparse(rows) else mixed.astype(rows.dtype)


def as_accuracies(scores: Array, accuracies: Array, own: Array) -> Array:
    """Return the accuracies that scores suggest, by a line through the scores and accuracies of other pairs."""
    return np.clip(np.polyval(np.polyfit(scores, accuracies, 1), own), 0.0, 1.0)
