"""Turn texts and images into features by networks that were trained on large data sets."""

from adrem.features.encoder import Encoded
from adrem.features.images import ImageEncoder
from adrem.features.text import TextEncoder

__all__ = ["Encoded", "ImageEncoder", "TextEncoder"]
