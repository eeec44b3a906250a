"""The M-step: machines that own the rows once and train on them again and again."""

from adrem.machines._choice import MEMORY_LIMIT, make_machine
from adrem.machines._gram import GramMachine
from adrem.machines._kernel import Kernel, KernelMachine, scale_of
from adrem.machines._losses import LOSSES, Loss
from adrem.machines._machine import DeviceMemoryError, Machine, Solution, Work, decide, one_vs_rest
from adrem.machines._rows import RowMachine

__all__ = [
    "LOSSES",
    "MEMORY_LIMIT",
    "DeviceMemoryError",
    "GramMachine",
    "Kernel",
    "KernelMachine",
    "Loss",
    "Machine",
    "RowMachine",
    "Solution",
    "Work",
    "decide",
    "make_machine",
    "one_vs_rest",
    "scale_of",
]
