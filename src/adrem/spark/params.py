"""The parameters of the estimator and its model, with getters and setters in Spark's style."""

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

from adrem.base.constraints import LOSS_NAMES
from adrem.exceptions import InvalidTypeError, ParameterError

PRIORS = ("uniform", "source")


def to_loss(value: Any) -> str:
    """Check the loss."""
    if value not in LOSS_NAMES:
        raise ParameterError(f"loss must be {' or '.join(map(repr, LOSS_NAMES))}, not {value!r}.", "loss")
    return str(value)


def to_c(value: Any) -> float:
    """Check and convert C."""
    if isinstance(value, str):
        raise ParameterError(f"C must be a number, not {value!r}: on Spark it is not chosen by cross-validation.", "C")
    C = TypeConverters.toFloat(value)
    if not 0 < C < math.inf:
        raise ParameterError(f"C must be above 0 and finite, not {value!r}.", "C")
    return float(C)


def to_count(name: str) -> Callable[[Any], int]:
    """Return a converter to integers of at least 1."""

    def convert(value: Any) -> int:
        count = int(TypeConverters.toInt(value))
        if count < 1:
            raise ParameterError(f"{name} must be at least 1, not {value!r}.", name)
        return count

    return convert


def to_prior(value: Any) -> Any:
    """Check and convert class shares: a name, a list in the order of the labels, or a dict by label."""
    if isinstance(value, str):
        if value not in PRIORS:
            raise ParameterError(
                f"classPrior must be 'uniform', 'source', a list of shares or a dict of them by label, not {value!r}. "
                "To estimate them, fit adrem.AdREM(class_prior='estimate') to a sample.",
                "classPrior",
            )
        return value
    if isinstance(value, Mapping):
        try:
            return {float(label): float(share) for label, share in value.items()}
        except (TypeError, ValueError):
            raise ParameterError(
                f"classPrior must map numbers of the label column to shares, not {value!r}.", "classPrior"
            ) from None
    return TypeConverters.toListFloat(value)


class AdREMParams(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasSeed, HasMaxIter, HasTol, HasAggregationDepth):
    """Parameters that the estimator and its model share."""

    loss = Param(Params._dummy(), "loss", f"loss of the classifiers: {' or '.join(LOSS_NAMES)}", to_loss)
    C = Param(Params._dummy(), "C", "weight of the losses (> 0)", to_c)
    nEstimators = Param(Params._dummy(), "nEstimators", "number of members that vote (>= 1)", to_count("nEstimators"))
    nIter = Param(Params._dummy(), "nIter", "number of iterations of each member (>= 1)", to_count("nIter"))
    classPrior = Param(Params._dummy(), "classPrior", "class shares of the target", to_prior)
    domainCol = Param(
        Params._dummy(), "domainCol", "column of domains, below 0 for the target", TypeConverters.toString
    )
    votesCol = Param(Params._dummy(), "votesCol", "column for the votes of each class", TypeConverters.toString)
    confidenceCol = Param(
        Params._dummy(), "confidenceCol", "column for the share of the votes for the label", TypeConverters.toString
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(
            domainCol="domain",
            votesCol="votes",
            confidenceCol="confidence",
            loss="hinge",
            C=1.0,
            nEstimators=11,
            nIter=20,
            classPrior="uniform",
            seed=0,
            maxIter=100,
            tol=1e-3,
            aggregationDepth=2,
        )

    def getLoss(self) -> str:
        """Get the loss of the classifiers."""
        return str(self.getOrDefault(self.loss))

    def getC(self) -> float:
        """Get the weight of the losses."""
        return float(self.getOrDefault(self.C))

    def getNEstimators(self) -> int:
        """Get the number of members."""
        return int(self.getOrDefault(self.nEstimators))

    def getNIter(self) -> int:
        """Get the number of iterations of each member."""
        return int(self.getOrDefault(self.nIter))

    def getClassPrior(self) -> Any:
        """Get the class shares of the target."""
        return self.getOrDefault(self.classPrior)

    def getDomainCol(self) -> str:
        """Get the column of domains."""
        return str(self.getOrDefault(self.domainCol))

    def getVotesCol(self) -> str:
        """Get the output column of the votes of each class."""
        return str(self.getOrDefault(self.votesCol))

    def getConfidenceCol(self) -> str:
        """Get the output column of the share of the votes for the label."""
        return str(self.getOrDefault(self.confidenceCol))

    def _given(self, **params: Any) -> Self:
        """Set parameters by name."""
        unknown = sorted(set(params) - {param.name for param in self.params})
        if unknown:
            raise InvalidTypeError(
                f"{type(self).__name__} has no parameter {', '.join(unknown)}: {[param.name for param in self.params]}."
            )
        nothing = sorted(name for name, value in params.items() if value is None)
        if nothing:
            raise ParameterError(f"{', '.join(nothing)} can't be None: omit it to use the default.", nothing[0])
        self._set(**params)
        return self

    def setFeaturesCol(self, value: str) -> Self:
        """Set the column of feature vectors."""
        return self._given(featuresCol=value)

    def setPredictionCol(self, value: str) -> Self:
        """Set the output column of the labels."""
        return self._given(predictionCol=value)

    def setVotesCol(self, value: str) -> Self:
        """Set the output column of the votes of each class."""
        return self._given(votesCol=value)

    def setConfidenceCol(self, value: str) -> Self:
        """Set the output column of the share of the votes for the label."""
        return self._given(confidenceCol=value)
