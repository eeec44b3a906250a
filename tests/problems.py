"""Small problems that many tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import RandomState

from adrem.datasets import DomainPair


def make_blobs_shift(n_classes: int = 3, n_source: int = 60, n_target: int = 45, seed: int = 0) -> DomainPair:
    """Inseparable Gaussian classes whose means differ slightly between the domains; small and quick."""
    rng = RandomState(seed)
    means = 2.0 * rng.standard_normal((n_classes, 5))
    shift = 0.7 * rng.standard_normal(5)
    y_source, y_target = np.arange(n_source) % n_classes, np.arange(n_target) % n_classes
    X_source = means[y_source] + rng.standard_normal((n_source, 5))
    X_target = means[y_target] + shift + rng.standard_normal((n_target, 5))
    return DomainPair(X_source, y_source, X_target, y_target)


def without_negative_values(data: DomainPair) -> DomainPair:
    """The same rows, moved until no value is negative."""
    least = min(data.X_source.min(), data.X_target.min())
    return data._replace(X_source=data.X_source - least, X_target=data.X_target - least)


def fitted(model: Any, data: DomainPair) -> Any:
    """Fit a model to a problem."""
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


NAMES = np.array(["ant", "bee", "cat", "dog", "elk", "zebra"])


def opened(n_known: int = 3, n_classes: int = 6, n: int = 40, names: Any = NAMES, spread: float = 0.5) -> DomainPair:
    """A source of the first classes, and a shifted target of all classes, of which the others are 'unknown'."""
    rng = np.random.RandomState(0)
    y = np.arange(n * n_classes) % n_classes
    centres = 6.0 * np.eye(n_classes, 30)
    source, target = (centres[y] + spread * rng.normal(size=(len(y), 30)) for _ in range(2))
    own = y < n_known
    unknown = "unknown" if names.dtype.kind == "U" else -9
    return DomainPair(source[own], names[y[own]], target + 0.2, np.where(y < n_known, names[y], unknown))
