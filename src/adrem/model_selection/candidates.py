"""The candidates of `AdREMCV`: which are tried, how they are fitted, and which are eligible."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import Normalizer

from adrem.algorithm.estimator import AdREM
from adrem.base.classifier import DomainClassifier
from adrem.base.validation import Domains
from adrem.baselines import SourceOnly
from adrem.diagnostics.diagnosis import source_head
from adrem.diagnostics.evidence import compare_neighbours
from adrem.diagnostics.verdict import CLEAR_ERRORS
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.model_selection.scorers import Parts
from adrem.preprocessing.pair import fit_transform_pair

# A candidate is eligible if its accuracy on held-out source rows is within this many standard errors of the best.
# Chosen on the Amazon reviews, SURF and digits.
ELIGIBLE_ERRORS = 2.0
DEFAULT_CANDIDATES = ("hinge", "log_loss", "intercept", "neighbors", "rbf", "unit rows", "source alone")

# A transformer, or None, and an estimator.
Pair = tuple[Any, Any]


class Candidate(NamedTuple):
    """A fitted candidate, its transformer, and the warnings of its fit."""

    name: str
    model: Any
    step: Any
    warnings: list[warnings.WarningMessage]
    seconds: float
    source_accuracy: float
    parts: Parts

    @property
    def is_source_alone(self) -> bool:
        """Whether it is the classifier of the source, without adaptation."""
        return isinstance(self.model, SourceOnly)


def read_models(candidates: Any) -> tuple[tuple[str, ...], dict[str, Pair]]:
    """Return the names of default candidates, or other candidates by name."""
    if isinstance(candidates, str):
        return DEFAULT_CANDIDATES, {}
    if isinstance(candidates, Mapping):
        return (), _read_mapping(candidates)
    if not candidates or any(name not in DEFAULT_CANDIDATES for name in candidates):
        known = ", ".join(map(repr, DEFAULT_CANDIDATES))
        raise ParameterError(f"candidates must be some of {known}; got {candidates!r}.", "candidates")
    return tuple(candidates), {}


def _read_mapping(candidates: Mapping[str, Any]) -> dict[str, Pair]:
    pairs = {name: own if isinstance(own, tuple) else (None, own) for name, own in candidates.items()}
    wrong = [name for name, pair in pairs.items() if len(pair) != 2 or not isinstance(pair[1], DomainClassifier)]
    if wrong or not pairs:
        raise ParameterError(
            "candidates must map names to estimators of adrem, or to pairs of a transformer and such an estimator; "
            + (f"check {', '.join(map(repr, wrong))}." if wrong else "it is empty."),
            "candidates",
        )
    return pairs


def default_pair(name: str, common: dict[str, Any], prior: NDArray[np.float64]) -> Pair:
    """Return a default candidate; `common` are parameters of `AdREM`."""
    if name == "source alone":
        return None, SourceOnly(**{key: common[key] for key in ("C", "tol", "random_state")})
    variants: dict[str, dict[str, Any]] = {
        "hinge": {},
        "log_loss": {"loss": "log_loss"},
        "intercept": {"fit_intercept": True},
        "neighbors": {"neighbors": "auto"},
        "rbf": {"kernel": "rbf"},
        "unit rows": {},
    }
    step = Normalizer() if name == "unit rows" else None
    return step, AdREM(**common, class_prior=prior, **variants[name])


def fit_candidate(name: str, pair: Pair, domains: Domains, seed: int) -> Candidate:
    """Fit a candidate, and record its warnings."""
    started = time.perf_counter()
    step, model = None if pair[0] is None else clone(pair[0]), clone(pair[1])
    if model.get_params(deep=False).get("random_state", seed) is None:
        model.set_params(random_state=seed)
    if step is not None:
        labels = np.concatenate([domains.labels, np.full(domains.X_target.shape[0], -1)])
        source, target = fit_transform_pair(step, domains.X_source, domains.X_target, labels)
        domains = domains._replace(X_source=source, X_target=target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit_domains(domains)
        except ValueError as error:
            raise InvalidDataError(f"The candidate {name!r} can't be fitted: {error}") from error
    model.n_features_in_ = domains.X_source.shape[1]
    accuracy = source_head(model).held_out_accuracy(domains, seed)
    parts = Parts(domains.X_source, domains.classes[domains.labels], domains.X_target)
    return Candidate(name, model, step, caught, time.perf_counter() - started, accuracy, parts)


def near_the_best(accuracies: NDArray[np.float64], n_rows: int) -> NDArray[np.bool_]:
    """Return which accuracies on so many rows are not clearly below the highest; all, if one is unknown."""
    if np.isnan(accuracies).any():
        return np.ones(len(accuracies), dtype=bool)
    best = min(float(accuracies.max()), 1.0)
    return np.asarray(accuracies >= best - ELIGIBLE_ERRORS * np.sqrt(best * (1.0 - best) / n_rows))


def unless_worse_than_source(best: Candidate, fitted: list[Candidate], domains: Domains) -> Candidate:
    """Return the best candidate, or the source alone if its labels agree clearly more often between neighbours."""
    rng = np.random.default_rng(0)
    for candidate in fitted:
        if candidate.is_source_alone:
            before, after = (own.model.transduction_ for own in (candidate, best))
            if compare_neighbours(domains.X_target, before, after, rng)[1] < -CLEAR_ERRORS:
                return candidate
    return best


def score_by(scoring: Callable[..., float], candidate: Candidate) -> float:
    """Return the score of a candidate by a scorer of the user."""
    from adrem.machines.tables import stack

    parts = candidate.parts
    n_source, n_target = parts.X_source.shape[0], parts.X_target.shape[0]
    labels = np.concatenate([parts.y_source.astype(object), np.full(n_target, -1, dtype=object)])
    if parts.y_source.dtype.kind in "iu":
        labels = labels.astype(parts.y_source.dtype)
    domain = np.repeat([1.0, -2.0], [n_source, n_target])
    return float(scoring(candidate.model, stack([parts.X_source, parts.X_target]), labels, sample_domain=domain))
