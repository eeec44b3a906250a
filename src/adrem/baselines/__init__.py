"""The methods that Ad-REM is compared with, all behind its contract."""

from adrem.baselines.coral import CORAL
from adrem.baselines.gfk import GFK
from adrem.baselines.source import SourceOnly
from adrem.baselines.subspace import SubspaceAlignment
from adrem.baselines.tca import TCA

__all__ = ["CORAL", "GFK", "TCA", "SourceOnly", "SubspaceAlignment"]
