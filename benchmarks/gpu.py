"""Measure the time of `fit` on a GPU, its parts, and how much of the speed of the device they reach.

    ADREM_DATA=folder python benchmarks/gpu.py [--loss hinge] [--rounds 3] [--tasks office made text]

`office` is Office-31 A -> W, `made` rows of VisDA's size: 152 397 + 55 388 rows, 2048 features, 12 classes; `text` the
million sparse texts of `make torture-full`, 2^20 features. 11 members of 20 iterations, C given. Only
matrix products are counted, and the bytes that they must read and write. The limits are measured in the same process: a
large float32 product (no TF32) and a large copy.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

import adrem.algorithm.em
from adrem import AdREM
from adrem.datasets import DomainPair, load
from adrem.machines.torch import TorchGramMachine, TorchSparseRowMachine
from adrem.machines.torch import newton as _newton
from adrem.machines.torch.machine import TorchMachine
from adrem.machines.torch.solvers import Descent
from adrem.runtime.memory import size_of

sys.path.append(str(Path(__file__).parents[1]))
from torture.large import make_text

N_SOURCE, N_TARGET, N_FEATURES, N_CLASSES = 152_397, 55_388, 2048, 12


def made_rows(n_source: int = N_SOURCE, n_target: int = N_TARGET, seed: int = 0) -> DomainPair:
    """Classes that overlap in 64 hidden directions, as 2048 features that are never negative; the target is shifted."""
    rng = np.random.default_rng(seed)
    means = 0.35 * rng.standard_normal((N_CLASSES, 64)).astype(np.float32)
    shift = 0.3 * rng.standard_normal(64).astype(np.float32)
    mixing = (rng.standard_normal((64, N_FEATURES)) / 8).astype(np.float32)

    def rows(n: int, moved: Any) -> tuple[Any, Any]:
        labels = rng.integers(N_CLASSES, size=n)
        hidden = means[labels] + 1.5 * rng.standard_normal((n, 64), dtype=np.float32) + moved
        table = hidden @ mixing
        for first in range(0, n, 4096):
            part = table[first : first + 4096]
            part += 0.5 * rng.standard_normal(part.shape, dtype=np.float32)
        return np.maximum(table, 0.0, out=table), labels

    X, y = rows(n_source, 0.0)
    X_target, y_target = rows(n_target, shift)
    return DomainPair(X, y, X_target, y_target)


def made_text(n_rows: int = 500_000) -> DomainPair:
    """Source and target of the same number of texts."""
    (X, y), (X_target, y_target) = (make_text(n_rows, seed, seed * 12_346) for seed in (0, 1))
    return DomainPair(X, y, X_target, y_target)


TASKS: dict[str, tuple[Callable[[], DomainPair], float]] = {
    "office": (lambda: load("office-31-resnet50").pair("A-W"), 1e-3),
    "made": (made_rows, 1e-4),
    "text": (made_text, 1e-2),
}


def seconds(work: Callable[[], Any], times: int = 5) -> float:
    """Median seconds of work on the device."""
    spent = []
    for _ in range(times + 2):
        torch.cuda.synchronize()
        begin = perf_counter()
        work()
        torch.cuda.synchronize()
        spent.append(perf_counter() - begin)
    return median(spent[2:])


def ceilings() -> tuple[float, float]:
    """TFLOP/s of a large product, and GB/s of a large copy, read and written."""
    square = torch.randn(8192, 8192, device="cuda")
    many, room = torch.randn(2**29, device="cuda"), torch.empty(2**29, device="cuda")
    rate = 2 * 8192**3 / seconds(lambda: square @ square) / 1e12
    return rate, 2 * 4 * 2**29 / seconds(lambda: room.copy_(many)) / 1e9


@contextmanager
def stages() -> Iterator[tuple[dict[str, float], dict[int, int]]]:
    """Seconds by stage, and passes by the number of problems, of all that is fitted meanwhile."""
    spent: dict[str, float] = defaultdict(float)
    passes: dict[int, int] = defaultdict(int)

    def timed(owner: Any, name: str, stage: str) -> Any:
        function = getattr(owner, name)

        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            begin = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent[stage] += perf_counter() - begin

        return patch.object(owner, name, run)

    advance, made = Descent.advance, _newton._made

    def counted(self: Any, machine: Any, solution: Any) -> None:
        passes[len(solution.dual)] += 1
        advance(self, machine, solution)

    def counted_too(space: Any, multiples: Any) -> Any:
        passes[len(multiples)] += 1
        return made(space, multiples)

    with ExitStack() as stack:
        stack.enter_context(patch.object(Descent, "advance", counted))
        stack.enter_context(patch.object(_newton, "_made", counted_too))
        for owner, name, stage in (
            (TorchMachine, "_descend", "passes"),
            (TorchMachine, "_transfer", "labels and boxes to the device"),
            (TorchMachine, "__init__", "rows to the device, and their products"),
            (TorchMachine, "row_losses", "losses"),
            (TorchMachine, "relabel", "labels from the device"),
            (TorchMachine, "weights", "weights"),
            (TorchMachine, "rounding", "rounding errors"),
            (adrem.algorithm.em, "draw", "draws"),
            (AdREM, "_keep", "votes"),
        ):
            stack.enter_context(timed(owner, name, stage))
        yield spent, passes


def products(machine: Any, n_problems: int) -> tuple[float, float]:
    """Operations of the products of one pass, and bytes that these read and write at least."""
    return _block_products(machine, n_problems) if machine.solver.has_dual else _newton_products(machine, n_problems)


def _newton_products(machine: Any, n_problems: int) -> tuple[float, float]:
    """To the coordinates and back: the rows are read twice, but for a Gram matrix."""
    n_rows = machine.n_padded
    if isinstance(machine, TorchGramMachine):
        return 2.0 * n_problems * n_rows**2, 4.0 * (n_rows**2 + 2 * n_problems * n_rows)
    if isinstance(machine, TorchSparseRowMachine):
        n_entries, width = len(machine._by_row.values()), machine.table.shape[1]
        return 4.0 * n_problems * n_entries, 4.0 * (4 * n_entries + 2 * n_problems * (n_rows + width))
    width = machine._rows.shape[1]
    return 4.0 * n_problems * n_rows * width, 4.0 * (2 * n_rows * width + 2 * n_problems * (n_rows + width))


def _block_products(machine: Any, n_problems: int) -> tuple[float, float]:
    n_rows, size = machine.n_padded, machine._size
    if isinstance(machine, TorchGramMachine):
        return 2.0 * n_problems * n_rows**2, 4.0 * (n_rows**2 + 2 * n_problems * n_rows * (n_rows // size))
    if isinstance(machine, TorchSparseRowMachine):
        entries = machine._entries
        n_entries, n_features = len(entries.values), len(entries.features)
        return 6.0 * n_problems * n_entries, 4.0 * (6 * n_entries + n_problems * 2 * (n_entries + n_features))
    width = machine._rows.shape[1]
    return 6.0 * n_problems * n_rows * width, 4.0 * (2 * n_rows * width + 3 * n_problems * width * (n_rows // size))


def report(
    name: str, loss: Any, device: Any, rounds: int, limits: tuple[float, float], members: int, iterations: int
) -> None:
    make, C = TASKS[name]
    data = make()
    model = AdREM(loss, C=C, device=device, random_state=0, n_estimators=members, n_iter=iterations)
    stated = model.fit_memory(data.X_source, data.y_source, X_target=data.X_target)
    (n_source, n_features), n_target = data.X_source.shape, data.X_target.shape[0]
    print(f"\n{name}, {loss}: {n_source} + {n_target} rows, {n_features} features", flush=True)
    totals: list[float] = []
    machines: list[Any] = []
    make_machine = adrem.machines.make_machine
    for seed in range(rounds):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        machines.clear()

        def kept(*args: Any, **kwargs: Any) -> Any:
            machines.append(make_machine(*args, **kwargs))
            return machines[0]

        with patch.object(adrem.machines, "make_machine", kept), stages() as (spent, passes):
            begin = perf_counter()
            model.set_params(random_state=seed).fit(data.X_source, data.y_source, X_target=data.X_target)
            total = perf_counter() - begin
        totals.append(total)
        accuracy = 100 * np.mean(model.transduction_ == data.y_target)
        taken = torch.cuda.max_memory_allocated()
        print(f"  seed {seed}: {total:.2f} s, vote {accuracy:.1f} %, passes {dict(passes)}", flush=True)
    print(f"  median {median(totals):.2f} s; {model.machine_}; taken {size_of(taken)}, stated before {size_of(stated)}")
    flops, moved = (sum(n * products(machines[0], p)[k] for p, n in passes.items()) for k in (0, 1))
    rate, speed = flops / spent["passes"] / 1e12, moved / spent["passes"] / 1e9
    print(f"  products in passes: {flops / 1e12:.2f} TFLOP, {rate:.1f} TFLOP/s of {limits[0]:.1f};", end=" ")
    print(f"{speed:.0f} GB/s of {limits[1]:.0f}")
    spent["all else"] = total - sum(spent.values())
    for stage, time in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"  {time:8.3f} s  {100 * time / total:5.1f} %  {stage}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--loss", default="hinge")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--members", type=int, default=11)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--tasks", nargs="+", choices=sorted(TASKS), default=sorted(TASKS))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    limits = ceilings()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}: {limits[0]:.1f} TFLOP/s, {limits[1]:.0f} GB/s")
    for name in reversed(args.tasks):
        report(name, args.loss, args.device, args.rounds, limits, args.members, args.iterations)


if __name__ == "__main__":
    main()
