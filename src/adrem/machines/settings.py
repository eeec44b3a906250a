"""How a machine trains, passed whole from `make_machine` to the machine."""

from __future__ import annotations

from dataclasses import dataclass

from adrem.machines.cost_model import MEMORY_LIMIT
from adrem.machines.devices import CPU
from adrem.machines.kernel import Kernel


@dataclass(frozen=True)
class MachineSettings:
    """How classifiers are trained, as for `make_machine`."""

    loss: str
    path: str = "auto"
    memory_limit: int = MEMORY_LIMIT
    fit_intercept: bool = False
    tol: float = 0.1
    kernel: Kernel | None = None
    device: str = CPU
