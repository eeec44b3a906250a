"""The input and output of a machine: one-vs-rest problems and their solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem.types import FloatArray


def one_vs_rest(labels: NDArray[np.integer[Any]], n_classes: int) -> NDArray[np.float64]:
    """Return the signs of the one-vs-rest problems: one problem for two classes, one per class otherwise.

    Parameters
    ----------
    labels : ndarray of shape (..., n_rows)
        Class numbers.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (..., n_problems, n_rows)
        1 for rows of the problem's class, -1 for others.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.machines import one_vs_rest
    >>> one_vs_rest(np.array([0, 1, 2]), n_classes=3).tolist()
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    >>> one_vs_rest(np.array([0, 1]), n_classes=2).tolist()
    [[-1.0, 1.0]]
    """
    positives = np.arange(1, 2) if n_classes == 2 else np.arange(n_classes)
    return np.where(labels[..., None, :] == positives[:, None], 1.0, -1.0)


def decide(scores: FloatArray) -> NDArray[np.intp]:
    """Return the class with the largest score.

    Parameters
    ----------
    scores : ndarray of shape (..., n_problems)
        One score for two classes, one per class otherwise.

    Returns
    -------
    ndarray of shape (...)
        Class numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.machines import decide
    >>> decide(np.array([[0.1, 0.7, 0.2], [0.9, 0.3, 0.4]])).tolist()
    [1, 0]
    >>> decide(np.array([[-0.5], [0.5]])).tolist()
    [0, 1]
    """
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.intp)
    winners: NDArray[np.intp] = scores.argmax(axis=-1)
    return winners


class Work(NamedTuple):
    """What a machine will train.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    n_members : int, default=1
        Number of members.
    n_jobs : int, default=1
        Number of threads.
    n_folds : int, default=1
        Number of folds that are trained together to choose C.
    n_kept : int, default=1
        Number of classifiers that are kept.
    """

    n_classes: int
    n_members: int = 1
    n_jobs: int = 1
    n_folds: int = 1
    n_kept: int = 1

    @property
    def n_problems(self) -> int:
        """The number of binary problems: one for two classes, one per class otherwise."""
        return 1 if self.n_classes == 2 else self.n_classes


@dataclass
class Solution:
    """Trained classifiers of some members inside a machine, with all that a warm start needs.

    The layout of the arrays depends on the machine, which returns ``scores``, ``multiples`` and ``weights``.

    Parameters
    ----------
    labels : ndarray of int
        Labels of the training.
    box : ndarray of float
        Upper bound of each row's multiple: its weight times C.
    dual : ndarray of float
        The dual variables.
    primal : ndarray of float
        Scores or weights, whichever the machine updates.
    n_failed : ndarray of shape (n_members,)
        Per member, the number of one-vs-rest problems that did not reach the tolerance.
    n_slow : ndarray of shape (n_members,)
        Per member, the number of problems that coordinate descent gave up, solved by Newton's method or not.
    """

    labels: NDArray[np.int32]
    box: NDArray[np.float64]
    dual: NDArray[np.float64]
    primal: NDArray[np.float64]
    n_failed: NDArray[np.intp]
    n_slow: NDArray[np.intp]
