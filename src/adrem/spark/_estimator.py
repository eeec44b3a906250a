"""Ad-REM as an Estimator: Algorithm 2 of the paper around Algorithm 1 of `_em`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame
from pyspark.sql.utils import is_remote

from adrem._validation import read_shares
from adrem.exceptions import LostClassWarning
from adrem.spark._classifiers import Trainer
from adrem.spark._em import Task
from adrem.spark._io import AdREMReader
from adrem.spark._model import AdREMModel
from adrem.spark._setters import AdREMSetters
from adrem.spark._tables import check_columns, kept_rows, overview


class AdREM(Estimator, AdREMSetters, DefaultParamsReadable, DefaultParamsWritable):
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
    predictionCol : str, default="prediction"
        Column that the model adds for the label.
    votesCol : str, default="votes"
        Column that it adds for the members that voted for each class: a vector, in the order of `classes`.
    confidenceCol : str, default="confidence"
        Column that it adds for the share of the members that voted for the label.
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

    See Also
    --------
    adrem.AdREM : The same for rows that one machine holds.

    Notes
    -----
    On a cluster a checkpoint directory must be set (``spark.sparkContext.setCheckpointDir``): the rows are written to
    it once, and again with their labels in each iteration, so that a lost executor does not change the result. What is
    no longer needed is deleted there.

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

    # Files name it so: where it is defined may change.
    __module__ = "adrem.spark"

    # These defaults are for readers: Spark takes those of AdREMParams, and keeps apart what was given.
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
        """Give a reader; ``load`` is shorter.

        Returns
        -------
        pyspark.ml.util.MLReader
            What reads an estimator from a path that Spark can reach.

        Raises
        ------
        UnreadableModelError
            From its ``load``, if a model is what the path holds.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from pyspark.sql import SparkSession
        >>> from adrem.spark import AdREM
        >>> spark = SparkSession.builder.getOrCreate()
        >>> with TemporaryDirectory() as folder:
        ...     AdREM(C=0.5).save(f"{folder}/estimator")
        ...     AdREM.read().load(f"{folder}/estimator").getC()
        0.5
        """
        return AdREMReader(cls)

    def _fit(self, dataset: DataFrame) -> AdREMModel:
        if is_remote():
            raise RuntimeError("adrem.spark does not work through Spark Connect: start a classic SparkSession.")
        if not isinstance(dataset, DataFrame):
            raise TypeError(f"fit takes a DataFrame of Spark, not {type(dataset)}: make one by spark.createDataFrame.")
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
