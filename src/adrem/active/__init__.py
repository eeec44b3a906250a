"""Which rows of the target to label by hand."""

from adrem.active.asking import Questions, ask
from adrem.active.suggestion import suggest

__all__ = ["Questions", "ask", "suggest"]
