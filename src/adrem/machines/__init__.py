"""Training: machines that own the rows and train linear classifiers on them again and again."""

from adrem.machines.kernel import Kernel
from adrem.machines.machine import Machine
from adrem.machines.plan import make_machine
from adrem.machines.problems import Solution, Work, decide, one_vs_rest

__all__ = ["Kernel", "Machine", "Solution", "Work", "decide", "make_machine", "one_vs_rest"]
