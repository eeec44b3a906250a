"""Selective pseudo-labelling: a projection of both domains, learnt from more and more target rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from scipy.special import softmax

from adrem.base.constraints import AT_LEAST_ONE, TargetLabels, common
from adrem.base.validation import Domains
from adrem.baselines.base import Baseline
from adrem.baselines.span import RowSpace
from adrem.exceptions import InvalidDataError
from adrem.runtime.memory import by_blocks
from adrem.types import Matrix

Floats = NDArray[np.float64]
RIDGE = 1.0
MAX_ROUNDS = 300  # of k-means
LARGEST_WEIGHT = 1e12
EPS = float(np.finfo(np.float64).eps)


class SPL(Baseline):
    """Selective pseudo-labelling: a projection learnt from the source and the most confident rows of the target [1].

    Rows are reduced to their principal components and scaled to unit length. With ``X`` the columns of all source rows
    and the selected target rows, ``W`` one for two rows of the same class and zero otherwise, ``D`` the diagonal matrix
    of the sums of its rows and ``L = D - W``, the projection ``P`` has the eigenvectors of the largest eigenvalues of

    ``X D X' p = lambda (X L X' + I) p`` with ``P' (X L X' + I) P = I``

    (supervised locality preserving projection). Projected rows are centred by the mean of both domains, and scaled to
    unit length. A target row gets two probabilities of each class: the softmax of minus its distances to the class
    means of the source, of unit length, and that of minus its distances to the centres of a k-means clustering of the
    target. The clustering has one cluster per class, starts from the class means, and its clusters are matched one to
    one to the classes with the smallest sum of distances. The larger probability counts.

    The first projection is learnt from the source alone. Then in iteration ``k`` of ``n_iter``, the share
    ``k / n_iter`` of the target rows with each label, rounded up, is selected: those of the highest probabilities.

    Probabilities are of distances between rows of unit length, so they differ little between classes.

    CSR rows are reduced by their inner products (`RowSpace`); a table with at least as many rows as features becomes
    dense.

    Parameters
    ----------
    n_principal : int, default=512
        Number of principal components; at most as many as the rows span.
    n_components : int, default=128
        Number of dimensions of the projection, at most that of the principal components.
    n_iter : int, default=10
        Number of iterations.
    normalize : bool, default=False
        Whether ``W`` has one over the number of rows of the class, as in linear discriminant analysis, instead of one.
        ``I`` counts for more then.
    random_state, target_labels : optional
        Not used: nothing is random.

    Attributes
    ----------
    principal_axes_ : ndarray of shape (n_principal, n_features)
        Principal components.
    principal_offset_ : ndarray of shape (n_principal,)
        The components of the mean row.
    preserving_axes_ : ndarray of shape (n_principal, n_components)
        The projection.
    projected_mean_ : ndarray of shape (n_components,)
        Mean of the projected rows.
    class_prototypes_, class_clusters_ : ndarray of shape (n_classes, n_components)
        The class means of the source, and the cluster centres of the target, in the order of ``classes_``.
    classes_, transduction_, n_features_in_, feature_names_in_
        As for `CORAL`.

    References
    ----------
    - [1] Qian Wang, Toby P. Breckon, "Unsupervised Domain Adaptation via Structured Prediction Based Selective
      Pseudo-Labeling", AAAI 2020.

    Examples
    --------
    >>> from adrem.baselines import SPL, SourceOnly
    >>> from adrem.datasets import load_digits_shift
    >>> pair = load_digits_shift()
    >>> for model in (SourceOnly(C=0.01), SPL()):
    ...     labels = model.fit(pair.X_source, pair.y_source, X_target=pair.X_target).transduction_
    ...     print(f"{(labels == pair.y_target).mean():.2f}")
    0.67
    0.84
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_principal": [AT_LEAST_ONE],
        "n_components": [AT_LEAST_ONE],
        "normalize": ["boolean"],
        **common("n_iter", "random_state", "target_labels"),
    }

    def __init__(
        self,
        n_principal: int = 512,
        n_components: int = 128,
        n_iter: int = 10,
        normalize: bool = False,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.n_principal = n_principal
        self.n_components = n_components
        self.n_iter = n_iter
        self.normalize = normalize
        self.random_state = random_state
        self.target_labels = target_labels

    def _adapt(self, domains: Domains) -> None:
        from adrem.machines.tables import stack

        if domains.weights.max(initial=0.0) > LARGEST_WEIGHT:
            raise InvalidDataError(
                f"The largest sample_weight is {domains.weights.max():g}, and SPL takes at most {LARGEST_WEIGHT:g}: "
                "divide all weights by one constant."
            )
        space = RowSpace(stack([domains.X_source, domains.X_target]))
        n_source, n_target = len(domains.labels), domains.X_target.shape[0]
        weights = np.concatenate([domains.weights, np.ones(n_target)])
        mean = weights @ space.coordinates / weights.sum()
        axes = principal_axes(space.coordinates - mean, weights, self.n_principal)
        self.principal_axes_, self.principal_offset_ = space.lift(axes), axes @ mean
        rows = unit_rows((space.coordinates - mean) @ axes.T)
        labels = np.concatenate([domains.labels, np.zeros(n_target, np.intp)])
        selected = np.arange(len(rows)) < n_source
        target = self._project(rows, labels, weights, selected, n_source)
        for k in range(1, self.n_iter + 1 if domains.adapts else 1):
            found = self._probabilities(target)
            labels[n_source:] = found.argmax(axis=1)
            selected[n_source:] = most_confident(found, k, self.n_iter)
            target = self._project(rows, labels, weights, selected, n_source)

    def _project(
        self, rows: Floats, labels: NDArray[np.intp], weights: Floats, selected: NDArray[np.bool_], n_source: int
    ) -> Floats:
        """Learn the projection from the selected rows, and all that follows from it; return the projected target."""
        part = (rows[selected], labels[selected], weights[selected])
        self.preserving_axes_ = preserving_axes(*part, self.n_components, normalize=self.normalize)
        projected = rows @ self.preserving_axes_
        self.projected_mean_ = weights @ projected / weights.sum()
        projected = unit_rows(projected - self.projected_mean_)
        self.class_prototypes_ = prototypes(projected[:n_source], labels[:n_source], weights[:n_source])
        self.class_clusters_ = clusters(projected[n_source:], self.class_prototypes_)
        return projected[n_source:]

    def _probabilities(self, projected: Floats) -> Floats:
        """Return the larger of the two probabilities of each class."""
        points = (self.class_prototypes_, self.class_clusters_)
        by_prototype, by_cluster = (softmax(-cdist(projected, own), axis=1) for own in points)
        return np.asarray(np.maximum(by_prototype, by_cluster))

    def _by_class(self, rows: Matrix) -> Floats:
        """Return the probabilities of rows, block by block."""

        def find(part: Matrix) -> Floats:
            reduced = unit_rows(part @ self.principal_axes_.T - self.principal_offset_)
            return self._probabilities(unit_rows(reduced @ self.preserving_axes_ - self.projected_mean_))

        lengths = (*self.preserving_axes_.shape, *self.class_prototypes_.shape)
        return by_blocks(find, rows, 24 * sum(lengths))

    def _scores(self, rows: Matrix) -> Floats:
        found = self._by_class(rows)
        return found if found.shape[1] > 2 else found[:, 1:] - found[:, :1]

    def share_rows(self, rows: Matrix) -> Floats:
        found = self._by_class(rows)
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def principal_axes(centred: Floats, weights: Floats, n: int) -> Floats:
    """Return at most n principal axes of centred rows with weights, as rows; those of no variance are left out."""
    side = centred.shape[1]
    variances, axes = eigh((centred * weights[:, None]).T @ centred, subset_by_index=(max(side - n, 0), side - 1))
    kept = np.flatnonzero(variances > max(centred.shape) * EPS * max(variances[-1], 0.0))[::-1]
    if not len(kept):
        raise InvalidDataError("All rows of both domains are equal: SPL needs at least two different rows.")
    return np.ascontiguousarray(axes[:, kept].T)


def preserving_axes(
    rows: Floats, labels: NDArray[np.intp], weights: Floats, n: int, *, normalize: bool = False
) -> Floats:
    """Return at most n axes of the supervised locality preserving projection, as columns.

    A weight counts copies of a row. With class sums ``s``, ``X W X'`` is the sum of ``s s'``, times the value of ``W``
    for the class.
    """
    memberships = _memberships(labels, weights, int(labels.max()) + 1)
    sizes = memberships.sum(axis=0)
    each = 1.0 / np.where(sizes > 0, sizes, 1.0) if normalize else np.ones(len(sizes))
    sums = memberships.T @ rows
    total = (rows * (weights * (sizes * each)[labels])[:, None]).T @ rows
    within = total - (sums * each[:, None]).T @ sums
    side = len(total)
    # Beyond the ridge only for weights so large that it would vanish in rounding errors.
    within[np.diag_indices(side)] += max(RIDGE, side * EPS * float(np.trace(total)))
    axes = eigh(total, within, subset_by_index=(max(side - n, 0), side - 1))[1]
    return np.ascontiguousarray(axes[:, ::-1])


def prototypes(rows: Floats, labels: NDArray[np.intp], weights: Floats) -> Floats:
    """Return the class means, of unit length."""
    memberships = _memberships(labels, weights, int(labels.max()) + 1)
    return np.asarray(unit_rows((memberships / memberships.sum(axis=0)).T @ rows))


def clusters(rows: Floats, starts: Floats) -> Floats:
    """Return the centres of k-means from these starts, each in the place of the start that it is matched to.

    A cluster without rows keeps its centre.
    """
    centres, nearest = starts.copy(), np.full(len(rows), -1)
    for _ in range(MAX_ROUNDS):
        before, nearest = nearest, cdist(rows, centres).argmin(axis=1) if len(rows) else nearest
        if np.array_equal(before, nearest):
            break
        sizes = np.bincount(nearest, minlength=len(centres))
        sums = _memberships(nearest, np.ones(len(rows)), len(centres)).T @ rows
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return np.asarray(centres[match(centres, starts)])


def match(centres: Floats, starts: Floats) -> NDArray[np.intp]:
    """Return the centre of each start, one to one, with the smallest sum of distances."""
    return np.asarray(linear_sum_assignment(cdist(starts, centres))[1], dtype=np.intp)


def most_confident(probabilities: Floats, k: int, n_iter: int) -> NDArray[np.bool_]:
    """Return which rows are among the share k / n_iter of those of their label with the highest probabilities."""
    labels, confidence = probabilities.argmax(axis=1), probabilities.max(axis=1)
    selected = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        ordered = own[np.argsort(-confidence[own], kind="stable")]
        selected[ordered[: -(-k * len(own) // n_iter)]] = True
    return selected


def unit_rows(rows: Floats) -> Floats:
    """Return rows of unit length; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))


def _memberships(labels: NDArray[np.intp], weights: Floats, n_classes: int) -> Floats:
    """Return the weight of each row for its class (rows x classes)."""
    found = np.zeros((len(labels), n_classes))
    found[np.arange(len(labels)), labels] = weights
    return found
