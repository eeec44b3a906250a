"""The choice of a machine: its device, its path and the memory it will take, decided once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adrem.machines.cost_model import MEMORY_LIMIT, Path, choose_device_path, choose_path, gram_bytes
from adrem.machines.devices import CPU, MEMORY_MARGIN, find_device, free_memory, resolve_device
from adrem.machines.gram import GramMachine, gram_memory
from adrem.machines.kernel import Kernel, KernelMachine, kernel_memory
from adrem.machines.losses import LOSSES
from adrem.machines.machine import Machine
from adrem.machines.problems import Work
from adrem.machines.rows import RowMachine, row_memory
from adrem.machines.tables import Outline
from adrem.runtime.memory import check_room, size_of
from adrem.types import Matrix


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

    def make(self, table: Matrix) -> Machine:
        """Make the machine for the table of the outline; refuse it if it does not fit into the free memory."""
        return self._make_on_cpu(table) if self.device == CPU else self._make_on_device(table)

    def _make_on_cpu(self, table: Matrix) -> Machine:
        advice = "give fewer rows or features, or float32 instead of float64"
        if self.machine_class is GramMachine:
            advice = f"set machine='rows', or {advice}"
        check_room(self.memory, "Training", f"{advice}; the machine would be {self.path}")
        kernel = self.settings.kernel
        return self._new(table, str(self.path), **({} if kernel is None else {"kernel": kernel}))

    def _make_on_device(self, table: Matrix) -> Machine:
        """Make the machine for as many members at a time as the memory of the device holds."""
        device = find_device(self.device)
        free = MEMORY_MARGIN * free_memory(device)
        group_size = self.machine_class.members_that_fit(self.outline, self.work, free)
        memory = self.machine_class.memory(self.outline, self.work._replace(n_members=group_size))
        path = f"{self.path}; on {self.device}, {group_size} member(s) at a time, about {size_of(memory)}"
        return self._new(table, path, device=device, group_size=group_size)

    def _new(self, table: Matrix, path: str, **options: Any) -> Machine:
        settings = self.settings
        machine: Machine = self.machine_class(
            table,
            self.work.n_classes,
            LOSSES[settings.loss],
            path=path,
            fit_intercept=settings.fit_intercept,
            tol=settings.tol,
            **options,
        )
        return machine


def choose_machine(outline: Outline, work: Work, settings: MachineSettings) -> MachineChoice:
    """Choose the device, the path and the class of the machine for a table, and forecast its memory."""
    device = resolve_device(settings.device, outline, work, has_kernel=settings.kernel is not None)
    if device != CPU:
        path = choose_device_path(outline, settings.path, settings.memory_limit)
        machine_class = _device_class(path, outline)
        return MachineChoice(outline, work, settings, device, path, machine_class, machine_class.memory(outline, work))
    if settings.kernel is not None:
        choose_path(outline, work.n_classes, settings.loss, "gram", settings.memory_limit)  # refuses too many rows
        path = Path("gram", f"similarities of {outline.n_rows} rows, {size_of(gram_bytes(outline))}")
        return MachineChoice(outline, work, settings, device, path, KernelMachine, kernel_memory(outline, work))
    path = choose_path(outline, work.n_classes, settings.loss, settings.path, settings.memory_limit)
    machine_class, forecast = {"gram": (GramMachine, gram_memory), "rows": (RowMachine, row_memory)}[path.name]
    with_constant = outline.n_bytes + 13 * outline.n_rows if settings.fit_intercept else 0
    memory = forecast(outline, work) + with_constant
    return MachineChoice(outline, work, settings, device, path, machine_class, memory)


def _device_class(path: Path, table: Outline) -> Any:
    from adrem.machines.torch import TorchGramMachine, TorchRowMachine, TorchSparseRowMachine

    on_rows = TorchSparseRowMachine if table.is_sparse else TorchRowMachine
    return TorchGramMachine if path.name == "gram" else on_rows


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
        Kernel that replaces the inner product. Kernels need the CPU.
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
