"""The difference between two domains: how well a classifier separates them, and by which features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.diagnostics.map import some_rows
from adrem.types import Matrix

Array = NDArray[np.float64]
# Maximum number of rows of each domain to train the classifier of the domains on.
MAX_ROWS = 3000
N_FOLDS = 3
TOL = 0.1
CANDIDATES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True)
class TellingFeature:
    """A feature that separates the domains.

    Parameters
    ----------
    name : str
        The name of the feature.
    side : {"source", "target"}
        The domain in which it is larger.
    source, target : float
        Its level in each domain.
    unit : {"share of rows", "standard deviations"}
        The unit of the levels: the share of the rows in which it is not zero, for non-negative features of sparse rows;
        otherwise its mean, in standard deviations from the mean over both domains.
    """

    name: str
    side: Literal["source", "target"]
    source: float
    target: float
    unit: Literal["share of rows", "standard deviations"]


@dataclass(frozen=True)
class DomainGap:
    """How well the domains can be separated.

    Parameters
    ----------
    auc : float
        Area under the ROC curve of a cross-validated logistic regression of the domain: 0.5 if the domains do not
        differ, 1 if they are separated.
    features : list of TellingFeature
        The features that separate them most, for each domain.
    """

    auc: float
    features: list[TellingFeature]


def measure_gap(
    X_source: Matrix, X_target: Matrix, names: Sequence[str], rng: np.random.Generator, n: int = 10
) -> DomainGap | None:
    """Measure how well the domains can be separated, with n features of each; None if one has less than two rows."""
    from sklearn.metrics import roc_auc_score

    from adrem.baselines.source import SourceOnly
    from adrem.baselines.weighting import separate_domains
    from adrem.machines.tables import n_rows_with, stack

    if min(X_source.shape[0], X_target.shape[0]) < 2:
        return None
    X_source, X_target = (X[some_rows(X.shape[0], MAX_ROWS, rng)] for X in (X_source, X_target))
    separated = separate_domains(X_source, X_target, CANDIDATES, N_FOLDS, TOL, seed=0)
    is_target = np.repeat([0, 1], [X_source.shape[0], X_target.shape[0]])
    rows = stack([X_source, X_target])
    weights = SourceOnly("log_loss", separated.C, TOL).fit(rows, is_target).coef_[0, 0]
    mean, deviation = _moments(rows)
    source_mean, target_mean = _moments(X_source)[0], _moments(X_target)[0]
    # The contribution of a feature to the difference between the mean scores of the domains.
    pull = weights * (target_mean - source_mean)
    counted = _is_counted(rows)
    shares = [n_rows_with(X) / X.shape[0] if counted.any() else np.zeros(0) for X in (X_source, X_target)]

    def describe(k: int, side: Literal["source", "target"]) -> TellingFeature:
        if counted[k]:
            return TellingFeature(names[k], side, float(shares[0][k]), float(shares[1][k]), "share of rows")
        levels = [float((own[k] - mean[k]) / deviation[k]) for own in (source_mean, target_mean)]
        return TellingFeature(names[k], side, levels[0], levels[1], "standard deviations")

    more_common: list[tuple[Literal["source", "target"], NDArray[np.bool_]]] = [
        ("target", target_mean > source_mean),
        ("source", target_mean < source_mean),
    ]
    features = [
        describe(k, side)
        for side, telling in more_common
        for k in np.argsort(-np.where(telling, pull, 0.0), kind="stable")[:n]
        if telling[k] and pull[k] > 0
    ]
    auc = float(roc_auc_score(is_target, separated.scores))
    return DomainGap(auc, features)


def _moments(rows: Matrix) -> tuple[Array, Array]:
    """Return the mean and standard deviation of every feature, 1 instead of 0."""
    from sklearn.utils.sparsefuncs import mean_variance_axis

    if sp.issparse(rows):
        mean, variance = mean_variance_axis(rows, axis=0)
    else:
        mean, variance = rows.mean(axis=0, dtype=np.float64), rows.var(axis=0, dtype=np.float64)
    return mean, np.sqrt(np.where(variance > 0, variance, 1.0))


def _is_counted(rows: Matrix) -> NDArray[np.bool_]:
    """Return which features are like counts: of sparse rows, non-negative, and zero in some rows."""
    from adrem.machines.tables import n_rows_with

    if not sp.issparse(rows):
        return np.zeros(rows.shape[1], dtype=bool)
    negative = np.zeros(rows.shape[1], dtype=bool)
    negative[rows.indices[rows.data < 0]] = True
    return np.asarray(~negative & (n_rows_with(rows) < rows.shape[0]))
