"""Which output of a network the features are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.exceptions import ParameterError

LAST_HIDDEN = "last hidden"  # what the last linear layer gets
N_NAMED = 5


def unknown_layer(layer: str, name: str, outputs: Sequence[str], inner: Sequence[str]) -> ParameterError:
    """Return the error about a layer that a network does not have; it names some that it has."""
    if layer == LAST_HIDDEN:
        return ParameterError(f"{name} has no linear layer, and so no last hidden one: set layer=None.", "layer")
    some = ", ".join(dict.fromkeys([*outputs, *inner[-N_NAMED:][::-1]]))
    return ParameterError(f"{name} has no layer {layer!r}. It has {some}, and others before these.", "layer")


def as_rows(output: NDArray[Any]) -> NDArray[np.float32]:
    """Return an output as features: maps are averaged over their places, sequences over their tokens."""
    if output.ndim == 3:
        output = output.mean(axis=1)
    rows = output if output.ndim == 2 else output.mean(axis=tuple(range(2, output.ndim)))
    return np.asarray(rows, np.float32)
