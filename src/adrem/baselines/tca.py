"""Transfer component analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from adrem.base.constraints import AT_LEAST_ONE, POSITIVE, LossName, TargetLabels
from adrem.baselines.alignment import Alignment, AlignmentBaseline, Form
from adrem.baselines.span import REDUCE_DATA
from adrem.baselines.subspaces import clip_dimension
from adrem.exceptions import InvalidDataError
from adrem.runtime.memory import check_room

DEFAULT_COMPONENTS = 30
DENSE_ROWS = 200  # up to this many rows, a dense eigensolver is used
KERNEL_COPIES = 5  # memory of the dense eigensolver, in kernel matrices


class TCA(AlignmentBaseline):
    """Transfer component analysis: components of high variance in which the domain means agree [1].

    With the linear kernel ``K`` of all rows, ``H`` the centring matrix, and ``L = v v'`` with ``v = 1 / n_source``
    for source rows and ``-1 / n_target`` for target rows, the components ``W`` minimize

    ``tr(W' K L K W) + mu * tr(W' W)`` subject to ``W' K H K W = I``,

    a generalized symmetric eigenproblem. Rows are mapped by their kernel values times ``W``.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components, clipped to the available number with a warning. None is 30, or all if there are fewer.
    mu : float, default=1.0
        Weight of the second term.
    form : {"mapping", "similarity", "nearest"}, default="mapping"
        The classifier, as for `CORAL`; the similarity is the inner product of the components.
    loss, C, tol, random_state, target_labels : optional
        As for `CORAL`.

    Attributes
    ----------
    n_components_ : int
        Number of components.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CORAL`.

    References
    ----------
    - [1] Sinno Jialin Pan, Ivor W. Tsang, James T. Kwok, Qiang Yang, "Domain Adaptation via Transfer Component
      Analysis", IEEE Transactions on Neural Networks 22, 2011.

    Examples
    --------
    The first feature separates the classes, the second the domains; its weight becomes small:

    >>> import numpy as np
    >>> from adrem.baselines import TCA
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X_source, X_target = (
    ...     rng.normal(size=(100, 2)) + np.stack([4 * y - 2, np.full(100, shift)], axis=1) for shift in (-2, 2)
    ... )
    >>> model = TCA(n_components=1, C=1.0).fit(X_source, y, X_target=X_target)
    >>> first, second = abs(model.coef_[0, 0])
    >>> bool(second < 0.1 * first)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AlignmentBaseline._parameter_constraints,
        "n_components": [AT_LEAST_ONE, None],
        "mu": [POSITIVE],
    }

    def __init__(
        self,
        n_components: int | None = None,
        mu: float = 1.0,
        form: Form = "mapping",
        loss: LossName = "hinge",
        C: Any = "cv",
        tol: float = 0.1,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.n_components = n_components
        self.mu = mu
        self.form = form
        self.loss = loss
        self.C = C
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _align(self, source: NDArray[np.float64], target: NDArray[np.float64]) -> Alignment:
        rows = np.concatenate([source, target])
        if not np.any(rows != rows[0]):
            raise InvalidDataError("All rows of both domains are equal: TCA needs at least two different rows.")
        available = max(1, min(len(rows) - 1, rows.shape[1]))
        wanted = min(DEFAULT_COMPONENTS, available) if self.n_components is None else self.n_components
        means = np.concatenate([np.full(len(source), 1 / len(source)), np.full(len(target), -1 / len(target))])
        components = transfer_components(rows, means, self.mu, clip_dimension(wanted, available, "TCA"))
        self.n_components_ = components.shape[1]
        return Alignment(source @ components, components)


def transfer_components(
    rows: NDArray[np.float64], means: NDArray[np.float64], mu: float, n_components: int
) -> NDArray[np.float64]:
    """Return the components as feature weights (features x components).

    K L K has rank one, so K L K + mu I has a closed-form inverse root, which gives an ordinary symmetric eigenproblem.
    The iterative solver never forms its matrix.
    """
    gap = rows @ (rows.T @ means)
    squared = float(gap @ gap)
    shrink = (1.0 / np.sqrt(1.0 + squared / mu) - 1.0) / squared if squared > 0 else 0.0

    def root(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((vectors + shrink * np.outer(gap, gap @ vectors)) / np.sqrt(mu))

    def centred_product(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        product = rows @ (rows.T @ vectors)
        return np.asarray(product - product.mean(axis=0))

    def apply(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = vectors.reshape(len(rows), -1)
        return root(rows @ (rows.T @ centred_product(root(columns))))

    n_rows = len(rows)
    if n_rows <= DENSE_ROWS or 2 * n_components >= n_rows:
        check_room(KERNEL_COPIES * 8 * n_rows**2, f"TCA with {n_components} components of {n_rows} rows", REDUCE_DATA)
        matrix = apply(np.eye(n_rows))
        values, vectors = eigh((matrix + matrix.T) / 2, subset_by_index=[n_rows - n_components, n_rows - 1])
    else:
        operator = LinearOperator((n_rows, n_rows), matvec=apply, matmat=apply, dtype=np.float64)
        values, vectors = eigsh(operator, n_components, v0=np.random.default_rng(0).standard_normal(n_rows))
    kept = values > n_rows * np.finfo(np.float64).eps * max(values[-1], 0.0)
    weights = root(vectors[:, kept][:, ::-1]) / np.sqrt(values[kept][::-1])
    return np.asarray(rows.T @ weights)
