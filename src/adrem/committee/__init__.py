"""The recommended estimator: several kinds of Ad-REM, and classifiers of the source, that vote."""

from adrem.committee.estimator import Committee

__all__ = ["Committee"]
