"""Plots of a fit with matplotlib. Each function draws on one axes and returns it.

No plot relies on colour alone: marks, fills or widths differ too.
"""

from __future__ import annotations

from adrem.plotting.domains import plot_domains
from adrem.plotting.history import plot_history
from adrem.plotting.shares import plot_class_shares
from adrem.plotting.votes import plot_votes

__all__ = ["plot_class_shares", "plot_domains", "plot_history", "plot_votes"]
