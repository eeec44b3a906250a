"""Views of the rows: how a kind sees them. A view is fitted to both domains, and applied to new rows of the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from adrem.base.known import by_origin
from adrem.base.validation import Domains
from adrem.machines.discriminant import unit_rows
from adrem.machines.tables import inverse_frequencies, mean_and_deviation, stack
from adrem.runtime.seeds import as_integer
from adrem.types import FloatArray, Matrix

# Power of the mean over the deviation of a column that is its weight. Chosen on Office-31.
ACTIVITY = 1.5
# Principal components of wide rows that the discriminant sees.
MAX_COMPONENTS = 512


@dataclass(frozen=True)
class View:
    """What is done to rows, in this order. Sparse rows stay sparse, so `shift` and `center` are zero for them.

    `root` takes the square root of every value, `shift` is subtracted, `factor` multiplies the columns, `unit` gives
    every row the length one, and `center` is subtracted: of source rows their own mean, where a kind asks for it.
    Dense rows that were changed are in single precision: trainings have a tolerance far above its rounding errors, and
    take about two thirds of the time.
    """

    root: bool = False
    shift: FloatArray | None = None
    factor: FloatArray | None = None
    unit: bool = False
    center: FloatArray | None = None

    def apply(self, rows: Matrix) -> Matrix:
        """Return rows of the target as the kind sees them."""
        if self.is_identity:
            return rows
        if self.root:
            rows = _root(rows)
        if self.shift is not None:
            rows = rows - self.shift.astype(rows.dtype)
        if self.factor is not None:
            rows = _times(rows, self.factor)
        if self.unit:
            rows = _unit(rows)
        if not sp.issparse(rows):
            rows = rows.astype(np.float32, copy=False)
        return rows if self.center is None else rows - self.center.astype(rows.dtype)

    @property
    def is_identity(self) -> bool:
        """Whether rows stay as they are."""
        return not (self.root or self.unit) and self.shift is None and self.factor is None and self.center is None


class Viewed(NamedTuple):
    """The rows of both domains as a kind sees them, and the view."""

    source: Matrix
    target: Matrix
    view: View


def seen_by(view: Callable[[Matrix, Matrix], Viewed], domains: Domains) -> Viewed:
    """The labelled rows and the others as a view shows them: it is fitted to the domains that the rows come from."""
    origin = by_origin(domains)
    viewed = view(origin.X_source, origin.X_target)
    if not domains.n_known:
        return viewed
    known, others = viewed.target[: domains.n_known], viewed.target[domains.n_known :]
    return Viewed(stack([viewed.source, known]), others, viewed.view)


def as_given(source: Matrix, target: Matrix) -> Viewed:
    """The rows as they are."""
    return Viewed(source, target, View())


def scaled(source: Matrix, target: Matrix) -> Viewed:
    """Columns of mean zero and standard deviation one over both domains; sparse columns keep their mean."""
    shift, deviation = mean_and_deviation(stack([source, target]))
    factor = np.divide(1.0, deviation, out=np.ones_like(deviation), where=deviation > 0)
    return _seen(source, target, View(shift=None if sp.issparse(source) else shift, factor=factor))


def of_unit_square(source: Matrix, target: Matrix) -> Viewed:
    """Columns with a mean square of one over both domains, which keep their zeros."""
    mean, deviation = mean_and_deviation(stack([source, target]))
    size = np.sqrt(mean**2 + deviation**2)
    return _seen(source, target, View(factor=np.divide(1.0, size, out=np.ones_like(size), where=size > 0)))


def unit(source: Matrix, target: Matrix) -> Viewed:
    """Rows of unit length."""
    return _seen(source, target, View(unit=True))


def scaled_unit(source: Matrix, target: Matrix) -> Viewed:
    """Scaled rows, of unit length."""
    return _seen(source, target, replace(scaled(source, target).view, unit=True))


def active_unit(source: Matrix, target: Matrix) -> Viewed:
    """Columns weighted by how active they are, in rows of unit length, for rows without negative values.

    Activations of a network whose mean is small for their deviation are mostly noise. Scaling gives them the same
    weight as others; here the weight of a scaled column is a power of its mean over its deviation.
    """
    mean, deviation = mean_and_deviation(stack([source, target]))
    weight = np.maximum(mean, 0.0) ** ACTIVITY
    factor = np.divide(weight, deviation ** (ACTIVITY + 1.0), out=np.zeros_like(deviation), where=deviation > 0)
    return _seen(source, target, View(factor=factor, unit=True))


def active_centered(source: Matrix, target: Matrix) -> Viewed:
    """As `active_unit`, each domain with mean zero."""
    return _centered(active_unit(source, target))


def by_domain(source: Matrix, target: Matrix) -> Viewed:
    """Each domain scaled by itself."""
    if not target.shape[0]:
        return scaled(source, target)
    own, view = (scaled(rows, rows[:0]).view for rows in (source, target))
    return Viewed(own.apply(source), view.apply(target), view)


def by_domain_unit(source: Matrix, target: Matrix) -> Viewed:
    """Each domain scaled by itself, in rows of unit length."""
    seen = by_domain(source, target)
    return Viewed(_unit(seen.source), _unit(seen.target), replace(seen.view, unit=True))


def centered_unit(source: Matrix, target: Matrix) -> Viewed:
    """Rows of unit length, each domain with mean zero; the square root is taken first where no value is negative."""
    if is_nonnegative(source, target):
        view = View(root=True, unit=True)
    else:
        view = replace(scaled(source, target).view, unit=True)
    return _centered(_seen(source, target, view))


def is_nonnegative(source: Matrix, target: Matrix) -> bool:
    """Whether no value is negative."""
    return all(rows.min() >= 0 for rows in (source, target) if rows.shape[0])


def rare_words(source: Matrix, target: Matrix) -> Viewed:
    """Counts of words weighted by their inverse document frequency, in rows of unit length."""
    both = stack([source, target])
    return _seen(source, target, View(root=bool(both.min() >= 0), factor=inverse_frequencies(both), unit=True))


# What each view becomes where the domains differ by the means and scales of their columns alone.
BY_DOMAIN: dict[Callable[[Matrix, Matrix], Viewed], Callable[[Matrix, Matrix], Viewed]] = {
    as_given: by_domain,
    scaled: by_domain,
    unit: by_domain_unit,
    scaled_unit: by_domain_unit,
}


def _centered(seen: Viewed) -> Viewed:
    """Subtract its mean from each domain."""
    if not seen.target.shape[0]:
        return seen
    center = seen.target.mean(axis=0)
    return Viewed(seen.source - seen.source.mean(axis=0), seen.target - center, replace(seen.view, center=center))


def _seen(source: Matrix, target: Matrix, view: View) -> Viewed:
    return Viewed(view.apply(source), view.apply(target), view)


def _root(rows: Matrix) -> Matrix:
    """Take the square root of every value, zero for negative ones; sparse rows stay sparse."""
    if not sp.issparse(rows):
        return np.sqrt(np.maximum(rows, 0.0))
    return sp.csr_array((np.sqrt(np.maximum(rows.data, 0.0)), rows.indices, rows.indptr), shape=rows.shape)


def _times(rows: Matrix, factor: FloatArray) -> Matrix:
    """Multiply columns; sparse rows stay sparse."""
    if not sp.issparse(rows):
        return rows * factor.astype(rows.dtype)
    scaled_data = rows.data * factor.astype(rows.dtype)[rows.indices]
    return sp.csr_array((scaled_data, rows.indices, rows.indptr), shape=rows.shape)


def _unit(rows: Matrix) -> Matrix:
    if not sp.issparse(rows):
        return unit_rows(rows)
    squares = np.asarray(rows.multiply(rows).sum(axis=1, dtype=np.float64)).ravel()
    factors = np.divide(1.0, np.sqrt(squares), out=np.ones_like(squares), where=squares > 0)
    data = rows.data * np.repeat(factors, np.diff(rows.indptr)).astype(rows.dtype)
    return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


class Components(NamedTuple):
    """Coordinates of the rows of both domains in the principal components of both, and the components."""

    source: FloatArray
    target: FloatArray
    basis: FloatArray | None

    def lift(self, directions: FloatArray) -> FloatArray:
        """Return directions among the components as directions among the features."""
        return directions if self.basis is None else self.basis @ directions


def components(source: FloatArray, target: FloatArray, seed: np.random.SeedSequence, device: str = "cpu") -> Components:
    """Return the coordinates of dense rows in their principal components; few columns stay as they are."""
    from adrem.machines.devices import CPU, resolve_device

    n_source, n_features = source.shape
    n_rows = n_source + len(target)
    if min(n_features, n_rows) <= MAX_COMPONENTS and n_features <= 2 * MAX_COMPONENTS:
        return Components(source, target, None)
    rows = np.concatenate([source, target])
    n_components = min(MAX_COMPONENTS, n_rows - 1, n_features)
    there = resolve_device(device, rows.size * n_components)
    if there == CPU:
        basis = randomized_svd(
            rows - rows.mean(axis=0), n_components, n_iter=2, random_state=as_integer(seed), flip_sign=False
        )[2].T
        found = rows @ basis
    else:
        from adrem.machines.torch.tables import principal_components

        found, basis = principal_components(rows, n_components, as_integer(seed), there)
    return Components(found[:n_source], found[n_source:], basis)
