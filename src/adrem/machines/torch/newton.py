"""Newton's method for the log loss, for all members and classes at once.

Conjugate gradients solve for the Newton step, with two products with the rows per iteration; a line search sets its
length. Problems that have converged are not updated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

# Conjugate gradients stop at this residual, relative to the gradient, or after this many iterations.
CG_TOL, MOST_PRODUCTS = 0.1, 100
# A step is shortened while the slope at its end exceeds this part of the initial descent.
RISE, MOST_LENGTHS = 0.25, 30


class Vectors(NamedTuple):
    """A vector for every problem: its coordinates, and the scores that it gives all rows."""

    coordinates: Any
    scores: Any

    def add(self, factors: Any, others: Vectors) -> None:
        """Add other vectors, each times its factor."""
        for own, other in zip(self, others, strict=True):
            own.addcmul_(factors[:, None], other)


class Space(ABC):
    """The coordinates of vectors: weights of features, or multiples of rows."""

    @abstractmethod
    def coordinates(self, multiples: Any) -> Any:
        """Return the coordinates of the sums of all rows times their multiples (problems x rows)."""

    @abstractmethod
    def scores_by(self, coordinates: Any) -> Any:
        """Return the scores of all rows (problems x rows)."""

    @abstractmethod
    def inner(self, one: Vectors, other: Vectors) -> Any:
        """Return the inner product of two vectors in every problem."""


def multiples_of(weights: Any, scores: Any) -> Any:
    """Return minus the derivative of each row's loss by its score; the weights have the signs of the labels."""
    return weights * torch.sigmoid(-weights.sign() * scores)


def minimize(
    space: Space, weights: Any, vectors: Vectors, tol: float, most_products: Any, heartbeat: Callable[[], None]
) -> Any:
    """Minimize the loss of all rows with these weights, updating `vectors`; returns which problems were given up.

    As in liblinear, a problem has converged when the margins that its gradient gives the rows lie within `tol` of each
    other. It is given up after `most_products` products, or if there is no descent direction.
    """
    running = torch.ones(len(weights), dtype=torch.bool, device=weights.device)
    failed = torch.zeros_like(running)
    slope = torch.full_like(weights[:, 0], -1.0)
    n_products = 0
    while True:
        made = _made(space, multiples_of(weights, vectors.scores))
        n_products += 1
        residual = Vectors(made.coordinates - vectors.coordinates, made.scores - vectors.scores)
        del made
        running &= ~(_width(weights.sign() * residual.scores) <= tol)
        # If the slope is zero, the gradient consists of rounding errors.
        given_up = running & ((most_products <= n_products) | (slope == 0))
        failed |= given_up
        running &= ~given_up
        if not bool(running.any()):
            return failed
        step, slope, n_own = _newton_step(space, _curvature(weights, vectors.scores), residual, running, heartbeat)
        del residual
        n_products += n_own
        vectors.add(_lengths(space, weights, vectors.scores, step, slope), step)


def _made(space: Space, multiples: Any) -> Vectors:
    coordinates = space.coordinates(multiples)
    return Vectors(coordinates, space.scores_by(coordinates))


def _width(margins: Any) -> Any:
    """Return the largest margin less the smallest, zero included."""
    return margins.amax(1).clamp(min=0.0) - margins.amin(1).clamp(max=0.0)


def _curvature(weights: Any, scores: Any) -> Any:
    """Return the second derivative of each row's loss by its score."""
    share = torch.sigmoid(scores)
    return weights.abs() * share * (1.0 - share)


def _newton_step(
    space: Space, curvature: Any, residual: Vectors, active: Any, heartbeat: Callable[[], None]
) -> tuple[Vectors, Any, int]:
    """Return the Newton step by conjugate gradients, its slope, and the iterations; `residual` is -gradient."""
    step = Vectors(*map(torch.zeros_like, residual))
    direction = Vectors(*map(torch.clone, residual))
    square = space.inner(residual, residual)
    goal = CG_TOL**2 * square
    active = active & (square > 0)
    slope, zero = torch.zeros_like(square), torch.zeros_like(square)
    n_products = 0
    while n_products < MOST_PRODUCTS:
        heartbeat()
        n_products += 1
        curved = curvature * direction.scores
        quadratic = space.inner(direction, direction) + (curved * direction.scores).sum(1)
        length = torch.where(active & (quadratic > 0), square / quadratic, zero)
        step.add(length, direction)
        slope -= length * square
        residual.add(-length, direction)
        residual.add(-length, _made(space, curved))
        before, square = square, space.inner(residual, residual)
        active = active & (square > goal)
        if not bool(active.any()):
            break
        ratio = torch.where(active, square / before, zero)[:, None]
        for own, other in zip(direction, residual, strict=True):
            own.mul_(ratio).add_(other)
    return step, slope, n_products


def _lengths(space: Space, weights: Any, scores: Any, step: Vectors, slope: Any) -> Any:
    """Return the length of every step by a line search; `slope` is the initial slope, zero for a zero step."""
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
