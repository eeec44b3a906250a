"""Choose rows to label: some to learn from, and some at random, to know the accuracy by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from adrem.active.suggestion import Array, Positions, read_for, rows_left, suggest
from adrem.exceptions import ParameterError
from adrem.types import BoolArray


@dataclass(frozen=True)
class Questions:
    """Rows to label.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Their positions.
    is_random : ndarray of shape (n,)
        Which of them were drawn at random; the others were suggested.
    probability : ndarray of shape (n,)
        The probability with which a row was chosen: 1 for a suggested one, for a random one the share of the others
        that was drawn.
    """

    rows: Positions
    is_random: BoolArray
    probability: Array


def ask(
    model: Any, X_target: Any, n: int, *, n_random: int = 0, random_state: Any = None, exclude: Any = None
) -> Questions:
    """Choose rows to label: suggested ones to learn from, and random ones to estimate the accuracy by.

    Parameters
    ----------
    model : Committee, AdREM, a baseline, or a pipeline that ends with one
        A fitted model.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Rows of the target.
    n : int
        The number of rows.
    n_random : int, default=0
        How many of them are drawn at random from those that are not suggested.
    random_state : int, RandomState instance or None, default=None
        Determines the draw, and the rows that are suggested as in ``suggest``.
    exclude : array-like of int, default=None
        Positions of rows that are not to be chosen, such as those with a known label (``model.known_rows_``).

    Returns
    -------
    Questions
        The rows in a random order, so that nothing tells the person who labels them how they were chosen.

    Raises
    ------
    ParameterError
        If ``n`` is less than 1, or ``n_random`` is not from 0 to ``n``.
    InvalidDataError
        If there are fewer than ``n`` rows to choose from.

    See Also
    --------
    suggest : The suggested rows alone.
    adrem.diagnostics.estimate_accuracy : The estimate, by ``y_known`` and ``known_probability``.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.active import ask
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
    >>> model = AdREM(n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> asked = ask(model, X_target, 8, n_random=4, random_state=0)
    >>> sorted(asked.probability.round(3).tolist())
    [0.042, 0.042, 0.042, 0.042, 1.0, 1.0, 1.0, 1.0]
    """
    if not 0 <= n_random <= n:
        raise ParameterError(f"n_random is {n_random}: it has to be from 0 to n, which is {n}.", "n_random")
    model, rows = read_for(model, X_target)
    candidates = rows_left(rows.shape[0], n, exclude)
    state = check_random_state(random_state)
    excluded = np.setdiff1d(np.arange(rows.shape[0]), candidates)
    none = np.zeros(0, dtype=np.intp)
    suggested = suggest(model, rows, n - n_random, random_state=state, exclude=excluded) if n > n_random else none
    others = np.setdiff1d(candidates, suggested)
    drawn = state.permutation(others)[:n_random]
    share = n_random / len(others) if len(others) else 1.0
    order = state.permutation(n)
    return Questions(
        np.concatenate([suggested, drawn])[order],
        np.repeat([False, True], [n - n_random, n_random])[order],
        np.repeat([1.0, share], [n - n_random, n_random])[order],
    )
