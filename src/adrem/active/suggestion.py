"""Choose rows to label: uncertain ones, unlike each other, that speak for many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, softmax
from sklearn.cluster import KMeans
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
MOST_COMPARED = 20_000  # rows, of which the clusters are made; more are sampled
N_STARTS = 3
LEAST_WEIGHT = 1e-9  # of a row without any doubt: a cluster needs a weight


def suggest(model: Any, X_target: Any, n: int, *, random_state: Any = None, exclude: Any = None) -> Positions:
    """Choose rows of the target to label by hand.

    The rows are cut into ``n`` clusters by k-means, in which the weight of a row is the entropy of its scores. Of each
    cluster, the row nearest to the mean is chosen (Prabhu and others 2021). So the rows are uncertain, unlike each
    other, and in the middle of many others. docs/few-labels.md compares it with other rules.

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
        Determines the start of k-means.
    exclude : array-like of int, default=None
        Positions of rows that are not to be chosen, such as those with a known label (``model.known_rows_``).

    Returns
    -------
    ndarray of shape (n,)
        Positions in ``X_target``, the most uncertain first.

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
    if len(candidates) > MOST_COMPARED:
        candidates = np.sort(np.random.default_rng(seed).permutation(candidates)[:MOST_COMPARED])
    doubt = entropy_of_scores(model, rows[candidates])
    nearest = nearest_to_means(coordinates(rows[candidates], seed), doubt, n, seed)
    return candidates[nearest[np.argsort(-doubt[nearest], kind="stable")]]


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


def entropy_of_scores(model: Any, rows: Matrix) -> Array:
    """Return how uncertain the label of each row is."""
    scores = by_class(np.mean(list(model.member_scores(rows)), axis=0))
    return np.asarray(entr(softmax(scores, axis=1)).sum(axis=1))


def coordinates(rows: Any, seed: int) -> Array:
    """Return a few numbers for each row; rows that are alike have similar ones."""
    if rows.shape[1] <= MAX_COORDINATES:
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    n = max(1, min(MAX_COORDINATES, rows.shape[0] - 1))
    return np.asarray(TruncatedSVD(n, random_state=seed).fit_transform(rows), dtype=np.float64)


def nearest_to_means(places: Array, weights: Array, n: int, seed: int) -> Positions:
    """Return the row nearest to each of n means of k-means, each row once."""
    means = KMeans(n, n_init=N_STARTS, random_state=seed).fit(places, sample_weight=weights + LEAST_WEIGHT)
    far = means.transform(places)
    chosen: list[int] = []
    for k in range(n):
        order = np.argsort(far[:, k], kind="stable")
        chosen.append(next(int(row) for row in order if row not in chosen))
    return np.array(chosen, dtype=np.intp)
