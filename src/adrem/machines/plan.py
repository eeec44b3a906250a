"""The choice of a machine: its device, its path and the memory it will take, decided once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adrem.machines.cost_model import MEMORY_LIMIT, Path, check_limit, choose_device_path, choose_path, gram_bytes
from adrem.machines.devices import CPU, MEMORY_MARGIN, find_device, free_memory, resolve_device
from adrem.machines.forecast import DeviceMemory
from adrem.machines.gram import GramMachine, gram_memory
from adrem.machines.kernel import Kernel
from adrem.machines.losses import find_loss
from adrem.machines.machine import Machine
from adrem.machines.problems import Work
from adrem.machines.rows import RowMachine, row_memory
from adrem.machines.settings import MachineSettings
from adrem.machines.similarities import KernelMachine, kernel_memory
from adrem.machines.tables import Outline
from adrem.runtime.memory import check_room, size_of
from adrem.types import Matrix


@dataclass(frozen=True)
class MachineChoice:
    """A machine before it is made.

    `device` is never "auto". `memory` is about how many bytes the machine takes at most besides its table: on the host,
    or on the device if that is not the CPU, with all members trained at a time.
    """

    outline: Outline
    work: Work
    settings: MachineSettings
    device: str
    path: Path
    machine_class: Any
    memory: int
    on_device: DeviceMemory | None = None

    def make(self, table: Matrix) -> Machine:
        """Make the machine for the table of the outline; refuse it if it does not fit into the free memory."""
        return self._make_on_cpu(table) if self.on_device is None else self._make_on_device(table, self.on_device)

    def _make_on_cpu(self, table: Matrix) -> Machine:
        advice = "give fewer rows or features, or float32 instead of float64"
        if self.machine_class is GramMachine:
            advice = f"set machine='rows', or {advice}"
        check_room(self.memory, "Training", f"{advice}; the machine would be {self.path}")
        machine: Machine = self.machine_class(table, self.work.n_classes, self.settings, str(self.path))
        return machine

    def _make_on_device(self, table: Matrix, memory: DeviceMemory) -> Machine:
        """Make the machine for as many members at a time as the memory of the device holds."""
        device = find_device(self.device)
        free = MEMORY_MARGIN * free_memory(device)
        group_size = memory.members_that_fit(self.work, free)
        n_bytes = memory.of(self.work._replace(n_members=group_size))
        path = f"{self.path}; on {self.device}, {group_size} member(s) at a time, about {size_of(n_bytes)}"
        machine: Machine = self.machine_class(
            table, self.work.n_classes, self.settings, path, device=device, group_size=group_size
        )
        return machine


def choose_machine(outline: Outline, work: Work, settings: MachineSettings) -> MachineChoice:
    """Choose the device, the path and the class of the machine for a table, and forecast its memory."""
    width = outline.entries if settings.kernel is None else outline.n_rows
    device = resolve_device(settings.device, outline.n_rows * width * work.n_problems * work.n_members)
    if device != CPU:
        path = _similarities(outline, settings) or choose_device_path(outline, settings.path, settings.memory_limit)
        machine_class, on_device = _on_device(path, outline, work, settings)
        return MachineChoice(outline, work, settings, device, path, machine_class, on_device.of(work), on_device)
    similarities = _similarities(outline, settings)
    if similarities is not None:
        memory = kernel_memory(outline, work)
        return MachineChoice(outline, work, settings, device, similarities, KernelMachine, memory)
    costs = find_loss(settings.loss).costs
    path = choose_path(outline, work.n_classes, costs, settings.path, settings.memory_limit)
    machine_class, forecast = {"gram": (GramMachine, gram_memory), "rows": (RowMachine, row_memory)}[path.name]
    with_constant = outline.n_bytes + 13 * outline.n_rows if settings.fit_intercept else 0
    memory = forecast(outline, work) + with_constant
    return MachineChoice(outline, work, settings, device, path, machine_class, memory)


def _similarities(outline: Outline, settings: MachineSettings) -> Path | None:
    """Return the path of a kernel, if there is one; refuse too many rows."""
    if settings.kernel is None:
        return None
    check_limit(outline, settings.memory_limit)
    return Path("gram", f"similarities of {outline.n_rows} rows, {size_of(gram_bytes(outline))}")


def _on_device(path: Path, table: Outline, work: Work, settings: MachineSettings) -> tuple[Any, DeviceMemory]:
    """Return the class of the machine on a device, and the memory that it takes there."""
    from adrem.machines.torch import gram, rows, similarities, sparse

    if settings.kernel is not None:
        return similarities.TorchKernelMachine, similarities.kernel_memory(table, work.n_problems)
    if path.name == "gram":
        return gram.TorchGramMachine, gram.gram_memory(table, work.n_problems)
    if table.is_sparse:
        return sparse.TorchSparseRowMachine, sparse.sparse_row_memory(table, work.n_problems)
    return rows.TorchRowMachine, rows.row_memory(table, work.n_problems)


def make_machine(
    table: Matrix,
    n_classes: int,
    loss: str,
    *,
    path: str = "auto",
    memory_limit: int = MEMORY_LIMIT,
    fit_intercept: bool = False,
    tol: float = 0.1,
    kernel: Kernel | None = None,
    work: Work | None = None,
    device: str = CPU,
) -> Machine:
    """Make the machine for a table and a loss, by the given path or the fastest one.

    Parameters
    ----------
    table : {ndarray, CSR array} of shape (n_rows, n_features)
        The rows. The machine keeps a reference and never writes into it.
    n_classes : int
        Number of classes; labels are integers from 0.
    loss : {"hinge", "log_loss"}
        Loss of the classifiers.
    path : {"auto", "gram", "rows"}, default="auto"
        How the machine works, as for `AdREM`.
    memory_limit : int, default=2**30
        Largest size of the Gram matrix in bytes.
    fit_intercept : bool, default=False
        Whether to append a constant feature, regularized like the others.
    tol : float, default=0.1
        Tolerance of the stopping criterion, as in liblinear.
    kernel : Kernel, default=None
        Kernel that replaces the inner product.
    work : Work, default=None
        All that the machine will train, for the forecast of memory; by default one classifier.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the machine works, as for `AdREM`.

    Returns
    -------
    Machine
        A machine that is ready to train.

    Raises
    ------
    NotEnoughMemoryError
        If the machine would take more memory than is free.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.machines import make_machine
    >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
    >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
    >>> coef, intercept = machine.weights(solution)
    >>> coef.round(2).tolist()  # members x problems x features
    [[[1.0]]]
    """
    settings = MachineSettings(loss, path, memory_limit, fit_intercept, tol, kernel, device)
    return choose_machine(Outline.of(table), Work(n_classes) if work is None else work, settings).make(table)
