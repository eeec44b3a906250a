"""Ad-REM as a Spark Estimator: Algorithm 2 of the paper; Algorithm 1 is in `em`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame
from pyspark.sql.utils import is_remote

from adrem.base.parameters import read_shares
from adrem.exceptions import InvalidTypeError, LostClassWarning, SparkError
from adrem.spark.classifiers import Trainer
from adrem.spark.em import SparkTask
from adrem.spark.io import AdREMReader
from adrem.spark.model import AdREMModel
from adrem.spark.setters import AdREMSetters
from adrem.spark.tables import check_columns, kept_rows, overview


class AdREM(Estimator, AdREMSetters, DefaultParamsReadable, DefaultParamsWritable):
    """Domain adaptation with randomized expectation maximization, on distributed rows.

    The algorithm is that of `adrem.AdREM`. Each classifier is trained by MLlib, without an intercept and without
    standardization. Rows stay on the executors: the driver receives only coefficients and row counts.

    Parameters
    ----------
    featuresCol : str, default="features"
        Column of vectors, dense or sparse. MLlib gives no weight to a feature that is constant.
    labelCol : str, default="label"
        Column of numbers that name the classes. Labels of target rows are never read: give rows of the target whose
        labels are known a domain of 0 or more.
    domainCol : str, default="domain"
        Column of numbers: below 0 for the target, 0 or more for the source. Several sources are pooled.
    predictionCol : str, default="prediction"
        Output column of the predicted label.
    votesCol : str, default="votes"
        Output column of the votes of each class: a vector, in the order of `classes`.
    confidenceCol : str, default="confidence"
        Output column of the share of the members that voted for the label.
    loss : {"hinge", "log_loss"}, default="hinge"
        MLlib's `LinearSVC` or `LogisticRegression`, one-vs-rest for more than two classes.
    C : float, default=1.0
        Weight of the losses, as in `adrem.AdREM`. It is not chosen by cross-validation here; fit `adrem.AdREM` to a
        sample to choose it.
    nEstimators : int, default=11
        Number of members of the ensemble.
    nIter : int, default=20
        Number of iterations of each member.
    classPrior : {"uniform", "source"}, list or dict, default="uniform"
        Class shares of the target: equal, those of the source, or given in the order of the labels or by label.
    seed : int, default=0
        Seed of the random draws. Results are reproducible if the DataFrame returns its rows in the same order, as files
        do. After a shuffle, write it to a file first.
    maxIter : int, default=100
        Maximum number of iterations of MLlib's optimizer in one training.
    tol : float, default=1e-3
        Tolerance of MLlib's optimizer.
    aggregationDepth : int, default=2
        Depth of MLlib's tree aggregation.

    See Also
    --------
    adrem.AdREM : The same for data in the memory of one machine.

    Notes
    -----
    Rows of no class of the source can't be rejected here, as ``unknown="reject"`` of `adrem.AdREM` does.

    On a cluster a checkpoint directory must be set (``spark.sparkContext.setCheckpointDir``). The rows are written to
    it once, and with their labels in each iteration, so that a lost executor does not change the result. Old
    checkpoints are deleted.

    Examples
    --------
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> from adrem.spark import AdREM
    >>> spark = SparkSession.builder.getOrCreate()
    >>> source = [(Vectors.dense(x, 1.0), float(x > 0), 0) for x in (-2, -1, 1, 2)]
    >>> target = [(Vectors.dense(x, 3.0), None, -1) for x in (-4, -3, 3, 4)]
    >>> frame = spark.createDataFrame(source + target, ["features", "label", "domain"])
    >>> model = AdREM(loss="log_loss", nEstimators=1, nIter=2).fit(frame)
    >>> [row.prediction for row in model.transform(frame.where("domain < 0")).collect()]
    [0.0, 0.0, 1.0, 1.0]
    """

    # The class name in saved files, independent of this file's path.
    __module__ = "adrem.spark"

    # For documentation only: Spark takes the defaults of AdREMParams.
    @keyword_only
    def __init__(
        self,
        *,
        featuresCol: str = "features",
        labelCol: str = "label",
        domainCol: str = "domain",
        predictionCol: str = "prediction",
        votesCol: str = "votes",
        confidenceCol: str = "confidence",
        loss: str = "hinge",
        C: float = 1.0,
        nEstimators: int = 11,
        nIter: int = 20,
        classPrior: str | Sequence[float] | Mapping[float, float] = "uniform",
        seed: int = 0,
        maxIter: int = 100,
        tol: float = 1e-3,
        aggregationDepth: int = 2,
    ) -> None:
        super().__init__()
        self.setParams(**self._input_kwargs)

    @classmethod
    def read(cls) -> AdREMReader:
        """Return a reader of saved estimators."""
        return AdREMReader(cls)

    def _fit(self, dataset: DataFrame) -> AdREMModel:
        if is_remote():
            raise SparkError("adrem.spark does not work through Spark Connect: start a classic SparkSession.")
        if not isinstance(dataset, DataFrame):
            raise InvalidTypeError(
                f"fit takes a DataFrame of Spark, not {type(dataset)}: make one by spark.createDataFrame."
            )
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

    def _task(self, rows: DataFrame) -> SparkTask:
        found = overview(rows)
        prior = read_shares(self.getClassPrior(), found.classes, found.source_counts, "classPrior")
        limits = self.getMaxIter(), self.getTol(), self.getAggregationDepth()
        trainer = Trainer(self.getLoss(), self.getC(), len(found.classes), *limits)
        return SparkTask(rows, found, prior, trainer, self.getNIter(), self.getSeed())


def _warn_of_lost_classes(task: SparkTask, history: list[dict[str, Any]]) -> None:
    lost = {
        label
        for entry in history
        for label, count, share in zip(task.overview.classes.tolist(), entry["classCounts"], task.prior, strict=True)
        if count == 0 and share > 0
    }
    if lost:
        warnings.warn(
            f"At some iteration no target row was labelled with class {', '.join(map(str, sorted(lost)))}. If the "
            "target has few or no such rows, set classPrior; otherwise check the labels.",
            LostClassWarning,
            stacklevel=4,
        )
