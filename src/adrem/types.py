"""Names of array types."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any  # a dense array, or a CSR matrix or array: scipy carries no types
