"""How much a target row with a known label counts beside the source."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from adrem.base.known import USUAL_WEIGHT, weigh_known
from adrem.base.validation import Domains
from adrem.machines.linear import LinearHead, without_target
from adrem.machines.problems import Work
from adrem.machines.tables import mean_squared_norm

# Other weights are tried where so many labels are known.
LEAST_ROWS = 10
N_FOLDS = 5
STANDARD_ERRORS = 2.0


def choose_known_weight(domains: Domains, device: str = "cpu") -> float:
    """Return how many source rows a target row with a known label counts.

    It is another number than usual, up to one with which all these rows count as much as the source, only if linear
    classifiers are clearly better with it on known rows that they were trained without: by more than two standard
    errors of the difference.
    """
    if domains.n_known < LEAST_ROWS:
        return USUAL_WEIGHT
    as_the_source = float(np.count_nonzero(domains.weights[: domains.n_own])) / domains.n_known
    candidates = sorted({1.0, USUAL_WEIGHT, 25.0, max(1.0, as_the_source)})
    hits = _held_out_hits(domains, candidates, device)
    usual, best = hits[candidates.index(USUAL_WEIGHT)], hits[hits.sum(axis=1).argmax()]
    is_clear = best.sum() - usual.sum() > STANDARD_ERRORS * np.sqrt(np.count_nonzero(best != usual))
    return candidates[int(hits.sum(axis=1).argmax())] if is_clear else USUAL_WEIGHT


def _held_out_hits(domains: Domains, candidates: list[float], device: str) -> NDArray[np.int_]:
    """Return whether each known row (candidates x rows) is labelled right by a classifier trained without it."""
    n_own, n_known = domains.n_own, domains.n_known
    held = np.zeros((N_FOLDS, len(domains.labels)), dtype=bool)
    for fold, (_, rows) in enumerate(KFold(N_FOLDS, shuffle=True, random_state=0).split(np.empty((n_known, 0)))):
        held[fold, n_own + rows] = True
    weights = [np.where(held, 0.0, weigh_known(domains, weight).weights) for weight in candidates]
    head = LinearHead("hinge", 1.0 / mean_squared_norm(domains.X_source), fit_intercept=True, device=device)
    work = Work(len(domains.classes), n_folds=N_FOLDS * len(candidates))
    training = head.begin(without_target(domains), 0, work)
    with training.machine.guard():
        solution = training.machine.solve(training.labels, np.concatenate(weights), training.C)
        right = training.machine.relabel(training.machine.scores(solution)) == training.labels
    found = (right.reshape(len(candidates), N_FOLDS, -1) & held).any(axis=1)[:, n_own:]
    return np.asarray(found, dtype=np.int_)
