"""The setters of the estimator, in Spark's style."""

from __future__ import annotations

from typing import Any, Self

from adrem.spark.params import AdREMParams


class AdREMSetters(AdREMParams):
    """Setters of the estimator that the model does not have."""

    def setParams(self, **params: Any) -> Self:
        """Set parameters by name; an unknown name raises TypeError."""
        return self._given(**params)

    def setLabelCol(self, value: str) -> Self:
        """Set the column of labels."""
        return self.setParams(labelCol=value)

    def setDomainCol(self, value: str) -> Self:
        """Set the column of domains, below 0 for the target."""
        return self.setParams(domainCol=value)

    def setLoss(self, value: str) -> Self:
        """Set the loss of the classifiers."""
        return self.setParams(loss=value)

    def setC(self, value: float) -> Self:
        """Set the weight of the losses."""
        return self.setParams(C=value)

    def setNEstimators(self, value: int) -> Self:
        """Set the number of members."""
        return self.setParams(nEstimators=value)

    def setNIter(self, value: int) -> Self:
        """Set the number of iterations of each member."""
        return self.setParams(nIter=value)

    def setClassPrior(self, value: Any) -> Self:
        """Set the class shares of the target."""
        return self.setParams(classPrior=value)

    def setSeed(self, value: int) -> Self:
        """Set the seed of the random draws."""
        return self.setParams(seed=value)

    def setMaxIter(self, value: int) -> Self:
        """Set the maximum number of iterations of MLlib's optimizer."""
        return self.setParams(maxIter=value)

    def setTol(self, value: float) -> Self:
        """Set the tolerance of MLlib's optimizer."""
        return self.setParams(tol=value)

    def setAggregationDepth(self, value: int) -> Self:
        """Set the depth of MLlib's tree aggregation."""
        return self.setParams(aggregationDepth=value)
