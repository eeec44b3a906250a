"""Parameters that depend on the data: class shares, weights of sources, candidates for C, neighbours."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.validation import Domains
from adrem.exceptions import InvalidDataError, ParameterError


def read_prior(prior: Any, domains: Domains) -> NDArray[np.float64]:
    """Read the share of each class in the samples from the target."""
    own = slice(domains.n_own)  # of the source: how many rows of each class were labelled in the target is a choice
    n_classes = domains.n_of_source
    counts = np.bincount(domains.labels[own], domains.weights[own], minlength=n_classes)
    shares = read_shares(prior, domains.classes[:n_classes], counts)
    return np.append(shares, 0.0) if domains.has_unknown else shares  # unknown rows are not drawn


def read_shares(
    prior: Any, classes: NDArray[Any], source_counts: NDArray[Any], name: str = "class_prior"
) -> NDArray[np.float64]:
    """Read class shares given as a word, by class, or in the order of the classes."""
    if isinstance(prior, str):
        counts = source_counts if prior == "source" else np.ones(len(classes))
        return np.asarray(counts / counts.sum(), dtype=np.float64)
    if hasattr(prior, "items"):  # a mapping, or a Series indexed by the classes
        prior = dict(prior.items())
        if set(prior) != set(classes.tolist()):
            raise ParameterError(
                f"{name} names the classes {sorted(prior, key=str)}, the source has {classes.tolist()}: "
                "give a share for each class of the source.",
                name,
            )
        prior = [prior[label] for label in classes.tolist()]
    try:
        shares = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must hold one number per class; got {prior!r}.", name) from error
    if shares.shape != classes.shape:
        raise ParameterError(
            f"{name} has shape {shares.shape}, the source has {len(classes)} classes: give one share per class, in "
            f"the order {classes.tolist()}.",
            name,
        )
    if not (np.all(shares >= 0) and np.isclose(shares.sum(), 1.0, rtol=0, atol=1e-6)):
        raise ParameterError(
            f"{name} must be a distribution, shares of at least 0 that sum to 1; got {shares.tolist()}, which sum "
            f"to {shares.sum():g}.",
            name,
        )
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def read_protected(protected: Any, domains: Domains) -> NDArray[np.bool_]:
    """Return which classes can't be missing from the target: those that are named, and those of known labels."""
    known, named = (
        domains.classes.tolist()[: domains.n_of_source],
        [protected] if isinstance(protected, str) else list(protected),
    )
    unknown = [label for label in named if label not in known]
    if unknown:
        raise ParameterError(
            f"protected_classes names {unknown[0]!r}, the source has {known}: name classes of the source.",
            "protected_classes",
        )
    labelled = np.bincount(domains.labels[domains.n_own :], minlength=len(domains.classes)) > 0
    return np.array([label in named for label in domains.classes.tolist()]) | labelled


def read_source_weight(source_weight: Any, domains: Domains) -> NDArray[np.float64]:
    """Return weights of the source rows that give each of several sources its share of the total."""
    if domains.sources is None or (isinstance(source_weight, str) and source_weight == "rows"):
        return domains.weights
    names, source = np.unique(domains.sources, return_inverse=True)
    shares = _source_shares(source_weight, names.tolist())
    own = domains.weights[: domains.n_own]
    totals = np.bincount(source, own)
    if not np.all((totals > 0) | (shares == 0)):
        raise InvalidDataError("sample_weight is zero for all rows of a source: drop them, or give them a weight.")
    factors = shares / shares.sum() * own.sum() / np.where(totals > 0, totals, 1.0)
    weights = np.concatenate([own * factors[source], domains.weights[domains.n_own :]])
    if not np.all(np.bincount(domains.labels, weights, minlength=len(domains.classes)) > 0):
        raise ParameterError(
            "source_weight leaves a class without weight: give a source that has the class a weight above 0.",
            "source_weight",
        )
    return np.asarray(weights)


def _source_shares(source_weight: Any, names: list[float]) -> NDArray[np.float64]:
    if isinstance(source_weight, str):
        return np.ones(len(names))
    given = {float(name): share for name, share in dict(source_weight).items()}
    if set(given) != set(names):
        raise ParameterError(
            f"source_weight names the sources {sorted(given)}, sample_domain has {names}: give a weight for each "
            "source.",
            "source_weight",
        )
    shares = np.array([float(given[name]) for name in names])
    if not (np.all(np.isfinite(shares)) and shares.min() >= 0 and shares.max() > 0):
        raise ParameterError(
            f"source_weight must hold weights of at least 0, one of them above 0; got {source_weight!r}.",
            "source_weight",
        )
    return shares


def read_positive(values: Any, name: str) -> tuple[float, ...]:
    """Read a list of candidates for a parameter that is a positive number."""
    try:
        candidates = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        candidates = np.empty(0)
    if candidates.ndim != 1 or not candidates.size or not np.all(np.isfinite(candidates) & (candidates > 0)):
        raise ParameterError(f"{name} must be 'cv', a positive number or a list of these; got {values!r}.", name)
    return tuple(candidates.tolist())


def check_neighbors(wanted: Any, domains: Domains) -> None:
    """Raise if there are not enough target rows for the number of neighbours."""
    n_target = domains.X_target.shape[0]
    if isinstance(wanted, bool):
        raise ParameterError(f"neighbors={wanted} is not a number of rows: give one, 'auto' or None.", "neighbors")
    if domains.adapts and isinstance(wanted, Integral) and wanted >= n_target:
        raise ParameterError(
            f"neighbors={wanted} needs more than {wanted} target rows, and there are {n_target}: give a smaller "
            "number, or neighbors=None.",
            "neighbors",
        )


def check_estimable(domains: Domains, n_folds: int) -> None:
    """Raise if a class has too few source rows to estimate its share."""
    rare, n_rows = _rarest_class(domains)
    if domains.adapts and n_rows < n_folds:
        raise ParameterError(
            f"class_prior='estimate' learns from {n_folds} folds of the source, and class {rare!r} has only {n_rows} "
            "row(s) there. Give the class shares, or leave the class out.",
            "class_prior",
        )


def read_candidates(C: Any, domains: Domains, n_folds: int) -> tuple[float, ...]:
    """Read the candidates for C, and raise if a class has too few source rows to choose among them."""
    candidates = read_positive(C, "C")
    rare, n_rows = _rarest_class(domains)
    if len(candidates) > 1 and n_rows < n_folds:
        raise ParameterError(
            f"C is chosen by {n_folds}-fold cross-validation on the source, and class {rare!r} has only {n_rows} "
            f"row(s) there, fewer than n_splits={n_folds}. Give a fixed value, such as C=1.0.",
            "C",
        )
    return candidates


def _rarest_class(domains: Domains) -> tuple[Any, int]:
    counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
    return domains.classes.tolist()[counts.argmin()], int(counts.min())
