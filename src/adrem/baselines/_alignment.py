"""Methods that map both domains linearly into one space, and train there.

None of them cares how the feature space is rotated, so they work in the coordinates of the space that the rows span.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils._param_validation import StrOptions

from adrem._types import Matrix
from adrem._validation import Domains, read_candidates
from adrem._voting import by_class
from adrem.baselines._base import LinearBaseline
from adrem.baselines._span import RowSpace

Form = Literal["mapping", "similarity", "nearest"]
SIMILARITY_GRID = tuple(10.0**k for k in range(-3, 3))
N_FOLDS = 2
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

    def _align(self, source: NDArray[np.float64], target: NDArray[np.float64]) -> Alignment:
        raise NotImplementedError

    def _adapt(self, domains: Domains) -> None:
        from adrem.machines._tables import stack

        space = RowSpace(stack([domains.X_source, domains.X_target]))
        n_source = len(domains.labels)
        source, target = space.coordinates[:n_source], space.coordinates[n_source:]
        aligned = self._align(source, target) if domains.adapts else Alignment(source, np.eye(source.shape[1]))
        if self.form == "mapping":
            head = self._train(aligned.source, domains)
            self.coef_ = space.lift(head.coef_[0] @ aligned.target_map.T)[None]
            self.intercept_ = head.intercept_
            return
        self._space, self._aligned = space, aligned
        if self.form == "nearest":
            self._head = KNeighborsClassifier(n_neighbors=1).fit(aligned.source, domains.labels)
        else:
            similarities = aligned.source @ (source @ aligned.target_map).T
            self._head, self.C_ = train_on_similarities(similarities, domains, self.C)

    def _features(self, rows: Matrix) -> NDArray[np.float64]:
        """What the classifiers of the other two forms see of rows of the target."""
        mapped = self._space.map(rows) @ self._aligned.target_map
        return mapped if self.form == "nearest" else mapped @ self._aligned.source.T

    def _decide(self, rows: Matrix) -> NDArray[np.float64]:
        if self.form == "mapping":
            return super()._decide(rows)
        if self.form == "similarity":
            return np.asarray(self._head.decision_function(self._features(rows)))
        shares = self._share(rows)
        return shares[:, 1] - shares[:, 0] if len(self.classes_) == 2 else shares

    def _label(self, rows: Matrix) -> NDArray[np.intp]:
        if self.form == "mapping":
            return super()._label(rows)
        return np.asarray(self._head.predict(self._features(rows)), dtype=np.intp)

    def _share(self, rows: Matrix) -> NDArray[np.float64]:
        if self.form == "mapping":
            return super()._share(rows)
        if self.form == "nearest":
            return np.eye(len(self.classes_))[self._label(rows)]
        decisions = self._decide(rows)
        shares = expit(by_class(decisions[:, None] if decisions.ndim == 1 else decisions))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def train_on_similarities(similarities: NDArray[np.float64], domains: Domains, C: Any) -> tuple[SVC, float]:
    """The support vector machine of the authors' programs: one-vs-one, on similarities of the rows of the source."""
    candidates = read_candidates(SIMILARITY_GRID if isinstance(C, str) else np.atleast_1d(C), domains, N_FOLDS)
    # Similarities need not make a kernel, and then the solver need not come to an end.
    machine = SVC(kernel="precomputed", max_iter=PATIENCE * len(similarities))
    chosen = candidates[0]
    if len(candidates) > 1:
        folds = StratifiedKFold(N_FOLDS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            accuracies = [
                cross_val_score(machine.set_params(C=value), similarities, domains.labels, cv=folds).mean()
                for value in candidates
            ]
        chosen = candidates[int(np.argmax(accuracies))]
    machine.set_params(C=chosen).fit(similarities, domains.labels, sample_weight=domains.weights)
    return machine, chosen
