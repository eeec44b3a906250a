"""What a training keeps on the device, and passes that are recorded so that the host need not lead every step."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch

from adrem.machines._problems import Solution

# Passes that are led by the host before one is recorded: the first one compiles.
LED = 1


class Recorded:
    """Work on the same tensors every time: led by the host at first, then recorded as a graph, and replayed.

    A pass is hundreds of steps of some microseconds each, less than the host takes to ask for one.
    """

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._n_led = 0
        self._graph: Any = None

    def __call__(self, work: Callable[[], None]) -> None:
        if self._graph is None and self._wanted and self._n_led == LED:
            self._graph = _record(work)
        if self._graph is None:
            work()
            self._n_led += 1
        else:
            self._graph.replay()


def _record(work: Callable[[], None]) -> Any:
    """A graph of the work, which is not done meanwhile. Other threads may go on using the device.

    What PyTorch keeps of freed memory is no help to a graph, which has its own, and is given back first.
    """
    torch.cuda.empty_cache()
    graph, aside = torch.cuda.CUDAGraph(), _aside(torch.cuda.current_device())
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            work()
        except BaseException:
            with suppress(RuntimeError):  # it tells of what went wrong inside, less well
                graph.capture_end()
            raise
        graph.capture_end()
    torch.cuda.current_stream().wait_stream(aside)
    return graph


@cache
def _aside(device: int) -> Any:
    """The stream on which all graphs of a device are recorded: for each new one libraries would keep memory."""
    return torch.cuda.Stream(device)


@dataclass
class Search:
    """Where a training stands: the order of the blocks, a block's scores and steps, and which problems are running.

    `scores` are parts of sums (parts x problems x rows), of all rows or of those of one block. `moves` counts down the
    moves of a row that a problem has left.
    """

    order: Any
    scores: Any
    steps: Any
    running: Any
    failed: Any
    moves: Any
    n_running: Any
    recorded: Recorded

    @classmethod
    def on(cls, scores: Any, n_blocks: int, size: int, *, recorded: bool) -> Search:
        """A search that is yet to begin, beside scores on a device."""
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
            Recorded(recorded),
        )

    def begin(self, moves: Any) -> None:
        self.running.fill_(1)
        self.failed.zero_()
        self.moves.copy_(moves)

    def judge(self, smallest: Any, largest: Any, tol: float) -> None:
        """Decide, by their violations, which problems go on: not those within the tolerance, nor the impatient."""
        self.moves -= len(self.order)  # looks are cheap, not free
        goes_on = (1 - (largest - smallest).le(tol).int()) * self.running
        spent = self.moves.le(0).int()
        self.failed += goes_on * spent
        self.running.copy_(goes_on * (1 - spent))
        self.n_running.copy_(self.running.sum())


@dataclass
class DeviceSolution(Solution):
    """A solution whose arrays, but for the counts, are tensors that stay in their place."""

    labels: Any
    box: Any
    dual: Any
    primal: Any
    search: Any = field(default=None, repr=False)
