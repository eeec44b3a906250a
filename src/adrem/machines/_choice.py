"""Which machine is the fastest for a table: a cost model."""

from __future__ import annotations

from typing import Any, NamedTuple

from adrem._memory import check_room, size_of
from adrem._types import Matrix
from adrem.machines._gram import GramMachine
from adrem.machines._kernel import Kernel, KernelMachine
from adrem.machines._losses import LOSSES
from adrem.machines._machine import Machine
from adrem.machines._problems import Work
from adrem.machines._rows import RowMachine
from adrem.machines._tables import Outline

# Bytes that a Gram matrix may take. A fixed figure, so that the same call takes the same path everywhere.
MEMORY_LIMIT = 2**30
# In Gram space a change costs as much as there are rows and a look nothing; on the rows either costs as much as a row
# has entries, and some more whatever it has. Where rows outnumber entries by this factor, both take the same time: most
# rows are only looked at with the hinge loss, and most are changed with the log loss. Measured by benchmarks/paths.py.
BREAK_EVEN = {"hinge": 12, "log_loss": 4}
FIXED_ENTRIES = 100
# With the hinge loss a visit to a dense row costs some more, and most where two classes leave lanes empty.
FIXED_DENSE_ENTRIES = {"two": 300, "more": 200}
# A sparse row's entries count half: its lonely ones cost nothing there, and the Gram matrix takes its time here.
SPARSE = 0.5


class Path(NamedTuple):
    """The path a machine takes, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def most_rows(loss: str, entries: float, is_sparse: bool, n_classes: int) -> float:
    """How many rows of so many entries a Gram matrix pays up to."""
    if is_sparse:
        return BREAK_EVEN[loss] * (SPARSE * entries + FIXED_ENTRIES)
    if loss == "log_loss":
        return BREAK_EVEN[loss] * (entries + FIXED_ENTRIES)
    return BREAK_EVEN[loss] * (entries + FIXED_DENSE_ENTRIES["two" if n_classes == 2 else "more"])


def choose_path(
    table: Outline, n_classes: int, loss: str, path: str = "auto", memory_limit: int = MEMORY_LIMIT
) -> Path:
    """The path for a table, from its shape, its density, the classes, the loss and the memory limit alone."""
    n_rows = table.n_rows
    n_bytes = n_rows**2 * table.dtype.itemsize
    most = most_rows(loss, table.entries, table.is_sparse, n_classes)
    shape = f"{n_rows} rows of {table.entries:.0f} entries"
    if path == "gram":
        if n_bytes > memory_limit:
            raise ValueError(
                f"The Gram matrix of {n_rows} rows takes {size_of(n_bytes)}, more than memory_limit "
                f"({size_of(memory_limit)}). Raise memory_limit, or leave the choice to machine='auto'."
            )
        return Path("gram", f"asked for; {shape}, Gram matrix {size_of(n_bytes)}")
    if path == "rows":
        return Path("rows", f"asked for; {shape}")
    if n_rows > most:
        return Path("rows", f"{shape}; a Gram matrix pays up to {most:.0f} rows")
    if n_bytes > memory_limit:
        return Path(
            "rows", f"{shape}; a Gram matrix would take {size_of(n_bytes)}, memory_limit is {size_of(memory_limit)}"
        )
    return Path("gram", f"{shape}, Gram matrix {size_of(n_bytes)}; it pays up to {most:.0f} rows")


class Plan(NamedTuple):
    """A machine before it is made: its class, its path, and about how many bytes it takes at most besides its table."""

    machine: Any
    path: Path
    memory: int


def plan_machine(
    table: Outline,
    work: Work,
    loss: str,
    *,
    path: str = "auto",
    memory_limit: int = MEMORY_LIMIT,
    fit_intercept: bool = False,
    has_kernel: bool = False,
) -> Plan:
    """Choose a machine by the named path or the fastest; the one on similarities where there is a kernel."""
    chosen = choose_path(table, work.n_classes, loss, "gram" if has_kernel else path, memory_limit)
    machine: Any = {"gram": GramMachine, "rows": RowMachine}[chosen.name]
    if has_kernel:
        machine = KernelMachine
        n_bytes = table.n_rows**2 * table.dtype.itemsize
        chosen = Path("gram", f"similarities of {table.n_rows} rows, {size_of(n_bytes)}")
    bias = table.n_bytes + 13 * table.n_rows if fit_intercept and not has_kernel else 0
    return Plan(machine, chosen, machine.memory(table, work) + bias)


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
    device: str = "cpu",
) -> Machine:
    """Make the machine for a table and a loss, by the named path or the fastest.

    Parameters
    ----------
    table : {ndarray, CSR array} of shape (n_rows, n_features)
        The rows. The machine keeps a reference and never writes into it.
    n_classes : int
        How many classes there are; labels are their numbers, from 0.
    loss : {"hinge", "log_loss"}
        The loss of the classifiers.
    path : {"auto", "gram", "rows"}, default="auto"
        How the machine works, as for `AdREM`.
    memory_limit : int, default=2**30
        Bytes that the Gram matrix may take.
    fit_intercept : bool, default=False
        Whether to append a constant feature, regularized like the others.
    tol : float, default=0.1
        When to stop, in the sense of liblinear.
    kernel : Kernel, default=None
        What takes the place of the inner product.
    work : Work, default=None
        All that it will be asked for, to know its memory beforehand; by default one classifier.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where it works, as for `AdREM`. On another device than the CPU there are no kernels.

    Returns
    -------
    Machine
        A machine that is ready to train.

    Raises
    ------
    MemoryError
        If its work would take more memory than is free.

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
    work = Work(n_classes) if work is None else work
    if device != "cpu":
        from adrem.machines._devices import make_device_machine

        return make_device_machine(
            table,
            n_classes,
            loss,
            device=device,
            path=path,
            memory_limit=memory_limit,
            fit_intercept=fit_intercept,
            tol=tol,
            work=work,
        )
    plan = plan_machine(
        Outline.of(table),
        work,
        loss,
        path=path,
        memory_limit=memory_limit,
        fit_intercept=fit_intercept,
        has_kernel=kernel is not None,
    )
    way_out = "give fewer rows or features, or float32 instead of float64"
    if plan.machine is GramMachine:
        way_out = f"set machine='rows', or {way_out}"
    check_room(plan.memory, "Training", f"{way_out}; the machine would be {plan.path}")
    more = {} if kernel is None else {"kernel": kernel}
    made: Machine = plan.machine(
        table, n_classes, LOSSES[loss], path=str(plan.path), fit_intercept=fit_intercept, tol=tol, **more
    )
    return made
