"""Pictures of a fit, drawn by matplotlib: each function draws on one axes and gives it back.

No picture needs its colours: what differs by colour differs by its mark, its fill or its width too.
"""

from __future__ import annotations

from adrem.plotting._domains import plot_domains
from adrem.plotting._history import plot_history
from adrem.plotting._shares import plot_class_shares
from adrem.plotting._votes import plot_votes

__all__ = ["plot_class_shares", "plot_domains", "plot_history", "plot_votes"]
