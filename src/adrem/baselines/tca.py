"""Transfer component analysis."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils._param_validation import Interval

from adrem._memory import check_room
from adrem.baselines._alignment import Alignment, AlignmentBaseline, Form
from adrem.baselines._base import Loss
from adrem.baselines._span import FEWER
from adrem.baselines._subspaces import clip_dimension

USUAL = 30  # components, where there are as many
SMALL = 200  # rows up to which all eigenvectors are computed at once
MATRICES = 5  # as large as the kernel, that are made on the way to them


class TCA(AlignmentBaseline):
    """Transfer component analysis: components with much variance in which the domains' means agree [1].

    With the linear kernel ``K`` of all rows, ``H`` the centring matrix, and ``L = v v'`` with ``v`` one over the number
    of rows of the source, or minus one over that of the target, the components ``W`` minimize

    ``tr(W' K L K W) + mu * tr(W' W)`` subject to ``W' K H K W = I``,

    a generalized symmetric eigenproblem. Rows are mapped by their kernel with all rows times ``W``.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components; more than there are is clipped, with a warning. None takes 30, or as many as there are.
    mu : float, default=1.0
        Weight of the second term, on the identity, as published.
    form : {"mapping", "similarity", "nearest"}, default="mapping"
        What is trained, as for `CORAL`; the similarity is the inner product of the components.
    loss : {"hinge", "log_loss"}, default="hinge"
        As for `CORAL`.
    C : "cv", float or list of floats, default="cv"
        As for `CORAL`.
    tol : float, default=0.1
        As for `CORAL`.
    random_state : int, RandomState instance or None, default=None
        As for `CORAL`.

    Attributes
    ----------
    n_components_ : int
        The number of components that were used.
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CORAL`.

    References
    ----------
    - [1] Sinno Jialin Pan, Ivor W. Tsang, James T. Kwok, Qiang Yang, "Domain Adaptation via Transfer Component
      Analysis", IEEE Transactions on Neural Networks 22, 2011.

    Examples
    --------
    The first of two features tells the classes apart, the second gives the domain away and hardly counts in the end:

    >>> import numpy as np
    >>> from adrem.baselines import TCA
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X_source, X_target = (
    ...     rng.normal(size=(100, 2)) + np.stack([4 * y - 2, np.full(100, place)], axis=1) for place in (-2, 2)
    ... )
    >>> model = TCA(n_components=1, C=1.0).fit(X_source, y, X_target=X_target)
    >>> first, second = abs(model.coef_[0, 0])
    >>> bool(second < 0.1 * first)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AlignmentBaseline._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "mu": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        mu: float = 1.0,
        form: Form = "mapping",
        loss: Loss = "hinge",
        C: Any = "cv",
        tol: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.mu = mu
        self.form = form
        self.loss = loss
        self.C = C
        self.tol = tol
        self.random_state = random_state

    def _align(self, source: NDArray[np.float64], target: NDArray[np.float64]) -> Alignment:
        rows = np.concatenate([source, target])
        if not np.any(rows != rows[0]):
            raise ValueError("The rows of both domains are all the same: TCA needs at least two that differ.")
        available = max(1, min(len(rows) - 1, rows.shape[1]))
        wanted = min(USUAL, available) if self.n_components is None else self.n_components
        means = np.concatenate([np.full(len(source), 1 / len(source)), np.full(len(target), -1 / len(target))])
        components = transfer_components(rows, means, self.mu, clip_dimension(wanted, available, "TCA"))
        self.n_components_ = components.shape[1]
        return Alignment(source @ components, components)


def transfer_components(
    rows: NDArray[np.float64], means: NDArray[np.float64], mu: float, n_components: int
) -> NDArray[np.float64]:
    """The components as weights of the features (features x components).

    K L K is of rank one, so the root of K L K + mu I is written down and the problem becomes an ordinary symmetric one,
    whose matrix is never formed.
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
    if n_rows <= SMALL or 2 * n_components >= n_rows:
        check_room(MATRICES * 8 * n_rows**2, f"TCA with {n_components} components of {n_rows} rows", FEWER)
        matrix = apply(np.eye(n_rows))
        values, vectors = eigh((matrix + matrix.T) / 2, subset_by_index=[n_rows - n_components, n_rows - 1])
    else:
        operator = LinearOperator((n_rows, n_rows), matvec=apply, matmat=apply, dtype=np.float64)
        values, vectors = eigsh(operator, n_components, v0=np.random.default_rng(0).standard_normal(n_rows))
    kept = values > n_rows * np.finfo(np.float64).eps * max(values[-1], 0.0)
    weights = root(vectors[:, kept][:, ::-1]) / np.sqrt(values[kept][::-1])
    return np.asarray(rows.T @ weights)
