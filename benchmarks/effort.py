"""Measure how long each kind of a committee takes on one core, and compare it with the forecast of `effort`.

    OMP_NUM_THREADS=1 ADREM_DATA=folder python benchmarks/effort.py [PAIR ...]

A pair is a data set and two of its domains, as in office-31-resnet50:A-W. The times are seconds of a core, whatever
else the machine does, though caches and memory that are shared with other work make it slower. The last two lines of a
pair are those of a whole fit with all kinds, and of `AdREM()`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adrem import AdREM, Committee
from adrem.base.validation import Domains
from adrem.committee.effort import Size, seconds_of, seconds_of_adrem, seconds_of_rest
from adrem.committee.kinds import KINDS, usual_kinds
from adrem.committee.seats import Settings, fit_seat
from adrem.datasets import DomainPair, load
from adrem.machines.cost_model import MEMORY_LIMIT

PAIRS = (
    "digits-shift:S-T", "heart-disease:C-H", "gas-sensor-drift:1-9", "mushrooms:T-E", "amazon-text:B-D",
    "amazon-reviews:B-D", "amazon-400:B-D", "office-caltech-surf:C-A", "office-31-resnet50:A-W",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=PAIRS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for place in options.pairs:
        name, _, pair = place.partition(":")
        rows = load(name).pair(*pair.split("-"))
        fit(Committee(effort="high", n_estimators=1, n_iter=1), rows)  # loads compiled code
        print(place, f"{len(rows.y_source)} + {rows.X_target.shape[0]} rows of {rows.X_source.shape[1]}")
        for line in measure(rows):
            print(line, flush=True)


def measure(rows: DomainPair) -> list[str]:
    """Return lines with the measured and the forecast seconds."""
    classes, labels = np.unique(rows.y_source, return_inverse=True)
    domains = Domains(rows.X_source, labels, np.ones(len(labels)), rows.X_target, classes)
    model = Committee(effort="high", random_state=0)
    size = Size.of(domains, model.n_estimators, model.n_iter)
    head = {"tol": model.tol, "memory_limit": model.memory_limit, "device": model.device}
    settings = Settings(model.n_estimators, model.n_iter, model.n_jobs, head)
    names, _ = usual_kinds(rows.X_source, rows.X_target, len(classes), MEMORY_LIMIT)
    prior = np.full(len(classes), 1 / len(classes))

    def vote(name: str) -> Any:
        seat = fit_seat(KINDS[name], domains, prior, settings, np.random.SeedSequence(0))
        return seat.shares(rows.X_target)

    lines = [line(name, seconds(partial(vote, name)), seconds_of(KINDS[name], size)) for name in names]
    forecast = sum(seconds_of(KINDS[name], size) for name in names) + seconds_of_rest(size)
    lines.append(line("Committee()", seconds(partial(fit, model, rows)), forecast))
    return [*lines, line("AdREM()", seconds(partial(fit, AdREM(random_state=0), rows)), seconds_of_adrem(size))]


def line(name: str, measured: float, forecast: float) -> str:
    return f"  {name:30s} {measured:7.2f} s, forecast {forecast:7.2f} s"


def seconds(work: Callable[[], Any]) -> float:
    """Return how long some work takes on one core."""
    started = time.process_time()
    work()
    return time.process_time() - started


def fit(model: Any, rows: DomainPair) -> Any:
    return model.fit(rows.X_source, rows.y_source, X_target=rows.X_target)


if __name__ == "__main__":
    main()
