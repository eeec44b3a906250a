"""What can be said of an adapted model without a label of the target."""

from __future__ import annotations

from adrem.diagnostics._accuracy import AccuracyEstimate, check_rows, estimate_accuracy, estimate_examined
from adrem.diagnostics._diagnosis import (
    Bin,
    ClassShare,
    Diagnosis,
    Examination,
    Move,
    Spread,
    Step,
    UncertainRow,
    confidence_of,
    diagnose,
    examine,
)
from adrem.diagnostics._evidence import Evidence, Sides
from adrem.diagnostics._gap import DomainGap, TellingFeature
from adrem.diagnostics._map import Map
from adrem.diagnostics._verdict import Verdict
from adrem.diagnostics._voices import Voice, voices

__all__ = [
    "AccuracyEstimate",
    "Bin",
    "ClassShare",
    "Diagnosis",
    "DomainGap",
    "Evidence",
    "Examination",
    "Map",
    "Move",
    "Sides",
    "Spread",
    "Step",
    "TellingFeature",
    "UncertainRow",
    "Verdict",
    "Voice",
    "check_rows",
    "confidence_of",
    "diagnose",
    "estimate_accuracy",
    "estimate_examined",
    "examine",
    "voices",
]
