"""How accurate the labels of the target seem to be, without knowing one of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone

from adrem._adrem import AdREM
from adrem._types import Matrix
from adrem._validation import Domains
from adrem._voting import by_class

if TYPE_CHECKING:
    from adrem.diagnostics._diagnosis import Examination

Array = NDArray[np.float64]
# Members of an ensemble that is fitted without a fold.
FEW = 3
# What is between the estimate and the truth in nine of ten cases, in standard deviations of a row's being right. Chosen
# on the Amazon reviews, SURF and digits; docs/estimate.md has the other data.
UNSURE = 0.27
CONFIDENCE = 1.645  # standard errors, of the rows that happen to be in the target


@dataclass(frozen=True)
class AccuracyEstimate:
    """How accurate the labels of the target seem to be.

    Parameters
    ----------
    accuracy : float
        The estimate: `confidence` and `drift` together.
    low, high : float
        Between these the accuracy lies in about nine of ten cases.
    confidence : float
        The mean chance of the labels to be right, by models that have not seen the row; held-out rows of the source
        have calibrated these chances.
    drift : float
        What adapting adds to the accuracy on held-out rows of the source. Where it takes from it, chances that were
        calibrated there promise too much for the target.
    difference_of_confidences : float
        Another estimate: the accuracy on held-out rows of the source, less what confidence is lost in the target.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_rotated_arcs
    >>> from adrem.diagnostics import estimate_accuracy
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(rotation=40, random_state=0)
    >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> found = estimate_accuracy(model, X_source, y_source, X_target)
    >>> found.low <= found.accuracy <= found.high
    True
    """

    accuracy: float
    low: float
    high: float
    confidence: float
    drift: float
    difference_of_confidences: float


def estimate_accuracy(
    model: Any, X_source: Any, y_source: Any, X_target: Any, *, random_state: int = 0
) -> AccuracyEstimate:
    """Estimate the accuracy of a model in the target, without a label of it.

    The method is fitted three more times, each time without a third of the rows of either domain, which it then scores.

    Parameters
    ----------
    model : AdREM, AdREMCV or a baseline
        A fitted model; of an `AdREMCV` it is the one that was taken.
    X_source : {array-like, sparse matrix, frame} of shape (n_source, n_features)
        Rows of the source that it was fitted to. Those of several sources count as one, and all of them the same,
        whatever their weight.
    y_source : array-like of shape (n_source,)
        Their labels.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Rows of the target that it was fitted to.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    AccuracyEstimate
        The estimate as ``accuracy``, its bounds ``low`` and ``high``, and what it is made of.

    Raises
    ------
    ValueError
        If a class has fewer than three rows in the source, or the target has.

    See Also
    --------
    diagnose : What else can be said without a label of the target.

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
    """
    from adrem.diagnostics._diagnosis import examine

    return estimate_examined(examine(model, X_source, y_source, X_target), random_state)


def estimate_examined(examined: Examination, random_state: int = 0) -> AccuracyEstimate:
    """The estimate for a model that was examined."""
    from adrem._prior import _calibrate
    from adrem.diagnostics._diagnosis import source_accuracy

    domains = examined.domains
    check_rows(domains.classes[domains.labels], domains.X_target.shape[0])
    counts = np.bincount(domains.labels, minlength=len(domains.classes))
    known, unknown = _held_out_scores(examined.model, domains, random_state)
    calibrated = _calibrate(known, domains.labels, np.ones(len(known)))
    shares = softmax(calibrated(known), axis=1)
    chances = softmax(calibrated(unknown), axis=1)
    if examined.prior is not None:  # calibrated for the shares of the source
        chances = chances * examined.prior / (counts / counts.sum())
        chances /= chances.sum(axis=1, keepdims=True)
    at_home = float(np.mean(known.argmax(axis=1) == domains.labels))
    confidence = float(chances[np.arange(len(chances)), examined.after].mean())
    drift = at_home - source_accuracy(examined.plain, domains, random_state)
    return _with_bounds(
        float(np.clip(confidence + drift, 1.0 / len(counts), 1.0)),
        len(chances),
        confidence=confidence,
        drift=drift,
        difference_of_confidences=at_home - float(shares.max(axis=1).mean() - chances.max(axis=1).mean()),
    )


def check_rows(y_source: NDArray[Any], n_target: int) -> None:
    """Refuse to estimate from too few rows."""
    from adrem.machines.selection import N_FOLDS

    classes, counts = np.unique(y_source, return_counts=True)
    short = [f"{name!r} has {count}" for name, count in zip(classes.tolist(), counts, strict=True) if count < N_FOLDS]
    if n_target < N_FOLDS:
        short.append(f"the target has {n_target}")
    if short:
        raise ValueError(
            f"An estimate of the accuracy needs {N_FOLDS} rows of the target and of each class of the source, and "
            f"{', '.join(short)}: do without it, or get more rows."
        )


def _with_bounds(accuracy: float, n_rows: int, **parts: float) -> AccuracyEstimate:
    # As Wilson has it: the interval of few rows has a width even if all seem to be right.
    n_more = n_rows + CONFIDENCE**2
    middle = (accuracy * n_rows + 0.5 * CONFIDENCE**2) / n_more
    reach = float(np.sqrt(middle * (1.0 - middle)) * np.hypot(UNSURE, CONFIDENCE / np.sqrt(n_more)))
    return AccuracyEstimate(accuracy, max(accuracy - reach, 0.0), min(accuracy + reach, 1.0), **parts)


def _held_out_scores(model: Any, domains: Domains, seed: int) -> tuple[Array, Array]:
    """A score of every class for every row of the source and of the target, by a fit that has not seen the row."""
    from adrem.machines.selection import N_FOLDS, make_folds

    rng = np.random.default_rng(seed)
    n_source, n_target, n_classes = len(domains.labels), domains.X_target.shape[0], len(domains.classes)
    folds = make_folds(domains.labels, np.ones(n_source), seed)
    of_target = rng.permutation(n_target) % N_FOLDS
    known, unknown = np.zeros((n_source, n_classes)), np.zeros((n_target, n_classes))
    for fold, held in enumerate(folds):
        also_held = of_target == fold
        part = clone(model).set_params(**_settled(model, int(np.count_nonzero(~also_held))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they would say is about models that nobody keeps
            part._learn(
                Domains(
                    domains.X_source[~held],
                    domains.labels[~held],
                    domains.weights[~held],
                    domains.X_target[~also_held],
                    domains.classes,
                )
            )
        known[held] = _scores(part, domains.X_source[held])
        unknown[also_held] = _scores(part, domains.X_target[also_held])
    return known, unknown


def _settled(model: Any, n_target: int) -> dict[str, Any]:
    """Parameters by which a model is fitted again with what it has chosen, with fewer members and to fewer rows."""
    params = model.get_params(deep=False)
    settled: dict[str, Any] = {"random_state": 0} if "random_state" in params else {}
    if "C" in params:
        settled["C"] = model.C_
    if isinstance(model, AdREM):
        settled |= {"n_estimators": min(FEW, model.n_estimators), "class_prior": model.class_prior_, "verbose": 0}
        settled["neighbors"] = min(model.neighbors_, n_target - 1) or None
    return settled


def _scores(model: Any, rows: Matrix) -> Array:
    if isinstance(model, AdREM):
        return by_class(np.mean(list(model._scores_of(rows)), axis=0))
    scores = np.asarray(model._decide(rows), dtype=np.float64)
    return by_class(scores[:, None]) if scores.ndim == 1 else scores
