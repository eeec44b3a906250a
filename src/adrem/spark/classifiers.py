"""The M-step: one-vs-rest classifiers trained by MLlib, and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.ml.classification import LinearSVC, LinearSVCModel, LogisticRegression
from pyspark.ml.functions import vector_to_array
from pyspark.ml.wrapper import JavaWrapper
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from adrem.spark.draws import CLASS
from adrem.spark.tables import FEATURES

WEIGHT, IS_CLASS = "weight", "is_class"

# The classifiers of one member: one per class, or a single one for the second of two classes.
Classifiers = list[Any]


@dataclass(frozen=True)
class Trainer:
    """The settings of a training."""

    loss: str
    C: float
    n_classes: int
    max_iter: int
    tol: float
    aggregation_depth: int

    def train(self, rows: DataFrame, total_weight: float) -> Classifiers:
        """Train on rows with a class, from 0 up, and a weight."""
        estimator = {"hinge": LinearSVC, "log_loss": LogisticRegression}[self.loss]
        # MLlib minimizes the mean loss plus regParam times half the squared norm; C multiplies the sum of the losses.
        learner = estimator(
            featuresCol=FEATURES,
            labelCol=IS_CLASS,
            weightCol=WEIGHT,
            predictionCol="",
            regParam=1.0 / (self.C * total_weight),
            standardization=False,
            fitIntercept=False,
            maxIter=self.max_iter,
            tol=self.tol,
            aggregationDepth=self.aggregation_depth,
        )
        if self.loss == "log_loss":
            learner.setFamily("binomial").setProbabilityCol("")
        positive = [1] if self.n_classes == 2 else range(self.n_classes)
        return [_dense(learner.fit(rows.withColumn(IS_CLASS, (sf.col(CLASS) == c).cast("double")))) for c in positive]


def _dense(trained: Any) -> Any:
    """Return the classifier with dense weights: MLlib is slow to score rows by sparse ones."""
    weights = trained._java_obj.coefficients().toDense()
    name = "org.apache.spark.ml.classification.LinearSVCModel"
    return LinearSVCModel(JavaWrapper._new_java_obj(name, trained.uid, weights, 0.0)).setPredictionCol("")


def with_scores(rows: DataFrame, members: Sequence[Classifiers], features: str, scores: Sequence[str]) -> DataFrame:
    """Add one column per member: an array with the score of every class."""
    raw = {name: [f"{name}_{p}" for p in range(len(own))] for own, name in zip(members, scores, strict=True)}
    for own, names in zip(members, raw.values(), strict=True):
        for classifier, name in zip(own, names, strict=True):
            rows = classifier.setFeaturesCol(features).setRawPredictionCol(name).transform(rows)
    rows = rows.withColumns({name: _by_class(own) for name, own in raw.items()})
    return rows.drop(*(name for own in raw.values() for name in own))


def _by_class(raw: list[str]) -> Column:
    margins = [vector_to_array(name)[1] for name in raw]
    return sf.array(-margins[0], margins[0]) if len(margins) == 1 else sf.array(*margins)


def highest(scores: Column) -> Column:
    """Return the position of the maximum of an array, the first one in a tie."""
    return (sf.array_position(scores, sf.array_max(scores)) - 1).cast("int")
