"""Kinds that are estimators of the caller: classifiers of the source, and models that adapt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from adrem.base.classifier import DomainClassifier
from adrem.base.reading import MASK
from adrem.base.validation import Domains
from adrem.committee import views
from adrem.committee.kinds import KINDS, Kind
from adrem.committee.seats import Seat, held_out_by
from adrem.committee.voters import Shares, Voter, probabilities
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.machines.linear import without_target
from adrem.machines.tables import stack
from adrem.runtime.seeds import as_integer
from adrem.types import Matrix

# Some classifiers take seeds of 31 bits only.
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Given(Kind):
    """A kind that is an estimator of the caller. It sees the rows as they are given."""

    estimator: Any = None

    @property
    def adapts(self) -> bool:
        """Whether it learns from both domains: a model of the package, or a pipeline that ends with one."""
        last = self.estimator.steps[-1][1] if isinstance(self.estimator, Pipeline) else self.estimator
        return isinstance(last, DomainClassifier)


def read_kinds(kinds: Any) -> list[Kind]:
    """Return the kinds that the parameter names or holds; raise if it has anything else, or two of one name."""
    found = [_read(name, kind) for name, kind in with_names(kinds)]
    known = ", ".join(map(repr, KINDS))
    if not found:
        raise ParameterError(f"kinds is empty: name some of {known}, or set kinds='auto'.", "kinds")
    names = [kind.name for kind in found]
    for kind in found:
        if names.count(kind.name) > 1 or (isinstance(kind, Given) and kind.name in KINDS):
            raise ParameterError(
                f"kinds has two of the name {kind.name!r}, or a classifier with the name of a kind: leave one out, or "
                "give a classifier another name, as in kinds=['rbf', ('mine', classifier)].",
                "kinds",
            )
    return found


def with_names(kinds: Any) -> list[tuple[Any, Any]]:
    """Return each kind with its name; the name of a kind that is a string is that string.

    An estimator without a name has that of its class, with a number if there are several.
    """
    bare = [type(kind).__name__ for kind in kinds if not isinstance(kind, (str, tuple))]
    numbers = [f"-{bare[:k].count(name) + 1}" if bare.count(name) > 1 else "" for k, name in enumerate(bare)]
    names = (name + number for name, number in zip(bare, numbers, strict=True))
    pairs: list[tuple[Any, Any]] = []
    for kind in kinds:
        if isinstance(kind, tuple) and len(kind) == 2:
            pairs.append(kind)
        else:
            pairs.append((kind if isinstance(kind, (str, tuple)) else next(names), kind))
    return pairs


def find_kinds(names: list[str], kinds: Any) -> list[Any]:
    """Return the kinds of some names for the parameter `kinds`, with the estimators that it has."""
    given = {} if isinstance(kinds, str) else {kind.name: kind for kind in read_kinds(kinds) if isinstance(kind, Given)}
    return [(name, given[name].estimator) if name in given else name for name in names]


def _read(name: Any, kind: Any) -> Kind:
    if name is kind and isinstance(name, str):
        if name not in KINDS:
            raise ParameterError(
                f"kinds has {name!r}, which is no kind: name some of {', '.join(map(repr, KINDS))}, or give a "
                "classifier. A model file has the names of classifiers, not the classifiers: give them again.",
                "kinds",
            )
        return KINDS[name]
    if not (isinstance(name, str) and _is_classifier(kind)):
        raise ParameterError(
            f"kinds has {kind!r}, which is neither the name of a kind nor a classifier with fit and predict: give "
            "names, and instances of classifiers, alone or as pairs (name, classifier).",
            "kinds",
        )
    return Given(name, views.as_given, "given", estimator=kind)


def _is_classifier(estimator: Any) -> bool:
    methods = ("fit", "predict", "get_params", "__sklearn_tags__")
    is_instance = not isinstance(estimator, type) and all(hasattr(estimator, name) for name in methods)
    return is_instance and bool(is_classifier(estimator))


@dataclass(frozen=True)
class GivenVoter(Voter):
    """A fitted estimator of the caller. It votes by its probabilities, its scores or its labels, whichever it has."""

    form = "given"
    estimator: Any
    n_classes: int

    def __post_init__(self) -> None:
        """Keep the estimator as it is: it is no array."""

    def shares(self, rows: Matrix) -> Shares:
        if hasattr(self.estimator, "predict_proba"):
            return self._shares(np.asarray(self.estimator.predict_proba(rows), dtype=np.float64))
        if hasattr(self.estimator, "decision_function") and not _scores_pairs(self.estimator):
            scores = np.asarray(self.estimator.decision_function(rows), dtype=np.float64)
            return self._shares(probabilities(scores.reshape(rows.shape[0], -1)))
        return np.eye(self.n_classes)[np.asarray(self.estimator.predict(rows), dtype=np.intp)]

    def _shares(self, found: Shares) -> Shares:
        """Return shares that sum to one, equal ones where all votes are zero."""
        if found.ndim != 2 or found.shape[1] != self.n_classes or not np.isfinite(found).all():
            raise InvalidDataError(
                f"{type(self.estimator).__name__} does not give {self.n_classes} finite numbers a row: leave it out of "
                "kinds, or change its parameters."
            )
        sums = found.sum(axis=1, keepdims=True)
        equal = np.full(found.shape, 1.0 / self.n_classes)
        return np.asarray(np.divide(found, sums, out=equal, where=sums > 0))


def _scores_pairs(estimator: Any) -> bool:
    """Whether scores are those of pairs of classes, as a support vector machine of scikit-learn can give them."""
    params = estimator.get_params().items()
    return any(name.endswith("decision_function_shape") and value == "ovo" for name, value in params)


def fit_given(kind: Given, domains: Domains, seed: np.random.SeedSequence) -> Seat:
    """Fit an estimator of the caller, to the source alone unless it adapts."""
    own, alone = _seeded(kind.estimator, seed), without_target(domains)
    try:
        shares, accuracy = held_out_by(lambda part: _trained(own, alone, part), alone, as_integer(seed))
        voter = _trained(own, domains if kind.adapts else alone)
    except Exception as error:
        error.add_note(f"It comes from the kind {kind.name!r} of the committee.")
        raise
    return Seat(kind.name, views.View(), voter, accuracy, shares)


def _seeded(estimator: Any, seed: np.random.SeedSequence) -> Any:
    """Return a clone with a seed in place of every random_state that is None."""
    own = clone(estimator)
    free = sorted(name for name, value in own.get_params().items() if name.endswith("random_state") and value is None)
    seeds = (as_integer(child) % LARGEST_SEED for child in seed.spawn(len(free)))
    return own.set_params(**dict(zip(free, seeds, strict=True)))


def _trained(estimator: Any, domains: Domains, part: Any = True) -> GivenVoter:
    """Fit a clone to the source, or a part of it, and to the target, whose rows have the label -1."""
    taught = np.flatnonzero(part & (domains.weights > 0))
    n_target = domains.X_target.shape[0]
    rows = stack([domains.X_source[taught], domains.X_target])
    labels = np.concatenate([domains.labels[taught], np.full(n_target, MASK)])
    weights = np.concatenate([domains.weights[taught], np.ones(n_target)])
    counts = has_fit_parameter(estimator, "sample_weight") and bool(np.any(weights != 1.0))
    fitted = clone(estimator).fit(rows, labels, **({"sample_weight": weights} if counts else {}))
    return GivenVoter(fitted, len(domains.classes))
