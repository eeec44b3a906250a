"""The members and their vote, as a Model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.ml import Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.util import MLReadable, MLWritable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from adrem.spark._classifiers import Classifiers, highest, with_scores
from adrem.spark._io import AdREMModelReader, AdREMModelWriter
from adrem.spark._params import AdREMParams
from adrem.spark._tables import check_columns, of_length


class AdREMModel(Model, AdREMParams, MLReadable, MLWritable):
    """Members that vote, as `AdREM` has trained them.

    `AdREM.fit` gives one, and `load` one that was saved. `transform` keeps all columns, and adds three: the label, the
    votes of each class, and the share of the members that voted for the label.

    Parameters
    ----------
    classes : list of float
        The labels of the source, in order.
    members : list of list of LinearSVCModel
        Each member's last classifiers, in the order of the classes; one for two classes. Linear classifiers of either
        loss are kept so.
    history : list of dict
        For each `member`, from 0 up, and `iteration`, from 1 up: `classCounts`, the target rows labelled with each
        class before the training, and `drawn`, how many of them it was given, copies included.

    See Also
    --------
    AdREM : What trains it.

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
        """The number of classes.

        Examples
        --------
        >>> from adrem.spark import AdREMModel
        >>> AdREMModel([0.0, 1.0], members=[], history=[]).numClasses  # else from AdREM.fit
        2
        """
        return len(self.classes)

    @property
    def numFeatures(self) -> int:
        """The length of the vectors.

        Examples
        --------
        >>> from pyspark.ml.linalg import Vectors
        >>> from pyspark.sql import SparkSession
        >>> from adrem.spark import AdREM
        >>> rows = [(Vectors.dense(x + d, x * x), float(x > 0), d) for d in (0, -1) for x in (-3, -2, 2, 3)]
        >>> frame = SparkSession.builder.getOrCreate().createDataFrame(rows, ["features", "label", "domain"])
        >>> model = AdREM(loss="log_loss", nEstimators=1, nIter=2).fit(frame)
        >>> model.numFeatures
        2
        """
        return int(self.members[0][0].numFeatures)

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """The weights of each member's last classifiers, of shape (n_members, n_classes, n_features).

        For two classes there is one classifier, whose weights are for the second.

        Examples
        --------
        >>> from pyspark.ml.linalg import Vectors
        >>> from pyspark.sql import SparkSession
        >>> from adrem.spark import AdREM
        >>> rows = [(Vectors.dense(x + d, x * x), float(x > 0), d) for d in (0, -1) for x in (-3, -2, 2, 3)]
        >>> frame = SparkSession.builder.getOrCreate().createDataFrame(rows, ["features", "label", "domain"])
        >>> model = AdREM(loss="log_loss", nEstimators=1, nIter=2).fit(frame)
        >>> model.coefficients.shape
        (1, 1, 2)
        """
        return np.array([[classifier.coefficients.toArray() for classifier in own] for own in self.members])

    def _transform(self, dataset: DataFrame) -> DataFrame:
        check_columns(dataset, self.getFeaturesCol())
        new = [self.getPredictionCol(), self.getVotesCol(), self.getConfidenceCol()]
        taken = sorted(set(new) & set(dataset.columns))
        if taken:
            raise ValueError(
                f"There is a column {', '.join(taken)} already: leave it out, or name others by predictionCol, "
                "votesCol and confidenceCol."
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
        """The members' mean score squashed into [0, 1/2], as in `adrem._voting`."""
        mean = sum((sf.col(name)["scores"][c] for name in scores), sf.lit(0.0)) / len(scores)
        return (1.0 + mean / (1.0 + sf.abs(mean))) / 4.0

    def write(self) -> AdREMModelWriter:
        """Give a writer, for options; ``save`` is shorter.

        Returns
        -------
        pyspark.ml.util.MLWriter
            What writes the model to a path that Spark can reach.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from pyspark.ml.linalg import Vectors
        >>> from pyspark.sql import SparkSession
        >>> from adrem.spark import AdREM
        >>> rows = [(Vectors.dense(x + d, x * x), float(x > 0), d) for d in (0, -1) for x in (-3, -2, 2, 3)]
        >>> frame = SparkSession.builder.getOrCreate().createDataFrame(rows, ["features", "label", "domain"])
        >>> model = AdREM(loss="log_loss", nEstimators=1, nIter=2).fit(frame)
        >>> with TemporaryDirectory() as folder:
        ...     model.write().overwrite().save(folder)
        """
        return AdREMModelWriter(self)

    @classmethod
    def read(cls) -> AdREMModelReader:
        """Give a reader; ``load`` is shorter.

        Returns
        -------
        pyspark.ml.util.MLReader
            What reads a model from a path that Spark can reach.

        Raises
        ------
        UnreadableModelError
            From its ``load``, if the path holds something else, or the format is that of a newer version.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from pyspark.ml.linalg import Vectors
        >>> from pyspark.sql import SparkSession
        >>> from adrem.spark import AdREM, AdREMModel
        >>> rows = [(Vectors.dense(x + d, x * x), float(x > 0), d) for d in (0, -1) for x in (-3, -2, 2, 3)]
        >>> frame = SparkSession.builder.getOrCreate().createDataFrame(rows, ["features", "label", "domain"])
        >>> model = AdREM(loss="log_loss", nEstimators=1, nIter=2).fit(frame)
        >>> with TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model")
        ...     AdREMModel.read().load(f"{folder}/model").classes
        [0.0, 1.0]
        """
        return AdREMModelReader(cls)


def _with_winner(scores: Column) -> Column:
    return sf.struct(scores.alias("scores"), highest(scores).alias("winner"))
