"""One door for all input: the three routes into `fit`, and the message for whatever is wrong on each of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from adrem._entries import check_places, check_range, settled
from adrem._tensors import as_array
from adrem._types import Matrix
from adrem.exceptions import AmbiguousLabelsWarning

MASK = -1
TYPES = (np.float64, np.float32, np.float16)
LARGEST_WEIGHT = 1e250


class Domains(NamedTuple):
    """A source and a target, ready to train on. Labels are positions in `classes`; no target has no rows.

    `positions` tell where the rows were, those of the source first, if they came in one table. `sources` names the
    source of each row of the source, where there are several.
    """

    X_source: Matrix
    labels: NDArray[np.intp]
    weights: NDArray[np.float64]
    X_target: Matrix
    classes: NDArray[Any]
    positions: NDArray[np.intp] | None = None
    sources: NDArray[np.float64] | None = None

    @property
    def adapts(self) -> bool:
        return bool(self.X_target.shape[0])


def read_domains(
    estimator: Any, X: Any, y: Any, *, sample_domain: Any = None, X_target: Any = None, sample_weight: Any = None
) -> Domains:
    """Read the arguments of `fit` by whichever of the three routes they take."""
    name = type(estimator).__name__
    X, y, sample_domain, X_target, sample_weight = map(as_array, (X, y, sample_domain, X_target, sample_weight))
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    if X_target is not None and sample_domain is not None:
        raise ValueError(
            "X_target and sample_domain were both given. Give X_target with X and y as the source, or stack both "
            "domains in X and tell them apart by sample_domain."
        )
    rows = _read_table(estimator, X)
    y = _read_labels(y, rows.shape[0])
    if X_target is not None:
        target = _read_target(estimator, X, X_target)
        return _domains(rows, y, _read_weights(sample_weight, rows, np.ones(len(y), dtype=bool)), target)
    sources = None
    if sample_domain is None:
        is_source = _source_by_mask(y)
    else:
        domain = _read_domain(sample_domain, rows.shape[0])
        is_source = _source_by_domain(domain)
        sources = domain[is_source] if len(np.unique(domain[is_source])) > 1 else None
    source = rows[is_source]
    read = _domains(source, y[is_source], _read_weights(sample_weight, source, is_source), rows[~is_source])
    return read._replace(positions=np.argsort(~is_source, kind="stable"), sources=sources)


def read_rows(estimator: Any, X: Any, sample_domain: Any = None, allow_source: bool = False) -> Matrix:
    """Read new rows for a fitted estimator."""
    check_is_fitted(estimator, "classes_")
    X, sample_domain = as_array(X), as_array(sample_domain)
    rows = _read_table(estimator, _match_columns(getattr(estimator, "feature_names_in_", None), X), reset=False)
    check_range({"X": rows}, learns=False)
    if sample_domain is not None:
        n_source = int(np.count_nonzero(_read_domain(sample_domain, rows.shape[0]) >= 0))
        if n_source and not allow_source:
            raise ValueError(
                f"{n_source} of {rows.shape[0]} rows belong to a source domain (sample_domain >= 0), and this model is "
                "for the target. Leave them out, or pass allow_source=True to have them scored all the same."
            )
    return rows


def read_prior(prior: Any, domains: Domains) -> NDArray[np.float64]:
    """The share of every class in the draws from the target, as a distribution over `classes`."""
    return read_shares(prior, domains.classes, np.bincount(domains.labels, domains.weights))


def read_shares(
    prior: Any, classes: NDArray[Any], source_counts: NDArray[Any], name: str = "class_prior"
) -> NDArray[np.float64]:
    """Shares as a parameter of that name gives them: in words, by class, or in the order of the classes."""
    if isinstance(prior, str):
        counts = source_counts if prior == "source" else np.ones(len(classes))
        return np.asarray(counts / counts.sum(), dtype=np.float64)
    if hasattr(prior, "items"):  # a mapping, or a Series indexed by the classes
        prior = dict(prior.items())
        if set(prior) != set(classes.tolist()):
            raise ValueError(
                f"{name} names the classes {sorted(prior, key=str)}, the source has {classes.tolist()}: "
                "give a share for each class of the source."
            )
        prior = [prior[label] for label in classes.tolist()]
    try:
        shares = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers, one share a class; got {prior!r}.") from error
    if shares.shape != classes.shape:
        raise ValueError(
            f"{name} has shape {shares.shape}, the source has {len(classes)} classes: give one share a class, in "
            f"the order {classes.tolist()}."
        )
    if not (np.all(shares >= 0) and np.isclose(shares.sum(), 1.0, rtol=0, atol=1e-6)):
        raise ValueError(
            f"{name} must be a distribution, shares of at least 0 that sum to 1; got {shares.tolist()}, which sum "
            f"to {shares.sum():g}."
        )
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def read_source_weight(source_weight: Any, domains: Domains) -> NDArray[np.float64]:
    """Weights of the rows of the source, where each of several sources has its share of them in all."""
    if domains.sources is None or (isinstance(source_weight, str) and source_weight == "rows"):
        return domains.weights
    names, source = np.unique(domains.sources, return_inverse=True)
    shares = np.ones(len(names))
    if not isinstance(source_weight, str):
        given = {float(name): share for name, share in dict(source_weight).items()}
        if set(given) != set(names.tolist()):
            raise ValueError(
                f"source_weight names the sources {sorted(given)}, sample_domain has {names.tolist()}: give a weight "
                "for each source."
            )
        shares = np.array([float(given[name]) for name in names.tolist()])
        if not (np.all(np.isfinite(shares)) and shares.min() >= 0 and shares.max() > 0):
            raise ValueError(
                f"source_weight must hold weights of at least 0, one of them larger; got {source_weight!r}."
            )
    totals = np.bincount(source, domains.weights)
    if not np.all((totals > 0) | (shares == 0)):
        raise ValueError("sample_weight is zero for every row of a source: leave its rows out, or weight them.")
    factors = shares / shares.sum() * domains.weights.sum() / np.where(totals > 0, totals, 1.0)
    weights = domains.weights * factors[source]
    if not np.all(np.bincount(domains.labels, weights, minlength=len(domains.classes)) > 0):
        raise ValueError("By source_weight no row of a class has a weight: give its source one.")
    return np.asarray(weights)


def read_positive(values: Any, name: str) -> tuple[float, ...]:
    """A list of candidates for a parameter that is one positive number in the end."""
    try:
        candidates = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        candidates = np.empty(0)
    if candidates.ndim != 1 or not candidates.size or not np.all(np.isfinite(candidates) & (candidates > 0)):
        raise ValueError(f"{name} must be 'cv', a positive number or a list of positive numbers; got {values!r}.")
    return tuple(candidates.tolist())


def check_neighbors(wanted: Any, domains: Domains) -> None:
    """Refuse more neighbours than a target row can have."""
    n_target = domains.X_target.shape[0]
    if isinstance(wanted, bool):
        raise ValueError(f"neighbors={wanted} is no number of rows: give one, 'auto' or None.")
    if domains.adapts and isinstance(wanted, Integral) and wanted >= n_target:
        raise ValueError(
            f"neighbors={wanted} needs more than {wanted} target rows, and there are {n_target}: give a smaller "
            "number, or neighbors=None."
        )


def check_estimable(domains: Domains, n_folds: int) -> None:
    """Refuse to estimate the shares of classes that the folds can't hold."""
    counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
    if domains.adapts and counts.min() < n_folds:
        rare = domains.classes.tolist()[counts.argmin()]
        raise ValueError(
            f"class_prior='estimate' learns from {n_folds} folds of the source, and class {rare!r} has only "
            f"{counts.min()} row(s) there. Give the shares of the classes, or leave the class out."
        )


def read_candidates(C: Any, domains: Domains, n_folds: int) -> tuple[float, ...]:
    """The candidates for C given as a list, after a check that the source has rows enough to choose among them."""
    candidates = read_positive(C, "C")
    if len(candidates) > 1:
        counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
        if counts.min() < n_folds:
            rare = domains.classes.tolist()[counts.argmin()]
            raise ValueError(
                f"C is chosen by {n_folds}-fold cross-validation on the source, and class {rare!r} has only "
                f"{counts.min()} row(s) there, fewer than n_splits={n_folds}. Give a fixed value, such as C=1.0."
            )
    return candidates


def _read_table(estimator: Any, X: Any, *, reset: bool = True) -> Matrix:
    check_places(X, "X")
    return settled(validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=TYPES), "X")


def _column_names(X: Any) -> list[Any]:
    """Names of the columns, where X is a frame."""
    return list(getattr(X, "columns", ()))


def _match_columns(expected: Sequence[Any] | None, X: Any) -> Any:
    """Put the columns of a frame in the expected order, where they are the same columns."""
    names = _column_names(X)
    if expected is None or names == list(expected) or set(names) != set(expected) or len(names) != len(expected):
        return X
    return X[list(expected)]


def _read_target(estimator: Any, X: Any, X_target: Any) -> Matrix:
    expected, names = _column_names(X), _column_names(X_target)
    if expected and names and set(expected) != set(names):
        missing, unseen = sorted(set(expected) - set(names), key=str), sorted(set(names) - set(expected), key=str)
        raise ValueError(
            f"The columns of X_target differ from those of X: missing {missing}, not in X {unseen}. Both domains need "
            "the same columns."
        )
    if expected and names and expected != names and not all(isinstance(name, str) for name in expected):
        raise ValueError(
            "The columns of X_target are in another order than those of X, and only names that are strings are "
            "matched: put them in the same order, or make the names strings."
        )
    check_places(X_target, "X_target")
    try:
        rows = check_array(
            _match_columns(expected or None, X_target),
            accept_sparse="csr",
            dtype=TYPES,
            ensure_min_samples=0,
            ensure_min_features=0,
            estimator=estimator,
            input_name="X_target",
        )
    except ValueError as error:
        advice = " Fill them, for example by sklearn.impute.SimpleImputer." if "contains NaN" in str(error) else ""
        raise ValueError(f"X_target can't be read: {error}{advice}") from error
    if rows.shape[0] == 0:
        raise ValueError("X_target has no rows. Leave it out for a plain fit on the source.")
    if rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X_target has {rows.shape[1]} features, X has {estimator.n_features_in_}: both domains need the same "
            "features in the same order."
        )
    return settled(rows, "X_target")


def _read_labels(y: Any, n_rows: int) -> NDArray[Any]:
    if isinstance(y, (list, tuple)) and 0 < sum(isinstance(label, str) for label in y) < len(y):
        y = np.array(y, dtype=object)  # numpy would turn the others into strings
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    _check_length("y", "label", len(labels), n_rows)
    return labels


def _read_weights(sample_weight: Any, source: Matrix, is_source: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights of the rows of the source. What stands there for target rows is not read."""
    if sample_weight is not None and not isinstance(sample_weight, Real):
        sample_weight = column_or_1d(sample_weight)
        _check_length("sample_weight", "weight", len(sample_weight), len(is_source))
        sample_weight = sample_weight[is_source]
    weights: NDArray[np.float64] = _check_sample_weight(
        sample_weight, source, dtype=np.float64, ensure_non_negative=True
    )
    assert_all_finite(weights, input_name="sample_weight")
    largest = float(weights.max(initial=0.0))
    if largest > LARGEST_WEIGHT or 0 < largest < 1 / LARGEST_WEIGHT:
        wrong = "large" if largest > 1 else "small"
        raise ValueError(
            f"The largest sample_weight is {largest:.3g}, which is too {wrong} to compute with: divide all weights by "
            "one constant, and multiply C by it."
        )
    return weights


def _source_by_domain(domain: NDArray[np.float64]) -> NDArray[np.bool_]:
    is_source: NDArray[np.bool_] = domain >= 0
    if is_source.all() or not is_source.any():
        missing = "target" if is_source.all() else "source"
        raise ValueError(
            f"sample_domain holds no {missing} row. Rows of a source have a domain of 0 or more, rows of the target a "
            "negative one."
        )
    return is_source


def _read_domain(sample_domain: Any, n_rows: int) -> NDArray[np.float64]:
    domain = column_or_1d(sample_domain)
    _check_length("sample_domain", "domain", len(domain), n_rows)
    try:
        numbers = domain.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(n_rows, np.nan)
    if domain.dtype.kind in "bUS" or not np.all(np.isfinite(numbers)):
        raise ValueError(
            "sample_domain must hold a number for every row: 0 or more for rows of a source, negative for rows of the "
            "target."
        )
    return np.asarray(numbers)


def _source_by_mask(y: NDArray[Any]) -> NDArray[np.bool_]:
    everything = np.ones(len(y), dtype=bool)
    if y.dtype.kind not in "iufO":
        return everything
    is_source = np.array([not _is_mask(label) for label in y]) if y.dtype.kind == "O" else y != MASK
    if is_source.all():
        return everything
    if any(isinstance(label, str) for label in y):
        raise ValueError(
            "Labels that are strings can't be mixed with the mark -1: pass the target as X_target, or mark its rows by "
            "a negative sample_domain."
        )
    if not is_source.any():
        raise ValueError("Every label is -1, the mark of the target: no row of a source is left to learn from.")
    if np.all(y[is_source] == 1):
        warnings.warn(
            "The labels are exactly -1 and +1 and no domain is given, so both were read as classes and the fit is on "
            "the source alone. To adapt, pass the target as X_target, or mark its rows by a negative sample_domain.",
            AmbiguousLabelsWarning,
            stacklevel=4,
        )
        return everything
    return is_source


def _is_mask(label: Any) -> bool:
    return isinstance(label, (Real, np.number)) and label == MASK


def _domains(X_source: Matrix, y: NDArray[Any], weights: NDArray[np.float64], X_target: Matrix) -> Domains:
    classes, labels = _encode(y)
    if len(classes) < 2:
        raise ValueError(
            f"The source has one class only, {classes.tolist()[0]!r}: a classifier needs labelled rows of at least two "
            "classes."
        )
    if not np.all(np.bincount(labels, weights) > 0):
        raise ValueError("sample_weight is zero for every source row of a class: leave its rows out, or weight them.")
    check_range({"X": X_source, "X_target": X_target} if X_target.shape[0] else {"X": X_source}, learns=True)
    return Domains(X_source, labels.astype(np.intp), weights, X_target, classes)


def _encode(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in order, and the position of every label among them."""
    if y.dtype.kind == "O":
        if not all(isinstance(label, (str, Real, np.generic)) or _is_missing(label) for label in y):
            raise ValueError("y holds labels that are neither numbers nor strings: make them numbers or strings.")
        if any(_is_missing(label) for label in y):
            raise ValueError("y has missing labels (None or NaN) among the rows of the source: drop these rows.")
        n_strings = sum(isinstance(label, str) for label in y)
        if 0 < n_strings < len(y):
            raise ValueError("y mixes labels of different types: make them all numbers or all strings.")
        if n_strings == 0:
            y = np.array(y.tolist())
    if y.dtype.kind in "fO":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, or the missing value of a frame, which does not equal itself or won't say."""
    if label is None:
        return True
    try:
        same = label == label  # NaN differs from itself
    except Exception:  # whatever an object of the user's raises: it is no label, but not a missing one
        return False
    return not isinstance(same, (bool, np.bool_)) or not same


def _check_length(name: str, entry: str, length: int, n_rows: int) -> None:
    if length != n_rows:
        raise ValueError(f"{name} has {length} entries and X has {n_rows} rows: give one {entry} a row.")
