"""Newton's method for small tables, where coordinate descent does not converge.

Coordinate descent is slow if features differ much in scale, or if C is large. Newton's method does not depend on the
scale; its linear system has one unknown per feature, which is cheap for few features. One problem is solved at a time.
Rows are in double precision, times the signs of their labels.

* Hinge loss: a primal-dual interior point method (Mehrotra's predictor-corrector). At the optimum every row has a
  margin of one, or its multiple is at a bound. Once these active bounds are known, a linear system gives the optimum.
* Log loss: Newton steps with a line search, which minimize any smooth loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from adrem.machines.loss import Array, Heartbeat, Loss, Optimum

# Maximum number of multiplications of a step. A fit trains many times: larger tables are left to coordinate descent,
# with the advice to scale the features.
MOST_WORK = 50_000_000
# The cost of a row besides its outer product, in features.
FIXED_FEATURES = 10
# Coordinate descent has this many sweeps, plus some per feature, and at least this many visits to a row, before
# Newton's method takes over. Both then take about the same time.
SWEEPS, SWEEPS_PER_FEATURE, MIN_VISITS = 50, 5, 50_000
# Approximate number of temporary arrays with one entry per row.
N_ARRAYS = 32
MOST_STEPS = 60
# Minimum of the centering parameter; with a smaller one the steps may cycle.
MIN_CENTERING = 1e-3
# Fraction of the way to the boundary that a step may go.
TO_BOUNDARY = 0.99
# Multiples within this part of their box from a bound are set to it.
AT_BOUND = 1e-7
# Maximum number of free multiples per feature. There is at most one, unless rows are linearly dependent.
MOST_FREE = 2
# Singular values below this part of the largest count as rounding errors.
ROUNDING = 1e-13
# Steps of iterative refinement, against rounding errors.
N_CORRECTIONS = 2
# A step of the log loss is shortened while the slope at its end exceeds this part of the initial descent.
RISE, MOST_LENGTHS = 0.25, 30


def is_small(n_rows: int, n_features: int) -> bool:
    """Return whether a Newton step is cheap for a table of this shape."""
    return n_rows * (n_features + FIXED_FEATURES) ** 2 <= MOST_WORK


def memory(n_rows: int, n_features: int) -> int:
    """Return the bytes that one problem takes, with copies of the rows."""
    return 8 * n_rows * (3 * n_features + N_ARRAYS)


def visit_budget(n_rows: int, n_features: int) -> int:
    """Return the visits to a row that coordinate descent has before Newton's method takes over."""
    return max(MIN_VISITS, n_rows * (SWEEPS + SWEEPS_PER_FEATURE * n_features))


def hessian_solver(rows: Array, curvature: Array) -> Callable[[Array], Array]:
    """Return a solver of linear systems with the Hessian, I + rows.T @ diag(curvature) @ rows.

    The diagonal is scaled to one, so that the scale of the features does not matter.
    """
    matrix = (rows.T * curvature) @ rows
    if not np.isfinite(matrix).all():
        raise LinAlgError("numbers too large")
    matrix[np.diag_indices_from(matrix)] += 1.0
    scale = 1.0 / np.sqrt(np.diag(matrix))
    factors = cho_factor(matrix * scale[:, None] * scale, overwrite_a=True, check_finite=False)

    def solve(right: Array) -> Array:
        step = scale * cho_solve(factors, scale * right, check_finite=False)
        for _ in range(N_CORRECTIONS):
            residual = right - step - (curvature * (rows @ step)) @ rows
            step += scale * cho_solve(factors, scale * residual, check_finite=False)
        return np.asarray(step)

    return solve


@np.errstate(all="ignore")
def interior_point(loss: Loss, rows: Array, box: Array, tol: float, heartbeat: Heartbeat) -> Optimum:
    """Minimize the hinge loss, over multiples between zero and their box.

    A row's margin less one is its excess, which is zero where its multiple is above zero, less its loss, which is zero
    where its multiple is below its box (complementarity). Every step reduces these complementary products.
    """
    at = _Point.start(rows, box)
    best, ends = at.rounded(loss, rows, box), np.zeros(len(box), np.int8)
    for _ in range(MOST_STEPS):
        if best.width <= tol:
            break
        heartbeat()
        try:
            origin, at = at, at.next(rows)
            before, ends = ends, at.ends(origin)
            found = [at.rounded(loss, rows, box)]
            if np.array_equal(before, ends) and np.count_nonzero(ends == 0) <= MOST_FREE * rows.shape[1]:
                found.append(_with_ends(loss, rows, ends, box))
        except LinAlgError:  # singular by rounding errors
            break
        best = min([best, *found], key=lambda one: one.width)
    return best


class _Point(NamedTuple):
    """Weights, and for each row its multiple, slack (box less multiple), excess and loss, all of them positive."""

    weights: Array
    multiples: Array
    slacks: Array
    excesses: Array
    losses: Array

    @staticmethod
    def start(rows: Array, box: Array) -> _Point:
        """Return the starting point: the middle of the boxes, and zero weights, where every loss is one."""
        return _Point(np.zeros(rows.shape[1]), 0.5 * box, 0.5 * box, np.ones(len(box)), np.full(len(box), 2.0))

    def moved(self, length: float, step: _Point) -> _Point:
        return _Point(*(own + length * change for own, change in zip(self, step, strict=True)))

    def max_length(self, step: _Point) -> float:
        """Return the largest step length, at most one, at which nothing becomes negative."""
        lengths = [1.0]
        for own, change in zip(self[1:], step[1:], strict=True):
            falls = change < 0
            lengths.append(np.min(own[falls] / -change[falls], initial=1.0))
        return min(lengths)

    @property
    def gap(self) -> float:
        """The mean complementary product."""
        return 0.5 * float(np.mean(self.multiples * self.excesses + self.slacks * self.losses))

    def next(self, rows: Array) -> _Point:
        """Return the point after a predictor-corrector step."""
        stiffness = self.excesses / self.multiples + self.losses / self.slacks
        solve = hessian_solver(rows, 1.0 / stiffness)
        lag = self.multiples @ rows - self.weights
        error = rows @ self.weights - 1.0 - self.excesses + self.losses

        def step_for(excess: Array, loss: Array) -> _Point:
            """Return the step that changes multiples * excesses and slacks * losses by these amounts."""
            force = excess / self.multiples - loss / self.slacks - error
            weights = solve(lag + (force / stiffness) @ rows)
            multiples = (force - rows @ weights) / stiffness
            return _Point(
                weights,
                multiples,
                -multiples,
                (excess - self.excesses * multiples) / self.multiples,
                (loss + self.losses * multiples) / self.slacks,
            )

        first = step_for(-self.multiples * self.excesses, -self.slacks * self.losses)
        gap = self.gap
        goal = gap * max((self.moved(self.max_length(first), first).gap / gap) ** 3, MIN_CENTERING)
        step = step_for(
            goal - self.multiples * self.excesses - first.multiples * first.excesses,
            goal - self.slacks * self.losses - first.slacks * first.losses,
        )
        return self.moved(min(1.0, TO_BOUNDARY * self.max_length(step)), step)

    def ends(self, origin: _Point) -> NDArray[np.int8]:
        """Return to which bound each multiple converges: -1 for zero, 1 for its box, 0 for neither.

        Of two numbers whose product vanishes, the one that decreases faster is taken to vanish.
        """
        multiples, slacks, excesses, losses = (own / its for own, its in zip(self[1:], origin[1:], strict=True))
        low, high = multiples < excesses, slacks < losses
        return np.where(low & ~(high & (slacks < multiples)), -1, np.where(high, 1, 0)).astype(np.int8)

    def rounded(self, loss: Loss, rows: Array, box: Array) -> Optimum:
        """Return the multiples, set to a bound if they are close to it."""
        multiples = np.where(self.slacks <= AT_BOUND * box, box, self.multiples)
        return loss.judge(rows, np.where(self.multiples <= AT_BOUND * box, 0.0, multiples), box)


def _with_ends(loss: Loss, rows: Array, ends: NDArray[np.int8], box: Array) -> Optimum:
    """Return the multiples at these bounds; the free ones give their rows a margin of one."""
    multiples = np.where(ends > 0, box, 0.0)
    free = np.flatnonzero(ends == 0)
    if len(free):
        own = rows[free]
        missing = 1.0 - own @ (multiples @ rows)
        vector = _least_squares(own, missing)
        multiples[free] = np.clip(_least_squares(own.T, vector), 0.0, box[free])
    return loss.judge(rows, multiples, box)


def _least_squares(matrix: Array, right: Array) -> Array:
    """Return the least-squares solution of minimum norm."""
    if not np.isfinite(right).all():
        raise LinAlgError("numbers too large")
    return np.asarray(lstsq(matrix, right, cond=ROUNDING)[0])


@np.errstate(all="ignore")
def newton_steps(
    loss: Loss, curvature: Callable[[Array, Array], Array], rows: Array, box: Array, tol: float, heartbeat: Heartbeat
) -> Optimum:
    """Minimize a smooth loss, whose dual variables are minus the margins at the optimum, by steps with a line search.

    `curvature` returns the second derivatives of the losses for dual variables and boxes.
    """
    weights, margins = np.zeros(rows.shape[1]), np.zeros(len(box))
    here = best = loss.judge(rows, -margins, box)
    for _ in range(MOST_STEPS):
        if best.width <= tol:
            break
        heartbeat()
        try:
            step = hessian_solver(rows, curvature(-margins, box))(here.weights - weights)
        except LinAlgError:
            break
        along = rows @ step
        length = _length(loss, weights, margins, box, step, along)
        weights, margins = weights + length * step, margins + length * along
        if length == 0.0:
            break
        here = loss.judge(rows, -margins, box)
        best = min(best, here, key=lambda one: one.width)
    return best


def _length(loss: Loss, weights: Array, margins: Array, box: Array, step: Array, along: Array) -> float:
    """Return the step length by a line search, zero if the step is not a descent direction."""

    def slope_at(length: float) -> float:
        return float((weights + length * step) @ step - loss.multiples(-margins - length * along, box) @ along)

    length, slope = 1.0, slope_at(0.0)
    if not slope < 0.0:
        return 0.0
    for _ in range(MOST_LENGTHS):
        there = slope_at(length)
        if not there > -RISE * slope:
            break
        length *= max(0.1, slope / (slope - there))
    return length
