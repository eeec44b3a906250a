"""Transformers that are fitted to two domains."""

from adrem.preprocessing.pair import transform_pair
from adrem.preprocessing.scalers import DomainStandardScaler, JointStdScaler, Rectifier, RowSumScaler
from adrem.preprocessing.selection import TopFeatures

__all__ = [
    "DomainStandardScaler",
    "JointStdScaler",
    "Rectifier",
    "RowSumScaler",
    "TopFeatures",
    "transform_pair",
]
