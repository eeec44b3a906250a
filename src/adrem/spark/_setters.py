"""What an estimator is told and its model is not, in Spark's style: a setter for each parameter.

Short methods, and the file is what they say of themselves.
"""

from __future__ import annotations

from typing import Any, Self

from adrem.spark._params import AdREMParams


class AdREMSetters(AdREMParams):
    """The setters that an estimator has and its model has not."""

    def setParams(self, **params: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **params : dict
            Any of those of the class.

        Returns
        -------
        AdREM
            Itself.

        Raises
        ------
        TypeError
            If there is no parameter of a name. The message says which there are.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setParams(C=0.1, nIter=5).getNIter()
        5
        """
        return self._given(**params)

    def setLabelCol(self, value: str) -> Self:
        """Set which column names the classes.

        Parameters
        ----------
        value : str
            The name of the column.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setLabelCol("stars").getLabelCol()
        'stars'
        """
        return self.setParams(labelCol=value)

    def setDomainCol(self, value: str) -> Self:
        """Set which column tells the target, below 0, from the source.

        Parameters
        ----------
        value : str
            The name of the column.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setDomainCol("shop").getDomainCol()
        'shop'
        """
        return self.setParams(domainCol=value)

    def setLoss(self, value: str) -> Self:
        """Set the loss of the classifiers.

        Parameters
        ----------
        value : {"hinge", "log_loss"}
            A support vector machine, or logistic regression.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setLoss("log_loss").getLoss()
        'log_loss'
        """
        return self.setParams(loss=value)

    def setC(self, value: float) -> Self:
        """Set the weight of the losses beside half the squared norm.

        Parameters
        ----------
        value : float
            The weight, above 0.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setC(0.5).getC()
        0.5
        """
        return self.setParams(C=value)

    def setNEstimators(self, value: int) -> Self:
        """Set the number of members.

        Parameters
        ----------
        value : int
            The number of members, at least 1; an odd one leaves few ties.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setNEstimators(5).getNEstimators()
        5
        """
        return self.setParams(nEstimators=value)

    def setNIter(self, value: int) -> Self:
        """Set the number of iterations of each member.

        Parameters
        ----------
        value : int
            The number of iterations, at least 1.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setNIter(10).getNIter()
        10
        """
        return self.setParams(nIter=value)

    def setClassPrior(self, value: Any) -> Self:
        """Set the share of each class in the draws from the target.

        Parameters
        ----------
        value : {"uniform", "source"}, list or dict
            Equal, as in the source, or given in the order of the labels or by label.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setClassPrior([0.25, 0.75]).getClassPrior()
        [0.25, 0.75]
        """
        return self.setParams(classPrior=value)

    def setSeed(self, value: int) -> Self:
        """Set the seed of the draws.

        Parameters
        ----------
        value : int
            The seed.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setSeed(7).getSeed()
        7
        """
        return self.setParams(seed=value)

    def setMaxIter(self, value: int) -> Self:
        """Set the most passes of MLlib's optimizer over the rows in one training.

        Parameters
        ----------
        value : int
            The number of passes, about.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setMaxIter(50).getMaxIter()
        50
        """
        return self.setParams(maxIter=value)

    def setTol(self, value: float) -> Self:
        """Set when MLlib's optimizer stops.

        Parameters
        ----------
        value : float
            The tolerance: a smaller one takes more passes.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setTol(0.01).getTol()
        0.01
        """
        return self.setParams(tol=value)

    def setAggregationDepth(self, value: int) -> Self:
        """Set in how many steps MLlib sums gradients.

        Parameters
        ----------
        value : int
            The number of steps, at least 2: more of them where there are many executors.

        Returns
        -------
        AdREM
            Itself.

        Examples
        --------
        >>> from adrem.spark import AdREM
        >>> AdREM().setAggregationDepth(3).getAggregationDepth()
        3
        """
        return self.setParams(aggregationDepth=value)
