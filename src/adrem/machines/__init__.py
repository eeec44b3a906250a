"""The M-step: machines that own the rows once and train on them again and again."""

from adrem.machines._machine import Machine, Solution, decide, one_vs_rest
from adrem.machines.hinge import HingeMachine
from adrem.machines.logistic import LogisticMachine

MACHINES: dict[str, type[Machine]] = {"hinge": HingeMachine, "log_loss": LogisticMachine}

__all__ = ["MACHINES", "HingeMachine", "LogisticMachine", "Machine", "Solution", "decide", "one_vs_rest"]
