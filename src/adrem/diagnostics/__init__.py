"""How far to trust an adapted model, without labels of the target or with a few."""

from __future__ import annotations

from adrem.diagnostics.accuracy import AccuracyEstimate, estimate_accuracy
from adrem.diagnostics.contributions import ClassFeatures
from adrem.diagnostics.diagnosis import diagnose
from adrem.diagnostics.evidence import BeforeAfter, Evidence
from adrem.diagnostics.gap import DomainGap, TellingFeature
from adrem.diagnostics.labelled import labels_needed
from adrem.diagnostics.map import Map
from adrem.diagnostics.results import Bin, ClassExamples, ClassShare, Diagnosis, Move, Spread, Step, UncertainRow
from adrem.diagnostics.verdict import Verdict

__all__ = [
    "AccuracyEstimate",
    "BeforeAfter",
    "Bin",
    "ClassExamples",
    "ClassFeatures",
    "ClassShare",
    "Diagnosis",
    "DomainGap",
    "Evidence",
    "Map",
    "Move",
    "Spread",
    "Step",
    "TellingFeature",
    "UncertainRow",
    "Verdict",
    "diagnose",
    "estimate_accuracy",
    "labels_needed",
]
