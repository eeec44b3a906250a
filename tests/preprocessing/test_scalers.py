"""Tests of the domain-aware transformers: results, scikit-learn contract, and routing of domains."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from problems import make_blobs_shift
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_checks, get_tags

from adrem import AdREM, preprocessing
from adrem.datasets import DomainPair
from adrem.exceptions import AmbiguousLabelsWarning
from adrem.preprocessing import (
    DomainStandardScaler,
    JointStdScaler,
    Rectifier,
    RowSumScaler,
    TopFeatures,
    transform_pair,
)

SPARSE_SAFE = [
    JointStdScaler(),
    DomainStandardScaler(with_mean=False),
    RowSumScaler(),
    Rectifier(),
    TopFeatures(n_features=3),
    TopFeatures(n_features=3, by="mutual_info"),
]
ALL = [*SPARSE_SAFE, DomainStandardScaler()]
LAYOUTS = [np.asarray, sp.csr_array, sp.csr_matrix]


def make_table() -> tuple[Any, Any, Any]:
    """Twenty rows of two sources and two targets with many zeros, and labels that mark the target by -1."""
    rng = np.random.default_rng(0)
    X = rng.normal(1.0, 2.0, (20, 6)) * (rng.random((20, 6)) < 0.6)
    X[:, 2], X[:, 4], X[7] = 0.0, 3.0, 0.0
    domain = rng.permutation(np.repeat([0, 3, -1, -5], 5))
    return X, np.where(domain < 0, -1, np.arange(20) % 3), domain


X, Y, DOMAIN = make_table()
IS_TARGET = DOMAIN < 0
SPARSE = sp.csr_array(X)


def dense(table: Any) -> Any:
    return table.toarray() if sp.issparse(table) else np.asarray(table)


def deviation(table: Any) -> Any:
    scale = table.std(axis=0)
    return np.where(scale > 1e-12, scale, 1.0)


@pytest.mark.parametrize("model", [*ALL, TopFeatures()], ids=repr)
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
def test_scikit_learn_contract(model: Any) -> None:
    estimator_checks.check_estimator(model, on_skip=None)
    for name in (
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
        "check_set_output_transform_pandas",
        "check_set_output_transform_polars",
    ):
        getattr(estimator_checks, name)(type(model).__name__, model)


def test_every_exported_name_exists() -> None:
    assert preprocessing.__all__ == sorted(preprocessing.__all__)
    assert all(hasattr(preprocessing, name) for name in preprocessing.__all__)


@pytest.mark.parametrize("make", LAYOUTS)
def test_joint_std_scaler_divides_by_joint_deviation(make: Any) -> None:
    model = JointStdScaler()
    scaled = model.fit_transform(make(X), Y, sample_domain=DOMAIN)
    np.testing.assert_allclose(model.scale_, deviation(X))
    np.testing.assert_allclose(dense(scaled), X / deviation(X))
    np.testing.assert_allclose(dense(scaled), dense(StandardScaler(with_mean=False).fit_transform(make(X))))
    np.testing.assert_allclose(dense(model.transform(make(2 * X))), 2 * X / deviation(X))


@pytest.mark.parametrize("make", LAYOUTS)
@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_extreme_float32_values_are_scaled_in_float64(make: Any, size: float) -> None:
    small = (X * size).astype(np.float32)
    for model in (JointStdScaler(), DomainStandardScaler(with_mean=False)):
        scaled = dense(model.fit_transform(make(small)))
        np.testing.assert_allclose(scaled[:, :2], (X / deviation(X))[:, :2], rtol=1e-5)


def test_subnormal_deviation_still_divides() -> None:
    tiny = np.zeros((1000, 1), dtype=np.float32)
    tiny[0] = np.finfo(np.float32).smallest_subnormal
    expected = 1 / np.sqrt(0.001 * 0.999)
    for model in (JointStdScaler(), DomainStandardScaler(with_mean=False)):
        for make in LAYOUTS:
            assert dense(model.fit_transform(make(tiny)))[0, 0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("make", "with_mean"), [(np.asarray, True), *((make, False) for make in LAYOUTS)])
def test_domain_scaler_standardizes_each_domain(make: Any, with_mean: bool) -> None:
    model = DomainStandardScaler(with_mean=with_mean)
    scaled = model.fit_transform(make(X), Y, sample_domain=DOMAIN)
    np.testing.assert_array_equal(model.domains_, [-5, -1, 0, 3])
    for k, name in enumerate(model.domains_):
        part = X[name == DOMAIN]
        np.testing.assert_allclose(model.mean_[k], part.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(model.scale_[k], deviation(part))
        expected = StandardScaler(with_mean=with_mean).fit_transform(part)
        np.testing.assert_allclose(dense(scaled)[name == DOMAIN], expected, atol=1e-12)
    again = model.transform(make(X), sample_domain=DOMAIN)
    np.testing.assert_array_equal(dense(again), dense(scaled))


@pytest.mark.parametrize("make", LAYOUTS)
def test_rows_without_domain_use_pooled_targets(make: Any) -> None:
    model = DomainStandardScaler(with_mean=False).fit(make(X), sample_domain=DOMAIN)
    np.testing.assert_allclose(dense(model.transform(make(X))), X / deviation(X[IS_TARGET]))
    centred = DomainStandardScaler().fit(X, sample_domain=DOMAIN)
    target = X[IS_TARGET]
    np.testing.assert_allclose(centred.transform(X), (X - target.mean(axis=0)) / deviation(target))


@pytest.mark.parametrize("arguments", [{}, {"y": np.arange(20) % 3}, {"sample_domain": np.full(20, 4)}])
def test_single_domain_applies_to_new_rows(arguments: dict[str, Any]) -> None:
    expected = (X - X.mean(axis=0)) / deviation(X)
    np.testing.assert_allclose(DomainStandardScaler().fit(X, **arguments).transform(X), expected, atol=1e-12)
    np.testing.assert_allclose(DomainStandardScaler().fit_transform(X, **arguments), expected, atol=1e-12)


@pytest.mark.parametrize("labels", [Y, Y.astype(float), Y.astype(object), Y.tolist(), pd.Series(Y)])
def test_marked_labels_equal_sample_domain(labels: Any) -> None:
    names = np.where(IS_TARGET, -2, 1)
    by_mark, by_domain = DomainStandardScaler(), DomainStandardScaler()
    np.testing.assert_array_equal(by_mark.fit_transform(X, labels), by_domain.fit_transform(X, sample_domain=names))
    np.testing.assert_array_equal(by_mark.transform(X), by_domain.transform(X))
    np.testing.assert_array_equal(by_mark.transform(X, sample_domain=names), by_mark.fit_transform(X, labels))
    assert not np.allclose(by_mark.transform(X), by_mark.fit_transform(X, labels))


def test_labels_minus_one_and_one_warn_once(two_blobs: DomainPair) -> None:
    signs = 2 * two_blobs.y_source - 1
    np.testing.assert_array_equal(
        DomainStandardScaler().fit_transform(two_blobs.X_source, signs),
        DomainStandardScaler().fit_transform(two_blobs.X_source),
    )
    pipe = make_pipeline(DomainStandardScaler(), TopFeatures(3, by="mutual_info"), AdREM(C=0.1))
    with pytest.warns(AmbiguousLabelsWarning) as caught:
        pipe.fit(two_blobs.X_source, signs)
    assert len(caught) == 1


@pytest.mark.parametrize("make", LAYOUTS)
def test_row_sum_scaler_divides_by_sum(make: Any) -> None:
    table = np.abs(X)
    with np.errstate(all="raise"):
        scaled = dense(RowSumScaler().fit_transform(make(table)))
    empty = table.sum(axis=1) == 0
    assert empty.any()
    np.testing.assert_allclose(scaled[~empty], table[~empty] / table[~empty].sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(scaled[empty], table[empty])


@pytest.mark.parametrize("make", LAYOUTS)
def test_row_sum_near_zero_is_not_divided(make: Any) -> None:
    table = np.array([[0.1, 0.2, -0.3], [1.0, -1.0, 0.0], [1.0, -2.0, 0.0]])
    assert table[0].sum() != 0
    scaled = dense(RowSumScaler().fit_transform(make(table)))
    np.testing.assert_array_equal(scaled, [[0.1, 0.2, -0.3], [1.0, -1.0, 0.0], [-1.0, 2.0, 0.0]])


@pytest.mark.parametrize("make", LAYOUTS)
def test_rectifier_clips_negative_values(make: Any) -> None:
    rectified = Rectifier().fit_transform(make(X))
    np.testing.assert_array_equal(dense(rectified), X.clip(min=0))
    if sp.issparse(rectified):
        assert rectified.nnz == np.count_nonzero(X > 0)


@pytest.mark.parametrize("make", LAYOUTS)
def test_top_features_keeps_most_frequent_in_order(make: Any) -> None:
    table = np.array([[0, 1, 1, 0, 2], [0, 0, 3, 0, 1], [0, 1, 0, -4, 1], [0, 0, 0, 5, 1]], dtype=float)
    model = TopFeatures(n_features=3).fit(make(table))
    np.testing.assert_array_equal(model.scores_, [0, 2, 2, 2, 4])
    np.testing.assert_array_equal(model.get_support(), [False, True, True, False, True])
    np.testing.assert_array_equal(model.get_support(indices=True), [1, 2, 4])
    np.testing.assert_array_equal(model.get_feature_names_out(), ["x1", "x2", "x4"])
    np.testing.assert_array_equal(dense(model.transform(make(table))), table[:, [1, 2, 4]])
    np.testing.assert_array_equal(dense(TopFeatures(99).fit_transform(make(table))), table)


@pytest.mark.parametrize("make", LAYOUTS)
@pytest.mark.parametrize("labels", [Y, np.array(["a", "b", "c", "?"])[Y]])
def test_mutual_information_uses_source_rows(make: Any, labels: Any) -> None:
    source = ~IS_TARGET
    expected = [mutual_info_score(labels[source], column != 0) for column in X[source].T]
    model = TopFeatures(2, by="mutual_info").fit(make(X), labels, sample_domain=DOMAIN)
    np.testing.assert_allclose(model.scores_, expected, atol=1e-11)
    best = np.sort(np.argsort(expected)[-2:])
    np.testing.assert_array_equal(model.get_support(indices=True), best)
    np.testing.assert_array_equal(dense(model.transform(make(X))), X[:, best])


def test_target_labels_are_ignored() -> None:
    by_mark = TopFeatures(2, by="mutual_info").fit(X, Y)
    nonsense = np.where(IS_TARGET, np.arange(20) + 50.5, Y)
    by_domain = TopFeatures(2, by="mutual_info").fit(X, nonsense, sample_domain=DOMAIN)
    np.testing.assert_array_equal(by_mark.scores_, by_domain.scores_)
    assert np.any(by_mark.scores_ != TopFeatures(2, by="mutual_info").fit(X, np.where(IS_TARGET, 2, Y)).scores_)


def test_equally_informative_features_tie() -> None:
    labels, turn = np.repeat(np.arange(5), 5), np.tile(np.arange(5), 5)
    occurs = np.stack([turn < (labels + shift) % 5 for shift in range(5)], axis=1).astype(float)
    for table in (occurs, occurs[:, ::-1]):
        model = TopFeatures(2, by="mutual_info").fit(table, labels)
        assert len(set(model.scores_)) == 1
        np.testing.assert_array_equal(model.get_support(indices=True), [0, 1])


FINITE = st.one_of(st.just(0.0), st.floats(-100, 100).filter(lambda value: abs(value) > 1e-3))
TABLES = hnp.arrays(np.float64, st.tuples(st.integers(2, 12), st.just(4)), elements=FINITE)


@given(TABLES, st.sampled_from(SPARSE_SAFE), st.booleans(), st.data())
def test_sparse_and_dense_results_agree(table: Any, model: Any, single: bool, data: Any) -> None:
    table = table.astype(np.float32) if single else table
    domain = np.array(data.draw(st.lists(st.sampled_from([1, 2, -3]), min_size=len(table), max_size=len(table))))
    domain[:2] = 1, -3
    labels = np.arange(len(table)) % 2
    csr = sp.csr_array(table)
    outputs = [clone(model).fit_transform(rows, labels, sample_domain=domain) for rows in (table, csr)]
    assert sp.issparse(outputs[1])
    assert outputs[1].format == "csr"
    assert outputs[0].dtype == outputs[1].dtype == table.dtype
    tolerance = 1e-5 if single else 1e-9
    np.testing.assert_allclose(outputs[0], outputs[1].toarray(), rtol=tolerance, atol=tolerance)


@given(TABLES, st.sampled_from(ALL))
def test_results_are_finite_and_input_unchanged(table: Any, model: Any) -> None:
    original = table.copy()
    with np.errstate(all="raise"):
        output = clone(model).fit_transform(table, np.arange(len(table)) % 2)
    assert np.isfinite(output).all()
    output[:] = 7.0
    np.testing.assert_array_equal(table, original)


@given(TABLES)
def test_standardized_domains_have_mean_0_and_deviation_1(table: Any) -> None:
    domain = np.where(np.arange(len(table)) % 2, -1, 1)
    scaled = DomainStandardScaler().fit_transform(table, sample_domain=domain)
    for name in (1, -1):
        part, before = scaled[domain == name], table[domain == name]
        np.testing.assert_allclose(part.mean(axis=0), 0, atol=1e-6)
        moves = np.ptp(before, axis=0) > 1e-2
        np.testing.assert_allclose(part.std(axis=0)[moves], 1)


@pytest.mark.parametrize("model", ALL, ids=repr)
@pytest.mark.parametrize("value", [0.0, 0.1, -7e7])
def test_constant_tables_stay_finite(model: Any, value: float) -> None:
    table = np.full((9, 4), value)
    labels = np.array([0, 1, -1] * 3)
    for make in LAYOUTS if model in SPARSE_SAFE else LAYOUTS[:1]:
        for dtype in (np.float32, np.float64):
            with np.errstate(all="raise"):
                scaled = dense(clone(model).fit_transform(make(table.astype(dtype)), labels))
            assert np.isfinite(scaled).all()
            if isinstance(model, DomainStandardScaler):
                np.testing.assert_allclose(scaled, 0 if model.with_mean else table, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_read_only_input_is_accepted(model: Any) -> None:
    for make in LAYOUTS if model in SPARSE_SAFE else LAYOUTS[:1]:
        table = make(X.copy())
        arrays = [table.data, table.indices, table.indptr] if sp.issparse(table) else [table]
        for array in arrays:
            array.flags.writeable = False
        fitted = clone(model)
        fitted.fit_transform(table, Y, sample_domain=DOMAIN)
        fitted.transform(table, sample_domain=DOMAIN)
        np.testing.assert_array_equal(dense(table), X)


@pytest.mark.parametrize("model", SPARSE_SAFE, ids=repr)
def test_duplicate_sparse_entries_are_summed(model: Any) -> None:
    whole = np.array([[3.0, 0.0, -1.0, 1.0], [0.0, 2.0, 0.0, 5.0], [1.0, 1.0, 0.0, 0.0]])
    indices, values = [0, 3, 2, 0, 1, 3, 3, 1, 0, 2], [5.0, 1.0, -1.0, -2.0, 2.0, 4.0, 1.0, 1.0, 1.0, 0.0]
    parts = sp.csr_array((values, indices, [0, 4, 7, 10]), shape=(3, 4))
    before = copy.deepcopy(parts)
    np.testing.assert_array_equal(parts.toarray(), whole)
    labels = [0, 1, 1]
    expected = clone(model).fit_transform(whole, labels)
    output = clone(model).fit_transform(parts, labels)
    np.testing.assert_allclose(output.toarray(), expected)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(before, name))


@pytest.mark.parametrize("model", ALL, ids=repr)
@pytest.mark.parametrize(
    ("given_type", "kept"),
    [(np.float64, np.float64), (np.float32, np.float32), (np.float16, np.float32), (np.int64, np.float64)],
)
def test_float_types_are_kept(model: Any, given_type: Any, kept: Any) -> None:
    table = np.round(X).astype(given_type)
    fitted = clone(model)
    assert fitted.fit_transform(table, Y).dtype == kept
    assert fitted.transform(table).dtype == kept
    if model in SPARSE_SAFE and given_type != np.float16:
        assert fitted.transform(sp.csr_array(table)).dtype == kept


@pytest.mark.parametrize("model", SPARSE_SAFE, ids=repr)
def test_sparse_tables_stay_sparse(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("made dense")

    monkeypatch.setattr(sp.csr_array, "toarray", refuse)
    monkeypatch.setattr(sp.csc_array, "toarray", refuse)
    fitted = clone(model)
    for output in (
        fitted.fit_transform(SPARSE, Y, sample_domain=DOMAIN),
        fitted.transform(SPARSE, sample_domain=DOMAIN),
        fitted.transform(SPARSE),
        *transform_pair(model, SPARSE, SPARSE, np.arange(20) % 2),
    ):
        assert isinstance(output, sp.csr_array)


def test_tags_describe_the_accepted_input() -> None:
    assert all(get_tags(model).input_tags.sparse for model in SPARSE_SAFE)
    assert not get_tags(DomainStandardScaler()).input_tags.sparse
    assert get_tags(TopFeatures(by="mutual_info")).target_tags.required
    assert not get_tags(TopFeatures()).target_tags.required
    assert all(get_tags(model).transformer_tags.preserves_dtype == ["float64", "float32"] for model in ALL)


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_pickled_transformer_gives_equal_results(model: Any) -> None:
    fitted = clone(model).fit(X, Y, sample_domain=DOMAIN)
    loaded = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("model", ALL, ids=repr)
def test_frames_are_matched_by_name(model: Any, make: Any) -> None:
    columns = list("abcdef")
    frame = make(dict(zip(columns, X.T, strict=True)))
    fitted = clone(model).set_output(transform="pandas").fit(frame, Y)
    np.testing.assert_array_equal(fitted.feature_names_in_, columns)
    assert fitted.n_features_in_ == 6
    output = fitted.transform(frame[columns[::-1]])
    assert list(output.columns) == list(fitted.get_feature_names_out())
    kept = [columns.index(name) for name in output.columns]
    assert len(kept) == (3 if isinstance(model, TopFeatures) else 6)
    plain = clone(model).fit(X, Y)
    np.testing.assert_allclose(output, plain.transform(X))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(pd.DataFrame(X, columns=list("abcdeg")))


@pytest.mark.parametrize(
    ("model", "table", "arguments", "message"),
    [
        (DomainStandardScaler(), SPARSE, {}, "can't be centred: pass with_mean=False, or use JointStdScaler"),
        (
            DomainStandardScaler().set_params(with_mean=2),
            X,
            {},
            "'with_mean' parameter of DomainStandardScaler must be",
        ),
        (DomainStandardScaler(), X, {"y": Y[:3]}, "y has 3 entries and X has 20 rows: give one label per row"),
        (DomainStandardScaler(), X, {"y": np.full(20, -1)}, "Every label is -1"),
        (DomainStandardScaler(), X, {"y": ["a", -1] * 10}, "String labels can't be mixed with -1"),
        (JointStdScaler(), X, {"sample_domain": [1, 2]}, "sample_domain has 2 entries and X has 20 rows"),
        (Rectifier(), X, {"sample_domain": ["s"] * 20}, "sample_domain must hold one number per row"),
        (RowSumScaler(), np.full((3, 2), np.nan), {}, "contains NaN"),
        (TopFeatures(0), X, {}, "'n_features' parameter of TopFeatures must be an int in the range"),
        (TopFeatures().set_params(by="luck"), X, {}, "by 'luck' is not one of"),
        (TopFeatures(by="mutual_info"), X, {}, "TopFeatures.* requires y to be passed"),
        (TopFeatures(by="mutual_info"), X, {"y": np.linspace(0, 1, 20)}, "Unknown label type"),
        (TopFeatures(by="mutual_info"), X, {"y": Y, "sample_domain": np.full(20, -1)}, "has no source rows"),
    ],
)
def test_fit_rejects_bad_input(model: Any, table: Any, arguments: dict[str, Any], message: str) -> None:
    for method in ("fit", "fit_transform"):
        with pytest.raises(ValueError, match=message):
            getattr(clone(model), method)(table, **arguments)


def test_transform_rejects_bad_input() -> None:
    model = DomainStandardScaler().fit(X, sample_domain=DOMAIN)
    with pytest.raises(ValueError, match=r"has \[-2.0, 7.0\], and fit has seen \[-5.0, -1.0, 0.0, 3.0\]"):
        model.transform(X, sample_domain=np.where(IS_TARGET, -2, 7))
    with pytest.raises(ValueError, match="sample_domain has 2 entries"):
        model.transform(X, sample_domain=[0, 0])
    with pytest.raises(ValueError, match="can't be centred: pass with_mean=False"):
        model.transform(SPARSE)
    with pytest.raises(ValueError, match="several sources and no target: pass sample_domain"):
        DomainStandardScaler().fit(X, sample_domain=np.abs(DOMAIN)).transform(X)
    for fitted in (model, Rectifier().fit(X)):
        with pytest.raises(ValueError, match="belong to a source domain: leave them out, or pass allow_source=True"):
            fitted.transform(X, sample_domain=DOMAIN, allow_source=False)
        target = fitted.transform(X[IS_TARGET], sample_domain=DOMAIN[IS_TARGET], allow_source=False)
        np.testing.assert_array_equal(target, fitted.transform(X, sample_domain=DOMAIN)[IS_TARGET])


def test_unsupervised_transformers_ignore_labels() -> None:
    for model in (JointStdScaler(), RowSumScaler(), Rectifier(), TopFeatures(3)):
        np.testing.assert_array_equal(
            clone(model).fit_transform(X, np.full((20, 2), -1)), clone(model).fit_transform(X)
        )


# Tests of pipelines.


def make_pair() -> tuple[Any, Any, Any, Any]:
    """Both domains in one table, interleaved; the target has a different scale, which hides the classes."""
    data = make_blobs_shift(n_source=90, n_target=60)
    rows = np.concatenate([data.X_source, 30 * data.X_target + 100])
    domain = np.repeat([1, -2], [90, 60])
    order = np.random.default_rng(0).permutation(150)
    truth = np.concatenate([data.y_source, data.y_target])[order]
    return rows[order], np.where(domain[order] > 0, truth, -1), domain[order], truth


def make_pipe(*steps: Any) -> Any:
    return make_pipeline(*steps, AdREM(C=0.1, n_estimators=3, n_iter=5, random_state=0))


@pytest.fixture(scope="module")
def skada() -> Iterator[Any]:
    """Importing skada enables metadata routing for the whole process; this restores the configuration."""
    config = sklearn.get_config()
    module = pytest.importorskip("skada", reason="skada is not installed")
    sklearn.set_config(**config)
    yield module
    sklearn.set_config(**config)


def test_pipeline_forms_give_equal_results(skada: Any) -> None:
    rows, y, domain, truth = make_pair()
    target = domain < 0
    steps = [Rectifier(), DomainStandardScaler(), TopFeatures(4, by="mutual_info")]
    names = ("rectifier", "domainstandardscaler", "topfeatures", "adrem")
    unmarked = np.where(target, 0, y)  # a wrong label for the target, so that only the domain identifies it
    by_mark = make_pipe(*map(clone, steps)).fit(rows, y)
    by_name = make_pipe(*map(clone, steps)).fit(rows, unmarked, **{f"{name}__sample_domain": domain for name in names})
    with sklearn.config_context(enable_metadata_routing=True):
        by_route = make_pipe(*map(clone, steps)).fit(rows, unmarked, sample_domain=domain)
        by_skada = skada.make_da_pipeline(*[step for _, step in make_pipe(*map(clone, steps)).steps])
        by_skada.fit(rows, y.copy(), sample_domain=domain)
    one_by_one = rows
    for step in steps:
        one_by_one = clone(step).fit_transform(one_by_one, y)
    expected = clone(by_mark[-1]).fit(one_by_one, y).transduction_
    assert np.mean(expected == truth[target]) > 0.7
    for pipe in (by_mark, by_name, by_route):
        np.testing.assert_array_equal(pipe[-1].transduction_, expected)
        np.testing.assert_array_equal(pipe.predict(rows[target]), expected)
    with sklearn.config_context(enable_metadata_routing=True):
        for pipe in (by_route, by_skada):
            np.testing.assert_array_equal(pipe.predict(rows[target]), expected)
            np.testing.assert_array_equal(pipe.predict(rows[target], sample_domain=domain[target]), expected)
            labels = pipe.predict(rows, sample_domain=domain, allow_source=True)
            assert np.mean(labels == truth) > 0.7
            with pytest.raises(ValueError, match="source domain"):
                pipe.predict(rows, sample_domain=domain, allow_source=False)


@pytest.mark.usefixtures("routing")
@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
def test_grid_search_works_over_skada_pipeline(skada: Any) -> None:
    from skada.metrics import CircularValidation

    rows, y, domain, _ = make_pair()
    pipe = skada.make_da_pipeline(DomainStandardScaler(), AdREM(C=0.1, n_estimators=3, n_iter=3, random_state=0))
    search = GridSearchCV(
        pipe,
        {"domainstandardscaler__with_mean": [True, False]},
        scoring=CircularValidation(),
        cv=ShuffleSplit(2, test_size=0.4, random_state=0),
        error_score="raise",
    )
    search.fit(rows, y.copy(), sample_domain=domain)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    again = clone(pipe).set_params(**search.best_params_).fit(rows, y.copy(), sample_domain=domain)
    np.testing.assert_array_equal(search.predict(rows[domain < 0]), again.predict(rows[domain < 0]))


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_pipeline_supports_sparse_rows(make: Any) -> None:
    rows, y, domain, _ = make_pair()
    steps = [Rectifier(), RowSumScaler(), JointStdScaler(), DomainStandardScaler(with_mean=False), TopFeatures(4)]
    csr, plain = (make_pipe(*map(clone, steps)).fit(layout(rows), y) for layout in (make, np.asarray))
    np.testing.assert_array_equal(csr[-1].transduction_, plain[-1].transduction_)
    np.testing.assert_array_equal(csr.predict(make(rows[domain < 0])), csr[-1].transduction_)


# Tests of `transform_pair`.


@pytest.mark.parametrize("make", LAYOUTS)
@pytest.mark.parametrize("model", SPARSE_SAFE, ids=repr)
@pytest.mark.parametrize("names", [np.array([4, 8, 9]), np.array(["x", "y", "z"])])
def test_transform_pair_fits_on_both_tables(model: Any, make: Any, names: Any) -> None:
    X_source, X_target = X[~IS_TARGET], X[IS_TARGET]
    labels = names[Y[~IS_TARGET]]
    source, target = transform_pair(model, make(X_source), make(X_target), labels)
    domain = np.repeat([0, -1], [10, 10])
    both = np.concatenate([X_source, X_target])
    expected = clone(model).fit_transform(both, np.concatenate([labels, labels]), sample_domain=domain)
    np.testing.assert_allclose(dense(source), expected[:10])
    np.testing.assert_allclose(dense(target), expected[10:])
    if make is not np.asarray:
        assert source.format == target.format == "csr"
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("nested", [False, True])
def test_transform_pair_supports_pipelines(nested: bool) -> None:
    X_source, X_target, labels = X[~IS_TARGET], X[IS_TARGET], Y[~IS_TARGET]
    steps = [StandardScaler(), "passthrough", DomainStandardScaler(), TopFeatures(2, by="mutual_info")]
    pipe = make_pipeline(*steps[:2], make_pipeline(*steps[2:])) if nested else make_pipeline(*steps)
    assert not sklearn.get_config()["enable_metadata_routing"]
    source, target = transform_pair(pipe, X_source, X_target, labels)
    assert not sklearn.get_config()["enable_metadata_routing"]
    shifted = [StandardScaler().fit_transform(part) for part in (X_source, X_target)]
    kept = TopFeatures(2, by="mutual_info").fit(shifted[0], labels).get_support()
    np.testing.assert_allclose(source, shifted[0][:, kept], atol=1e-9)
    np.testing.assert_allclose(target, shifted[1][:, kept], atol=1e-9)


def test_transform_pair_supports_scikit_learn_transformers() -> None:
    X_source, X_target = X[:12], X[12:]
    scaled = StandardScaler().fit_transform(X)
    for part, expected in zip(
        transform_pair(StandardScaler(), X_source, X_target), (scaled[:12], scaled[12:]), strict=True
    ):
        np.testing.assert_array_equal(part, expected)
    columns = FunctionTransformer(sp.csc_array, accept_sparse=True)
    for part, expected in zip(transform_pair(columns, SPARSE[:12], SPARSE[12:]), (X_source, X_target), strict=True):
        assert part.format == "csr"
        np.testing.assert_array_equal(part.toarray(), expected)
    union = FeatureUnion([("joint", JointStdScaler()), ("each", DomainStandardScaler(with_mean=False))])
    source, target = transform_pair(union, sp.csc_array(X_source), sp.csr_array(X_target))
    assert source.format == target.format == "csr"
    np.testing.assert_allclose(dense(source), np.hstack([X_source / deviation(X), X_source / deviation(X_source)]))
    np.testing.assert_allclose(dense(target), np.hstack([X_target / deviation(X), X_target / deviation(X_target)]))


def test_transform_pair_matches_frames_by_name() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = JointStdScaler()
    mixed = transform_pair(model, frame[:12], frame[12:][list("fedcba")])
    for part, expected in zip(mixed, transform_pair(model, X[:12], X[12:]), strict=True):
        np.testing.assert_array_equal(part, expected)
    source, target = transform_pair(JointStdScaler().set_output(transform="pandas"), frame[:12], frame[12:])
    assert (len(source), len(target)) == (12, 8)
    np.testing.assert_array_equal(target, mixed[1])


@pytest.mark.parametrize(
    ("model", "target", "labels", "message"),
    [
        (Rectifier(), X[:, :3], None, "X_target has 3 features, X has 6"),
        (Rectifier(), X[:0], None, "X_target has no rows"),
        (Rectifier(), X, Y[:3], "y has 3 entries and X has 20 rows"),
        (TopFeatures(by="mutual_info"), X, None, "requires y to be passed"),
        (SelectKBest(k=2), X, Y, "Input contains NaN"),
        (make_pipeline(Rectifier(), SelectKBest(k=2)), X, Y, "Input contains NaN"),
    ],
)
def test_transform_pair_rejects_bad_input(model: Any, target: Any, labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transform_pair(model, X, target, labels)
