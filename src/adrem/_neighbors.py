"""Beyond the paper: target rows whose scores lean on those of the rows nearest to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem._memory import bytes_of, check_room
from adrem._types import FloatArray, Matrix

if TYPE_CHECKING:
    from adrem._em import Task

# What the nearest rows weigh in a score, all together, and how many there are where nobody says. Both, the form itself
# and what is enough below were chosen on the Amazon reviews, SURF and digits; docs/beyond.md has the other data.
LEAN = 0.3
USUAL = 5
# Neighbours are trusted where they tell the labels of the source this well, in parts of what the classifier does.
ENOUGH = 0.7
ASKED = 1000  # rows of the source whose nearest one is looked up
# Target rows beyond which nobody's neighbours are looked up unasked: that takes time with the square of their number.
MANY = 20_000
BLOCK = 1024  # rows that are compared with all others at a time, fewer where these are very many
BYTES_A_PAIR = 56  # products, sparse and dense, likeness, its order


class Mixing:
    """Scores of rows, each mixed with those of the rows nearest to it."""

    def __init__(self, near: NDArray[np.intp]) -> None:
        n_rows, k = near.shape
        ends = np.arange(0, near.size + 1, k)
        self._mean = sp.csr_array((np.full(near.size, 1.0 / k), near.ravel(), ends), shape=(n_rows, n_rows))

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Mix the scores of each of some members (members x rows x problems)."""
        return np.stack([(1.0 - LEAN) * own + LEAN * (self._mean @ own) for own in scores])


def nearest(rows: Matrix, k: int, of: Any = None, *, similarities: bool = False) -> NDArray[np.intp]:
    """The k nearest other rows of every row, or `of` some, by the cosine between rows less their mean.

    With `similarities` the table has the inner products of all rows instead of the rows.
    """
    from adrem.machines._tables import squared_norms

    n_rows = rows.shape[0]
    of = np.arange(n_rows) if of is None else of
    block = max(1, min(BLOCK, len(of), BLOCK * MANY // n_rows))
    check_room(
        block * n_rows * BYTES_A_PAIR + bytes_of(rows) * 8 // rows.dtype.itemsize,
        f"Looking up the neighbours of {len(of)} rows",
        "set neighbors=None, or give fewer rows",
    )
    rows = rows.astype(np.float64)
    if similarities:
        inner = rows.toarray() if sp.issparse(rows) else rows
        to_mean, norm_of_mean, squares = inner.mean(axis=1), float(inner.mean()), np.diag(inner)
    else:
        mean = np.asarray(rows.mean(axis=0)).ravel()
        to_mean, norm_of_mean = rows @ mean, float(mean @ mean)
        squares = squared_norms(rows)
    lengths = np.sqrt(np.maximum(squares - 2.0 * to_mean + norm_of_mean, 0.0))
    scale = np.divide(1.0, lengths, out=np.zeros(n_rows), where=lengths > 0)
    found = np.empty((len(of), k), dtype=np.intp)
    for start in range(0, len(of), block):
        part = of[start : start + block]
        products = inner[part] if similarities else rows[part] @ rows.T
        likeness = np.asarray(products.toarray() if sp.issparse(products) else products)
        likeness = (likeness - to_mean - to_mean[part, None] + norm_of_mean) * scale
        likeness[np.arange(len(part)), part] = -np.inf
        found[start : start + len(part)] = np.argpartition(-likeness, k - 1, axis=1)[:, :k]
    return found


def neighbours_tell(task: Task, rows: Matrix, seed: int, *, similarities: bool = False) -> bool:
    """Whether the nearest row of a source row tells its label nearly as often as a classifier does, beyond chance."""
    from adrem.machines.selection import N_FOLDS, held_out_accuracy

    counts = np.bincount(task.labels[task.weights > 0], minlength=len(task.prior))
    if counts.min() < N_FOLDS:  # too few to know how good the classifier is
        return False
    nothing = np.zeros(task.n_target)
    labels, weights = (np.concatenate([own, nothing]) for own in (task.labels, task.weights))
    accuracy = held_out_accuracy(task.machine, labels.astype(np.intp), weights, task.C, seed)
    asked = np.sort(np.random.default_rng(seed).permutation(np.flatnonzero(task.weights > 0))[:ASKED])
    near = nearest(rows, 1, asked, similarities=similarities)[:, 0]
    share = float(np.average(task.labels[near] == task.labels[asked], weights=task.weights[asked]))
    chance = np.bincount(task.labels, task.weights).max() / task.weights.sum()
    return bool(share > chance and share - chance >= ENOUGH * (accuracy - chance))
