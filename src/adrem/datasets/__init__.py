"""Data to try the package on, the paper's data sets, and any folder of yours."""

from adrem.datasets._dataset import DataSet, Domain, Provenance
from adrem.datasets._fetch import fetch
from adrem.datasets._load import load
from adrem.datasets._pair import DomainPair
from adrem.datasets._verify import Verdict, verify
from adrem.datasets.digits import load_digits_shift
from adrem.datasets.folder import load_folder
from adrem.datasets.toy import make_imbalanced_arcs, make_rotated_arcs

__all__ = [
    "DataSet",
    "Domain",
    "DomainPair",
    "Provenance",
    "Verdict",
    "fetch",
    "load",
    "load_digits_shift",
    "load_folder",
    "make_imbalanced_arcs",
    "make_rotated_arcs",
    "verify",
]
