"""Read tables, labels, domains and weights as users pass them, with errors that say what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, column_or_1d, validate_data

from adrem.base.entries import canonical, check_indices
from adrem.exceptions import AmbiguousLabelsWarning, InvalidDataError
from adrem.runtime.notices import warn_user
from adrem.runtime.text import without_middle
from adrem.types import Matrix

MASK = -1
UNKNOWN = -1  # in place of the position of a class
MOST_LISTED = 5  # labels in an error
TYPES = (np.float64, np.float32, np.float16)
LARGEST_WEIGHT = 1e250
MOST_LETTERS = 100  # of an error that holds a cell


def read_table(estimator: Any, X: Any, *, reset: bool = True) -> Matrix:
    """Read the rows of X as scikit-learn does, as floats, dense or CSR."""
    check_indices(X, "X")
    check_not_text(X, "X")
    try:
        rows = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=TYPES)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        said = without_middle(str(error), MOST_LETTERS)
        raise InvalidDataError(
            f"X has columns of strings: {said}. `adrem adapt` and adrem.columns turn columns of two files into "
            "numbers. In Python, use a ColumnTransformer of scikit-learn, fitted to the rows of both domains: "
            "OneHotEncoder for categories, CountVectorizer for texts."
        ) from error
    return canonical(rows, "X")


def check_not_text(X: Any, name: str) -> None:
    """Raise an error for rows that are texts, which names the ways to turn them into numbers."""
    first = next(iter(X), None) if isinstance(X, (list, tuple)) and len(X) else None
    column = getattr(X, "ndim", 0) == 1 and np.asarray(X).dtype.kind in "OUT"
    if column and len(X):
        first = np.asarray(X).ravel()[0]
    if isinstance(first, str):
        raise InvalidDataError(
            f"{name} holds texts, not rows of numbers. Count their words: fit a CountVectorizer of scikit-learn to the "
            "texts of both domains, and pass what it makes of each. docs/text.md shows it. `adrem adapt` and "
            "adrem.columns do so for files."
        )


def _column_names(X: Any) -> list[Any]:
    """Return the names of the columns if X is a frame."""
    return list(getattr(X, "columns", ()))


def match_columns(expected: Sequence[Any] | None, X: Any) -> Any:
    """Reorder the columns of a frame if they are the expected ones in another order."""
    names = _column_names(X)
    if expected is None or names == list(expected) or set(names) != set(expected) or len(names) != len(expected):
        return X
    return X[list(expected)]


def read_target(estimator: Any, X: Any, X_target: Any) -> Matrix:
    """Read the rows of X_target, which must have the columns of X."""
    expected = _column_names(X)
    _check_columns(expected, _column_names(X_target))
    check_indices(X_target, "X_target")
    check_not_text(X_target, "X_target")
    try:
        rows = check_array(
            match_columns(expected or None, X_target),
            accept_sparse="csr",
            dtype=TYPES,
            ensure_min_samples=0,
            ensure_min_features=0,
            estimator=estimator,
            input_name="X_target",
        )
    except ValueError as error:
        advice = " Fill them, for example with sklearn.impute.SimpleImputer." if "contains NaN" in str(error) else ""
        raise InvalidDataError(f"X_target can't be read: {error}{advice}") from error
    if rows.shape[0] == 0:
        raise InvalidDataError("X_target has no rows. Leave it out for a plain fit on the source.")
    if rows.shape[1] != estimator.n_features_in_:
        raise InvalidDataError(
            f"X_target has {rows.shape[1]} features, X has {estimator.n_features_in_}: both domains need the same "
            "features in the same order."
        )
    return canonical(rows, "X_target")


def _check_columns(expected: list[Any], names: list[Any]) -> None:
    if not expected or not names or expected == names:
        return
    if set(expected) != set(names):
        missing, unseen = sorted(set(expected) - set(names), key=str), sorted(set(names) - set(expected), key=str)
        raise InvalidDataError(
            f"The columns of X_target differ from those of X: missing {missing}, not in X {unseen}. Both domains need "
            "the same columns."
        )
    if not all(isinstance(name, str) for name in expected):
        raise InvalidDataError(
            "The columns of X_target are in another order than those of X, and only string names can be matched: use "
            "the same order, or string names."
        )


def read_labels(y: Any, n_rows: int, name: str = "y", table: str = "X") -> NDArray[Any]:
    """Read one label per row."""
    if isinstance(y, (list, tuple)) and 0 < sum(isinstance(label, str) for label in y) < len(y):
        y = np.array(y, dtype=object)  # numpy would turn the others into strings
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    _check_length(name, "label", len(labels), n_rows, table)
    return labels


def read_known(y_target: Any, classes: NDArray[Any], n_target: int, name: str = "y_target") -> NDArray[np.intp] | None:
    """Return the position in the classes of each target row's label, -1 for an unknown one; None if none is known."""
    given = read_labels(y_target, n_target, name, "X_target").tolist()
    positions = {label: k for k, label in enumerate(classes.tolist())}
    taught = np.flatnonzero(~are_unknown(given, MASK in positions, name))
    unseen = list(dict.fromkeys(given[row] for row in taught if given[row] not in positions))
    if unseen:
        more = f" and {len(unseen) - MOST_LISTED} more" if len(unseen) > MOST_LISTED else ""
        listed = ", ".join(repr(label) for label in unseen[:MOST_LISTED])
        raise InvalidDataError(
            f"{name} has labels that no source row has: {listed}{more}. The source has "
            f"{without_middle(str([*positions]), MOST_LETTERS)}. Mark unknown labels by None "
            "or NaN; for a new class, add labelled rows of it to the source."
        )
    known = np.full(n_target, UNKNOWN, dtype=np.intp)
    known[taught] = [positions[given[row]] for row in taught]
    return known if len(taught) else None


def are_unknown(labels: list[Any], mask_is_class: bool, name: str) -> NDArray[np.bool_]:
    """Return which labels are missing or, where -1 is no class, -1."""
    missing = np.array([is_missing(label) for label in labels], dtype=bool)
    masks = np.array([not is_missing(label) and _is_mask(label) for label in labels], dtype=bool)
    if not mask_is_class:
        return np.asarray(missing | masks)
    if masks.any() and not missing.any():
        raise InvalidDataError(
            f"{name} has -1, which is a class of the source and also marks unknown labels: mark these by NaN or None. "
            "Where every label is known, name the class otherwise."
        )
    return np.asarray(missing)


def read_weights(sample_weight: Any, source: Matrix, is_source: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Read the weights of the source rows. Weights of target rows are ignored."""
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
        raise InvalidDataError(
            f"The largest sample_weight is {largest:.3g}, which is too {wrong} to compute with: divide all weights by "
            "one constant, and multiply C by it."
        )
    return weights


def read_domain(sample_domain: Any, n_rows: int) -> NDArray[np.float64]:
    """Read one domain number per row."""
    domain = column_or_1d(sample_domain)
    _check_length("sample_domain", "domain", len(domain), n_rows)
    try:
        numbers = domain.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(n_rows, np.nan)
    if domain.dtype.kind in "bUS" or not np.all(np.isfinite(numbers)):
        raise InvalidDataError(
            "sample_domain must hold one number per row: 0 or more for source rows, a negative one for target rows."
        )
    return np.asarray(numbers)


def source_by_domain(domain: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are source rows, by the sign of their domain."""
    is_source: NDArray[np.bool_] = domain >= 0
    if is_source.all() or not is_source.any():
        missing = "target" if is_source.all() else "source"
        raise InvalidDataError(
            f"sample_domain has no {missing} rows. Source rows have a domain of 0 or more, target rows a negative one."
        )
    return is_source


def source_by_mask(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows are source rows; the label -1 marks target rows."""
    everything = np.ones(len(y), dtype=bool)
    if y.dtype.kind not in "iufO":
        return everything
    is_source = np.array([not _is_mask(label) for label in y]) if y.dtype.kind == "O" else y != MASK
    if is_source.all():
        return everything
    if any(isinstance(label, str) for label in y):
        raise InvalidDataError(
            "String labels can't be mixed with -1, which marks target rows: pass the target as X_target, or give its "
            "rows a negative sample_domain."
        )
    if not is_source.any():
        raise InvalidDataError("Every label is -1, which marks target rows: there are no source rows to learn from.")
    if np.all(y[is_source] == 1):
        warn_user(
            "The labels are exactly -1 and +1 and no domain is given, so both were read as classes and the fit is on "
            "the source alone. To adapt, pass the target as X_target, or give its rows a negative sample_domain.",
            AmbiguousLabelsWarning,
        )
        return everything
    return is_source


def _is_mask(label: Any) -> bool:
    return isinstance(label, (Real, np.number)) and label == MASK


def encode(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes and the index of each label among them."""
    if y.dtype.kind == "O":
        if not all(isinstance(label, (str, Real, np.generic)) or is_missing(label) for label in y):
            raise InvalidDataError("y holds labels that are neither numbers nor strings: make them numbers or strings.")
        if any(is_missing(label) for label in y):
            raise InvalidDataError("y has missing labels (None or NaN) in source rows: drop these rows.")
        n_strings = sum(isinstance(label, str) for label in y)
        if 0 < n_strings < len(y):
            raise InvalidDataError("y mixes labels of different types: make them all numbers or all strings.")
        if n_strings == 0:
            y = np.array(y.tolist())
    if y.dtype.kind in "fO":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN or the missing value of a frame."""
    if label is None:
        return True
    try:
        same = label == label  # NaN differs from itself
    except Exception:  # any object may be given: this one is not a label, but not missing either
        return False
    return not isinstance(same, (bool, np.bool_)) or not same


def _check_length(name: str, entry: str, length: int, n_rows: int, table: str = "X") -> None:
    if length != n_rows:
        raise InvalidDataError(f"{name} has {length} entries and {table} has {n_rows} rows: give one {entry} per row.")
