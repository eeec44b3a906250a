"""How the colours of an image become the numbers that a network was trained with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Normalization:
    """Colours from 0 to `largest` are those of a picture; their mean is subtracted, and they are divided by a scale.

    Parameters
    ----------
    mean, scale : tuple of float
        For each colour, in the order in which the network takes them.
    largest : float, default=1.0
        The largest value of a colour before the mean is subtracted.
    blue_first : bool, default=False
        Whether the network takes blue, green and red.
    """

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    largest: float = 1.0
    blue_first: bool = False

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the numbers of a picture (height, width, 3) as the network takes them (3, height, width)."""
        colours = pixels[:, :, ::-1] if self.blue_first else pixels
        mean, scale = (np.array(values, np.float32) for values in (self.mean, self.scale))
        numbers = (colours * np.float32(self.largest / 255) - mean) / scale
        return np.ascontiguousarray(numbers.transpose(2, 0, 1))


IMAGENET = Normalization((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
KERAS = Normalization((103.939, 116.779, 123.68), (1.0, 1.0, 1.0), largest=255.0, blue_first=True)
NORMALIZATIONS = {
    "imagenet": IMAGENET,
    "keras": KERAS,
    "symmetric": Normalization((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "clip": Normalization((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)),
}
