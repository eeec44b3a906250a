"""Data to try the package on."""

from adrem.datasets._pair import DomainPair
from adrem.datasets.digits import load_digits_shift
from adrem.datasets.toy import make_imbalanced_arcs, make_rotated_arcs

__all__ = ["DomainPair", "load_digits_shift", "make_imbalanced_arcs", "make_rotated_arcs"]
