"""Small data sets, the data sets of the paper, and folders of your own."""

from adrem.datasets.dataset import DataSet, Domain, Provenance
from adrem.datasets.digits import load_digits_shift
from adrem.datasets.fetching import fetch
from adrem.datasets.folder import load_folder
from adrem.datasets.loading import load
from adrem.datasets.pair import DomainPair
from adrem.datasets.toy import make_imbalanced_arcs, make_rotated_arcs
from adrem.datasets.verification import Verification, verify

__all__ = [
    "DataSet",
    "Domain",
    "DomainPair",
    "Provenance",
    "Verification",
    "fetch",
    "load",
    "load_digits_shift",
    "load_folder",
    "make_imbalanced_arcs",
    "make_rotated_arcs",
    "verify",
]
