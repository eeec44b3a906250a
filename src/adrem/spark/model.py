"""A fitted ensemble as a Spark Model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.ml import Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.util import MLReadable, MLWritable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from adrem.exceptions import InvalidDataError
from adrem.spark.classifiers import Classifiers, highest, with_scores
from adrem.spark.io import AdREMModelReader, AdREMModelWriter
from adrem.spark.params import AdREMParams
from adrem.spark.tables import check_columns, of_length


class AdREMModel(Model, AdREMParams, MLReadable, MLWritable):
    """An ensemble fitted by `AdREM`.

    `transform` adds three columns: the label, the votes of each class, and the share of the votes for the label.

    Parameters
    ----------
    classes : list of float
        The labels of the source, in order.
    members : list of list of LinearSVCModel
        The last classifiers of each member, in the order of the classes; one for two classes. Classifiers of either
        loss are stored in this form.
    history : list of dict
        For each `member`, from 0, and `iteration`, from 1: `classCounts`, the number of target rows labelled with each
        class before the training, and `drawn`, the number of rows drawn, with repetitions.

    See Also
    --------
    AdREM : The estimator.

    Examples
    --------
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> from adrem.spark import AdREM
    >>> rows = [(Vectors.dense(x + d, x * x), float(x > 0), d) for d in (0, -1) for x in (-3, -2, 2, 3)]
    >>> frame = SparkSession.builder.getOrCreate().createDataFrame(rows, ["features", "label", "domain"])
    >>> model = AdREM(loss="log_loss", nEstimators=1, nIter=2).fit(frame)
    >>> model.classes, model.transform(frame).columns[3:]
    ([0.0, 1.0], ['prediction', 'votes', 'confidence'])
    """

    __module__ = "adrem.spark"

    def __init__(self, classes: list[float], members: list[Classifiers], history: list[dict[str, Any]]) -> None:
        super().__init__()
        self.classes = classes
        self.members = members
        self.history = history

    @property
    def numClasses(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @property
    def numFeatures(self) -> int:
        """The number of features."""
        return int(self.members[0][0].numFeatures)

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """The weights (members x classes x features); for two classes, one row that favours the second."""
        return np.array([[classifier.coefficients.toArray() for classifier in own] for own in self.members])

    def _transform(self, dataset: DataFrame) -> DataFrame:
        check_columns(dataset, self.getFeaturesCol())
        new = [self.getPredictionCol(), self.getVotesCol(), self.getConfidenceCol()]
        taken = sorted(set(new) & set(dataset.columns))
        if taken:
            raise InvalidDataError(
                f"The DataFrame already has a column {', '.join(taken)}: drop it, or set predictionCol, votesCol and "
                "confidenceCol to other names."
            )
        scores = [f"{self.uid}_{m}" for m in range(len(self.members))]
        features, votes, winner = (f"{self.uid}_{name}" for name in ("features", "votes", "winner"))
        rows = dataset.withColumn(features, of_length(self.numFeatures, self.getFeaturesCol()))
        rows = with_scores(rows, self.members, features, scores)
        rows = rows.withColumns({name: _with_winner(sf.col(name)) for name in scores})
        rows = rows.withColumn(votes, sf.array(*(self._votes(scores, c) for c in range(self.numClasses))))
        ballots = sf.array(*(sf.col(votes)[c] + self._tie_break(scores, c) for c in range(self.numClasses)))
        rows = rows.withColumn(winner, highest(ballots))
        labels = sf.array(*map(sf.lit, self.classes))
        label, of_class, share = new
        added = {
            label: labels[sf.col(winner)],
            of_class: array_to_vector(sf.col(votes)),
            share: sf.col(votes)[sf.col(winner)] / len(self.members),
        }
        return rows.withColumns(added).drop(*scores, features, votes, winner)

    def _votes(self, scores: list[str], c: int) -> Column:
        return sum((sf.when(sf.col(name)["winner"] == c, 1.0).otherwise(0.0) for name in scores), sf.lit(0.0))

    def _tie_break(self, scores: list[str], c: int) -> Column:
        """Return the mean score of the members, squashed into [0, 1/2], as in `adrem.algorithm.voting`."""
        mean = sum((sf.col(name)["scores"][c] for name in scores), sf.lit(0.0)) / len(scores)
        return (1.0 + mean / (1.0 + sf.abs(mean))) / 4.0

    def write(self) -> AdREMModelWriter:
        """Return a writer, which takes options; ``save`` uses the defaults."""
        return AdREMModelWriter(self)

    @classmethod
    def read(cls) -> AdREMModelReader:
        """Return a reader of saved models."""
        return AdREMModelReader(cls)


def _with_winner(scores: Column) -> Column:
    return sf.struct(scores.alias("scores"), highest(scores).alias("winner"))
