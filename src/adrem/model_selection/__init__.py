"""Model selection without labels of the target: scorers for scikit-learn's searches."""

from __future__ import annotations

from adrem.model_selection.scorers import (
    AgreementScorer,
    CircularScorer,
    EntropyScorer,
    ImportanceWeightedScorer,
    NeighbourhoodDensityScorer,
    NeighbourScorer,
)

__all__ = [
    "AgreementScorer",
    "CircularScorer",
    "EntropyScorer",
    "ImportanceWeightedScorer",
    "NeighbourScorer",
    "NeighbourhoodDensityScorer",
]
