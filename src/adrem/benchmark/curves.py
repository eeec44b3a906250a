"""The paper's sensitivity figures: accuracy by ensemble size and by number of iterations."""

from __future__ import annotations

import json
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.algorithm.estimator import AdREM
from adrem.algorithm.voting import squash
from adrem.base.scoring import by_class
from adrem.benchmark.cells import CellResult, Home, identity, load_cached, missing_data
from adrem.benchmark.methods import METHODS
from adrem.benchmark.protocols import Protocol, find_protocols
from adrem.benchmark.store import Cell
from adrem.datasets import DomainPair
from adrem.exceptions import DataNotFoundError, LostClassWarning, MissingClassWarning, UnequalSharesWarning

METHOD = METHODS["adrem-svm"]
# The table and features under which each data set is run.
PANELS = {
    "amazon-reviews": ("amazon-full", "all"),
    "office-caltech-resnet50": ("office-caltech-full", "resnet50"),
}
# Ensembles are resampled from a pool of members; for each number of iterations some members are averaged.
POOL = 201
SIZES = tuple(range(1, 100, 2))
RESAMPLES = 500
ITERATIONS = (1, *range(5, 101, 5))
MEMBERS = 10


def ensemble_cells(home: Home) -> tuple[list[Cell], dict[str, str]]:
    """Return one cell per pair; its pool of members gives ensembles of all sizes."""
    return _cells("ensemble-size", (0,), {"pool": POOL, "resamples": RESAMPLES, "sizes": SIZES}, home)


def iteration_cells(home: Home) -> tuple[list[Cell], dict[str, str]]:
    """Return one cell per pair and number of iterations, which takes the place of the repetition."""
    # Longest first: the short cells fill the gaps, and the remaining time is not underestimated.
    return _cells("iterations", ITERATIONS[::-1], {"members": MEMBERS}, home)


def _cells(
    figure: str, repetitions: tuple[int, ...], settings: dict[str, Any], home: Home
) -> tuple[list[Cell], dict[str, str]]:
    cells, skipped = [], {}
    for data in PANELS:
        protocol = _protocol(data)
        try:
            checksum = load_cached(data, home).checksum
        except DataNotFoundError:
            skipped[data] = missing_data(data)
            continue
        depends = json.dumps({"method": identity(protocol, METHOD), **settings}, sort_keys=True)
        cells += [Cell(figure, data, p, r, METHOD.name, checksum, depends) for r in repetitions for p in protocol.pairs]
    return cells, skipped


def run_ensemble_cell(cell: Cell, home: Home) -> CellResult:
    """Return the accuracy of ensembles of all sizes, resampled from one pool of members."""
    begin = perf_counter()
    data = _data(cell, home)
    model = _fit(data, n_estimators=POOL)
    scores = np.stack([by_class(s) for s in model.member_scores(data.X_target)])
    truth = np.searchsorted(model.classes_, data.y_target)
    accuracy = ensemble_accuracy(scores, truth, SIZES, RESAMPLES, np.random.default_rng(0))
    values = {"mean": accuracy.mean(axis=0).tolist(), "std": accuracy.std(axis=0, ddof=1).tolist(), "C": model.C_}
    return values, perf_counter() - begin


def ensemble_accuracy(
    scores: NDArray[np.float64],
    truth: NDArray[np.intp],
    sizes: tuple[int, ...],
    n_resamples: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the accuracy of the vote in percent (resamples x sizes), given scores (members x rows x classes)."""
    votes = np.eye(scores.shape[2])[scores.argmax(axis=2)]
    last = np.array(sizes) - 1
    accuracy = np.empty((n_resamples, len(sizes)))
    for k in range(n_resamples):
        members = rng.permutation(len(scores))[: sizes[-1]]
        counted = np.cumsum(votes[members], axis=0)[last]
        means = np.cumsum(scores[members], axis=0)[last] / np.array(sizes)[:, None, None]
        winners = (counted + squash(means)).argmax(axis=2)
        accuracy[k] = 100.0 * np.mean(winners == truth, axis=1)
    return accuracy


def run_iteration_cell(cell: Cell, home: Home) -> CellResult:
    """Return the accuracy of single members after some number of iterations."""
    begin = perf_counter()
    data = _data(cell, home)
    model = _fit(data, n_estimators=MEMBERS, n_iter=cell.repetition)
    singles = [
        100.0 * float(np.mean(model.classes_[by_class(scores).argmax(axis=1)] == data.y_target))
        for scores in model.member_scores(data.X_target)
    ]
    return {"mean": float(np.mean(singles)), "std": float(np.std(singles, ddof=1))}, perf_counter() - begin


def _fit(data: DomainPair, **params: Any) -> AdREM:
    with warnings.catch_warnings():
        for category in (LostClassWarning, MissingClassWarning, UnequalSharesWarning):  # irrelevant for a curve
            warnings.simplefilter("ignore", category)
        model: AdREM = METHOD.make(0).set_params(**params)
        return model.fit(data.X_source, data.y_source, X_target=data.X_target)


def _protocol(data: str) -> Protocol:
    return find_protocols(*PANELS[data])[0]


def _data(cell: Cell, home: Home) -> DomainPair:
    return _protocol(cell.features).make_pair(load_cached(cell.features, home), cell.pair, 0)
