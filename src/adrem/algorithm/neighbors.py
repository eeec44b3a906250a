"""Beyond the paper: the scores of a target row are mixed with those of its nearest target rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.runtime.memory import bytes_of, check_room
from adrem.types import FloatArray, Matrix

if TYPE_CHECKING:
    from adrem.machines.linear import TrainingSet

# The weight of all neighbours together in a score, and their number with neighbors="auto". These, and the threshold
# below, were chosen on the Amazon reviews, SURF and digits; docs/beyond.md has the other data.
NEIGHBOR_WEIGHT = 0.3
DEFAULT_NEIGHBORS = 5
# Neighbours are used if they predict source labels above chance by this part of what the classifier does.
INFORMATIVE_PART = 0.7
N_COMPARED = 1000  # source rows whose nearest row is looked up
# neighbors="auto" uses none for more target rows than this: the time grows with the square of their number.
MAX_TARGET_ROWS = 20_000
BLOCK = 1024  # rows that are compared with all others at a time, fewer if there are very many
BYTES_PER_PAIR = 56  # products, sparse and dense, similarities, their order


class Mixing:
    """Mixes the scores of each row with those of its nearest rows."""

    def __init__(self, near: NDArray[np.intp]) -> None:
        n_rows, k = near.shape
        ends = np.arange(0, near.size + 1, k)
        self._mean = sp.csr_array((np.full(near.size, 1.0 / k), near.ravel(), ends), shape=(n_rows, n_rows))

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Mix the scores of every member (members x rows x problems)."""
        return np.stack([(1.0 - NEIGHBOR_WEIGHT) * own + NEIGHBOR_WEIGHT * (self._mean @ own) for own in scores])


def nearest(
    rows: Matrix, k: int, of: Any = None, *, similarities: bool = False, device: str = "cpu"
) -> NDArray[np.intp]:
    """Return the k nearest other rows of every row, or `of` some rows, by the cosine between centred rows.

    With `similarities` the table has the inner products of all rows instead of the rows. The device is used for all
    rows of a dense table.
    """
    from adrem.machines.devices import CPU, resolve_device
    from adrem.machines.tables import squared_norms

    n_rows = rows.shape[0]
    there = resolve_device(device, n_rows**2 * rows.shape[1])
    if there != CPU and of is None and not (sp.issparse(rows) or similarities):
        from adrem.machines.torch.tables import nearest_rows

        return nearest_rows(rows, k, there)
    of = np.arange(n_rows) if of is None else of
    block = max(1, min(BLOCK, len(of), BLOCK * MAX_TARGET_ROWS // n_rows))
    check_room(
        block * n_rows * BYTES_PER_PAIR + bytes_of(rows) * 8 // rows.dtype.itemsize,
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
        distance = np.asarray(products.toarray() if sp.issparse(products) else products, dtype=np.float64)
        distance -= to_mean  # in place, since these passes take longer than the products of short rows
        distance -= to_mean[part, None]
        distance += norm_of_mean
        distance *= -scale
        distance[np.arange(len(part)), part] = np.inf
        found[start : start + len(part)] = np.argpartition(distance, k - 1, axis=1)[:, :k]
    return found


def are_informative(rows: TrainingSet, X_source: Matrix, seed: int, *, similarities: bool = False) -> bool:
    """Whether the nearest row predicts the label of a source row nearly as well as the classifier, above chance."""
    from adrem.machines.regularization import N_FOLDS

    labels, weights = rows.labels, rows.weights
    if (
        np.bincount(labels[weights > 0], minlength=labels.max() + 1).min() < N_FOLDS
    ):  # too few to cross-validate the classifier
        return False
    accuracy = rows.held_out_accuracy(seed)
    asked = np.sort(np.random.default_rng(seed).permutation(np.flatnonzero(weights > 0))[:N_COMPARED])
    near = nearest(X_source, 1, asked, similarities=similarities)[:, 0]
    share = float(np.average(labels[near] == labels[asked], weights=weights[asked]))
    chance = np.bincount(labels, weights).max() / weights.sum()
    return bool(share > chance and share - chance >= INFORMATIVE_PART * (accuracy - chance))
