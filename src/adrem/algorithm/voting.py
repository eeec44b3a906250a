"""Majority vote of the members, with their mean confidence as a tie-break."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.base.scoring import by_class
from adrem.types import FloatArray


class Tally(NamedTuple):
    """The votes of the members (rows x classes).

    `votes` counts the members that score a class highest. `confidence` is their mean score mapped into [0, 1/2]: added
    to the votes it breaks ties, and never overrules a majority.
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


def tally(member_scores: Iterable[FloatArray], absent: Collection[int] = ()) -> Tally:
    """Count the votes of members, given the scores of each (rows x problems, one problem for two classes).

    There are no votes for the classes at the `absent` positions.
    """
    positions = list(absent)
    votes: NDArray[np.float64] = np.zeros(0)
    total: NDArray[np.float64] = np.zeros(0)
    for n_members, scores in enumerate(member_scores, start=1):
        confidence = by_class(scores)
        if n_members == 1:
            votes, total = np.zeros(confidence.shape), np.zeros(confidence.shape)
        votes[np.arange(len(confidence)), _highest(confidence, positions)] += 1
        total += confidence
    mean = squash(total / n_members)
    mean[:, positions] = 0.0
    return Tally(votes, mean)


def _highest(scores: NDArray[np.float64], absent: list[int]) -> NDArray[np.intp]:
    """Return the class with the highest score of each row, which is not an absent one."""
    if absent:
        scores = scores.copy()
        scores[:, absent] = -np.inf
    return np.asarray(scores.argmax(axis=1))


def squash(mean_scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map mean scores into [0, 1/2], in the same order."""
    return (1.0 + mean_scores / (1.0 + np.abs(mean_scores))) / 4.0
