"""How the discriminant is trained on two domains, and on which device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adrem.base.validation import Domains
from adrem.machines.devices import CPU, resolve_device
from adrem.machines.discriminant import DiscriminantMachine
from adrem.machines.interface import MachineLike
from adrem.machines.linear import TrainingSet
from adrem.machines.problems import Work
from adrem.machines.regularization import N_FOLDS


@dataclass(frozen=True)
class DiscriminantHead:
    """The counterpart of `LinearHead`. It has no C to choose."""

    n_folds: ClassVar[int] = N_FOLDS
    chooses_c: ClassVar[bool] = False

    device: str = CPU

    def begin(self, domains: Domains, seed: int, work: Work | None = None) -> TrainingSet:  # noqa: ARG002
        """Put the rows of both domains into a machine."""
        table = np.concatenate([domains.X_source, domains.X_target])
        n_classes = len(domains.classes)
        work = Work(n_classes) if work is None else work
        n_rows, n_features = table.shape
        device = resolve_device(self.device, n_rows * n_features**2 * work.n_members)
        machine: MachineLike
        if device == CPU:
            machine = DiscriminantMachine(table, n_classes)
        else:
            from adrem.machines.torch.discriminant import make_machine

            machine = make_machine(table, work, device)
        return TrainingSet(machine, domains.labels, domains.weights, domains.X_target.shape[0], 1.0)
