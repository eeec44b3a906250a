"""Correlation alignment."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from adrem.base.constraints import POSITIVE, LossName, TargetLabels
from adrem.baselines.alignment import Alignment, AlignmentBaseline, Form
from adrem.baselines.span import REDUCE_DATA
from adrem.runtime.memory import check_room

MAX_GRAM_ROWS = 10_000  # with more rows than this and than features, the covariance is decomposed instead
GRAM_COPIES = 4  # memory: the matrix, a scaled copy, the eigenvectors and the workspace


class CORAL(AlignmentBaseline):
    """Correlation alignment: give the rows of the source the covariance of the target [1].

    Source rows are mapped by

    ``A = (C_S + lambda I)^(-1/2) (C_T + lambda I)^(1/2)``,

    where ``C_S`` and ``C_T`` are the covariances of the domains. Target rows are not changed. A linear classifier
    trained on the mapped source predicts the target.

    Parameters
    ----------
    regularization : float, default=1.0
        The factor ``lambda`` of the identity; 1 as published.
    form : {"mapping", "similarity", "nearest"}, default="mapping"
        The classifier: linear, on the mapped rows, as in the paper; a one-vs-one support vector machine on the
        similarities ``x A x'``, as in the authors' program, which gave the published numbers; or the nearest
        mapped neighbour.
    loss : {"hinge", "log_loss"}, default="hinge"
        Linear support vector machine or logistic regression, for ``form="mapping"``.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`. With ``form="similarity"``, "cv" selects it from 0.001 to 100 by two-fold cross-validation.
    tol : float, default=0.1
        Tolerance of the solver, as in liblinear.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds for C.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    classes_, C_, transduction_, n_features_in_, feature_names_in_
        As for `AdREM`.
    coef_, intercept_
        Of the linear classifier, for target rows; only with ``form="mapping"``.

    References
    ----------
    - [1] Baochen Sun, Jiashi Feng, Kate Saenko, "Return of Frustratingly Easy Domain Adaptation", AAAI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.baselines import CORAL, SourceOnly
    >>> X = np.random.RandomState(0).normal(size=(200, 2))
    >>> y = X.sum(axis=1) > 0
    >>> X_source, X_target = X[:100], X[100:] * [5.0, 0.2]  # the features have other variances in the target
    >>> adapted, plain = (
    ...     model.fit(X_source, y[:100], X_target=X_target).score(X_target, y[100:])
    ...     for model in (CORAL(regularization=0.01, C=1.0), SourceOnly(C=1.0))
    ... )
    >>> adapted > plain
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AlignmentBaseline._parameter_constraints,
        "regularization": [POSITIVE],
    }

    def __init__(
        self,
        regularization: float = 1.0,
        form: Form = "mapping",
        loss: LossName = "hinge",
        C: Any = "cv",
        tol: float = 0.1,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.regularization = regularization
        self.form = form
        self.loss = loss
        self.C = C
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _align(self, source: NDArray[np.float64], target: NDArray[np.float64]) -> Alignment:
        whitened = _power_of_covariance(source, self.regularization, -0.5).apply(source)
        coloured = _power_of_covariance(target, self.regularization, 0.5).apply(whitened)
        return Alignment(coloured, np.eye(source.shape[1]))


class _Power(NamedTuple):
    """A symmetric matrix: a multiple of the identity plus a matrix of low rank."""

    basis: NDArray[np.float64]
    values: NDArray[np.float64]
    rest: float

    def apply(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.rest * rows + ((rows @ self.basis) * self.values) @ self.basis.T


def _power_of_covariance(rows: NDArray[np.float64], regularization: float, power: float) -> _Power:
    """Return (covariance + regularization I)^power, computed from the Gram matrix or, for many rows, the covariance."""
    centred = rows - rows.mean(axis=0)
    freedom = max(len(rows) - 1, 1)
    by_features = len(rows) > max(MAX_GRAM_ROWS, rows.shape[1])
    if not by_features:
        check_room(GRAM_COPIES * 8 * len(rows) ** 2, f"CORAL's Gram matrix of {len(rows)} rows", REDUCE_DATA)
    variances, vectors = eigh((centred.T @ centred if by_features else centred @ centred.T) / freedom)
    kept = variances > len(rows) * np.finfo(np.float64).eps * max(variances[-1], 0.0)
    variances, vectors = variances[kept], vectors[:, kept]
    basis = vectors if by_features else centred.T @ (vectors / np.sqrt(freedom * variances))
    rest = regularization**power
    return _Power(basis, (variances + regularization) ** power - rest, rest)
