"""Voters: what a kind has learnt, as plain arrays, and its share of votes for every class."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from adrem.algorithm.voting import tally
from adrem.base.scoring import member_scores, normalized_shares
from adrem.machines.discriminant import cosines
from adrem.machines.trees import Trees
from adrem.types import FloatArray, Matrix

Shares = NDArray[np.float64]


class Votes(NamedTuple):
    """Votes for rows: the share of each class (rows x classes), and the share of the members that give the label."""

    shares: Shares
    agreement: NDArray[np.float64]


@dataclass(frozen=True)
class Voter:
    """Gives the shares of votes for rows as its kind sees them (rows x classes; each row sums to one)."""

    form: ClassVar[str]

    def __post_init__(self) -> None:
        for name, array in vars(self).items():  # as a file holds them: the rounding of products depends on the layout
            object.__setattr__(self, name, np.ascontiguousarray(array))

    def shares(self, rows: Matrix) -> Shares:
        """Return the shares of votes."""
        raise NotImplementedError

    def votes(self, rows: Matrix, absent: Collection[int] = ()) -> Votes:
        """Return the shares of votes, none for absent classes, and how many members agree; a single one does."""
        return Votes(among_others(self.shares(rows), absent), np.ones(rows.shape[0]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a model file holds."""
        return dict(vars(self))


@dataclass(frozen=True)
class Members(Voter):
    """Several classifiers, each with one vote; their mean score breaks ties."""

    def scores(self, rows: Matrix) -> Iterator[FloatArray]:
        """Yield the scores of each member (rows x problems)."""
        raise NotImplementedError

    def shares(self, rows: Matrix) -> Shares:
        return self.votes(rows).shares

    def votes(self, rows: Matrix, absent: Collection[int] = ()) -> Votes:
        return votes_of(self.scores(rows), absent)


def among_others(shares: Shares, absent: Collection[int]) -> Shares:
    """Return shares that sum to one without the absent classes; equal ones for a row that wants no other class."""
    if not absent:
        return shares
    is_present = ~np.isin(np.arange(shares.shape[1]), list(absent))
    own = np.where(is_present, shares, 0.0)
    sums = own.sum(axis=1, keepdims=True)
    equal = np.broadcast_to(is_present / np.count_nonzero(is_present), own.shape).copy()
    return np.asarray(np.divide(own, sums, out=equal, where=sums > 0))


def votes_of(scores: Iterator[FloatArray], absent: Collection[int] = ()) -> Votes:
    """Return the votes of members, with their mean confidence as a tie-break in the shares."""
    counted = tally(scores, absent)
    shares = counted.ballots / counted.ballots.sum(axis=1, keepdims=True)
    own = np.take_along_axis(counted.votes, shares.argmax(axis=1)[:, None], axis=1)[:, 0]
    return Votes(shares, own / counted.votes.sum(axis=1))


@dataclass(frozen=True)
class LinearMembers(Members):
    """Linear classifiers: coefficients (members x problems x features) and intercepts."""

    form = "linear"
    coef: FloatArray
    intercept: FloatArray

    def scores(self, rows: Matrix) -> Iterator[FloatArray]:
        return member_scores(rows, self.coef, self.intercept)


@dataclass(frozen=True)
class RadialMembers(Members):
    """Classifiers by an RBF kernel: multiples of the rows of the fit, the support vectors."""

    form = "rbf"
    coef: FloatArray
    intercept: FloatArray
    vectors: FloatArray
    gamma: FloatArray

    def scores(self, rows: Matrix) -> Iterator[FloatArray]:
        from adrem.machines.kernel import Kernel

        return member_scores(rows, self.coef, self.intercept, Kernel("rbf", float(self.gamma[0])), self.vectors)


@dataclass(frozen=True)
class DiscriminantMembers(Members):
    """Discriminants: directions (members x features x directions), centers and class means."""

    form = "discriminant"
    directions: FloatArray
    center: FloatArray
    means: FloatArray

    def scores(self, rows: Matrix) -> Iterator[FloatArray]:
        return (cosines(rows, *own) for own in zip(self.directions, self.center, self.means, strict=True))


@dataclass(frozen=True)
class LinearProbabilities(Voter):
    """One logistic classifier, which votes by its probabilities."""

    form = "logistic"
    coef: FloatArray
    intercept: FloatArray

    def shares(self, rows: Matrix) -> Shares:
        return probabilities(np.asarray(rows @ self.coef.T + self.intercept))


def probabilities(scores: NDArray[np.float64]) -> Shares:
    """Return the softmax of scores; of one score, the logistic function.

    Where the domains differ, all one-vs-rest scores of a row may be large, and their logistic functions all one.
    """
    if scores.shape[1] == 1:
        return normalized_shares(scores)
    return np.asarray(softmax(scores.astype(np.float64), axis=1))


@dataclass(frozen=True)
class TreeProbabilities(Trees, Voter):
    """Boosted trees, which vote by their probabilities."""

    form = "trees"

    def shares(self, rows: Matrix) -> Shares:
        return probabilities(self.scores(rows))


VOTERS = {
    own.form: own for own in (LinearMembers, RadialMembers, DiscriminantMembers, LinearProbabilities, TreeProbabilities)
}
