"""Choose rows to label: uncertain ones that are unlike each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.decomposition import TruncatedSVD
from sklearn.utils import check_random_state

from adrem.base.classifier import check_model
from adrem.base.pipelines import unwrap
from adrem.base.scoring import by_class
from adrem.base.validation import read_rows
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.types import Matrix

Array = NDArray[np.float64]
Positions = NDArray[np.intp]
MAX_COORDINATES = 50  # of a row, for the distances between rows
MOST_COMPARED = 20_000  # rows; of more, a random part is
SHORTLIST = 10  # rows for each that is chosen


def suggest(model: Any, X_target: Any, n: int, *, random_state: Any = None, exclude: Any = None) -> Positions:
    """Choose rows of the target to label by hand.

    Of the ``10 * n`` rows whose two best classes have the closest scores, those are chosen that lie farthest apart: the
    first has the closest scores, and each next one is the row farthest from all before it. So the rows are uncertain,
    and unlike each other. docs/few-labels.md compares this rule with others.

    The rows are no random sample: what share of them the model gets right says nothing about the others. See ``ask``
    for rows that do.

    Parameters
    ----------
    model : Committee, AdREM, a baseline, or a pipeline that ends with one
        A fitted model.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Rows of the target.
    n : int
        The number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Determines the directions in which rows of many features are compared, and the part that is compared of more
        than 20 000 rows.
    exclude : array-like of int, default=None
        Positions of rows that are not to be chosen, such as those with a known label (``model.known_rows_``).

    Returns
    -------
    ndarray of shape (n,)
        Positions in ``X_target``, in the order in which they were chosen.

    Raises
    ------
    ParameterError
        If ``n`` is less than 1, or ``exclude`` has numbers that are no positions.
    InvalidDataError
        If there are fewer than ``n`` rows to choose from.

    See Also
    --------
    ask : Choose rows to learn from, and random ones to estimate the accuracy by.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.active import suggest
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
    >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> len(suggest(model, X_target, 5, random_state=0))
    5
    """
    model, rows = read_for(model, X_target)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    candidates = rows_left(rows.shape[0], n, exclude)
    n_compared = max(MOST_COMPARED, n)
    if len(candidates) > n_compared:
        candidates = np.sort(np.random.default_rng(seed).permutation(candidates)[:n_compared])
    margin, places = margins(model, rows[candidates]), coordinates(rows[candidates], seed)
    few = np.argsort(margin, kind="stable")[: SHORTLIST * n]
    return candidates[few[farthest_first(places[few], n)]]


def read_for(model: Any, X_target: Any) -> tuple[Any, Matrix]:
    """Return a model, of a pipeline its last step, and rows as it sees them."""
    model, _, X_target, _ = unwrap(model, X_target, X_target)
    check_model(model)
    return model, read_rows(model, X_target)


def rows_left(n_rows: int, n: int, exclude: Any) -> Positions:
    """Return the positions from which n rows can be chosen."""
    if n < 1:
        raise ParameterError(f"n is {n}: ask for one row or more.", "n")
    left = np.ones(n_rows, dtype=bool)
    if exclude is not None:
        taken = np.asarray(exclude)
        if taken.size and (taken.dtype.kind not in "iu" or taken.min() < 0 or taken.max() >= n_rows):
            raise ParameterError(f"exclude must hold positions from 0 to {n_rows - 1}.", "exclude")
        left[taken.astype(np.intp)] = False
    candidates = np.flatnonzero(left)
    if len(candidates) < n:
        raise InvalidDataError(f"Only {len(candidates)} of {n_rows} rows can be chosen, and {n} were asked for.")
    return candidates


def margins(model: Any, rows: Matrix) -> Array:
    """Return how far the best class of each row is ahead of the second."""
    scores = by_class(np.mean(list(model.member_scores(rows)), axis=0))
    ordered = np.sort(softmax(scores, axis=1), axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def coordinates(rows: Any, seed: int) -> Array:
    """Return a few numbers for each row; rows that are alike have similar ones."""
    if rows.shape[1] <= MAX_COORDINATES:
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    n = max(1, min(MAX_COORDINATES, rows.shape[0] - 1))
    return np.asarray(TruncatedSVD(n, random_state=seed).fit_transform(rows), dtype=np.float64)


def farthest_first(places: Array, n: int) -> Positions:
    """Return n rows: the first, and again and again the one that is farthest from all of them, each once."""
    chosen = [0]
    nearest = cdist(places, places[:1])[:, 0]
    while len(chosen) < n:
        nearest[chosen[-1]] = -1.0
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, cdist(places, places[chosen[-1:]])[:, 0])
    return np.array(chosen, dtype=np.intp)
