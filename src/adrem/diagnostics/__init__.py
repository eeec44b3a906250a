"""What can be said of an adapted model without a label of the target."""

from __future__ import annotations

from adrem.diagnostics._accuracy import AccuracyEstimate, estimate_accuracy
from adrem.diagnostics._diagnosis import diagnose
from adrem.diagnostics._evidence import Evidence, Sides
from adrem.diagnostics._findings import Bin, ClassShare, Diagnosis, Move, Spread, Step, UncertainRow
from adrem.diagnostics._gap import DomainGap, TellingFeature
from adrem.diagnostics._map import Map
from adrem.diagnostics._verdict import Verdict
from adrem.diagnostics._voices import Voice

__all__ = [
    "AccuracyEstimate",
    "Bin",
    "ClassShare",
    "Diagnosis",
    "DomainGap",
    "Evidence",
    "Map",
    "Move",
    "Sides",
    "Spread",
    "Step",
    "TellingFeature",
    "UncertainRow",
    "Verdict",
    "Voice",
    "diagnose",
    "estimate_accuracy",
]
