"""Choosing without labels of the target: scorers for `GridSearchCV` and `cross_validate`, and `AdREMCV`."""

from __future__ import annotations

from adrem.model_selection._adremcv import AdREMCV
from adrem.model_selection._scorers import (
    AgreementScorer,
    CircularScorer,
    EntropyScorer,
    ImportanceWeightedScorer,
    NeighbourhoodDensityScorer,
    NeighbourScorer,
)

__all__ = [
    "AdREMCV",
    "AgreementScorer",
    "CircularScorer",
    "EntropyScorer",
    "ImportanceWeightedScorer",
    "NeighbourScorer",
    "NeighbourhoodDensityScorer",
]
