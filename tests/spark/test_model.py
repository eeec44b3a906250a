"""Tests of the Spark model: votes, files and pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from problems import make_blobs_shift
from sparks import FAULTS_OF_PYSPARK, column, needs_spark, table, vectors

from adrem.algorithm.voting import tally
from adrem.datasets import DomainPair
from adrem.exceptions import UnreadableModelError

needs_spark()
pytestmark = [pytest.mark.thorough, FAULTS_OF_PYSPARK]

# Labels that differ from the class indices.
LABELS = {2: [3.0, 7.5], 3: [-1.0, 4.0, 9.0]}


def data_of(n_classes: int) -> DomainPair:
    data = make_blobs_shift(n_classes, n_source=90, n_target=90)
    names = np.array(LABELS[n_classes])
    return data._replace(y_source=names[data.y_source], y_target=names[data.y_target])


@pytest.fixture(scope="module", params=[2, 3])
def adapted(request: pytest.FixtureRequest, spark: Any) -> tuple[Any, Any, DomainPair]:
    from adrem.spark import AdREM

    data = data_of(request.param)
    frame = table(spark, data)
    # With these shares no iteration draws every row, so that members differ after the last one.
    shares = {2: [0.7, 0.3], 3: [0.6, 0.2, 0.2]}[request.param]
    adrem = AdREM(loss="log_loss", C=0.1, classPrior=shares, nEstimators=2, nIter=2, maxIter=4)
    return adrem.fit(frame), frame, data


def test_spark_votes_equal_local_tally(adapted: tuple[Any, Any, DomainPair], spark: Any) -> None:
    model = adapted[0]
    rows = RandomState(0).standard_normal((1000, model.numFeatures))  # near the boundary, so that members disagree
    frame = spark.createDataFrame(list(enumerate(vectors(rows))), ["number", "features"])
    said = tally(rows @ own.T for own in model.coefficients)
    labelled = model.transform(frame).persist()
    assert labelled.columns == ["number", "features", "prediction", "votes", "confidence"]
    np.testing.assert_array_equal(np.array([own.toArray() for own in column(labelled, "votes")]), said.votes)
    np.testing.assert_array_equal(column(labelled, "prediction"), np.array(model.classes)[said.winners])
    np.testing.assert_allclose(column(labelled, "confidence"), said.votes[np.arange(len(rows)), said.winners] / 2)
    labelled.unpersist()
    assert np.any(said.votes.max(axis=1) == 1)  # otherwise the tie-break is not tested


def test_model_properties_have_expected_values(adapted: tuple[Any, Any, DomainPair]) -> None:
    model, _, data = adapted
    assert model.classes == LABELS[model.numClasses]
    assert model.numFeatures == data.X_source.shape[1]
    assert model.getC() == 0.1


def test_transform_rejects_existing_and_missing_columns(adapted: tuple[Any, Any, DomainPair]) -> None:
    model, frame, _ = adapted
    with pytest.raises(ValueError, match="already has a column votes"):
        model.transform(frame.withColumnRenamed("truth", "votes"))
    with pytest.raises(ValueError, match="featuresCol is 'features', which is not a column"):
        model.transform(frame.drop("features"))


def test_model_round_trip_keeps_predictions(adapted: tuple[Any, Any, DomainPair], tmp_path: Path) -> None:
    from adrem.spark import AdREMModel

    model, frame, _ = adapted
    path = str(tmp_path / "model")
    model.save(path)
    again = AdREMModel.load(path)
    np.testing.assert_array_equal(again.coefficients, model.coefficients)
    assert (again.classes, again.history, again.uid) == (model.classes, model.history, model.uid)
    assert again.getLoss() == "log_loss"
    for name in ("prediction", "votes", "confidence"):
        assert column(again.transform(frame), name) == column(model.transform(frame), name)


def test_estimator_round_trip_keeps_parameters(spark: Any, tmp_path: Path) -> None:
    from adrem.spark import AdREM

    path = str(tmp_path / "estimator")
    estimator = AdREM(C=3.0, nIter=7, classPrior={3.0: 0.25, 7.5: 0.75}, seed=5)
    estimator.save(path)
    estimator.write().overwrite().save(path)
    again = AdREM.load(path)
    assert again.extractParamMap() == estimator.extractParamMap()
    assert spark.read.text(f"{path}/metadata").first()[0].find('"class":"adrem.spark.AdREM"') > 0


def test_load_rejects_other_class_or_format(adapted: tuple[Any, Any, DomainPair], tmp_path: Path, spark: Any) -> None:
    from pyspark.ml.feature import Tokenizer
    from pyspark.sql import functions as sf

    from adrem.spark import AdREM, AdREMModel

    model, _, _ = adapted
    model.save(str(tmp_path / "model"))
    about = spark.read.text(str(tmp_path / "model" / "metadata"))
    newer = about.select(sf.replace("value", sf.lit('"adremFormat":1'), sf.lit('"adremFormat":99')))
    newer.write.text(str(tmp_path / "newer" / "metadata"))
    with pytest.raises(UnreadableModelError, match="has format 99, and this version of adrem reads format 1"):
        AdREMModel.load(str(tmp_path / "newer"))
    with pytest.raises(UnreadableModelError, match=r"model holds a model .* not an estimator: use AdREMModel\.load\."):
        AdREM.load(str(tmp_path / "model"))
    AdREM().save(str(tmp_path / "estimator"))
    with pytest.raises(UnreadableModelError, match=r"holds an estimator, not a fitted model: use AdREM\.load"):
        AdREMModel.load(str(tmp_path / "estimator"))
    Tokenizer().save(str(tmp_path / "other"))
    for reader in (AdREM, AdREMModel):
        with pytest.raises(UnreadableModelError, match=r"holds org\.apache\.spark\.ml\.feature\.Tokenizer, not "):
            reader.load(str(tmp_path / "other"))


def test_pipeline_can_be_saved_and_fitted(spark: Any, tmp_path: Path) -> None:
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import HashingTF, Tokenizer

    from adrem.spark import AdREM

    words = {(1.0, 0): "good book", (0.0, 0): "bad book", (1.0, -1): "good fine knife", (0.0, -1): "bad blunt knife"}
    rows = [(n, text, label, domain) for n, ((label, domain), text) in enumerate(10 * list(words.items()))]
    frame = spark.createDataFrame(rows, "number int, text string, label double, domain int")
    adrem = AdREM(loss="log_loss", C=1.0, nEstimators=1, nIter=2, maxIter=10)
    stages = [
        Tokenizer(inputCol="text", outputCol="words"),
        HashingTF(numFeatures=256, inputCol="words", outputCol="features"),
    ]
    Pipeline(stages=[*stages, adrem]).save(str(tmp_path / "pipeline"))
    pipeline = Pipeline.load(str(tmp_path / "pipeline"))
    assert pipeline.getStages()[-1].extractParamMap() == adrem.extractParamMap()
    pipeline.fit(frame).save(str(tmp_path / "adapted"))
    labelled = PipelineModel.load(str(tmp_path / "adapted")).transform(frame)
    assert column(labelled, "prediction") == column(frame, "label")
    new = spark.createDataFrame([(0, "fine knife"), (1, "blunt knife")], "number int, text string")
    assert column(PipelineModel.load(str(tmp_path / "adapted")).transform(new), "prediction") == [1.0, 0.0]


def test_transform_rejects_vectors_of_wrong_length(adapted: tuple[Any, Any, DomainPair], spark: Any) -> None:
    from pyspark.ml.linalg import Vectors

    model = adapted[0]
    for vector in (Vectors.dense([1.0] * 2), Vectors.sparse(99, [98], [1.0])):
        frame = spark.createDataFrame([(0, vector)], ["number", "features"])
        with pytest.raises(Exception, match=rf"length {model.numFeatures}, got one of length {len(vector)}"):
            model.transform(frame).collect()
