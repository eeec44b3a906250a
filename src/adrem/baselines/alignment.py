"""Methods that map both domains linearly into a common space and train there.

They are invariant to rotations of the feature space, so they work in coordinates of the span of the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils._param_validation import StrOptions

from adrem.base.constraints import AT_LEAST_ONE, LossName, TargetLabels
from adrem.base.parameters import read_candidates
from adrem.base.scoring import normalized_shares
from adrem.base.validation import Domains
from adrem.baselines.base import LinearBaseline
from adrem.baselines.span import RowSpace
from adrem.runtime.memory import by_blocks, check_room
from adrem.types import Matrix

Form = Literal["mapping", "similarity", "nearest"]
SIMILARITY_GRID = tuple(10.0**k for k in range(-3, 3))
N_FOLDS = 2
SIMILARITY_COPIES = 3  # memory: the matrix, its part for a fold, and the solver's copy
SVC_STEPS_PER_ROW = 100  # maximum


class Alignment(NamedTuple):
    """Source rows in the common space, and the matrix that maps target coordinates into it."""

    source: NDArray[np.float64]
    target_map: NDArray[np.float64]


class AlignmentBaseline(LinearBaseline):
    """A baseline that aligns the domains by `_align`, which gets coordinates.

    ``form="mapping"`` trains the linear classifier on the mapped source. ``form="similarity"`` follows the authors'
    programs: a one-vs-one support vector machine on the similarities ``x A x'`` of source rows, which need not be
    symmetric, with C by two-fold cross-validation. ``form="nearest"`` predicts the label of the nearest mapped row.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearBaseline._parameter_constraints,
        "form": [StrOptions({"mapping", "similarity", "nearest"})],
    }

    form: Form
    _comparison: Comparison | None = None

    def _align(self, source: NDArray[np.float64], target: NDArray[np.float64]) -> Alignment:
        raise NotImplementedError

    def _adapt(self, domains: Domains) -> None:
        from adrem.machines.tables import stack

        space = RowSpace(stack([domains.X_source, domains.X_target]))
        n_source = len(domains.labels)
        source = space.coordinates[:n_source]
        aligned = self._aligned(space.coordinates, domains)
        self._comparison = None
        if self.form == "mapping":
            head = self._train(aligned.source, domains)
            self.coef_ = space.lift(head.coef @ aligned.target_map.T)[None]
            self.intercept_ = head.intercept[None]
        elif self.form == "nearest":
            neighbour = KNeighborsClassifier(n_neighbors=1).fit(aligned.source, domains.labels)
            self._comparison = Comparison(space, aligned, neighbour, len(domains.classes))
        else:
            check_room(
                SIMILARITY_COPIES * 8 * n_source**2,
                f"form='similarity' with {n_source} source rows",
                "set form='mapping' or use fewer rows",
            )
            similarities = aligned.source @ (source @ aligned.target_map).T
            machine, self.C_ = train_on_similarities(similarities, domains, self.C)
            self._comparison = Comparison(space, aligned, machine, len(domains.classes))

    def _aligned(self, rows: NDArray[np.float64], domains: Domains) -> Alignment:
        """Align the domains; labelled rows of the target are treated as the target's other rows."""
        if not domains.adapts:
            return Alignment(rows, np.eye(rows.shape[1]))
        n_own, n_source = domains.n_own, len(domains.labels)
        aligned = self._align(rows[:n_own], rows[n_own:])
        if not domains.n_known:
            return aligned
        known = rows[n_own:n_source] @ aligned.target_map
        return Alignment(np.concatenate([aligned.source, known]), aligned.target_map)

    def decide_rows(self, rows: Matrix) -> NDArray[np.float64]:
        return super().decide_rows(rows) if self._comparison is None else self._comparison.decide(rows)

    def label_rows(self, rows: Matrix) -> NDArray[np.intp]:
        return super().label_rows(rows) if self._comparison is None else self._comparison.label(rows)

    def share_rows(self, rows: Matrix) -> NDArray[np.float64]:
        return super().share_rows(rows) if self._comparison is None else self._comparison.share(rows)

    def without_rows(self) -> dict[str, Any]:
        return {} if self.form == "mapping" else {"form": "mapping"}


class SubspaceBaseline(AlignmentBaseline):
    """A baseline that aligns subspaces of `n_components` dimensions."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AlignmentBaseline._parameter_constraints,
        "n_components": [AT_LEAST_ONE, StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        form: Form = "mapping",
        loss: LossName = "hinge",
        C: Any = "cv",
        tol: float = 0.1,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.n_components = n_components
        self.form = form
        self.loss = loss
        self.C = C
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels


class Comparison(NamedTuple):
    """A classifier on the similarities or distances between target and source rows."""

    space: RowSpace
    aligned: Alignment
    classifier: SVC | KNeighborsClassifier
    n_classes: int

    def _features(self, rows: Matrix) -> NDArray[np.float64]:
        """Return the input of the classifier for target rows."""
        mapped = self.space.map(rows) @ self.aligned.target_map
        return mapped @ self.aligned.source.T if isinstance(self.classifier, SVC) else mapped

    def _predict(self, method: Callable[[NDArray[np.float64]], Any], rows: Matrix) -> NDArray[Any]:
        """Apply a method of the classifier to rows, block by block."""
        bytes_per_row = 16 * sum(self.aligned.source.shape)
        return by_blocks(lambda part: np.asarray(method(self._features(part))), rows, bytes_per_row)

    def label(self, rows: Matrix) -> NDArray[np.intp]:
        return self._predict(self.classifier.predict, rows).astype(np.intp, copy=False)

    def decide(self, rows: Matrix) -> NDArray[np.float64]:
        if isinstance(self.classifier, SVC):
            return self._predict(self.classifier.decision_function, rows)
        shares = self.share(rows)
        return np.asarray(shares[:, 1] - shares[:, 0] if self.n_classes == 2 else shares)

    def share(self, rows: Matrix) -> NDArray[np.float64]:
        if isinstance(self.classifier, SVC):
            return normalized_shares(self.decide(rows).reshape(rows.shape[0], -1))
        return np.asarray(np.eye(self.n_classes)[self.label(rows)])


def train_on_similarities(similarities: NDArray[np.float64], domains: Domains, C: Any) -> tuple[SVC, float]:
    """Train the authors' one-vs-one support vector machine on similarities of source rows; return it and C."""
    candidates = read_candidates(SIMILARITY_GRID if isinstance(C, str) else np.atleast_1d(C), domains, N_FOLDS)
    # The similarities may not form a kernel; then the solver may not converge.
    machine = SVC(kernel="precomputed", max_iter=SVC_STEPS_PER_ROW * len(similarities))
    chosen = candidates[0]
    if len(candidates) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            accuracies = [_cross_validate(machine.set_params(C=value), similarities, domains) for value in candidates]
        chosen = candidates[int(np.argmax(accuracies))]
    machine.set_params(C=chosen).fit(similarities, domains.labels, sample_weight=domains.weights)
    return machine, chosen


def _cross_validate(machine: SVC, similarities: NDArray[np.float64], domains: Domains) -> float:
    """Return the mean accuracy over the folds. `cross_val_score` would depend on scikit-learn's metadata routing."""
    accuracies = []
    for known, held in StratifiedKFold(N_FOLDS).split(similarities, domains.labels):
        machine.fit(similarities[np.ix_(known, known)], domains.labels[known], sample_weight=domains.weights[known])
        accuracies.append(machine.score(similarities[np.ix_(held, known)], domains.labels[held]))
    return float(np.mean(accuracies))
