"""The state of coordinate descent on the device, and CUDA graphs that replay its passes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch

from adrem.machines.problems import Solution

# Passes that the host launches before one is captured: the first one compiles the kernels.
N_EAGER = 1


class Replay:
    """Work on the same tensors every time, captured as a CUDA graph after a first run, and then replayed.

    A pass is hundreds of kernels of some microseconds each, which is less than a launch takes on the host.
    """

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._n_eager = 0
        self._graph: Any = None

    def __call__(self, work: Callable[[], None]) -> None:
        if self._graph is None and self._wanted and self._n_eager == N_EAGER:
            self._graph = _capture(work)
        if self._graph is None:
            work()
            self._n_eager += 1
        else:
            self._graph.replay()


def _capture(work: Callable[[], None]) -> Any:
    """Return a CUDA graph of the work, without doing it. Other threads may use the device meanwhile.

    A graph has a memory pool of its own, so the memory that PyTorch has cached is freed first.
    """
    torch.cuda.empty_cache()
    graph, stream = torch.cuda.CUDAGraph(), _capture_stream(torch.cuda.current_device())
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            work()
        except BaseException:
            with suppress(RuntimeError):  # a less precise message of the same error
                graph.capture_end()
            raise
        graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    return graph


@cache
def _capture_stream(device: int) -> Any:
    """Return the stream for all captures on a device: libraries keep memory for each stream."""
    return torch.cuda.Stream(device)


@dataclass
class Search:
    """The state of coordinate descent: the order of the blocks, a block's scores and steps, and the running problems.

    `scores` are partial sums (parts x problems x rows), of all rows or of those of one block. `moves` are the updates
    of a row that a problem has left.
    """

    order: Any
    scores: Any
    steps: Any
    running: Any
    failed: Any
    moves: Any
    n_running: Any
    replay: Replay

    @classmethod
    def on(cls, scores: Any, n_blocks: int, size: int, *, captured: bool) -> Search:
        """Return the state before a training, on the device of the scores."""
        device, n_problems = scores.device, scores.shape[1]
        whole: Any = {"dtype": torch.int64, "device": device}
        return cls(
            torch.zeros(n_blocks, **whole),
            scores,
            torch.zeros((n_problems, size), dtype=scores.dtype, device=device),
            torch.zeros(n_problems, dtype=torch.int32, device=device),
            torch.zeros(n_problems, dtype=torch.int32, device=device),
            torch.zeros(n_problems, **whole),
            torch.zeros((), **whole),
            Replay(captured),
        )

    def begin(self, moves: Any) -> None:
        self.running.fill_(1)
        self.failed.zero_()
        self.moves.copy_(moves)

    def end_pass(self, smallest: Any, largest: Any, tol: float) -> None:
        """Stop problems whose violations lie within `tol` of each other, and those without updates left."""
        self.moves -= len(self.order)  # a pass without updates is cheap, but not free
        goes_on = (1 - (largest - smallest).le(tol).int()) * self.running
        spent = self.moves.le(0).int()
        self.failed += goes_on * spent
        self.running.copy_(goes_on * (1 - spent))
        self.n_running.copy_(self.running.sum())


@dataclass
class DeviceSolution(Solution):
    """A solution on a device, whose tensors are updated in place."""

    labels: Any
    box: Any
    dual: Any
    primal: Any
    search: Any = field(default=None, repr=False)
