"""Ad-REM on Spark is close to the local version on reviews with all features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sparks import FAULTS_OF_PYSPARK, column, needs_spark, start_spark, table

import adrem
from adrem.benchmark.protocols import PROTOCOLS
from adrem.datasets import DomainPair, load

needs_spark()
pytestmark = [pytest.mark.thorough, FAULTS_OF_PYSPARK]

C = 1e-3  # the value that cross-validation selects


@pytest.fixture(scope="module")
def data() -> DomainPair:
    [protocol] = [own for own in PROTOCOLS if own.name == "amazon-full/all"]
    pair: DomainPair = protocol.make_pair(load(protocol.data), "B-D", 0)
    return pair._replace(y_source=pair.y_source == "positive", y_target=pair.y_target == "positive")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A Spark session with the optimizing compiler, for large data; later tests use it too."""
    settings = {"spark.driver.memory": "3g", "spark.driver.extraJavaOptions": "-XX:+UseSerialGC"}
    return start_spark("local[2]", tmp_path_factory.mktemp("spark"), **settings)


def test_spark_accuracy_is_close_to_local(spark: Any, data: DomainPair) -> None:
    from adrem.spark import AdREM

    frame = table(spark, data).coalesce(2).persist()
    model = AdREM(loss="log_loss", C=C, nEstimators=1, nIter=5).fit(frame)
    found = 100 * np.mean(np.array(column(model.transform(frame.where("domain < 0")), "prediction")) == data.y_target)
    local = adrem.AdREM("log_loss", C=C, n_estimators=1, n_iter=5, random_state=0)
    local.fit(data.X_source, data.y_source, X_target=data.X_target)
    assert found == pytest.approx(100 * np.mean(local.transduction_ == data.y_target), abs=1.0)


@pytest.mark.nightly  # takes minutes
def test_spark_svm_ensemble_is_close_to_local(spark: Any, data: DomainPair) -> None:
    from adrem.spark import AdREM

    frame = table(spark, data).coalesce(2).persist()
    model = AdREM(loss="hinge", C=C, nEstimators=3, nIter=5, seed=0).fit(frame)
    found = 100 * np.mean(np.array(column(model.transform(frame.where("domain < 0")), "prediction")) == data.y_target)
    shares = [
        100 * np.mean(local.fit(data.X_source, data.y_source, X_target=data.X_target).transduction_ == data.y_target)
        for local in (adrem.AdREM("hinge", C=C, n_estimators=3, n_iter=5, random_state=seed) for seed in range(10))
    ]
    assert found == pytest.approx(np.mean(shares), abs=1.0)
