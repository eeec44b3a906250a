"""One cell of the benchmark: its identity, its data and its run."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from adrem.benchmark.draws import Trial
from adrem.benchmark.methods import Method, find_methods
from adrem.benchmark.protocols import Protocol, find_protocols
from adrem.benchmark.store import Cell
from adrem.datasets import DataSet, load
from adrem.datasets.registry import find_spec
from adrem.exceptions import DamagedDataError, MethodFailedError

Home = str | Path | None
CellResult = tuple[dict[str, Any], float]  # values and seconds
Work = Callable[[Cell, Home], CellResult]


def identity(protocol: Protocol, method: Method) -> str:
    """Return as JSON what a result depends on besides the data, the pair and the repetition."""
    content = {**protocol.identity(), "parameters": method.parameters(), "version": method.version}
    return json.dumps(content, sort_keys=True, default=str)


def missing_data(name: str) -> str:
    """Return why a data set is skipped, and what to do."""
    needs = find_spec(name).needs
    if needs:
        return f'{name} is drawn by {needs}: pip install "adrem[bench]".'
    return f"the files of {name} are missing; `adrem datasets info {name}` says where to put them."


@lru_cache(maxsize=4)
def load_cached(name: str, home: Home) -> DataSet:
    """Load a data set once per process."""
    return load(name, home)


@lru_cache(maxsize=1)
def _load_trial(table: str, features: str, pair: str, repetition: int, checksum: str, home: Home) -> Trial:
    """Return the rows of a cell. Consecutive methods share them; no method changes its input."""
    [protocol] = find_protocols(table, features)
    data = load_cached(protocol.data, home)
    if data.checksum != checksum:
        raise DamagedDataError(f"The data of {protocol.data} have changed since the run was planned.")
    return protocol.make_trial(data, pair, repetition)


def run_cell(cell: Cell, home: Home) -> CellResult:
    """Label the target of a cell and score the labels. A peer that fails gives the reason instead."""
    trial = _load_trial(cell.task, cell.features, cell.pair, cell.repetition, cell.data, home)
    [method] = find_methods([cell.method])
    begin = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            labels, model = method.label(trial.pair, cell.repetition, trial.X_held)
        except MethodFailedError as error:
            return {"accuracy": None, "failure": str(error)}, perf_counter() - begin
    seconds = getattr(model, "seconds", perf_counter() - begin)
    values = {
        "accuracy": 100.0 * float(np.mean(labels == trial.truth)),
        "C": float(model.C_) if hasattr(model, "C_") else None,
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
    }
    if hasattr(model, "peak_memory"):
        values["peak_memory"] = model.peak_memory
    return values, seconds
