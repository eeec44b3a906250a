"""Newton's method for the log loss, all members and classes at once.

A step is found by conjugate gradients, each a product with the rows and one back, and taken as far as the loss falls.
Problems that have come to their end stand still.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

# A step is solved for until what is left of the gradient is this part of it, by so many products at most.
PRECISION, MOST_PRODUCTS = 0.1, 100
# A step is too long where it ends on a rise of more than this part of the fall that it began with.
RISE, MOST_LENGTHS = 0.25, 30


class Vectors(NamedTuple):
    """A weight vector of every problem: what it is made of, and the scores that it gives all rows."""

    coordinates: Any
    scores: Any

    def add(self, factors: Any, others: Vectors) -> None:
        """Add other vectors, each times its own factor."""
        for own, other in zip(self, others, strict=True):
            own.addcmul_(factors[:, None], other)


class Space(ABC):
    """What coordinates mean: features, or rows of which vectors are multiples."""

    @abstractmethod
    def coordinates(self, multiples: Any) -> Any:
        """Coordinates of the sums of all rows times their multiples (problems x rows)."""

    @abstractmethod
    def scores_by(self, coordinates: Any) -> Any:
        """Scores of all rows (problems x rows)."""

    @abstractmethod
    def inner(self, one: Vectors, other: Vectors) -> Any:
        """Inner products, problem by problem."""


def multiples_of(weights: Any, scores: Any) -> Any:
    """The multiples of the rows that scores ask for, where weights and multiples have the signs of the labels."""
    return weights * torch.sigmoid(-weights.sign() * scores)


def minimize(
    space: Space, weights: Any, vectors: Vectors, tol: float, most_products: Any, pulse: Callable[[], None]
) -> Any:
    """Move vectors to the least loss of all rows with these weights; returns which problems were given up.

    They are there when they are the vectors that their own scores make. How far they are off is the gradient; it is
    measured as liblinear does, by the margins: the largest less the smallest is at most `tol`. A problem is given up
    when it has had its products, or finds no way down.
    """
    running = torch.ones(len(weights), dtype=torch.bool, device=weights.device)
    failed = torch.zeros_like(running)
    slope = torch.full_like(weights[:, 0], -1.0)
    n_products = 0
    while True:
        made = _made(space, multiples_of(weights, vectors.scores))
        n_products += 1
        rest = Vectors(made.coordinates - vectors.coordinates, made.scores - vectors.scores)
        del made
        running &= ~(_width(weights.sign() * rest.scores) <= tol)
        # Where there is no slope, all that is left of the gradient is rounding errors.
        given_up = running & ((most_products <= n_products) | (slope == 0))
        failed |= given_up
        running &= ~given_up
        if not bool(running.any()):
            return failed
        step, slope, n_own = _newton_step(space, _curvature(weights, vectors.scores), rest, running, pulse)
        del rest
        n_products += n_own
        vectors.add(_lengths(space, weights, vectors.scores, step, slope), step)


def _made(space: Space, multiples: Any) -> Vectors:
    coordinates = space.coordinates(multiples)
    return Vectors(coordinates, space.scores_by(coordinates))


def _width(margins: Any) -> Any:
    """The largest margin less the smallest, zero included."""
    return margins.amax(1).clamp(min=0.0) - margins.amin(1).clamp(max=0.0)


def _curvature(weights: Any, scores: Any) -> Any:
    """How fast multiples fall as scores rise."""
    share = torch.sigmoid(scores)
    return weights.abs() * share * (1.0 - share)


def _newton_step(
    space: Space, curvature: Any, rest: Vectors, active: Any, pulse: Callable[[], None]
) -> tuple[Vectors, Any, int]:
    """The step that leaves nothing of the gradient, whose negative is `rest`; its slope, and the products it took."""
    step = Vectors(*map(torch.zeros_like, rest))
    along = Vectors(*map(torch.clone, rest))
    square = space.inner(rest, rest)
    goal = PRECISION**2 * square
    active = active & (square > 0)
    slope, nothing = torch.zeros_like(square), torch.zeros_like(square)
    n_products = 0
    while n_products < MOST_PRODUCTS:
        pulse()
        n_products += 1
        bent = curvature * along.scores
        bend = space.inner(along, along) + (bent * along.scores).sum(1)
        length = torch.where(active & (bend > 0), square / bend, nothing)
        step.add(length, along)
        slope -= length * square
        rest.add(-length, along)
        rest.add(-length, _made(space, bent))
        before, square = square, space.inner(rest, rest)
        active = active & (square > goal)
        if not bool(active.any()):
            break
        turn = torch.where(active, square / before, nothing)[:, None]
        for own, other in zip(along, rest, strict=True):
            own.mul_(turn).add_(other)
    return step, slope, n_products


def _lengths(space: Space, weights: Any, scores: Any, step: Vectors, slope: Any) -> Any:
    """How far to go along every step, whose slope is below zero at its beginning, or zero where it is none."""
    square = space.inner(step, step)
    multiples = multiples_of(weights, scores)
    lengths = torch.ones_like(slope)
    for _ in range(MOST_LENGTHS):
        change = multiples - multiples_of(weights, torch.addcmul(scores, lengths[:, None], step.scores))
        there = slope + lengths * square + change.mul_(step.scores).sum(1)
        too_far = there > -RISE * slope
        if not bool(too_far.any()):
            break
        shorter = lengths * (slope / (slope - there)).clamp(min=0.1)
        lengths = torch.where(too_far, shorter, lengths)
    return lengths
