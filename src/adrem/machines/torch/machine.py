"""The base class of machines on a device: all members and classes are one batch of problems on the same rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from adrem.exceptions import DeviceMemoryError
from adrem.machines.losses import Loss
from adrem.machines.machine import Machine, Training
from adrem.machines.problems import Solution, Work
from adrem.machines.tables import Outline
from adrem.machines.torch.newton import Space, Vectors, minimize
from adrem.machines.torch.search import DeviceSolution, Search
from adrem.machines.torch.steps import Blocks, moved, signs_of
from adrem.runtime.memory import size_of
from adrem.types import Matrix

# Rows converted to double precision at a time.
CHUNK = 2048
# Features are padded to a multiple of this, for faster matrix products.
COLUMNS = 32
# Maximum number of temporary values per entry (row of a problem): Newton's vectors, or scores in double precision.
TEMPORARIES = 11
# Blocks between two checks for convergence, at which the host waits for the device. Converged problems do not change.
CHECK_EVERY = 16
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


class TorchMachine(Machine, Space):
    """A machine on a PyTorch device. Labels and boxes are members x rows, dual variables problems x rows.

    The hinge loss is minimized by block coordinate descent in the dual, the log loss by Newton's method. Rows are
    shuffled once and padded to whole blocks with rows of weight zero. All arrays have the type of the rows; weights or
    scores are recomputed at the start of every training, so that rounding errors do not accumulate.

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
        self, table: Matrix, n_classes: int, loss: Loss, *, device: Any, group_size: int, **params: Any
    ) -> None:
        self.device = device
        self._group_size = group_size
        n_rows = int(table.shape[0])
        self._order = np.random.default_rng(0).permutation(n_rows)
        self._size: int = min(self.block, max(16, 1 << (n_rows - 1).bit_length()))
        self._n_blocks = -(-n_rows // self._size)
        self._steps, self._is_compiled = _steps_for(device)
        with self.guard(), exact_products():
            self._place = torch.from_numpy(np.argsort(self._order)).to(device)
            self._origin = torch.from_numpy(self._order).to(device)
            super().__init__(table, n_classes, loss, **params)
            self._arrange()
            if not loss.is_smooth:
                self._blocks = self._make_blocks()

    def _arrange(self) -> None:
        """Copy to the device what every training needs besides the rows."""

    @abstractmethod
    def _make_blocks(self) -> Blocks:
        """Return the blocks for coordinate descent, on the device."""

    @abstractmethod
    def _vectors_in(self, solution: Any) -> Vectors:
        """Return the vectors of a solution; updating them updates the solution."""

    def _finish(self, solution: Any) -> None:
        """Recompute what Newton's method has accumulated, to remove rounding errors."""

    @abstractmethod
    def _start(self, solution: Any) -> None:
        """Compute the scores or weights from the dual variables."""

    @abstractmethod
    def _pass(self, solution: Any) -> None:
        """Update every block once, and the weights or scores after each."""

    @abstractmethod
    def _all_scores(self, solution: Any) -> Any:
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

    @contextmanager
    def guard(self) -> Iterator[None]:
        try:
            yield
        except torch.cuda.OutOfMemoryError as error:
            tried = ". ".join(str(error).split(". ")[:2])
            raise DeviceMemoryError(
                f"The device is out of memory ({tried}): give fewer rows, or set device='cpu'."
            ) from error

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

    def _signs(self, labels: Any) -> Any:
        return signs_of(labels, self.n_problems, self.dtype)

    def _limits(self, box: Any) -> Any:
        """Return the boxes of all problems."""
        return box.repeat_interleave(self.n_problems, 0)

    def _signed_multiples(self, solution: Any) -> Any:
        """Return the multiples of the rows, with the signs of their labels."""
        return solution.dual * self._signs(solution.labels)

    def _transfer(self, solution: Any, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        new_labels = self._on_device(labels.astype(np.int32), torch.int32)
        solution.box.copy_(self._on_device(box, self.dtype))
        if not self.loss.is_smooth:  # Newton's method starts from the weight vectors, whatever the labels
            flipped = self._signs(solution.labels) != self._signs(new_labels)
            solution.dual.copy_(moved(solution.dual, flipped, self._limits(solution.box)))
        solution.labels.copy_(new_labels)

    def _descend(self, solution: Any, training: Training) -> NDArray[np.bool_]:
        with exact_products():
            given_up = (self._by_newton if self.loss.is_smooth else self._by_blocks)(solution, training)
        host: NDArray[np.bool_] = given_up.cpu().numpy() > 0
        return host

    def _by_newton(self, solution: Any, training: Training) -> Any:
        weights = self._weights_of(solution)
        most_products = self._visits(solution, training) // self.n_rows
        vectors = self._vectors_in(solution)
        failed = minimize(self, weights, vectors, self.tol, most_products.to(self.device), training.heartbeat)
        self._finish(solution)
        return failed

    def _weights_of(self, solution: Any) -> Any:
        """Return the weights of the rows in all problems, times C and the signs of their labels."""
        return self._signs(solution.labels) * self._limits(solution.box)

    def _by_blocks(self, solution: Any, training: Training) -> Any:
        self._start(solution)
        if solution.search is None:
            solution.search = self._make_search(solution)
        solution.search.begin(self._visits(solution, training))
        rng = np.random.default_rng(training.seed)
        n_passes = max(1, CHECK_EVERY // self._n_blocks) if self._is_compiled else 1
        while True:
            for _ in range(n_passes):
                solution.search.order.copy_(torch.from_numpy(rng.permutation(self._n_blocks)))
                self._advance(solution)
            if int(solution.search.n_running) == 0:
                return solution.search.failed
            training.heartbeat()

    def _visits(self, solution: Any, training: Training) -> Any:
        """Return the visits to a row after which each problem is given up."""
        budgets = [self._visit_budget(self.n_rows, bool(n_slow), training.give_up_factor) for n_slow in solution.n_slow]
        return torch.tensor(np.repeat(budgets, self.n_problems))

    @abstractmethod
    def _make_search(self, solution: Any) -> Search:
        """Allocate the state of coordinate descent for a solution."""

    def _advance(self, solution: Any) -> None:
        """Make one pass over all blocks, by a CUDA graph if possible."""
        solution.search.replay(lambda: self._pass_and_check(solution))

    def _pass_and_check(self, solution: Any) -> None:
        self._pass(solution)
        scores = self._all_scores(solution)
        extremes = self._steps.extremes(self.n_problems, solution, scores)
        solution.search.end_pass(*extremes, self.tol)

    def scores(self, solution: Any) -> Any:
        with exact_products():
            by_problem = self._in_order(self._all_scores(solution))
        return by_problem.reshape(-1, self.n_problems, self.n_rows).transpose(1, 2)

    def on_host(self, scores: Any) -> NDArray[np.float64]:
        host: NDArray[np.float64] = scores.double().cpu().numpy()
        return host

    def relabel(self, scores: Any) -> NDArray[np.intp]:
        winners = (scores[..., 0] > 0) if scores.shape[-1] == 1 else scores.argmax(-1)
        labels: NDArray[np.intp] = winners.int().cpu().numpy().astype(np.intp)
        return labels

    def multiples(self, solution: Any) -> NDArray[np.float64]:
        signed = self._in_order(self._signed_multiples(solution))
        return self.on_host(signed.reshape(-1, self.n_problems, self.n_rows))

    def row_losses(self, scores: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        on_device = torch.from_numpy(labels.astype(np.int32)).to(self.device)
        return np.stack([self._losses_of(*own) for own in zip(scores, on_device, strict=True)])

    def _losses_of(self, scores: Any, labels: Any) -> NDArray[np.float64]:
        margins = self._signs(labels[None]).double() * scores.T.double()
        softplus = torch.nn.functional.softplus
        losses = softplus(-margins) if self.loss.is_smooth else (1.0 - margins).clamp(min=0.0)
        return self.on_host(losses.sum(0))

    def _vectors(self, solution: Any) -> NDArray[np.float64]:
        if sp.issparse(self.table):
            return super()._vectors(solution)
        signed = self._signed_multiples(solution)
        sums = torch.zeros((len(signed), self.table.shape[1]), dtype=torch.float64, device=self.device)
        for first in range(0, self.n_padded, CHUNK):
            rows = self._rows[first : first + CHUNK, : sums.shape[1]].double()
            sums.addmm_(signed[:, first : first + CHUNK].double(), rows)
        return self.on_host(sums).reshape(-1, self.n_problems, sums.shape[1])

    @property
    def _rescales_start(self) -> bool:
        return not self.loss.is_smooth  # Newton's method starts from the weight vectors as they are

    def _restart(
        self,
        solution: Any,
        factor: float,
        factors: NDArray[np.float64],  # noqa: ARG002 - the dual variables include them
        dual: NDArray[np.float64],
    ) -> None:
        solution.box *= factor
        flat = dual.reshape(-1, self.n_rows)
        solution.dual.copy_(self._on_device(flat, self.dtype))
        with exact_products():
            self._start(solution)

    def _boxes(self, solution: Any) -> NDArray[np.float64]:
        return self.on_host(self._in_order(solution.box))

    @classmethod
    def memory_of_rows(cls, table: Outline) -> int:
        """Return the bytes of the rows on the device, and of a chunk in double precision and squared."""
        n_padded = -(-table.n_rows // cls.block) * cls.block
        columns = -(-table.n_features // COLUMNS) * COLUMNS
        return n_padded * columns * table.dtype.itemsize + 16 * min(CHUNK, n_padded) * columns

    @classmethod
    @abstractmethod
    def fixed_memory(cls, table: Outline) -> int:
        """Return the bytes on the device that do not depend on the number of members."""

    @classmethod
    @abstractmethod
    def memory_of_member(cls, table: Outline, n_problems: int) -> int:
        """Return the bytes on the device for each member that is trained at the same time."""

    @classmethod
    def memory(cls, table: Outline, work: Work) -> int:
        """Forecast the bytes on the device if all members are trained at the same time."""
        at_once = max(work.n_folds, work.n_members)
        return cls.fixed_memory(table) + (at_once + 1) * cls.memory_of_member(table, work.n_problems)

    @classmethod
    def members_that_fit(cls, table: Outline, work: Work, free: float) -> int:
        """Return how many members can be trained at the same time in `free` bytes; raise an error if none can."""
        one = cls.memory_of_member(table, work.n_problems)
        fixed = cls.fixed_memory(table) + max(1, work.n_folds) * one
        n_members = int((free - fixed) // one)
        if n_members < 1:
            raise DeviceMemoryError(
                f"Training a single member takes about {size_of(fixed + one)} on the device, and {size_of(free)} "
                "are free there: give fewer rows, or set device='cpu'."
            )
        return min(n_members, work.n_members)


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
