"""The simulated shifts of SKADA-Bench, drawn by skada."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import sklearn

from adrem.exceptions import DataNotFoundError
from adrem.files.labelled_rows import Table

SEEDS = range(5)


class Shift(NamedTuple):
    """A shift by its names in versions of skada, newest first; its noise, and rows in each of eight clusters."""

    names: tuple[str, ...]
    noise: float
    rows: int


SHIFTS = {
    "covariate": Shift(("covariate_shift",), 0.6, 100),
    "target": Shift(("target_shift",), 0.8, 100),
    "concept": Shift(("conditional_shift", "concept_drift"), 0.8, 100),
    "subspace": Shift(("subspace",), 0.4, 300),
}


def make_shift(kind: str) -> dict[str, Table]:
    """Draw a source and a target of a shift for each seed, as SKADA-Bench does."""
    try:
        with sklearn.config_context():  # importing skada turns on metadata routing for the whole process
            from skada.datasets import make_shifted_datasets
    except ImportError as error:
        raise DataNotFoundError(f'The {kind} shift is drawn by skada: pip install "adrem[bench]".') from error
    tables = {}
    for seed in SEEDS:
        X, y, domain = _draw(make_shifted_datasets, SHIFTS[kind], seed)
        for side, rows in (("source", domain > 0), ("target", domain < 0)):
            tables[f"{side}-{seed}"] = Table(X[rows], y[rows].astype(np.int64))
    return tables


def _draw(make: Any, shift: Shift, seed: int) -> Any:
    parameters = {"noise": shift.noise, "label": "binary", "center_cov_shift": (-0.4, 3), "random_state": seed}
    sizes = dict.fromkeys(("n_samples_source", "n_samples_target"), shift.rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # skada warns of its own parameters
        for name in shift.names[:-1]:
            with suppress(ValueError):  # another version of skada has another name
                return make(shift=name, **sizes, **parameters)
        return make(shift=shift.names[-1], **sizes, **parameters)
