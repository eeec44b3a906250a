"""The parameters, in Spark's style, with what the estimator and its model both say and are told of them.

Half of the file is what its methods say of themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasAggregationDepth,
    HasFeaturesCol,
    HasLabelCol,
    HasMaxIter,
    HasPredictionCol,
    HasSeed,
    HasTol,
)

PRIORS = ("uniform", "source")


def to_loss(value: Any) -> str:
    if value not in ("hinge", "log_loss"):
        raise ValueError(f"loss must be 'hinge' or 'log_loss', not {value!r}.")
    return str(value)


def to_weight_of_losses(value: Any) -> float:
    if isinstance(value, str):
        raise ValueError(f"C must be a number, not {value!r}: on Spark it is not chosen by cross-validation.")
    C = TypeConverters.toFloat(value)
    if not 0 < C < math.inf:
        raise ValueError(f"C must be above 0 and finite, not {value!r}.")
    return float(C)


def to_count(name: str) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        count = int(TypeConverters.toInt(value))
        if count < 1:
            raise ValueError(f"{name} must be at least 1, not {value!r}.")
        return count

    return convert


def to_prior(value: Any) -> Any:
    """The words that are known, a share for each class in the order of the labels, or by label.

    Files have text for keys: the labels are read back from it.
    """
    if isinstance(value, str):
        if value not in PRIORS:
            raise ValueError(
                f"classPrior must be 'uniform', 'source', a list of shares or a dict of them by label, not {value!r}. "
                "To have the shares estimated, take a sample to adrem.AdREM(class_prior='estimate')."
            )
        return value
    if isinstance(value, Mapping):
        try:
            return {float(label): float(share) for label, share in value.items()}
        except (TypeError, ValueError):
            raise ValueError(
                f"classPrior must have the numbers of the label column as its keys, and shares beside, not {value!r}."
            ) from None
    return TypeConverters.toListFloat(value)


class AdREMParams(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasSeed, HasMaxIter, HasTol, HasAggregationDepth):
    """What the estimator and its model have in common."""

    loss = Param(Params._dummy(), "loss", "loss of the classifiers: hinge or log_loss", to_loss)
    C = Param(Params._dummy(), "C", "weight of the losses beside half the squared norm (> 0)", to_weight_of_losses)
    nEstimators = Param(Params._dummy(), "nEstimators", "number of members that vote (>= 1)", to_count("nEstimators"))
    nIter = Param(Params._dummy(), "nIter", "number of iterations of each member (>= 1)", to_count("nIter"))
    classPrior = Param(Params._dummy(), "classPrior", "share of each class in the draws from the target", to_prior)
    domainCol = Param(
        Params._dummy(), "domainCol", "column of domains, below 0 for the target", TypeConverters.toString
    )
    votesCol = Param(Params._dummy(), "votesCol", "column for the votes of each class", TypeConverters.toString)
    confidenceCol = Param(
        Params._dummy(), "confidenceCol", "column for the share of the votes behind a label", TypeConverters.toString
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(
            loss="hinge",
            C=1.0,
            nEstimators=11,
            nIter=20,
            classPrior="uniform",
            seed=0,
            domainCol="domain",
            votesCol="votes",
            confidenceCol="confidence",
            maxIter=100,
            tol=1e-3,
            aggregationDepth=2,
        )

    def getLoss(self) -> str:
        """Get the loss of the classifiers.

        Returns
        -------
        str
            ``"hinge"`` or ``"log_loss"``.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().getLoss()
        'hinge'
        """
        return str(self.getOrDefault(self.loss))

    def getC(self) -> float:
        """Get the weight of the losses beside half the squared norm.

        Returns
        -------
        float
            The weight, above 0.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM(C=0.1).getC()
        0.1
        """
        return float(self.getOrDefault(self.C))

    def getNEstimators(self) -> int:
        """Get the number of members.

        Returns
        -------
        int
            The number of members, which vote.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().getNEstimators()
        11
        """
        return int(self.getOrDefault(self.nEstimators))

    def getNIter(self) -> int:
        """Get the number of iterations of each member.

        Returns
        -------
        int
            The number of iterations.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().getNIter()
        20
        """
        return int(self.getOrDefault(self.nIter))

    def getClassPrior(self) -> Any:
        """Get the share of each class in the draws from the target.

        Returns
        -------
        str, list or dict
            The share of each class, as it was given; labels are numbers.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM(classPrior={0: 0.25, 1: 0.75}).getClassPrior()
        {0.0: 0.25, 1.0: 0.75}
        """
        return self.getOrDefault(self.classPrior)

    def getDomainCol(self) -> str:
        """Get the name of the column of domains.

        Returns
        -------
        str
            The name of the column.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().getDomainCol()
        'domain'
        """
        return str(self.getOrDefault(self.domainCol))

    def getVotesCol(self) -> str:
        """Get the name of the column for the votes of each class.

        Returns
        -------
        str
            The name of the column.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().getVotesCol()
        'votes'
        """
        return str(self.getOrDefault(self.votesCol))

    def getConfidenceCol(self) -> str:
        """Get the name of the column for the share of the votes behind a label.

        Returns
        -------
        str
            The name of the column.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().getConfidenceCol()
        'confidence'
        """
        return str(self.getOrDefault(self.confidenceCol))

    def _given(self, **params: Any) -> Self:
        """Set parameters by name."""
        unknown = sorted(set(params) - {param.name for param in self.params})
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no parameter {', '.join(unknown)}: {[param.name for param in self.params]}."
            )
        nothing = sorted(name for name, value in params.items() if value is None)
        if nothing:
            raise ValueError(f"{', '.join(nothing)} can't be None: leave it out to have the default.")
        self._set(**params)
        return self

    def setFeaturesCol(self, value: str) -> Self:
        """Set which column has the vectors.

        Parameters
        ----------
        value : str
            The name of the column.

        Returns
        -------
        AdREM or AdREMModel
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setFeaturesCol("x").getFeaturesCol()
        'x'
        """
        return self._given(featuresCol=value)

    def setPredictionCol(self, value: str) -> Self:
        """Set the column that the model writes labels to.

        Parameters
        ----------
        value : str
            The name of the column.

        Returns
        -------
        AdREM or AdREMModel
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setPredictionCol("guess").getPredictionCol()
        'guess'
        """
        return self._given(predictionCol=value)

    def setVotesCol(self, value: str) -> Self:
        """Set the column that the model writes the votes of each class to.

        Parameters
        ----------
        value : str
            The name of the column.

        Returns
        -------
        AdREM or AdREMModel
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setVotesCol("ballots").getVotesCol()
        'ballots'
        """
        return self._given(votesCol=value)

    def setConfidenceCol(self, value: str) -> Self:
        """Set the column that the model writes the share of the votes behind a label to.

        Parameters
        ----------
        value : str
            The name of the column.

        Returns
        -------
        AdREM or AdREMModel
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setConfidenceCol("agreement").getConfidenceCol()
        'agreement'
        """
        return self._given(confidenceCol=value)
