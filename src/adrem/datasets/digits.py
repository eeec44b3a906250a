"""Handwritten digits as the source, and distorted ones as the target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.datasets import load_digits

from adrem.datasets.pair import DomainPair

SIDE = 8
INK = 16.0
SPLIT_SEED = 0


def load_digits_shift(
    *, blur: float = 0.5, shear: float = 0.3, noise: float = 2.0, random_state: int = 0
) -> DomainPair:
    """Load digits of scikit-learn as the source, and others, distorted as by a poor camera, as the target.

    The 1797 images of `sklearn.datasets.load_digits` are split at random into the same two halves every time. One half
    is the source. The other is the target: its images are sheared and blurred, and noise is added.

    Parameters
    ----------
    blur : float, default=0.5
        Standard deviation of the Gaussian blur, in pixels.
    shear : float, default=0.3
        Horizontal shift per row below the middle, in pixels.
    noise : float, default=2.0
        Standard deviation of the noise, on a scale where ink is 16.
    random_state : int, default=0
        Seed of the noise.

    Returns
    -------
    DomainPair
        ``X_source, y_source, X_target, y_target``: 64 pixels per row, from 0 (paper) to 1 (ink); classes 0 to 9.

    Examples
    --------
    >>> from adrem.datasets import load_digits_shift
    >>> X_source, y_source, X_target, y_target = load_digits_shift()
    >>> X_source.shape, X_target.shape
    ((898, 64), (899, 64))
    """
    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(SPLIT_SEED).permutation(len(y))
    half = len(y) // 2
    source, target = order[:half], order[half:]
    images = X[target].reshape(-1, SIDE, SIDE)
    distorted = np.stack([_distort(image, blur, shear) for image in images])
    distorted += noise * np.random.RandomState(random_state).standard_normal(distorted.shape)
    X_target = np.clip(distorted, 0.0, INK).reshape(len(target), -1)
    return DomainPair(X[source] / INK, y[source], X_target / INK, y[target])


def _distort(image: NDArray[np.float64], blur: float, shear: float) -> NDArray[np.float64]:
    middle = (SIDE - 1) / 2
    sheared = ndimage.affine_transform(image, [[1.0, 0.0], [shear, 1.0]], offset=[0.0, -shear * middle], order=1)
    blurred: NDArray[np.float64] = ndimage.gaussian_filter(sheared, blur, mode="constant")
    return blurred
