"""Tests of input validation: errors are raised before training and say how to fix the input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from adrem import AdREM
from adrem.base.parameters import read_prior
from adrem.base.validation import read_domains
from adrem.datasets import DomainPair
from adrem.exceptions import AmbiguousLabelsWarning

X = np.arange(24.0).reshape(12, 2)
Y = np.array([0, 1] * 6)
TARGET = X[:4] + 1


def with_value(value: float) -> Any:
    changed = X.copy()
    changed[1, 1] = value
    return changed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": with_value(np.nan)}, "NaN"),
        ({"X": with_value(np.inf)}, "infinity"),
        ({"X_target": with_value(np.nan)}, "Input X_target contains NaN. Fill them, for example with"),
        ({"X_target": with_value(-np.inf)}, "infinity"),
        ({"X_target": X[:, 0]}, "X_target can't be read: Expected 2D array, got 1D array"),
        ({"X_target": []}, "X_target can't be read: Expected 2D array"),
        ({"X_target": [["a", "b"]]}, "X_target can't be read: .*convert string"),
        ({"X_target": [[1.0, 2.0, 3.0]]}, "X_target has 3 features, X has 2"),
        ({"X": X * 1e160}, "too large for float64. Scale the features"),
        ({"X": (X * 1e25).astype(np.float32)}, "too large for float32. Scale the features"),
        ({"X_target": np.ones((4, 3))}, "X_target has 3 features, X has 2: both domains need the same"),
        ({"X_target": np.empty((0, 2))}, "X_target has no rows. Leave it out"),
        ({"X_target": sp.csr_array((0, 2))}, "X_target has no rows. Leave it out"),
        ({"y": np.zeros(12)}, "one class only, 0.0: a classifier needs labelled rows of at least two"),
        ({"y": Y[:5]}, "y has 5 entries and X has 12 rows: give one label per row"),
        ({"y": None}, "requires y to be passed"),
        ({"y": np.linspace(0, 1, 12)}, "Unknown label type"),
        ({"y": np.array(["a", 1] * 6, dtype=object)}, "make them all numbers or all strings"),
        ({"y": np.where(Y == 1, np.nan, Y)}, "NaN"),
        ({"y": np.array(["a", None] * 6, dtype=object)}, "missing labels .* drop these rows"),
        ({"y": pd.Series(["a", pd.NA, "b"] * 4, dtype="string")}, "missing labels .* drop these rows"),
        ({"y": ["a", "b", -1] * 4}, "String labels can't be mixed with -1, .*: pass the target as X_target"),
        ({"y": np.array(["a", "b", -1] * 4, dtype=object)}, "String labels can't be mixed with -1"),
        ({"y": -np.ones(12)}, "Every label is -1, which marks target rows"),
        ({"sample_weight": np.ones(5)}, "sample_weight"),
        ({"sample_weight": -np.ones(12)}, "[Nn]egative"),
        ({"sample_weight": (Y == 1).astype(float)}, "zero for all source rows of a class"),
        ({"sample_domain": np.ones(12)}, "has no target rows. Source rows have a domain of 0 or more"),
        ({"sample_domain": -np.ones(12)}, "has no source rows"),
        ({"sample_domain": np.ones(5)}, "sample_domain has 5 entries and X has 12 rows"),
        ({"sample_domain": ["s"] * 12}, "sample_domain must hold one number per row"),
        ({"sample_domain": [np.nan] * 12}, "sample_domain must hold one number per row"),
        ({"sample_domain": [True, False] * 6}, "sample_domain must hold one number per row"),
        ({"sample_domain": np.ones(12), "X_target": TARGET}, "both given. Pass the source as X and y with X_target"),
    ],
)
def test_fit_rejects_bad_input(arguments: dict[str, Any], message: str) -> None:
    arguments = {"X": X, "y": Y, **arguments}
    with pytest.raises(ValueError, match=message):
        AdREM(C=1.0).fit(arguments.pop("X"), arguments.pop("y"), **arguments)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "squared"}, "loss 'squared' is not one of 'hinge', 'log_loss'"),
        ({"sampling": "none"}, "sampling 'none' is not one of 'all', 'balanced', 'random'"),
        ({"C": 0.0}, "'C' parameter"),
        ({"C": "auto"}, "'C' parameter"),
        ({"C": []}, "C must be 'cv', a positive number or a list of these"),
        ({"C": [1.0, -1.0]}, "positive number or a list of these"),
        ({"n_iter": 0}, "'n_iter' parameter"),
        ({"n_estimators": 0}, "'n_estimators' parameter"),
        ({"tol": 0}, "'tol' parameter"),
        ({"class_prior": "balanced"}, "'class_prior' parameter"),
        ({"class_prior": [0.5, 0.6]}, "must be a distribution, shares of at least 0 that sum to 1"),
        ({"class_prior": [-0.5, 1.5]}, "must be a distribution"),
        ({"class_prior": [np.nan, 1.0]}, "must be a distribution"),
        ({"class_prior": {0: "x", 1: "y"}}, "class_prior must hold one number per class"),
        ({"C": ["a"]}, "positive number or a list of these"),
        ({"class_prior": [1.0]}, r"give one share per class, in the order \[0, 1\]"),
        ({"class_prior": {0: 0.5, 2: 0.5}}, r"names the classes \[0, 2\], the source has \[0, 1\]"),
        ({"random_state": "seed"}, "'random_state' parameter"),
    ],
)
def test_fit_rejects_bad_parameters(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AdREM(**{"C": 1.0, **params}).fit(X, Y, X_target=TARGET)


def test_c_selection_rejects_small_classes() -> None:
    y = np.array([0] * 10 + [1] * 2)
    with pytest.raises(ValueError, match=r"class 1 has only 2 row\(s\) there.*Give a fixed value, such as C=1.0"):
        AdREM().fit(X, y, X_target=TARGET)
    assert AdREM(C=1.0).fit(X, y).C_ == AdREM(C=[1.0]).fit(X, y).C_ == 1.0


def test_predict_rejects_source_rows_unless_allowed(blobs: DomainPair) -> None:
    model = AdREM(C=0.1, n_estimators=1).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    domain = np.where(np.arange(45) < 3, 1, -2)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match=r"3 of 45 rows belong to a source domain.*allow_source=True"):
            method(blobs.X_target, sample_domain=domain)
        np.testing.assert_array_equal(
            method(blobs.X_target, sample_domain=domain, allow_source=True), method(blobs.X_target)
        )
    with pytest.raises(ValueError, match="sample_domain has 3 entries and X has 45 rows"):
        model.score(blobs.X_target, blobs.y_target, sample_domain=domain[:3])


def test_labels_minus_one_and_one_warn_as_classes() -> None:
    y = np.where(Y == 1, 1, -1)
    with pytest.warns(
        AmbiguousLabelsWarning, match="pass the target as X_target, or give its rows a negative"
    ) as caught:
        model = AdREM(C=1.0).fit(X, y)
    assert caught[0].filename == __file__
    assert model.classes_.tolist() == [-1, 1]
    assert len(model.transduction_) == 0


@pytest.mark.parametrize("y", [Y, Y + 1, np.array(["-1", "b"] * 6), np.array(["a", "b"] * 6, dtype=object), Y == 1])
def test_labels_without_marker_give_no_target(y: Any) -> None:
    domains = read_domains(AdREM(), X, y)
    assert not domains.adapts
    assert domains.X_source.shape == (12, 2)


def test_label_minus_one_marks_target_rows() -> None:
    y = np.array([0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1, 2])
    for labels in (y, y.astype(float), y.astype(object), y.tolist(), pd.Series(y)):
        domains = read_domains(AdREM(), X, labels)
        np.testing.assert_array_equal(domains.X_target, X[[1, 4, 8]])
        assert domains.labels.tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 2]


def test_target_labels_are_ignored() -> None:
    domain = np.array([1, -1] * 6)
    y: list[Any] = [0, None, 1, float("nan"), 0, "x"] * 2
    domains = read_domains(AdREM(), X, np.array(y, dtype=object), sample_domain=domain)
    assert domains.classes.tolist() == [0, 1]
    np.testing.assert_array_equal(domains.X_target, X[1::2])


def test_minus_one_is_a_class_with_sample_domain() -> None:
    y = np.array([-1, 7, 1, 7] * 3)
    domains = read_domains(AdREM(), X, y, sample_domain=[0, -3, 5, -1] * 3)
    assert domains.classes.tolist() == [-1, 1]
    assert read_domains(AdREM(), X[::2], y[::2], X_target=TARGET).classes.tolist() == [-1, 1]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_matched_by_column_name(frame: Any) -> None:
    source = frame({"a": X[:, 0], "b": X[:, 1]})
    turned = frame({"b": TARGET[:, 1], "a": TARGET[:, 0]})
    model = AdREM(C=1.0, random_state=0)
    domains = read_domains(model, source, Y, X_target=turned)
    np.testing.assert_array_equal(domains.X_target, TARGET)
    model.fit(source, Y, X_target=turned)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.predict(turned), model.transduction_)
    with pytest.raises(ValueError, match=r"missing \['b'\], not in X \['c'\]. Both domains need the same columns"):
        model.fit(source, Y, X_target=frame({"a": TARGET[:, 0], "c": TARGET[:, 1]}))


@pytest.mark.parametrize(
    ("given", "kept"),
    [(np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)],
)
def test_float16_is_widened_and_other_types_kept(given: type, kept: type) -> None:
    domains = read_domains(AdREM(), X.astype(given), Y, X_target=TARGET.astype(given))
    assert domains.X_source.dtype == domains.X_target.dtype == kept
    assert AdREM(C=1.0).fit(X.astype(given), Y).coef_.dtype == kept


def test_read_prior_accepts_all_documented_forms() -> None:
    y = np.array(["b", "a", "a", "c"] * 3)
    weights = np.array([2.0, 1.0, 1.0, 0.5] * 3)
    domains = read_domains(AdREM(), X, y, sample_weight=weights)
    np.testing.assert_allclose(read_prior("uniform", domains), [1 / 3] * 3)
    np.testing.assert_allclose(read_prior("source", domains), [2 / 4.5, 2 / 4.5, 0.5 / 4.5])
    np.testing.assert_allclose(read_prior((0.2, 0.3, 0.5), domains), [0.2, 0.3, 0.5])
    for by_class in (dict, pd.Series):
        prior = by_class({"c": 0.5, "a": 0.2, "b": 0.3})
        np.testing.assert_allclose(read_prior(prior, domains), [0.2, 0.3, 0.5])


def test_frames_with_reordered_integer_names_are_rejected() -> None:
    same = read_domains(AdREM(), pd.DataFrame(X), Y, X_target=pd.DataFrame(TARGET))
    np.testing.assert_array_equal(same.X_target, TARGET)
    with pytest.raises(ValueError, match="only string names can be matched"):
        read_domains(AdREM(), pd.DataFrame(X), Y, X_target=pd.DataFrame(TARGET)[[1, 0]])


def test_target_weights_are_ignored() -> None:
    domain = np.array([1, 1, -1] * 4)
    weight = np.where(domain > 0, 2.0, np.nan)
    domains = read_domains(AdREM(), X, Y, sample_domain=domain, sample_weight=weight)
    np.testing.assert_array_equal(domains.weights, np.full(8, 2.0))


def test_failed_fit_leaves_model_unfitted() -> None:
    model = AdREM(C=1.0, class_prior=[0.1, 0.1])
    with pytest.raises(ValueError, match="distribution"):
        model.fit(X, Y, X_target=TARGET)
    with pytest.raises(NotFittedError):
        model.predict(X)


def damaged(form: str, part: str, value: int) -> Any:
    matrix = sp.csr_array(X).asformat(form)
    getattr(matrix, part)[1] = value
    return matrix


@pytest.mark.parametrize(
    ("form", "part", "value"),
    [
        ("csr", "indices", 10**8),
        ("csr", "indices", -(10**8)),
        ("csr", "indptr", 10**8),
        ("csr", "indptr", -1),
        ("csc", "indices", 10**8),
        ("bsr", "indices", 10**8),
        ("coo", "row", 10**8),
        ("coo", "col", -(10**8)),
    ],
)
def test_sparse_index_out_of_range_is_rejected(form: str, part: str, value: int) -> None:
    bad, good = damaged(form, part, value), sp.csr_array(X)
    with pytest.raises(ValueError, match=r"X is a damaged sparse matrix: .* Rebuild it from rows"):
        AdREM(C=1.0).fit(bad, Y)
    with pytest.raises(ValueError, match="X_target is a damaged sparse matrix"):
        AdREM(C=1.0).fit(good, Y, X_target=bad)
    with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
        AdREM(C=1.0).fit(good, Y).predict(bad)


def test_lil_index_out_of_range_is_rejected() -> None:
    bad = sp.lil_array(X)
    bad.rows[0] = [10**8 for _ in bad.rows[0]]
    with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
        AdREM(C=1.0).fit(bad, Y)


def test_damaged_dia_and_lil_matrices_are_rejected() -> None:
    diagonals = sp.dia_array(sp.csr_array(X))
    diagonals.offsets = np.zeros(5000, np.int32)
    lists = sp.lil_array(X)
    lists.data[0] = [1.0] * 5000
    for bad in (diagonals, lists):
        with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
            AdREM(C=1.0).fit(bad, Y)
    for form in ("dia", "lil", "dok"):
        assert AdREM(C=1.0).fit(sp.csr_array(X).asformat(form), Y).n_features_in_ == 2


def test_duplicate_and_unsorted_sparse_entries_are_accepted() -> None:
    plain = sp.csr_array(X)
    parts = sp.csr_array(
        (np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2), 2 * plain.indptr), shape=plain.shape
    )
    turned = plain.copy()
    for begin, end in zip(turned.indptr, turned.indptr[1:], strict=False):
        turned.indices[begin:end] = plain.indices[begin:end][::-1]
        turned.data[begin:end] = plain.data[begin:end][::-1]
    for kernel in ("linear", "rbf"):
        model = AdREM(C=1.0, n_iter=3, n_estimators=2, random_state=0, kernel=kernel)
        expected = model.fit(plain, Y, X_target=plain).decision_function(plain)
        for other in (parts, turned):
            before = [part.copy() for part in (other.data, other.indices, other.indptr)]
            np.testing.assert_allclose(model.decision_function(other), expected, rtol=1e-12)
            found = clone(model).fit(other, Y, X_target=other).decision_function(other)
            np.testing.assert_array_equal(found, expected)
            for old, new in zip(before, (other.data, other.indices, other.indptr), strict=True):
                np.testing.assert_array_equal(old, new)


def test_underflowing_squares_raise_only_in_fit() -> None:
    with pytest.raises(
        ValueError, match=r"No value in X is larger than .*e-169: squares underflow. Scale the features"
    ):
        AdREM(C=1.0).fit(X * 1e-170, Y)
    model = AdREM(C=1.0).fit(X, Y)
    assert set(model.predict(X * 1e-170)) <= set(Y)
    with pytest.raises(ValueError, match="too large for float64"):
        model.predict(X * 1e160)


@pytest.mark.parametrize(("weight", "size"), [(1e280, "large"), (1e-280, "small")])
def test_extreme_sample_weights_are_rejected(weight: float, size: str) -> None:
    with pytest.raises(ValueError, match=f"largest sample_weight is .* too {size} to compute with: divide all weights"):
        AdREM(C=1.0).fit(X, Y, sample_weight=np.full(len(X), weight))


def test_labels_of_unsupported_types_are_rejected() -> None:
    class Incomparable:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no comparison")

        __hash__ = object.__hash__

    for labels in ([Incomparable() for _ in Y], [{0} for _ in Y], [b"x" if k else 3 for k in Y]):
        with pytest.raises(ValueError, match="neither numbers nor strings"):
            AdREM(C=1.0).fit(X, np.array(labels, dtype=object))
