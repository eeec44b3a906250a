"""What is asked of a machine, and what it answers: one-vs-rest problems, and their solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adrem._types import FloatArray


def one_vs_rest(labels: NDArray[np.integer[Any]], n_classes: int) -> NDArray[np.float64]:
    """Give the signs of the binary problems: a single problem for two classes, one a class otherwise.

    Parameters
    ----------
    labels : ndarray of shape (..., n_rows)
        Numbers of classes.
    n_classes : int
        How many classes there are.

    Returns
    -------
    ndarray of shape (..., n_problems, n_rows)
        1 where a row is of the problem's class, and -1 elsewhere.

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
    """Label every row of scores.

    Parameters
    ----------
    scores : ndarray of shape (..., n_problems)
        One score for two classes, and one a class otherwise.

    Returns
    -------
    ndarray of shape (...)
        Numbers of classes.

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
    """What a machine will be asked for.

    Parameters
    ----------
    n_classes : int
        How many classes there are.
    n_members : int, default=1
        How many members will be trained.
    n_jobs : int, default=1
        In how many threads.
    n_folds : int, default=1
        How many folds are trained side by side to choose C.
    n_kept : int, default=1
        How many classifiers are kept in the end.

    Examples
    --------
    >>> from adrem.machines import Work
    >>> Work(n_classes=31, n_members=11, n_folds=3, n_kept=11).n_problems
    31
    """

    n_classes: int
    n_members: int = 1
    n_jobs: int = 1
    n_folds: int = 1
    n_kept: int = 1

    @property
    def n_problems(self) -> int:
        """The number of binary problems: one for two classes, one a class otherwise.

        Examples
        --------
        >>> from adrem.machines import Work
        >>> Work(2).n_problems, Work(3).n_problems
        (1, 3)
        """
        return 1 if self.n_classes == 2 else self.n_classes


@dataclass
class Solution:
    """Trained classifiers of some members inside a machine, and all that the next training needs to start from them.

    How the arrays are laid out is the machine's affair; ask it for ``scores``, ``multiples`` and ``weights``.

    Parameters
    ----------
    labels : ndarray of int
        The labels that were trained on.
    box : ndarray of float
        The largest multiple of each row, which is its weight times C.
    dual : ndarray of float
        The dual variables.
    primal : ndarray of float
        The scores or the weights, whichever the machine keeps up.
    n_failed : ndarray of shape (n_members,)
        For every member, the one-vs-rest problems that were given up before they reached the tolerance.
    n_slow : ndarray of shape (n_members,)
        For every member, the problems that coordinate descent gave up, whether or not they were solved in another way.

    Examples
    --------
    >>> import numpy as np
    >>> from adrem.machines import make_machine
    >>> machine = make_machine(np.array([[1.0], [2.0], [-1.0]]), 2, "hinge")
    >>> solution = machine.solve(np.array([1, 1, 0]), np.ones(3), C=1.0)
    >>> solution.n_failed.tolist()
    [0]
    """

    labels: NDArray[np.int32]
    box: NDArray[np.float64]
    dual: NDArray[np.float64]
    primal: NDArray[np.float64]
    n_failed: NDArray[np.intp]
    n_slow: NDArray[np.intp]
