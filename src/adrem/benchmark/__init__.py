"""The paper's benchmark: its protocols and methods.

``adrem bench`` runs the tables and draws the figures.
"""

from __future__ import annotations

from adrem.benchmark.draws import Draw
from adrem.benchmark.methods import Method, find_methods
from adrem.benchmark.protocols import Protocol, find_protocols

__all__ = ["Draw", "Method", "Protocol", "find_methods", "find_protocols"]
