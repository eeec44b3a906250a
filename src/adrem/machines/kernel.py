"""Beyond the paper: kernels, that is, similarities in place of inner products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from adrem.exceptions import ParameterError
from adrem.types import FloatArray, Matrix

PRECOMPUTED = "precomputed"


@dataclass(frozen=True)
class Kernel:
    """A kernel: one of scikit-learn's by name, a function of two tables, or precomputed similarities.

    Parameters
    ----------
    function : str or callable
        A name as for `AdREM`, or a function of two tables that returns their similarities.
    gamma : float, default=1.0
        Parameter of the kernels that have it.
    degree : float, default=3.0
        Parameter of the kernel "poly".
    coef0 : float, default=0.0
        Parameter of the kernels "poly" and "sigmoid".
    """

    function: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0

    def __call__(self, rows: Matrix, others: Matrix) -> FloatArray:
        """Return the similarities of rows with others; precomputed ones are those with all rows of the fit."""
        if self.function == PRECOMPUTED:
            return np.asarray(rows.toarray() if sp.issparse(rows) else rows)
        if callable(self.function):
            found = np.asarray(self.function(rows, others))
            wanted = (rows.shape[0], others.shape[0])
            if found.shape != wanted or found.dtype.kind not in "fiu":
                raise ParameterError(
                    f"The kernel returned {found.dtype} of shape {found.shape} for tables of {wanted[0]} and "
                    f"{wanted[1]} rows; it has to return numbers of shape {wanted}.",
                    "kernel",
                )
            similarities: FloatArray = found.astype(rows.dtype, copy=False)
            return similarities
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return np.asarray(pairwise_kernels(rows, others, metric=self.function, filter_params=True, **params))


def scale_of(gamma: str | float, rows: Matrix) -> float:
    """Return the value of gamma: as given, or as scikit-learn's support vector machines define "scale" and "auto"."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / int(rows.shape[1])
    mean = float(rows.mean())
    square = float(rows.multiply(rows).mean()) if sp.issparse(rows) else float(np.mean(np.square(rows, dtype=float)))
    variance = square - mean**2
    return 1.0 / (int(rows.shape[1]) * variance) if variance > 0 else 1.0
