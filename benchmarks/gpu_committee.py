"""Measure the time of a fit of `Committee` on a GPU, by kind and by step, and the accuracy of its labels.

    ADREM_DATA=folder python benchmarks/gpu_committee.py [--pairs A-W W-A] [--device cuda] [--rounds 3]

The pairs are those of Office-31. The first fit of the process, which starts the device and compiles kernels, is timed
on its own; the time of a pair is the median of the rounds after another fit. The parts are those of the last round.
"""

from __future__ import annotations

import argparse
import warnings
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from parts import parts

from adrem import Committee
from adrem.datasets import DomainPair, load


def timed_fit(data: DomainPair, device: Any, seed: int) -> tuple[float, Committee]:
    model = Committee(device=device, random_state=seed)
    begin = perf_counter()
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    return perf_counter() - begin, model


def report(name: str, data: DomainPair, device: Any, rounds: int) -> None:
    print(f"\n{name}: {len(data.X_source)} + {len(data.X_target)} rows, {data.X_source.shape[1]} features", flush=True)
    print(f"  warm-up {timed_fit(data, device, 0)[0]:.2f} s", flush=True)
    totals = []
    for seed in range(rounds):
        with parts(perf_counter) as spent:
            total, model = timed_fit(data, device, seed)
        totals.append(total)
        accuracy = 100 * np.mean(model.transduction_ == data.y_target)
        print(f"  seed {seed}: {total:.2f} s, {accuracy:.1f} %, {len(model.kinds_)} kinds", flush=True)
    print(f"  median {median(totals):.2f} s")
    for part, time in spent.items():
        print(f"  {time:8.3f} s  {part}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs="+", default=["A-W", "W-A"])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = load("office-31-resnet50")
    print(f"first fit of the process: {timed_fit(tables.pair(args.pairs[0]), args.device, 0)[0]:.2f} s")
    for name in args.pairs:
        report(name, tables.pair(name), args.device, args.rounds)


if __name__ == "__main__":
    main()
