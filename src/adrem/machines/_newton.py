"""Small tables: Newton's method for what coordinate descent is slow at.

Coordinate descent is slow where features differ much in scale, or where C is large. A Newton step is as good on any
scale; it solves for as many numbers as there are features, which is cheap where these are few. One problem at a time,
whose rows come in double precision and times the signs of their labels:

* hinge loss: a primal-dual interior point method (Mehrotra's predictor and corrector). At its solution every row has a
  margin of one, or its multiple is at an end of its box; which rows have which is known before the multiples are exact,
  and then a system of linear equations tells these;
* log loss: plain Newton steps, as far as the loss falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from scipy.special import expit

from adrem.machines._losses import Hinge, LogLoss, Loss

Array = NDArray[np.float64]
# Multiplications that a step may take. With the many trainings of a fit in mind: larger tables are left to coordinate
# descent, and to the advice to scale their features.
MOST_WORK = 50_000_000
# What a row costs besides its outer product, in features.
FIXED_FEATURES = 10
# Sweeps over all rows that a descent has before Newton's method takes over, and more for each feature; and looks at a
# row, however few there are. By then it has taken about as long as Newton's method will.
SWEEPS, SWEEPS_A_FEATURE, LOOKS = 50, 5, 50_000
# Arrays as long as the table that a solution takes on its way, about.
N_ARRAYS = 32
MOST_STEPS = 60
# What a step leaves of the gap at the least. Steps that try for less may run in circles.
LEAST_GOAL = 1e-3
# How near to the ends of what is allowed a step may go, as a part of the way there.
NEARLY = 0.99
# Multiples so near to an end of their box, in parts of it, are at that end.
AT_THE_END = 1e-7
# Rows of which the multiple is at no end are at most as many as features, unless some are alike.
MOST_FREE = 2
# Singular values below this part of the largest are rounding errors.
ROUNDING = 1e-13
# How often a step is mended by what its rounding errors leave of the gradient.
N_CORRECTIONS = 2
# A step of the log loss is too long where it ends on a rise of more than this part of the fall that it began with.
RISE, MOST_LENGTHS = 0.25, 30


def is_small(n_rows: int, n_features: int) -> bool:
    """Whether a step is cheap for a table of this shape."""
    return n_rows * (n_features + FIXED_FEATURES) ** 2 <= MOST_WORK


def memory(n_rows: int, n_features: int) -> int:
    """Bytes that one problem takes, with the rows as they come and as they are weighted."""
    return 8 * n_rows * (3 * n_features + N_ARRAYS)


def patience(n_rows: int, n_features: int) -> int:
    """Looks at a row that a descent has before Newton's method takes over."""
    return max(LOOKS, n_rows * (SWEEPS + SWEEPS_A_FEATURE * n_features))


class Optimum(NamedTuple):
    """Dual variables of the rows, in the sense of the loss, and the weights that they make.

    `width` is the largest violation less the smallest, by which liblinear tells how far from the optimum they are.
    """

    dual: Array
    weights: Array
    width: float


def bend(rows: Array, curvature: Array) -> Callable[[Array], Array]:
    """Solves for the step that takes a push away, where half the squared norm bends it, and rows by their curvature.

    The diagonal is made one beforehand, so that the scale of the features does not matter.
    """
    matrix = (rows.T * curvature) @ rows
    if not np.isfinite(matrix).all():
        raise LinAlgError("numbers too large")
    matrix[np.diag_indices_from(matrix)] += 1.0
    scale = 1.0 / np.sqrt(np.diag(matrix))
    factors = cho_factor(matrix * scale[:, None] * scale, overwrite_a=True, check_finite=False)

    def solve(push: Array) -> Array:
        step = scale * cho_solve(factors, scale * push, check_finite=False)
        for _ in range(N_CORRECTIONS):
            rest = push - step - (curvature * (rows @ step)) @ rows
            step += scale * cho_solve(factors, scale * rest, check_finite=False)
        return np.asarray(step)

    return solve


@np.errstate(all="ignore")  # where numbers are too large, that shows in the width
def judge(loss: Loss, rows: Array, dual: Array, box: Array) -> Optimum:
    """Dual variables with the weights that they make, and how far from the optimum they are."""
    weights = loss.multiples(dual, box) @ rows
    violations = loss.violations(rows @ weights, dual, box)
    width = violations.max(initial=0.0) - violations.min(initial=0.0)
    return Optimum(dual, weights, float(width) if np.isfinite(width) else np.inf)


@np.errstate(all="ignore")
def minimize(loss: Loss, rows: Array, box: Array, tol: float, pulse: Callable[[], None]) -> Optimum:
    """The least loss of rows whose boxes, their weights times C, are so large: within `tol`, or as near as can be."""
    return (_minimize_log_loss if loss.is_logistic else _minimize_hinge)(rows, box, tol, pulse)


def _minimize_hinge(rows: Array, box: Array, tol: float, pulse: Callable[[], None]) -> Optimum:
    """The multiples between zero and their box that make the hinge loss least.

    A row's margin less one is its excess, which is zero where its multiple is above zero, less its loss, which is zero
    where its multiple is below its box. The products of what has to be zero are made smaller with every step.
    """
    at = _Point.inside(rows, box)
    best, ends = at.nearby(rows, box), np.zeros(len(box), np.int8)
    for _ in range(MOST_STEPS):
        if best.width <= tol:
            break
        pulse()
        try:
            origin, at = at, at.next(rows)
            before, ends = ends, at.ends(origin)
            found = [at.nearby(rows, box)]
            if np.array_equal(before, ends) and np.count_nonzero(ends == 0) <= MOST_FREE * rows.shape[1]:
                found.append(_with_ends(rows, ends, box))
        except LinAlgError:  # rounding errors have the better of it
            break
        best = min([best, *found], key=lambda one: one.width)
    return best


class _Point(NamedTuple):
    """Weights, multiples of the rows and the room that these have, both above zero, and excesses and losses of rows."""

    weights: Array
    multiples: Array
    rooms: Array
    excesses: Array
    losses: Array

    @staticmethod
    def inside(rows: Array, box: Array) -> _Point:
        """Begin in the middle of the boxes, with no weights, where every loss is one."""
        return _Point(np.zeros(rows.shape[1]), 0.5 * box, 0.5 * box, np.ones(len(box)), np.full(len(box), 2.0))

    def moved(self, length: float, step: _Point) -> _Point:
        return _Point(*(own + length * change for own, change in zip(self, step, strict=True)))

    def longest(self, step: _Point) -> float:
        """The length of a step at which the first number comes to zero, one at most."""
        lengths = [1.0]
        for own, change in zip(self[1:], step[1:], strict=True):
            falls = change < 0
            lengths.append(np.min(own[falls] / -change[falls], initial=1.0))
        return min(lengths)

    @property
    def gap(self) -> float:
        """What has to become zero, on average."""
        return 0.5 * float(np.mean(self.multiples * self.excesses + self.rooms * self.losses))

    def next(self, rows: Array) -> _Point:
        """The point after a step that corrects what a first one, for the whole way, would have made wrong."""
        stiffness = self.excesses / self.multiples + self.losses / self.rooms
        solve = bend(rows, 1.0 / stiffness)
        lag = self.multiples @ rows - self.weights
        error = rows @ self.weights - 1.0 - self.excesses + self.losses

        def step_for(excess: Array, loss: Array) -> _Point:
            """The step by which products of multiples and excesses, and of rooms and losses, change by so much."""
            force = excess / self.multiples - loss / self.rooms - error
            weights = solve(lag + (force / stiffness) @ rows)
            multiples = (force - rows @ weights) / stiffness
            return _Point(
                weights,
                multiples,
                -multiples,
                (excess - self.excesses * multiples) / self.multiples,
                (loss + self.losses * multiples) / self.rooms,
            )

        first = step_for(-self.multiples * self.excesses, -self.rooms * self.losses)
        gap = self.gap
        goal = gap * max((self.moved(self.longest(first), first).gap / gap) ** 3, LEAST_GOAL)
        step = step_for(
            goal - self.multiples * self.excesses - first.multiples * first.excesses,
            goal - self.rooms * self.losses - first.rooms * first.losses,
        )
        return self.moved(min(1.0, NEARLY * self.longest(step)), step)

    def ends(self, origin: _Point) -> NDArray[np.int8]:
        """Where each multiple is going: -1 to zero, 1 to its box, 0 to neither.

        Of two numbers whose product vanishes, the one that does so itself is the one that falls faster.
        """
        multiples, rooms, excesses, losses = (own / its for own, its in zip(self[1:], origin[1:], strict=True))
        low, high = multiples < excesses, rooms < losses
        return np.where(low & ~(high & (rooms < multiples)), -1, np.where(high, 1, 0)).astype(np.int8)

    def nearby(self, rows: Array, box: Array) -> Optimum:
        """The multiples, at the ends of their boxes where they nearly are."""
        multiples = np.where(self.rooms <= AT_THE_END * box, box, self.multiples)
        return judge(Hinge(), rows, np.where(self.multiples <= AT_THE_END * box, 0.0, multiples), box)


def _with_ends(rows: Array, ends: NDArray[np.int8], box: Array) -> Optimum:
    """The multiples that give a margin of one to every row of which the multiple is at no end."""
    multiples = np.where(ends > 0, box, 0.0)
    free = np.flatnonzero(ends == 0)
    if len(free):
        own = rows[free]
        missing = 1.0 - own @ (multiples @ rows)
        vector = _least_squares(own, missing)
        multiples[free] = np.clip(_least_squares(own.T, vector), 0.0, box[free])
    return judge(Hinge(), rows, multiples, box)


def _least_squares(matrix: Array, right: Array) -> Array:
    """The shortest vector that the matrix brings nearest to the right side."""
    if not np.isfinite(right).all():
        raise LinAlgError("numbers too large")
    return np.asarray(lstsq(matrix, right, cond=ROUNDING)[0])


def _minimize_log_loss(rows: Array, box: Array, tol: float, pulse: Callable[[], None]) -> Optimum:
    """The weights that make the log loss least: those that their own margins make of the rows."""
    weights, margins = np.zeros(rows.shape[1]), np.zeros(len(box))
    here = best = judge(LogLoss(), rows, -margins, box)
    for _ in range(MOST_STEPS):
        if best.width <= tol:
            break
        pulse()
        chances = expit(-margins)
        try:
            step = bend(rows, box * chances * (1.0 - chances))(here.weights - weights)
        except LinAlgError:
            break
        along = rows @ step
        length = _length(weights, margins, box, step, along)
        weights, margins = weights + length * step, margins + length * along
        if length == 0.0:
            break
        here = judge(LogLoss(), rows, -margins, box)
        best = min(best, here, key=lambda one: one.width)
    return best


def _length(weights: Array, margins: Array, box: Array, step: Array, along: Array) -> float:
    """How far to go along a step, along which margins change so; nowhere if rounding errors are all that it is."""

    def slope_at(length: float) -> float:
        return float((weights + length * step) @ step - (box * expit(-margins - length * along)) @ along)

    length, slope = 1.0, slope_at(0.0)
    if not slope < 0.0:
        return 0.0
    for _ in range(MOST_LENGTHS):
        there = slope_at(length)
        if not there > -RISE * slope:
            break
        length *= max(0.1, slope / (slope - there))
    return length
