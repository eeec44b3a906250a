"""Ad-REM as an Estimator: Algorithm 2 of the paper around Algorithm 1 of `_em`."""

from __future__ import annotations

import warnings
from typing import Any

from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame
from pyspark.sql.utils import is_remote

from adrem._validation import read_shares
from adrem.exceptions import LostClassWarning
from adrem.spark._classifiers import Trainer
from adrem.spark._em import Task
from adrem.spark._model import AdREMModel
from adrem.spark._params import AdREMParams
from adrem.spark._tables import check_columns, kept_rows, overview


class AdREM(Estimator, AdREMParams, DefaultParamsReadable, DefaultParamsWritable):
    """Domain adaptation with randomized expectation maximization, on rows that are spread over machines.

    The algorithm is that of `adrem.AdREM`. Each classifier is trained by MLlib, without an intercept and without
    standardization. Rows stay where they are: the driver sees coefficients and counts of rows by class alone.

    Parameters
    ----------
    featuresCol : str, default="features"
        Column of vectors, dense or sparse. A column of `features` that is the same in all rows gets no weight: MLlib
        leaves constants out.
    labelCol : str, default="label"
        Column of numbers that name the classes. Labels of target rows are never read.
    domainCol : str, default="domain"
        Column of numbers: below 0 for the target, 0 or more for the source. Rows of several sources count alike.
    predictionCol, votesCol, confidenceCol : str
        Columns that the model adds: the label, the members that voted for each class (a vector, in the order of
        `classes`), and the share of the members that voted for the label.
    loss : {"hinge", "log_loss"}, default="hinge"
        MLlib's `LinearSVC` or `LogisticRegression`, one-vs-rest for more than two classes.
    C : float, default=1.0
        Weight of the sum of the losses beside half the squared norm, as in `adrem.AdREM`; not chosen by
        cross-validation here. Take a sample to `adrem.AdREM` to have it chosen.
    nEstimators : int, default=11
        Number of members, which vote.
    nIter : int, default=20
        Number of iterations of each member.
    classPrior : {"uniform", "source"}, list or dict, default="uniform"
        Share of each class in the draws from the target: equal, as in the source, or given, in the order of the labels
        or by label.
    seed : int, default=0
        Seed of the draws, which go by the order of the rows: the same seed gives the same model where the DataFrame
        gives its rows in the same order, as files do. After a shuffle, write it to a file first.
    maxIter : int, default=100
        Most passes of MLlib's optimizer over the rows in one training, about.
    tol : float, default=1e-3
        When MLlib's optimizer stops.
    aggregationDepth : int, default=2
        In how many steps MLlib sums gradients.

    Notes
    -----
    On a cluster a checkpoint directory must be set (``spark.sparkContext.setCheckpointDir``): the rows are written to
    it once, so that a lost executor does not change the result. Spark leaves them there, unless
    ``spark.cleaner.referenceTracking.cleanCheckpoints`` is true.
    """

    # Files name it so: where it is defined may change.
    __module__ = "adrem.spark"

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self.setParams(**params)

    def setParams(self, **params: Any) -> AdREM:
        """Set parameters by name."""
        unknown = sorted(set(params) - {param.name for param in self.params})
        if unknown:
            raise TypeError(f"AdREM has no parameter {', '.join(unknown)}: {[param.name for param in self.params]}.")
        self._set(**params)
        return self

    def setFeaturesCol(self, value: str) -> AdREM:
        return self.setParams(featuresCol=value)

    def setLabelCol(self, value: str) -> AdREM:
        return self.setParams(labelCol=value)

    def setDomainCol(self, value: str) -> AdREM:
        return self.setParams(domainCol=value)

    def setPredictionCol(self, value: str) -> AdREM:
        return self.setParams(predictionCol=value)

    def setVotesCol(self, value: str) -> AdREM:
        return self.setParams(votesCol=value)

    def setConfidenceCol(self, value: str) -> AdREM:
        return self.setParams(confidenceCol=value)

    def setLoss(self, value: str) -> AdREM:
        return self.setParams(loss=value)

    def setC(self, value: float) -> AdREM:
        return self.setParams(C=value)

    def setNEstimators(self, value: int) -> AdREM:
        return self.setParams(nEstimators=value)

    def setNIter(self, value: int) -> AdREM:
        return self.setParams(nIter=value)

    def setClassPrior(self, value: Any) -> AdREM:
        return self.setParams(classPrior=value)

    def setSeed(self, value: int) -> AdREM:
        return self.setParams(seed=value)

    def setMaxIter(self, value: int) -> AdREM:
        return self.setParams(maxIter=value)

    def setTol(self, value: float) -> AdREM:
        return self.setParams(tol=value)

    def setAggregationDepth(self, value: int) -> AdREM:
        return self.setParams(aggregationDepth=value)

    def _fit(self, dataset: DataFrame) -> AdREMModel:
        if is_remote():
            raise RuntimeError("adrem.spark does not work through Spark Connect: start a classic SparkSession.")
        columns = self.getFeaturesCol(), self.getLabelCol(), self.getDomainCol()
        check_columns(dataset, columns[0], labelCol=columns[1], domainCol=columns[2])
        with kept_rows(dataset, *columns) as rows:
            task = self._task(rows)
            source = task.train_source()
            runs = [task.run_member(source, member) for member in range(self.getNEstimators())]
        history = [entry for _, own in runs for entry in own]
        _warn_of_lost_classes(task, history)
        model = AdREMModel(task.overview.classes.tolist(), [classifiers for classifiers, _ in runs], history)
        model._resetUid(self.uid)
        self._copyValues(model)
        return model

    def _task(self, rows: DataFrame) -> Task:
        found = overview(rows)
        prior = read_shares(self.getClassPrior(), found.classes, found.source_counts, "classPrior")
        trainer = Trainer(
            self.getLoss(),
            self.getC(),
            len(found.classes),
            self.getMaxIter(),
            self.getTol(),
            self.getAggregationDepth(),
        )
        return Task(rows, found, prior, trainer, self.getNIter(), self.getSeed())


def _warn_of_lost_classes(task: Task, history: list[dict[str, Any]]) -> None:
    lost = {
        label
        for entry in history
        for label, count, share in zip(task.overview.classes.tolist(), entry["classCounts"], task.prior, strict=True)
        if count == 0 and share > 0
    }
    if lost:
        warnings.warn(
            f"At some iteration no target row was labelled with class {', '.join(map(str, sorted(lost)))}. If the "
            "target has no such rows, or few, say so by classPrior; otherwise look at the labels with care.",
            LostClassWarning,
            stacklevel=4,
        )
