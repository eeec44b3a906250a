"""The losses on a device: the formulas of each, and how it is minimized."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch

from adrem.machines.machine import Training
from adrem.machines.torch.newton import minimize
from adrem.machines.torch.steps import moved

# Blocks between two checks for convergence, at which the host waits for the device. Converged problems do not change.
CHECK_EVERY = 16


class Solver(ABC):
    """How a loss is minimized. A machine, which has the rows, makes its solver once.

    A solver keeps no reference to its machine: in a cycle of references, the memory of the device is freed late.
    """

    # Whether a solution has dual variables of all rows, from which its scores or weights can be computed again.
    has_dual: ClassVar[bool]

    @abstractmethod
    def __init__(self, machine: Any) -> None:
        """Let the machine copy to the device what the solver needs of the rows."""

    @staticmethod
    @abstractmethod
    def losses(margins: Any) -> Any:
        """Return the loss at every margin."""

    @abstractmethod
    def transfer(self, machine: Any, solution: Any, labels: Any) -> None:
        """Transfer a solution, whose boxes are the new ones already, to new labels."""

    @abstractmethod
    def minimize(self, machine: Any, solution: Any, training: Training) -> Any:
        """Improve the solution until it is optimal; returns which problems were given up."""

    @abstractmethod
    def multiples(self, machine: Any, solution: Any) -> Any:
        """Return the multiples of the rows, with the signs of their labels."""


class Descent(Solver):
    """The hinge loss, by block coordinate descent. Dual variables are the multiples without their signs."""

    has_dual = True

    def __init__(self, machine: Any) -> None:
        self.blocks = machine.make_blocks()

    @staticmethod
    def losses(margins: Any) -> Any:
        return (1.0 - margins).clamp(min=0.0)

    def transfer(self, machine: Any, solution: Any, labels: Any) -> None:
        flipped = machine.signs(solution.labels) != machine.signs(labels)
        solution.dual.copy_(moved(solution.dual, flipped, machine.limits(solution.box)))

    def minimize(self, machine: Any, solution: Any, training: Training) -> Any:
        machine.start(solution)
        if solution.search is None:
            solution.search = machine.make_search(solution)
        solution.search.begin(machine.visits(solution, training))
        rng = np.random.default_rng(training.seed)
        n_blocks = len(solution.search.order)
        n_passes = max(1, CHECK_EVERY // n_blocks) if machine.is_compiled else 1
        while True:
            for _ in range(n_passes):
                solution.search.order.copy_(torch.from_numpy(rng.permutation(n_blocks)))
                self.advance(machine, solution)
            if int(solution.search.n_running) == 0:
                return solution.search.failed
            training.heartbeat()

    def advance(self, machine: Any, solution: Any) -> None:
        """Make one pass over all blocks, by a CUDA graph if possible."""
        solution.search.replay(lambda: self.pass_and_check(machine, solution))

    def pass_and_check(self, machine: Any, solution: Any) -> None:
        """Make one pass over all blocks, and stop the problems that have converged."""
        machine.sweep(solution, self.blocks)
        extremes = machine.steps.extremes(machine.n_problems, solution, machine.all_scores(solution))
        solution.search.end_pass(*extremes, machine.tol)

    def multiples(self, machine: Any, solution: Any) -> Any:
        return solution.dual * machine.signs(solution.labels)


class Newton(Solver):
    """The log loss, by Newton's method, which starts from the weight vectors as they are, whatever the labels."""

    has_dual = False

    def __init__(self, machine: Any) -> None:
        machine.prepare_products()

    @staticmethod
    def losses(margins: Any) -> Any:
        return torch.nn.functional.softplus(-margins)

    def transfer(self, machine: Any, solution: Any, labels: Any) -> None:
        pass

    def minimize(self, machine: Any, solution: Any, training: Training) -> Any:
        most_products = (machine.visits(solution, training) // machine.n_rows).to(machine.device)
        vectors, weights = machine.vectors_in(solution), _weights_of(machine, solution)
        failed = minimize(machine, weights, vectors, machine.tol, most_products, training.heartbeat)
        machine.finish(solution)
        return failed

    def multiples(self, machine: Any, solution: Any) -> Any:
        return machine.multiples_in(solution, _weights_of(machine, solution))


def _weights_of(machine: Any, solution: Any) -> Any:
    """Return the weights of the rows in all problems, times C and the signs of their labels."""
    return machine.signs(solution.labels) * machine.limits(solution.box)


SOLVERS: dict[str, type[Solver]] = {"hinge": Descent, "log_loss": Newton}
