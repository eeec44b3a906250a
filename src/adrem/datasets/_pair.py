"""What a data set gives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class DomainPair(NamedTuple):
    """Rows and labels of a source and of a target. The target's labels are there to score, never to learn from."""

    X_source: NDArray[np.float64]
    y_source: NDArray[Any]
    X_target: NDArray[np.float64]
    y_target: NDArray[Any]
