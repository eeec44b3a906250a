"""The base class of machines on a device: all members and classes are one batch of problems on the same rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from adrem.exceptions import DeviceMemoryError
from adrem.machines.machine import Machine, Training
from adrem.machines.problems import Solution
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import Outline
from adrem.machines.torch.newton import Space, Vectors
from adrem.machines.torch.search import DeviceSolution, Search
from adrem.machines.torch.solvers import SOLVERS
from adrem.machines.torch.steps import Blocks, signs_of
from adrem.types import Matrix

# Rows converted to double precision at a time.
CHUNK = 2048
# Features are padded to a multiple of this, for faster matrix products.
COLUMNS = 32
# Maximum number of temporary values per entry (row of a problem): Newton's vectors, or scores in double precision.
TEMPORARIES = 11
# Bytes that the libraries of the device allocate.
WORKSPACE = 2**27


@contextmanager
def exact_products() -> Iterator[None]:
    """Compute float32 products in float32, whatever precision the user has set for PyTorch."""
    before = torch.get_float32_matmul_precision()
    if before != "highest":
        torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        if before != "highest":
            torch.set_float32_matmul_precision(before)


def on_host(scores: Any) -> NDArray[np.float64]:
    """Return a tensor as an array in double precision."""
    host: NDArray[np.float64] = scores.double().cpu().numpy()
    return host


def decide(scores: Any) -> NDArray[np.intp]:
    """Return the class numbers with the highest scores, as `decide` does for arrays."""
    winners = (scores[..., 0] > 0) if scores.shape[-1] == 1 else scores.argmax(-1)
    labels: NDArray[np.intp] = winners.int().cpu().numpy().astype(np.intp)
    return labels


@contextmanager
def guarded() -> Iterator[None]:
    """Raise `DeviceMemoryError` if the device runs out of memory."""
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        tried = ". ".join(str(error).split(". ")[:2])
        raise DeviceMemoryError(
            f"The device is out of memory ({tried}): give fewer rows, or set device='cpu'."
        ) from error


class TorchMachine(Machine, Space):
    """A machine on a PyTorch device. Labels and boxes are members x rows, dual variables problems x rows.

    Its solver minimizes the loss. Rows are shuffled once and padded to whole blocks with rows of weight zero. All
    arrays have the type of the rows; weights or scores are recomputed at the start of every training, so that rounding
    errors do not accumulate.

    Parameters
    ----------
    device : torch.device
    group_size : int
        Number of members that are trained as one batch.
    """

    width: ClassVar[int] = 1
    travels: ClassVar[bool] = False
    # Rows of a block: its coordinates are updated in turn, and only then all weights or scores.
    block: ClassVar[int]

    def __init__(
        self, table: Matrix, n_classes: int, settings: MachineSettings, path: str, *, device: Any, group_size: int
    ) -> None:
        self.device = device
        self._group_size = group_size
        n_rows = int(table.shape[0])
        self._order = np.random.default_rng(0).permutation(n_rows)
        self._size: int = min(self.block, max(16, 1 << (n_rows - 1).bit_length()))
        self._n_blocks = -(-n_rows // self._size)
        self.steps, self.is_compiled = _steps_for(device)
        with self.guard(), exact_products():
            self._place = torch.from_numpy(np.argsort(self._order)).to(device)
            self._origin = torch.from_numpy(self._order).to(device)
            super().__init__(table, n_classes, settings, path)
            self._arrange()
            self.solver = SOLVERS[self.loss.name](self)

    def _arrange(self) -> None:
        """Copy to the device what every training needs besides the rows."""

    # What block coordinate descent needs.

    @abstractmethod
    def make_blocks(self) -> Blocks:
        """Return the blocks, on the device."""

    @abstractmethod
    def make_search(self, solution: Any) -> Search:
        """Allocate the state of coordinate descent for a solution."""

    @abstractmethod
    def start(self, solution: Any) -> None:
        """Compute the scores or weights from the multiples."""

    @abstractmethod
    def sweep(self, solution: Any, blocks: Blocks) -> None:
        """Update every block once, and the weights or scores after each."""

    # What Newton's method needs, besides the methods of `Space`.

    def prepare_products(self) -> None:
        """Copy to the device what products with all rows need."""

    @abstractmethod
    def vectors_in(self, solution: Any) -> Vectors:
        """Return the vectors of a solution; updating them updates the solution."""

    @abstractmethod
    def multiples_in(self, solution: Any, weights: Any) -> Any:
        """Return the signed multiples of the rows, whose signed weights are given, in a solution of Newton's method."""

    def finish(self, solution: Any) -> None:
        """Recompute what Newton's method has accumulated, to remove rounding errors."""

    @abstractmethod
    def all_scores(self, solution: Any) -> Any:
        """Return the scores of all rows (problems x padded rows), in shuffled order."""

    @property
    def n_padded(self) -> int:
        return self._n_blocks * self._size

    @property
    def dtype(self) -> Any:
        return torch.float32 if self.table.dtype == np.float32 else torch.float64

    @property
    def group_size(self) -> int:
        return self._group_size

    def jobs(self, n_jobs: int) -> int:  # noqa: ARG002 - one batch occupies the device
        return 1

    def guard(self) -> AbstractContextManager[None]:
        return guarded()

    def _norms_of_rows(self) -> NDArray[np.float64]:
        """Copy dense rows to the device, and return the squared norms of all rows."""
        if sp.issparse(self.table):
            return super()._norms_of_rows()
        self._rows = self._shuffled()
        norms = torch.cat([part.double().square().sum(1) for part in self._rows.split(CHUNK)])
        return self.on_host(self._in_order(norms))

    def _shuffled(self) -> Any:
        """Return the rows on the device, shuffled, with rows and features padded with zeros."""
        n_features = self.table.shape[1]
        n_columns = -(-n_features // COLUMNS) * COLUMNS
        rows = torch.zeros((self.n_padded, n_columns), dtype=self.dtype, device=self.device)
        for first in range(0, self.n_rows, CHUNK):
            which = self._order[first : first + CHUNK]
            some = torch.from_numpy(np.ascontiguousarray(self.table[which])).to(self.device)
            rows[first : first + len(which), :n_features] = some
        return rows

    def _on_device(self, array: NDArray[Any], dtype: Any) -> Any:
        """Return an array, whose last axis is the rows, on the device, shuffled and padded."""
        given = torch.from_numpy(np.ascontiguousarray(array)).to(self.device).to(dtype)
        shuffled = given.index_select(-1, self._origin)
        return torch.nn.functional.pad(shuffled, (0, self.n_padded - self.n_rows))

    def _in_order(self, padded: Any) -> Any:
        """Return a tensor, whose last axis is the padded rows, in the order of the table."""
        return padded.index_select(-1, self._place)

    def zero_solution(self, n_members: int) -> Solution:
        shape = (n_members * self.n_problems, self.n_padded)
        numbers: Any = {"dtype": self.dtype, "device": self.device}
        return DeviceSolution(
            torch.zeros((n_members, self.n_padded), dtype=torch.int32, device=self.device),
            torch.zeros((n_members, self.n_padded), **numbers),
            torch.zeros((shape[0], self._n_dual), **numbers),
            torch.zeros((shape[0], self._n_primal), **numbers),
            *np.zeros((2, n_members), np.intp),
        )

    @property
    def _n_dual(self) -> int:
        """Number of dual variables of a problem."""
        return self.n_padded

    @property
    @abstractmethod
    def _n_primal(self) -> int:
        """Number of scores or weights of a problem."""

    def copies(self, solution: Any, n_members: int) -> Solution:
        times = n_members // len(solution.n_failed)
        tensors = (solution.labels, solution.box, solution.dual, solution.primal)
        labels, box, dual, primal = (tensor.repeat(times, 1) for tensor in tensors)
        return DeviceSolution(labels, box, dual, primal, *np.tile((solution.n_failed, solution.n_slow), times))

    def signs(self, labels: Any) -> Any:
        return signs_of(labels, self.n_problems, self.dtype)

    def limits(self, box: Any) -> Any:
        """Return the boxes of all problems."""
        return box.repeat_interleave(self.n_problems, 0)

    def visits(self, solution: Any, training: Training) -> Any:
        """Return the visits to a row after which each problem is given up."""
        budgets = [self._visit_budget(self.n_rows, bool(n_slow), training.give_up_factor) for n_slow in solution.n_slow]
        return torch.tensor(np.repeat(budgets, self.n_problems))

    def _transfer(self, solution: Any, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        new_labels = self._on_device(labels.astype(np.int32), torch.int32)
        solution.box.copy_(self._on_device(box, self.dtype))
        self.solver.transfer(self, solution, new_labels)
        solution.labels.copy_(new_labels)

    def _descend(self, solution: Any, training: Training) -> NDArray[np.bool_]:
        with exact_products():
            given_up = self.solver.minimize(self, solution, training)
        host: NDArray[np.bool_] = given_up.cpu().numpy() > 0
        return host

    def scores(self, solution: Any) -> Any:
        with exact_products():
            by_problem = self._in_order(self.all_scores(solution))
        return by_problem.reshape(-1, self.n_problems, self.n_rows).transpose(1, 2)

    def on_host(self, scores: Any) -> NDArray[np.float64]:
        return on_host(scores)

    def relabel(self, scores: Any) -> NDArray[np.intp]:
        return decide(scores)

    def multiples(self, solution: Any) -> NDArray[np.float64]:
        signed = self._in_order(self.solver.multiples(self, solution))
        return self.on_host(signed.reshape(-1, self.n_problems, self.n_rows))

    def row_losses(self, scores: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        on_device = torch.from_numpy(labels.astype(np.int32)).to(self.device)
        return np.stack([self._losses_of(*own) for own in zip(scores, on_device, strict=True)])

    def _losses_of(self, scores: Any, labels: Any) -> NDArray[np.float64]:
        margins = self.signs(labels[None]).double() * scores.T.double()
        return self.on_host(self.solver.losses(margins).sum(0))

    def _vectors(self, solution: Any) -> NDArray[np.float64]:
        if sp.issparse(self.table):
            return super()._vectors(solution)
        signed = self.solver.multiples(self, solution)
        sums = torch.zeros((len(signed), self.table.shape[1]), dtype=torch.float64, device=self.device)
        for first in range(0, self.n_padded, CHUNK):
            rows = self._rows[first : first + CHUNK, : sums.shape[1]].double()
            sums.addmm_(signed[:, first : first + CHUNK].double(), rows)
        return self.on_host(sums).reshape(-1, self.n_problems, sums.shape[1])

    def rescale(self, solution: Any, factor: float) -> None:
        if self.solver.has_dual:
            super().rescale(solution, factor)
        else:  # the weight vectors stay as they are
            solution.box *= factor

    def _restart(
        self,
        solution: Any,
        factors: NDArray[np.float64],  # noqa: ARG002 - the dual variables include them
        dual: NDArray[np.float64],
    ) -> None:
        flat = dual.reshape(-1, self.n_rows)
        solution.dual.copy_(self._on_device(flat, self.dtype))
        with exact_products():
            self.start(solution)

    def _boxes(self, solution: Any) -> NDArray[np.float64]:
        return self.on_host(self._in_order(solution.box))


def n_padded_rows(table: Outline, block: int) -> int:
    """Return the number of rows, padded to whole blocks."""
    return -(-table.n_rows // block) * block


def memory_of_rows(table: Outline, n_padded: int) -> int:
    """Return the bytes of the rows on the device, and of a chunk in double precision and squared."""
    columns = -(-table.n_features // COLUMNS) * COLUMNS
    return n_padded * columns * table.dtype.itemsize + 16 * min(CHUNK, n_padded) * columns


def _steps_for(device: Any) -> tuple[Any, bool]:
    """Return the module of the block steps, in Triton if possible, else in plain PyTorch; and whether it is Triton."""
    if device.type == "cuda":
        try:
            from adrem.machines.torch import triton as _triton
        except ImportError:  # this build of PyTorch has no Triton
            pass
        else:
            return _triton, True
    from adrem.machines.torch import steps as _steps

    return _steps, False
