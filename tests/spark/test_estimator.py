"""Tests of Ad-REM on Spark against the local version."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from problems import make_blobs_shift
from spark import grown, n_jobs, steps
from sparks import FAULTS_OF_PYSPARK, column, needs_spark, table

import adrem
from adrem.exceptions import LostClassWarning

needs_spark()
pytestmark = [pytest.mark.thorough, FAULTS_OF_PYSPARK]

# A few passes of the optimizer; its accuracy is up to MLlib.
QUICK: dict[str, Any] = {"loss": "log_loss", "C": 0.1, "nEstimators": 2, "nIter": 2, "maxIter": 4}


def fit(frame: Any, **params: Any) -> Any:
    from adrem.spark import AdREM

    return AdREM(**{**QUICK, **params}).fit(frame)


def labels_of(model: Any, frame: Any) -> NDArray[Any]:
    return np.array(column(model.transform(frame), "prediction"))


def assert_same(found: NDArray[Any], wanted: NDArray[Any]) -> None:
    """Equal up to rounding: the order in which Spark sums gradients is not fixed."""
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    return table(spark, make_blobs_shift(2))


@pytest.fixture(scope="module")
def plain(frame: Any) -> Any:
    return fit(frame)


@pytest.mark.parametrize(("n_classes", "loss"), [(2, "hinge"), (2, "log_loss"), (3, "log_loss")])
def test_spark_labels_equal_local_labels(spark: Any, n_classes: int, loss: Any) -> None:
    data = make_blobs_shift(n_classes, n_source=120, n_target=90)
    frame = table(spark, data)
    model = fit(frame, loss=loss, nEstimators=1, maxIter=20)
    local = adrem.AdREM(loss, C=0.1, n_estimators=1, n_iter=2, random_state=0)
    local.fit(data.X_source, data.y_source, X_target=data.X_target)
    assert model.coefficients.shape == local.coef_.shape
    found = labels_of(model, frame.where("domain < 0"))
    assert np.mean(found == local.transduction_) > 0.95
    assert np.mean(found == data.y_target) > np.mean(local.transduction_ == data.y_target) - 0.05


def test_spark_solves_rotated_arcs_like_local(spark: Any) -> None:
    data = adrem.datasets.make_rotated_arcs(rotation=60, random_state=0)
    frame = table(spark, data)
    source = adrem.AdREM("log_loss", C=0.1).fit(data.X_source, data.y_source)
    assert source.score(data.X_target, data.y_target) < 0.85
    found = labels_of(fit(frame, C=0.1, nEstimators=1, nIter=5, maxIter=10), frame.where("domain < 0"))
    assert np.mean(found == data.y_target) == 1.0  # as in the local version, for every seed


@pytest.mark.parametrize("label", [float("nan"), 77.0])
def test_target_labels_are_ignored(spark: Any, plain: Any, label: float) -> None:
    model = fit(table(spark, make_blobs_shift(2), target_label=label))
    assert model.classes == plain.classes == [0.0, 1.0]
    assert_same(model.coefficients, plain.coefficients)


def test_dense_and_sparse_rows_give_the_same_model(spark: Any, plain: Any) -> None:
    data = make_blobs_shift(2)
    sparse = data._replace(X_source=sp.csr_matrix(data.X_source), X_target=sp.csr_matrix(data.X_target))
    assert_same(fit(table(spark, sparse)).coefficients, plain.coefficients)


def test_seed_fixes_the_model_and_members_differ(frame: Any, plain: Any) -> None:
    assert_same(fit(frame, seed=0).coefficients, plain.coefficients)
    assert not np.allclose(fit(frame, seed=1).coefficients, plain.coefficients)
    assert not np.allclose(plain.coefficients[0], plain.coefficients[1])


def test_draws_grow_by_iteration(spark: Any) -> None:
    data = make_blobs_shift(2, n_target=400)
    model = fit(table(spark, data), nEstimators=1, nIter=4, classPrior={0: 0.75, 1: 0.25})
    assert [entry["iteration"] for entry in model.history] == [1, 2, 3, 4]
    for entry in model.history:
        assert sum(entry["classCounts"]) == 400
        assert entry["drawn"] == pytest.approx(100 * entry["iteration"], abs=4)


def test_job_count_is_constant_over_iterations(spark: Any, frame: Any) -> None:
    before = n_jobs(spark)
    fit(frame, nEstimators=1, nIter=4)
    found = steps(spark, before)
    assert list(found) == ["Ad-REM: source", *(f"Ad-REM: member 0, iteration {k}" for k in (1, 2, 3, 4))]
    assert grown(found) == []
    first, *others = found.values()
    own = first.jobs - first.passes  # jobs of MLlib besides its passes over the rows
    assert [step.jobs - step.passes - own for step in others] == [1, 1, 1, 1]


def test_fit_leaves_nothing_cached(spark: Any, frame: Any) -> None:
    before = set(spark.sparkContext._jsc.getPersistentRDDs())
    fit(frame, nEstimators=1)
    assert set(spark.sparkContext._jsc.getPersistentRDDs()) <= before


def test_class_without_target_rows_raises_warning(spark: Any) -> None:
    data = make_blobs_shift(2)
    far = data._replace(X_target=np.repeat(data.X_source[data.y_source == 0][:1], 20, axis=0), y_target=np.zeros(20))
    with pytest.warns(LostClassWarning, match=r"labelled with class 1\.0"):
        fit(table(spark, far), nEstimators=1)


def test_column_names_can_be_set(frame: Any, plain: Any) -> None:
    renamed = frame.withColumnsRenamed({"features": "x", "label": "the.class", "domain": "where"})
    model = fit(
        renamed, featuresCol="x", labelCol="the.class", domainCol="where", predictionCol="p", votesCol="v",
        confidenceCol="c",
    )  # fmt: skip
    assert_same(model.coefficients, plain.coefficients)
    assert model.transform(renamed).columns == [*renamed.columns, "p", "v", "c"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "squared"}, "loss must be 'hinge' or 'log_loss'"),
        ({"C": 0.0}, "C must be above 0"),
        ({"C": "cv"}, "C must be a number"),
        ({"nIter": 0}, "nIter must be at least 1"),
        ({"nEstimators": 0}, "nEstimators must be at least 1"),
        ({"nEstimators": "many"}, "nEstimators"),
        ({"classPrior": "estimate"}, "classPrior must be 'uniform', 'source'"),
        ({"classPrior": 3}, "classPrior"),
        ({"classPrior": {"cat": 0.5, "dog": 0.5}}, "must map numbers of the label column to shares"),
        ({"C": None}, "C can't be None"),
    ],
)
def test_bad_parameters_are_rejected(params: dict[str, Any], message: str) -> None:
    from adrem.spark import AdREM

    with pytest.raises((ValueError, TypeError), match=message):
        AdREM(**params)
    with pytest.raises((ValueError, TypeError), match=message):
        AdREM().setParams(**params)


def test_unknown_parameters_are_rejected() -> None:
    from adrem.spark import AdREM

    with pytest.raises(TypeError, match="unexpected keyword argument 'n_iter'"):
        AdREM(n_iter=3)
    with pytest.raises(TypeError, match=r"AdREM has no parameter n_iter: \['C', 'aggregationDepth', "):
        AdREM().setParams(n_iter=3)
    with pytest.raises(TypeError, match="keyword arguments"):
        AdREM("features")


def test_signature_lists_every_parameter_and_default() -> None:
    from adrem.spark import AdREM

    estimator = AdREM()
    told = {name: parameter.default for name, parameter in signature(AdREM).parameters.items()}
    assert told == {param.name: estimator.getOrDefault(param) for param in estimator.params}
    assert not any(estimator.isSet(param) for param in estimator.params)


def test_every_parameter_has_setter_and_getter() -> None:
    from adrem.spark import AdREM

    estimator = AdREM()
    for param in estimator.params:
        name = param.name[0].upper() + param.name[1:]
        value = getattr(estimator, f"get{name}")()
        assert getattr(estimator, f"set{name}")(value) is estimator
        assert estimator.isSet(param)
        assert getattr(estimator, f"get{name}")() == value
