"""The contract of every classifier, and the validation of input."""

from adrem.base.classifier import DomainClassifier
from adrem.base.validation import Domains, read_domains

__all__ = ["DomainClassifier", "Domains", "read_domains"]
