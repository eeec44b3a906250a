"""How different two domains are: whether a classifier can tell them apart, and by which features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._types import Matrix
from adrem.diagnostics._map import some_rows

Array = NDArray[np.float64]
# Rows of each domain that the domains are told apart by.
JUDGED = 3000
FOLDS = 3
TOL = 0.1
CANDIDATES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True)
class TellingFeature:
    """A feature that gives a domain away.

    Parameters
    ----------
    name : str
        The name of the feature.
    side : {"source", "target"}
        The domain in which there is more of it.
    source, target : float
        How it differs: its level in either domain.
    unit : {"share of rows", "standard deviations"}
        What the levels are: the share of the rows that have it, for features of sparse rows that are zero or more;
        otherwise its mean, in standard deviations from the mean over both domains.

    Examples
    --------
    >>> from adrem.diagnostics import TellingFeature
    >>> word = TellingFeature("blender", "target", source=0.0, target=0.12, unit="share of rows")
    >>> f"{word.name}: {word.target:.0%} of the target, {word.source:.0%} of the source"
    'blender: 12% of the target, 0% of the source'
    """

    name: str
    side: Literal["source", "target"]
    source: float
    target: float
    unit: Literal["share of rows", "standard deviations"]


@dataclass(frozen=True)
class DomainGap:
    """How well the domains can be told apart.

    Parameters
    ----------
    auc : float
        The chance that a row of the target looks more like the target than one of the source does, each judged by a
        logistic regression that has not seen it: 0.5 if there is no difference, 1 if there is no doubt.
    features : list of TellingFeature
        The features that tell the most, of either domain.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import SourceOnly
    >>> from adrem.diagnostics import diagnose
    >>> X_source = np.array([[-1.0, 1.0], [1.0, 1.0]] * 10)
    >>> X_target = np.array([[-1.0, 5.0], [1.0, 5.0]] * 10)  # the second feature tells
    >>> model = SourceOnly(C=1.0).fit(X_source, [0, 1] * 10, X_target=X_target)
    >>> gap = diagnose(model, X_source, [0, 1] * 10, X_target, feature_names=["width", "light"]).gap
    >>> gap.auc, gap.features[0].name, gap.features[0].side
    (1.0, 'light', 'target')
    """

    auc: float
    features: list[TellingFeature]


def measure_gap(
    X_source: Matrix, X_target: Matrix, names: Sequence[str], rng: np.random.Generator, n: int = 10
) -> DomainGap | None:
    """Tell the domains apart; n features of either side. None where a domain has less than two rows."""
    from sklearn.metrics import roc_auc_score

    from adrem.baselines.source import SourceOnly
    from adrem.baselines.weighting import judge_domains
    from adrem.machines._tables import stack

    if min(X_source.shape[0], X_target.shape[0]) < 2:
        return None
    X_source, X_target = (X[some_rows(X.shape[0], JUDGED, rng)] for X in (X_source, X_target))
    judged = judge_domains(X_source, X_target, CANDIDATES, FOLDS, TOL, seed=0)
    is_target = np.repeat([0, 1], [X_source.shape[0], X_target.shape[0]])
    rows = stack([X_source, X_target])
    weights = SourceOnly("log_loss", judged.C, TOL).fit(rows, is_target).coef_[0, 0]
    mean, deviation = _moments(rows)
    source_mean, target_mean = _moments(X_source)[0], _moments(X_target)[0]
    # What a feature adds to the difference between the mean scores of the domains.
    pull = weights * (target_mean - source_mean)
    counted = _is_counted(rows)
    shares = [_presence(X) if counted.any() else np.zeros(0) for X in (X_source, X_target)]

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
    auc = float(roc_auc_score(is_target, judged.scores))
    return DomainGap(auc, features)


def _moments(rows: Matrix) -> tuple[Array, Array]:
    """Mean and standard deviation of every feature, one in place of zero."""
    from sklearn.utils.sparsefuncs import mean_variance_axis

    if sp.issparse(rows):
        mean, variance = mean_variance_axis(rows, axis=0)
    else:
        mean, variance = rows.mean(axis=0, dtype=np.float64), rows.var(axis=0, dtype=np.float64)
    return mean, np.sqrt(np.where(variance > 0, variance, 1.0))


def _is_counted(rows: Matrix) -> NDArray[np.bool_]:
    """Which features are counts, or the like: of sparse rows, never below zero, and zero in some."""
    if not sp.issparse(rows):
        return np.zeros(rows.shape[1], dtype=bool)
    negative = np.zeros(rows.shape[1], dtype=bool)
    negative[rows.indices[rows.data < 0]] = True
    return ~negative & (_presence(rows) < 1.0)


def _presence(rows: Matrix) -> Array:
    """Share of the rows in which a feature is not zero."""
    counts = np.bincount(rows.indices[rows.data != 0], minlength=rows.shape[1])
    return np.asarray(counts / rows.shape[0])
