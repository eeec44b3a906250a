"""Boosted trees as plain arrays, which label rows without scikit-learn's estimator and can be saved."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adrem.base.validation import Domains
from adrem.exceptions import InvalidDataError

Arrays = dict[str, NDArray[Any]]
POSITIONS = ("feature", "left", "right", "roots")
# Boosting is used only if columns times classes are at most this many.
MAX_BOOSTED = 2000


@dataclass(frozen=True)
class Trees:
    """The nodes of all trees one after another, and where each tree begins.

    Children are positions of nodes; a leaf is its own child. Trees come in rounds, one for each score.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]
    roots: NDArray[np.int32]
    baseline: NDArray[np.float64]

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return a fitted `HistGradientBoostingClassifier` as arrays."""
        nodes = [tree.nodes for round_ in model._predictors for tree in round_]
        roots = np.cumsum([0, *(len(own) for own in nodes[:-1])])
        joined = {name: np.concatenate([own[name] for own in nodes]) for name in nodes[0].dtype.names}
        shift = np.repeat(roots, [len(own) for own in nodes])
        is_leaf, here = joined["is_leaf"].astype(bool), np.arange(len(shift))
        return cls(
            np.where(is_leaf, 0, joined["feature_idx"]).astype(np.int32),
            np.where(is_leaf, 0.0, joined["num_threshold"]).astype(np.float64),
            np.where(is_leaf, here, joined["left"] + shift).astype(np.int32),
            np.where(is_leaf, here, joined["right"] + shift).astype(np.int32),
            np.where(is_leaf, joined["value"], 0.0).astype(np.float64),
            roots.astype(np.int32),
            np.ravel(model._baseline_prediction).astype(np.float64),
        )

    def scores(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return a score for every class, or one score for two classes."""
        scores = np.tile(self.baseline, (len(rows), 1))
        at = np.arange(len(rows))
        for tree, root in enumerate(self.roots.tolist()):
            node = np.full(len(rows), root)
            while True:
                goes_left = rows[at, self.feature[node]] <= self.threshold[node]
                after = np.where(goes_left, self.left[node], self.right[node])
                if np.array_equal(after, node):
                    break
                node = after
            scores[:, tree % len(self.baseline)] += self.value[node]
        return scores

    def arrays(self) -> Arrays:
        """Return the arrays by name."""
        return dict(vars(self))


def fit_trees(domains: Domains, seed: int, part: Any = slice(None), **params: Any) -> Any:
    """Fit scikit-learn's boosted trees to the source rows, or to a part of them."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    # Fits with weights take several times as long.
    weights = None if np.ptp(domains.weights) == 0 else domains.weights[part]
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=seed, **params)
    return model.fit(domains.X_source[part], domains.labels[part], weights)


def restore_trees(arrays: Arrays, n_features: int, n_scores: int) -> Trees:
    """Return the trees of a file that may be hostile; raise an error unless they are trees."""
    if set(arrays) != {field.name for field in fields(Trees)}:
        raise InvalidDataError("The trees have other arrays.")
    trees = Trees(**arrays)
    n_nodes = len(trees.feature)
    lengths = {"roots": len(trees.roots), "baseline": n_scores}
    for name, array in arrays.items():
        kind = "i" if name in POSITIONS else "f"
        if array.dtype.kind != kind or array.shape != (lengths.get(name, n_nodes),) or not np.isfinite(array).all():
            raise InvalidDataError("The arrays of the trees do not fit together.")
    if not are_trees(trees, n_features):
        raise InvalidDataError("The trees are not trees.")
    return trees


def are_trees(trees: Trees, n_features: int) -> bool:
    """Return whether every path ends: children come after their node, and a node has one parent."""
    here = np.arange(len(trees.feature))
    is_leaf = (trees.left == here) & (trees.right == here)
    ends = is_leaf | (np.minimum(trees.left, trees.right) > here)
    reached = np.sort(np.concatenate([trees.left[~is_leaf], trees.right[~is_leaf], trees.roots]))
    columns = (trees.feature >= 0) & (trees.feature < n_features)
    is_whole = np.array_equal(reached, here) and len(trees.roots) % len(trees.baseline) == 0
    return bool(len(here) and is_whole and ends.all() and columns.all())
