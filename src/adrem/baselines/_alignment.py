"""Methods that map both domains linearly into one space, and train there.

None of them cares how the feature space is rotated, so they work in the coordinates of the space that the rows span.
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

from adrem._memory import by_blocks, check_room
from adrem._types import Matrix
from adrem._validation import Domains, read_candidates
from adrem.baselines._base import LinearBaseline, shares_of
from adrem.baselines._span import RowSpace

Form = Literal["mapping", "similarity", "nearest"]
SIMILARITY_GRID = tuple(10.0**k for k in range(-3, 3))
N_FOLDS = 2
SIMILARITY_COPIES = 3  # the matrix, a part of it for a fold, and what the solver makes of that
PATIENCE = 100  # steps of the solver for each row


class Alignment(NamedTuple):
    """Rows of the source in the common space, and the matrix that maps coordinates of the target into it."""

    source: NDArray[np.float64]
    target_map: NDArray[np.float64]


class AlignmentBaseline(LinearBaseline):
    """A baseline that aligns the domains; `_align` does, on coordinates.

    With ``form="mapping"`` the linear classifier is trained on the mapped source. ``form="similarity"`` is what the
    authors' programs do: a one-vs-one support vector machine on the similarities ``x A x'`` of source rows, which need
    not be symmetric, and C by two-fold cross-validation. ``form="nearest"`` takes the label of the nearest mapped row.
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
        from adrem.machines._tables import stack

        space = RowSpace(stack([domains.X_source, domains.X_target]))
        n_source = len(domains.labels)
        source, target = space.coordinates[:n_source], space.coordinates[n_source:]
        aligned = self._align(source, target) if domains.adapts else Alignment(source, np.eye(source.shape[1]))
        self._comparison = None
        if self.form == "mapping":
            head = self._train(aligned.source, domains)
            self.coef_ = space.lift(head.coef_[0] @ aligned.target_map.T)[None]
            self.intercept_ = head.intercept_
        elif self.form == "nearest":
            neighbour = KNeighborsClassifier(n_neighbors=1).fit(aligned.source, domains.labels)
            self._comparison = Comparison(space, aligned, neighbour, len(domains.classes))
        else:
            check_room(
                SIMILARITY_COPIES * 8 * n_source**2,
                f"form='similarity' of {n_source} rows of the source",
                "set form='mapping', or give fewer rows",
            )
            similarities = aligned.source @ (source @ aligned.target_map).T
            machine, self.C_ = train_on_similarities(similarities, domains, self.C)
            self._comparison = Comparison(space, aligned, machine, len(domains.classes))

    def _decide(self, rows: Matrix) -> NDArray[np.float64]:
        return super()._decide(rows) if self._comparison is None else self._comparison.decide(rows)

    def _label(self, rows: Matrix) -> NDArray[np.intp]:
        return super()._label(rows) if self._comparison is None else self._comparison.label(rows)

    def _share(self, rows: Matrix) -> NDArray[np.float64]:
        return super()._share(rows) if self._comparison is None else self._comparison.share(rows)


class Comparison(NamedTuple):
    """A classifier that compares rows of the target with those of the source, by similarity or by distance."""

    space: RowSpace
    aligned: Alignment
    classifier: SVC | KNeighborsClassifier
    n_classes: int

    def _features(self, rows: Matrix) -> NDArray[np.float64]:
        """What the classifier sees of rows of the target."""
        mapped = self.space.map(rows) @ self.aligned.target_map
        return mapped @ self.aligned.source.T if isinstance(self.classifier, SVC) else mapped

    def _ask(self, question: Callable[[NDArray[np.float64]], Any], rows: Matrix) -> NDArray[Any]:
        """What the classifier says of rows, of some at a time."""
        bytes_a_row = 16 * sum(self.aligned.source.shape)
        return by_blocks(lambda part: np.asarray(question(self._features(part))), rows, bytes_a_row)

    def label(self, rows: Matrix) -> NDArray[np.intp]:
        return self._ask(self.classifier.predict, rows).astype(np.intp, copy=False)

    def decide(self, rows: Matrix) -> NDArray[np.float64]:
        if isinstance(self.classifier, SVC):
            return self._ask(self.classifier.decision_function, rows)
        shares = self.share(rows)
        return np.asarray(shares[:, 1] - shares[:, 0] if self.n_classes == 2 else shares)

    def share(self, rows: Matrix) -> NDArray[np.float64]:
        if isinstance(self.classifier, SVC):
            return shares_of(self.decide(rows).reshape(rows.shape[0], -1))
        return np.asarray(np.eye(self.n_classes)[self.label(rows)])


def train_on_similarities(similarities: NDArray[np.float64], domains: Domains, C: Any) -> tuple[SVC, float]:
    """The support vector machine of the authors' programs: one-vs-one, on similarities of the rows of the source."""
    candidates = read_candidates(SIMILARITY_GRID if isinstance(C, str) else np.atleast_1d(C), domains, N_FOLDS)
    # Similarities need not make a kernel, and then the solver need not come to an end.
    machine = SVC(kernel="precomputed", max_iter=PATIENCE * len(similarities))
    chosen = candidates[0]
    if len(candidates) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            accuracies = [_cross_validate(machine.set_params(C=value), similarities, domains) for value in candidates]
        chosen = candidates[int(np.argmax(accuracies))]
    machine.set_params(C=chosen).fit(similarities, domains.labels, sample_weight=domains.weights)
    return machine, chosen


def _cross_validate(machine: SVC, similarities: NDArray[np.float64], domains: Domains) -> float:
    """Mean accuracy over the folds. By hand: with metadata routing on, scikit-learn's function asks for more."""
    accuracies = []
    for known, held in StratifiedKFold(N_FOLDS).split(similarities, domains.labels):
        machine.fit(similarities[np.ix_(known, known)], domains.labels[known], sample_weight=domains.weights[known])
        accuracies.append(machine.score(similarities[np.ix_(held, known)], domains.labels[held]))
    return float(np.mean(accuracies))
