"""Model selection without labels of the target: scorers, and `AdREMCV`."""

from __future__ import annotations

from adrem.model_selection.scorers import (
    AgreementScorer,
    CircularScorer,
    EntropyScorer,
    ImportanceWeightedScorer,
    NeighbourhoodDensityScorer,
    NeighbourScorer,
)
from adrem.model_selection.search import AdREMCV

__all__ = [
    "AdREMCV",
    "AgreementScorer",
    "CircularScorer",
    "EntropyScorer",
    "ImportanceWeightedScorer",
    "NeighbourScorer",
    "NeighbourhoodDensityScorer",
]
