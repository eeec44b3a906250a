"""The M-step: machines that own the rows once and train on them again and again."""

from adrem.machines._choice import make_machine
from adrem.machines._kernel import Kernel
from adrem.machines._machine import Machine
from adrem.machines._problems import Solution, Work, decide, one_vs_rest

__all__ = ["Kernel", "Machine", "Solution", "Work", "decide", "make_machine", "one_vs_rest"]
