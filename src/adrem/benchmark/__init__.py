"""The paper's benchmark: its protocols, a runner that can be stopped and goes on, its tables and figures.

From here come the rows that each table draws and the methods that it compares; ``adrem bench`` does the rest.
"""

from __future__ import annotations

from adrem.benchmark.methods import Method, find_methods
from adrem.benchmark.protocols import Draw, Protocol, find_protocols

__all__ = ["Draw", "Method", "Protocol", "find_methods", "find_protocols"]
