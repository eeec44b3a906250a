"""The geodesic flow kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adrem.baselines.alignment import Alignment, SubspaceBaseline
from adrem.baselines.subspaces import check_variation, clip_dimension, principal, principal_angles

FIRST_DIMENSION = 50  # of the search for the dimension of disagreement, which is usually smaller


class GFK(SubspaceBaseline):
    """The geodesic flow kernel: average the inner products over the subspaces from source to target [1].

    With ``Phi(t)`` the geodesic from the principal subspace of the source, at ``t = 0``, to that of the target, at
    ``t = 1``, the kernel is

    ``G = integral of Phi(t) Phi(t)' dt``,

    which has a closed form in the principal angles. Rows of both domains are mapped by a square root of ``G``.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension of the subspaces, at most half the dimension of the span of the rows; larger values are clipped with
        a warning. "auto" takes the smallest at which the disagreement between the subspaces of the domains and of
        their union is maximal, as in the paper.
    form : {"mapping", "similarity", "nearest"}, default="mapping"
        The classifier, as for `CORAL`; the similarity is ``x G x'``.
    loss, C, tol, random_state, target_labels : optional
        As for `CORAL`.

    Attributes
    ----------
    n_components_, classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `SubspaceAlignment`.

    References
    ----------
    - [1] Boqing Gong, Yuan Shi, Fei Sha, Kristen Grauman, "Geodesic Flow Kernel for Unsupervised Domain Adaptation",
      CVPR 2012.

    Examples
    --------
    >>> from adrem.baselines import GFK
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(rotation=60, random_state=0)
    >>> model = GFK(C=1.0).fit(X_source, y_source, X_target=X_target)
    >>> model.n_components_, float((model.transduction_ == y_target).mean())
    (1, 1.0)
    """

    def _align(self, source: NDArray[np.float64], target: NDArray[np.float64]) -> Alignment:
        most = max(1, source.shape[1] // 2)
        if isinstance(self.n_components, str):
            first, second, self.n_components_ = _subspaces_of_disagreement(source, target, most)
        else:
            wanted = min(self.n_components, most)
            first, second = (principal(rows, wanted).directions for rows in (source, target))
            check_variation(first, second, "GFK")
            available = min(first.shape[1], second.shape[1], most)
            self.n_components_ = clip_dimension(self.n_components, available, "GFK")
        root = root_of_kernel(first[:, : self.n_components_], second[:, : self.n_components_])
        return Alignment(source @ root, root)


def root_of_kernel(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R with ``R @ R.T`` the geodesic flow kernel between two subspaces, given as orthonormal columns.

    In the plane of each principal angle the kernel is a 2 x 2 matrix.
    """
    angles, inside, outside = principal_angles(first, second)
    twice = 2.0 * angles
    diagonal = np.sinc(twice / np.pi)  # sin(2t) / 2t, and 1 at 0
    off_diagonal = np.where(angles > 0, (np.cos(twice) - 1.0) / np.where(angles > 0, twice, 1.0), 0.0)
    blocks = np.moveaxis(np.array([[1.0 + diagonal, off_diagonal], [off_diagonal, 1.0 - diagonal]]), 2, 0) / 2.0
    values, vectors = np.linalg.eigh(blocks)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    planes = np.stack([inside, -outside], axis=2)  # features x angles x 2
    return np.asarray(np.einsum("pab,abc->pac", planes, roots).reshape(len(first), -1))


def _subspaces_of_disagreement(
    source: NDArray[np.float64], target: NDArray[np.float64], most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return principal directions of both domains and the dimension of disagreement."""
    n = min(FIRST_DIMENSION, most)
    while True:
        first, second = principal(source, n).directions, principal(target, n).directions
        both = principal(np.concatenate([source, target]), n).directions
        check_variation(first, second, "GFK")
        available = min(first.shape[1], second.shape[1], n)
        dimension = dimension_of_disagreement(first, second, both, available)
        if dimension < n or n == most:
            return first, second, dimension
        n = min(4 * n, most)


def dimension_of_disagreement(
    first: NDArray[np.float64], second: NDArray[np.float64], both: NDArray[np.float64], most: int
) -> int:
    """Return the smallest dimension at which each domain has a direction orthogonal to the subspace of the union."""
    for d in range(1, most + 1):
        sines = [np.sin(principal_angles(own[:, :d], both[:, :d]).angles[-1]) for own in (first, second)]
        if np.mean(sines) > 1.0 - 1e-3:
            return d
    return most
