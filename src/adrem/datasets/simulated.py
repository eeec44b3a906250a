"""The simulated shifts of SKADA-Bench, drawn by skada."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import sklearn

from adrem.exceptions import DataNotFoundError
from adrem.files.tables import Table

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
    shift = SHIFTS[kind]
    tables = {}
    for seed in SEEDS:
        for name in shift.names:
            try:
                X, y, domain = make_shifted_datasets(
                    n_samples_source=shift.rows,
                    n_samples_target=shift.rows,
                    shift=name,
                    noise=shift.noise,
                    label="binary",
                    center_cov_shift=(-0.4, 3),
                    random_state=seed,
                )
            except ValueError:  # another version of skada has another name
                if name == shift.names[-1]:
                    raise
            else:
                break
        for side, rows in (("source", domain > 0), ("target", domain < 0)):
            tables[f"{side}-{seed}"] = Table(X[rows], y[rows].astype(np.int64))
    return tables
