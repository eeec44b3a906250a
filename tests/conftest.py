"""Problems that many tests share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import sklearn
from numpy.random import RandomState

from adrem.datasets import DomainPair


def make_blobs_shift(n_classes: int = 3, n_source: int = 60, n_target: int = 45, seed: int = 0) -> DomainPair:
    """Gaussian classes whose means move a little between the domains; small, quick, and not separable."""
    rng = RandomState(seed)
    means = 2.0 * rng.standard_normal((n_classes, 5))
    shift = 0.7 * rng.standard_normal(5)
    y_source, y_target = np.arange(n_source) % n_classes, np.arange(n_target) % n_classes
    X_source = means[y_source] + rng.standard_normal((n_source, 5))
    X_target = means[y_target] + shift + rng.standard_normal((n_target, 5))
    return DomainPair(X_source, y_source, X_target, y_target)


@pytest.fixture
def blobs() -> DomainPair:
    return make_blobs_shift()


@pytest.fixture
def two_blobs() -> DomainPair:
    return make_blobs_shift(n_classes=2)


@pytest.fixture
def routing() -> Iterator[None]:
    """Metadata routing switched on, as importing skada does, and back again."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield
