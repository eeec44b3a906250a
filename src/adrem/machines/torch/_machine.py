"""What the machines on a device share: rows that stand there once, members and classes as one batch of problems."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from adrem._memory import size_of
from adrem._types import Matrix
from adrem.machines._losses import Loss
from adrem.machines._machine import DeviceMemoryError, Machine
from adrem.machines._problems import Solution, Work
from adrem.machines._tables import Outline
from adrem.machines.torch._newton import Space, Vectors, minimize
from adrem.machines.torch._search import DeviceSolution, Search
from adrem.machines.torch._steps import Blocks, moved, signs_of

# Rows that are made double precision at a time.
CHUNK = 2048
# Features are padded to a multiple of this: products of other shapes are slower.
COLUMNS = 32
# Numbers of an entry (a problem's row) that are on the way at most: Newton's vectors, or scores in double precision.
ON_THE_WAY = 11
# Blocks after which the host looks whether a training has come to its end: to look, it has to wait. A problem that has
# come to its end stands still.
LOOK = 16
# Bytes that the libraries of the device keep for themselves.
WORKSPACE = 2**27


@contextmanager
def exact_products() -> Iterator[None]:
    """Products of float32 in float32, whatever the user lets other programs round to."""
    before = torch.get_float32_matmul_precision()
    if before != "highest":
        torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        if before != "highest":
            torch.set_float32_matmul_precision(before)


class TorchMachine(Machine, Space):
    """Machine on a device of PyTorch. Labels and boxes are members x rows, dual variables problems x rows.

    The hinge loss goes down block by block in the dual, the log loss by Newton's method. Rows stand in an order
    shuffled once, and are padded to whole blocks by rows that never have a weight. Numbers have the type of the rows;
    the weights, or the scores, are made anew in every training, so that rounding errors do not add up over trainings.

    Parameters
    ----------
    device : torch.device
    group_size : int
        Members whose training is one batch.
    """

    width: ClassVar[int] = 1
    travels: ClassVar[bool] = False
    # Rows whose coordinates are settled one after the other before the others hear of it.
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
            if not loss.is_logistic:
                self._blocks = self._make_blocks()

    def _arrange(self) -> None:
        """Put on the device what all trainings need, besides the rows."""

    @abstractmethod
    def _make_blocks(self) -> Blocks:
        """Put on the device what trainings need that go block by block."""

    @abstractmethod
    def _vectors_in(self, solution: Any) -> Vectors:
        """The vectors of a solution, which change with them."""

    def _finish(self, solution: Any) -> None:
        """Make anew what has been added up while the vectors of a solution changed."""

    @abstractmethod
    def _start(self, solution: Any) -> None:
        """Make scores or weights of the dual variables."""

    @abstractmethod
    def _pass(self, solution: Any) -> None:
        """Settle every block once, and tell the others."""

    @abstractmethod
    def _all_scores(self, solution: Any) -> Any:
        """Scores of all rows as they stand on the device (problems x padded rows)."""

    @property
    def n_padded(self) -> int:
        return self._n_blocks * self._size

    @property
    def dtype(self) -> Any:
        return torch.float32 if self._table.dtype == np.float32 else torch.float64

    @property
    def group_size(self) -> int:
        return self._group_size

    def jobs(self, n_jobs: int) -> int:  # noqa: ARG002 - a device is busy with one batch
        return 1

    @contextmanager
    def guard(self) -> Iterator[None]:
        try:
            yield
        except torch.cuda.OutOfMemoryError as error:
            tried = ". ".join(str(error).split(". ")[:2])
            raise DeviceMemoryError(
                f"The memory of the device is spent ({tried}): give fewer rows, or set device='cpu'."
            ) from error

    def _norms_of_rows(self) -> NDArray[np.float64]:
        """Squared norms, by rows that are on the device from now on."""
        if sp.issparse(self._table):
            return super()._norms_of_rows()
        self._rows = self._shuffled()
        norms = torch.cat([part.double().square().sum(1) for part in self._rows.split(CHUNK)])
        return self.on_host(self._in_order(norms))

    def _shuffled(self) -> Any:
        """The rows on the device, in their shuffled order, padded by empty ones and by features that are zero."""
        n_features = self._table.shape[1]
        n_columns = -(-n_features // COLUMNS) * COLUMNS
        rows = torch.zeros((self.n_padded, n_columns), dtype=self.dtype, device=self.device)
        for first in range(0, self.n_rows, CHUNK):
            which = self._order[first : first + CHUNK]
            some = torch.from_numpy(np.ascontiguousarray(self._table[which])).to(self.device)
            rows[first : first + len(which), :n_features] = some
        return rows

    def _on_device(self, array: NDArray[Any], dtype: Any) -> Any:
        """An array with the rows as its last axis, on the device, in the shuffled order and padded."""
        given = torch.from_numpy(np.ascontiguousarray(array)).to(self.device).to(dtype)
        shuffled = given.index_select(-1, self._origin)
        return torch.nn.functional.pad(shuffled, (0, self.n_padded - self.n_rows))

    def _in_order(self, padded: Any) -> Any:
        """A tensor with the padded rows as its last axis, in the order of the table."""
        return padded.index_select(-1, self._place)

    def nothing(self, n_members: int) -> Solution:
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
        """Dual variables of a problem."""
        return self.n_padded

    @property
    @abstractmethod
    def _n_primal(self) -> int:
        """Numbers that a problem's solution is, in scores or in weights."""

    def copies(self, solution: Any, n_members: int) -> Solution:
        times = n_members // len(solution.n_failed)
        tensors = (solution.labels, solution.box, solution.dual, solution.primal)
        labels, box, dual, primal = (tensor.repeat(times, 1) for tensor in tensors)
        return DeviceSolution(labels, box, dual, primal, *np.tile((solution.n_failed, solution.n_slow), times))

    def _signs(self, labels: Any) -> Any:
        return signs_of(labels, self.n_problems, self.dtype)

    def _limits(self, box: Any) -> Any:
        """Boxes of all problems."""
        return box.repeat_interleave(self.n_problems, 0)

    def _signed_multiples(self, solution: Any) -> Any:
        """Multiples of the rows, with the signs of their labels."""
        return solution.dual * self._signs(solution.labels)

    def _move(self, solution: Any, labels: NDArray[np.intp], box: NDArray[np.float64]) -> None:
        new_labels = self._on_device(labels.astype(np.int32), torch.int32)
        solution.box.copy_(self._on_device(box, self.dtype))
        if not self.loss.is_logistic:  # Newton's method goes on from the vectors, whatever the labels
            flipped = self._signs(solution.labels) != self._signs(new_labels)
            solution.dual.copy_(moved(solution.dual, flipped, self._limits(solution.box)))
        solution.labels.copy_(new_labels)

    def _descend(
        self,
        solution: Any,
        seed: int,
        among: NDArray[np.intp] | None,  # noqa: ARG002 - a row of weight zero moves nothing
        pulse: Callable[[], None],
    ) -> NDArray[np.bool_]:
        with exact_products():
            if self.loss.is_logistic:
                given_up = self._by_newton(solution, pulse)
            else:
                given_up = self._by_blocks(solution, seed, pulse)
        host: NDArray[np.bool_] = given_up.cpu().numpy() > 0
        return host

    def _by_newton(self, solution: Any, pulse: Callable[[], None]) -> Any:
        weights = self._weights_of(solution)
        most_products = self._patience_of(solution) // self.n_rows
        vectors = self._vectors_in(solution)
        failed = minimize(self, weights, vectors, self.tol, most_products.to(self.device), pulse)
        self._finish(solution)
        return failed

    def _weights_of(self, solution: Any) -> Any:
        """What the rows count in all problems, times C, with the signs of their labels."""
        return self._signs(solution.labels) * self._limits(solution.box)

    def _by_blocks(self, solution: Any, seed: int, pulse: Callable[[], None]) -> Any:
        self._start(solution)
        if solution.search is None:
            solution.search = self._make_search(solution)
        solution.search.begin(self._patience_of(solution))
        rng = np.random.default_rng(seed)
        n_passes = max(1, LOOK // self._n_blocks) if self._is_compiled else 1
        while True:
            for _ in range(n_passes):
                solution.search.order.copy_(torch.from_numpy(rng.permutation(self._n_blocks)))
                self._advance(solution)
            if int(solution.search.n_running) == 0:
                return solution.search.failed
            pulse()

    def _patience_of(self, solution: Any) -> Any:
        """Looks at a row after which each problem is given up."""
        patience = [self._patience(self.n_rows, bool(n_slow)) for n_slow in solution.n_slow]
        return torch.tensor(np.repeat(patience, self.n_problems))

    @abstractmethod
    def _make_search(self, solution: Any) -> Search:
        """Room for a training of a solution."""

    def _advance(self, solution: Any) -> None:
        """One pass over all blocks, from a recording if there is one."""
        solution.search.recorded(lambda: self._pass_and_judge(solution))

    def _pass_and_judge(self, solution: Any) -> None:
        self._pass(solution)
        scores = self._all_scores(solution)
        extremes = self._steps.extremes(self.n_problems, solution, scores)
        solution.search.judge(*extremes, self.tol)

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
        losses = softplus(-margins) if self.loss.is_logistic else (1.0 - margins).clamp(min=0.0)
        return self.on_host(losses.sum(0))

    def _vectors(self, solution: Any) -> NDArray[np.float64]:
        if sp.issparse(self._table):
            return super()._vectors(solution)
        signed = self._signed_multiples(solution)
        sums = torch.zeros((len(signed), self._table.shape[1]), dtype=torch.float64, device=self.device)
        for first in range(0, self.n_padded, CHUNK):
            rows = self._rows[first : first + CHUNK, : sums.shape[1]].double()
            sums.addmm_(signed[:, first : first + CHUNK].double(), rows)
        return self.on_host(sums).reshape(-1, self.n_problems, sums.shape[1])

    def rescale(self, solution: Any, factor: float) -> None:
        if self.loss.is_logistic:  # Newton's method begins with the vectors as they are
            solution.box *= factor
        else:
            super().rescale(solution, factor)

    def _replace(
        self,
        solution: Any,
        factor: float,
        factors: NDArray[np.float64],  # noqa: ARG002 - they are in the dual variables
        dual: NDArray[np.float64],
    ) -> None:
        solution.box *= factor
        flat = dual.reshape(-1, self.n_rows)
        solution.dual.copy_(self._on_device(flat, self.dtype))
        with exact_products():
            self._start(solution)

    def _box(self, solution: Any) -> NDArray[np.float64]:
        return self.on_host(self._in_order(solution.box))

    @classmethod
    def memory_of_rows(cls, table: Outline) -> int:
        """Bytes of the rows on the device, and of some of them in double precision and squared."""
        n_padded = -(-table.n_rows // cls.block) * cls.block
        columns = -(-table.n_features // COLUMNS) * COLUMNS
        return n_padded * columns * table.dtype.itemsize + 16 * min(CHUNK, n_padded) * columns

    @classmethod
    @abstractmethod
    def fixed_memory(cls, table: Outline) -> int:
        """Bytes on the device whatever the number of members."""

    @classmethod
    @abstractmethod
    def memory_of_member(cls, table: Outline, n_problems: int) -> int:
        """Bytes on the device for each member that is trained at the same time, besides the source's classifier."""

    @classmethod
    def memory(cls, table: Outline, work: Work) -> int:
        """At most about how many bytes are taken on the device where all members are trained at the same time."""
        at_once = max(work.n_folds, work.n_members)
        return cls.fixed_memory(table) + (at_once + 1) * cls.memory_of_member(table, work.n_problems)

    @classmethod
    def members_that_fit(cls, table: Outline, work: Work, free: float) -> int:
        """How many members can be trained at the same time in so many bytes; a refusal where not even one can."""
        one = cls.memory_of_member(table, work.n_problems)
        fixed = cls.fixed_memory(table) + max(1, work.n_folds) * one
        n_members = int((free - fixed) // one)
        if n_members < 1:
            raise DeviceMemoryError(
                f"Training takes about {size_of(fixed + one)} on the device for one member alone, and {size_of(free)} "
                "are free there: give fewer rows, or set device='cpu'."
            )
        return min(n_members, work.n_members)


def _steps_for(device: Any) -> tuple[Any, bool]:
    """The steps for a device: compiled where there is Triton, plain elsewhere. And which of the two they are."""
    if device.type == "cuda":
        try:
            from adrem.machines.torch import _triton
        except ImportError:  # where PyTorch comes without Triton
            pass
        else:
            return _triton, True
    from adrem.machines.torch import _steps

    return _steps, False
