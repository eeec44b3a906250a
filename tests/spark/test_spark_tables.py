"""Tests that unusable tables are rejected before training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import make_blobs_shift
from sparks import FAULTS_OF_PYSPARK, needs_spark, table

needs_spark()
pytestmark = [pytest.mark.thorough, FAULTS_OF_PYSPARK]


def refuse(frame: Any, message: str, kind: type[Exception] = ValueError, **params: Any) -> None:
    from adrem.spark import AdREM

    with pytest.raises(kind, match=message):
        AdREM(nEstimators=1, nIter=1, **params).fit(frame)


@pytest.fixture(autouse=True)
def _forbid_training(monkeypatch: pytest.MonkeyPatch) -> None:
    from adrem.spark.classifiers import Trainer

    monkeypatch.delattr(Trainer, "train")


@pytest.fixture
def frame(spark: Any) -> Any:
    return table(spark, make_blobs_shift(2))


def test_fit_rejects_missing_columns(frame: Any) -> None:
    for name in ("features", "label", "domain"):
        refuse(frame.drop(name), f"{name}Col is '{name}', which is not a column")


def test_fit_rejects_columns_of_wrong_type(frame: Any) -> None:
    from pyspark.sql import functions as sf

    refuse(frame.withColumn("features", sf.lit(1.0)), "must hold vectors", TypeError)
    refuse(
        frame.withColumn("label", sf.lit("a")),
        "must hold numbers; make them by StringIndexer, handleInvalid='keep'",
        TypeError,
    )
    refuse(frame.withColumn("domain", sf.lit("a")), "must hold numbers, below 0 for the target", TypeError)


def test_fit_rejects_missing_domain_or_class(frame: Any) -> None:
    from pyspark.sql import functions as sf

    refuse(frame.where("domain < 0"), "There are no source rows")
    refuse(frame.where("domain >= 0"), "There are no target rows")
    refuse(frame.withColumn("label", sf.lit(1.0)), "All source rows have the same label")


def test_fit_rejects_unlabelled_source_rows(frame: Any) -> None:
    from pyspark.sql import functions as sf

    for bad in (None, float("nan"), float("inf")):
        label = sf.when(sf.col("number") < 3, sf.lit(bad)).otherwise(sf.col("label"))
        refuse(frame.withColumn("label", label), "3 rows have a source domain and no label")


def test_fit_rejects_labels_unknown_to_indexer(frame: Any) -> None:
    from pyspark.ml.feature import StringIndexer
    from pyspark.sql import functions as sf

    named = frame.withColumn("name", sf.when(sf.col("number") >= 3, sf.concat(sf.lit("class "), "label")))
    indexer = StringIndexer(inputCol="name", outputCol="label", handleInvalid="keep")
    named = named.drop("label")
    indexed = indexer.fit(named.where("name is not null")).transform(named)
    refuse(indexed, "3 rows have a source domain and no label")


def test_fit_rejects_other_tables(frame: Any) -> None:
    refuse(frame.collect(), r"fit takes a DataFrame of Spark, not <class 'list'>: make one by", TypeError)


def test_fit_rejects_rows_without_domain(frame: Any) -> None:
    from pyspark.sql import functions as sf

    for bad in (None, float("nan")):
        domain = sf.when(sf.col("number") < 3, sf.lit(bad)).otherwise(sf.col("domain"))
        refuse(frame.withColumn("domain", domain), "3 rows have no domain")


@pytest.mark.parametrize("place", ["X_source", "X_target"])
@pytest.mark.parametrize("bad", [float("nan"), float("-inf")])
def test_fit_rejects_non_finite_features(spark: Any, place: str, bad: float) -> None:
    data = make_blobs_shift(2)
    rows = getattr(data, place).copy()
    rows[:2, 1] = bad
    refuse(table(spark, data._replace(**{place: rows})), "2 rows have features that are NaN or infinite")


def test_fit_rejects_vectors_of_different_lengths(spark: Any, frame: Any) -> None:
    data = make_blobs_shift(2)
    shorter = data._replace(X_source=data.X_source[:, :4], X_target=data.X_target[:, :4])
    refuse(frame.union(table(spark, shorter)), r"different lengths: \[4, 5\]")


def test_fit_rejects_missing_vectors(frame: Any) -> None:
    from pyspark.sql import functions as sf

    features = sf.when(sf.col("number") >= 3, sf.col("features"))
    refuse(frame.withColumn("features", features), "3 rows have no features")


def test_fit_rejects_continuous_labels(spark: Any) -> None:
    data = make_blobs_shift(2, n_source=1100)
    refuse(table(spark, data._replace(y_source=np.arange(1100))), "more than 1000 different labels")


def test_fit_rejects_invalid_class_prior(frame: Any) -> None:
    refuse(frame, "classPrior has shape", classPrior=[0.2, 0.3, 0.5])
    refuse(frame, "classPrior must be a distribution", classPrior=[0.2, 0.3])
    refuse(frame, "classPrior names the classes", classPrior={0: 0.5, 7: 0.5})
