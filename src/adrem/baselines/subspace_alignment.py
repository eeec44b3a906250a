"""Subspace alignment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adrem.baselines.alignment import Alignment, SubspaceBaseline
from adrem.baselines.subspaces import check_variation, clip_dimension, principal

# Consistency rule: failure probability and allowed deviation, as published.
DELTA, GAMMA = 0.1, 1e6


class SubspaceAlignment(SubspaceBaseline):
    """Subspace alignment: rotate the principal directions of the source to those of the target [1].

    With ``P_S`` and ``P_T`` the first principal directions of the domains as columns, source rows are mapped by
    ``P_S P_S' P_T`` and target rows by ``P_T``.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension of the subspaces, clipped to the available one with a warning. "auto" is the largest dimension that
        satisfies the paper's consistency rule in both domains: the gap between successive variances must be at least
        ``(1 + sqrt(ln(2 / delta) / 2)) * 16 * d^(3/2) * B / (gamma * sqrt(n))``, with
        ``delta = 0.1``, ``gamma = 10^6`` and ``B`` the largest squared norm of a row.
    form : {"mapping", "similarity", "nearest"}, default="mapping"
        The classifier, as for `CORAL`; the similarity is ``x P_S P_S' P_T P_T' x'``.
    loss, C, tol, random_state, target_labels : optional
        As for `CORAL`.

    Attributes
    ----------
    n_components_ : int
        Dimension of the subspaces.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CORAL`.

    References
    ----------
    - [1] Basura Fernando, Amaury Habrard, Marc Sebban, Tinne Tuytelaars, "Unsupervised Visual Domain Adaptation Using
      Subspace Alignment", ICCV 2013.

    Examples
    --------
    >>> from adrem.baselines import SubspaceAlignment
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(rotation=60, random_state=0)
    >>> model = SubspaceAlignment(n_components=1, C=1.0).fit(X_source, y_source, X_target=X_target)
    >>> float((model.transduction_ == y_target).mean())
    1.0
    """

    def _align(self, source: NDArray[np.float64], target: NDArray[np.float64]) -> Alignment:
        wanted = None if isinstance(self.n_components, str) else self.n_components
        first, second = principal(source, wanted), principal(target, wanted)
        check_variation(first, second, "SubspaceAlignment")
        available = min(len(first.variances), len(second.variances))
        if isinstance(self.n_components, str):
            stable = [stable_dimension(p.variances, rows) for p, rows in ((first, source), (second, target))]
            self.n_components_ = max(1, min(*stable, available))
        else:
            self.n_components_ = clip_dimension(self.n_components, available, "SubspaceAlignment")
        own, other = first.directions[:, : self.n_components_], second.directions[:, : self.n_components_]
        return Alignment(source @ (own @ (own.T @ other)), other)


def stable_dimension(variances: NDArray[np.float64], rows: NDArray[np.float64]) -> int:
    """Return the largest dimension that satisfies the consistency rule."""
    dimensions = np.arange(1, len(variances) + 1)
    gaps = variances - np.append(variances[1:], 0.0)
    bound = np.max(np.einsum("ij,ij->i", rows, rows))
    needed = (1 + np.sqrt(np.log(2 / DELTA) / 2)) * 16 * dimensions**1.5 * bound / (GAMMA * np.sqrt(len(rows)))
    stable = dimensions[gaps >= needed]
    return int(stable[-1]) if len(stable) else 1
