"""Majority vote of the members, with their mean confidence as a tie-break."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem._types import FloatArray


class Tally(NamedTuple):
    """What the members say about rows (rows x classes).

    `votes` counts the members that score a class highest. `confidence` is their mean score squashed into [0, 1/2]:
    added to the votes it decides between classes of equally many votes, and never against a majority.
    """

    votes: NDArray[np.float64]
    confidence: NDArray[np.float64]

    @property
    def ballots(self) -> NDArray[np.float64]:
        return self.votes + self.confidence

    @property
    def winners(self) -> NDArray[np.intp]:
        winners: NDArray[np.intp] = self.ballots.argmax(axis=1)
        return winners


def tally(member_scores: Iterable[FloatArray]) -> Tally:
    """Count the votes of members, given the scores of each (rows x problems, one problem for two classes)."""
    votes: NDArray[np.float64] = np.zeros(0)
    total: NDArray[np.float64] = np.zeros(0)
    for n_members, scores in enumerate(member_scores, start=1):
        by_class = _by_class(scores)
        if n_members == 1:
            votes, total = np.zeros(by_class.shape), np.zeros(by_class.shape)
        votes[np.arange(len(by_class)), by_class.argmax(axis=1)] += 1
        total += by_class
        mean = total / n_members
    return Tally(votes, (1.0 + mean / (1.0 + np.abs(mean))) / 4.0)


def _by_class(scores: FloatArray) -> NDArray[np.float64]:
    double: NDArray[np.float64] = scores.astype(np.float64, copy=False)
    return np.concatenate([-double, double], axis=1) if double.shape[1] == 1 else double
