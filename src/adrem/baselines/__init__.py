"""The methods that Ad-REM is compared with."""

from adrem.baselines.coral import CORAL
from adrem.baselines.dasvm import DASVM
from adrem.baselines.em import HardEM, SoftEM
from adrem.baselines.flda import FLDA
from adrem.baselines.gfk import GFK
from adrem.baselines.scl import SCL
from adrem.baselines.source import SourceOnly
from adrem.baselines.source_cv import SourceOnlyCV
from adrem.baselines.spl import SPL
from adrem.baselines.subspace_alignment import SubspaceAlignment
from adrem.baselines.tca import TCA
from adrem.baselines.weighting import KMM, ImportanceWeighting

__all__ = [
    "CORAL",
    "DASVM",
    "FLDA",
    "GFK",
    "KMM",
    "SCL",
    "SPL",
    "TCA",
    "HardEM",
    "ImportanceWeighting",
    "SoftEM",
    "SourceOnly",
    "SourceOnlyCV",
    "SubspaceAlignment",
]
