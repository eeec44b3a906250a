"""The linear classifier of the package: it chooses C, trains, and labels rows.

`AdREM`, the baselines, the model selection and the diagnostics all train through `LinearHead`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from adrem.base.parameters import read_candidates
from adrem.base.scoring import member_scores
from adrem.base.validation import Domains
from adrem.exceptions import ParameterError, PrecisionWarning
from adrem.machines.cost_model import MEMORY_LIMIT
from adrem.machines.devices import check_device
from adrem.machines.interface import MachineLike
from adrem.machines.kernel import Kernel, scale_of
from adrem.machines.plan import choose_machine
from adrem.machines.problems import Solution, Work, decide
from adrem.machines.regularization import GRID, N_FOLDS, held_out_accuracy, select_c
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import Outline, stack
from adrem.runtime.notices import NamingText, warn_user
from adrem.types import FloatArray, Matrix


@dataclass(frozen=True)
class TrainingSet:
    """Rows of a source and a target inside a machine, the source first, and the C to train with.

    `labels` and `weights` are those of the source. A target row takes part once it has a label and a weight.
    """

    machine: MachineLike
    labels: NDArray[np.intp]
    weights: NDArray[np.float64]
    n_target: int
    C: float

    @property
    def n_source(self) -> int:
        """Number of source rows."""
        return len(self.labels)

    def train_source(self) -> Solution:
        """Train on the source alone."""
        labels, weights = self._with_idle_target()
        solution: Solution = self.machine.solve(labels, weights, self.C, among=np.arange(self.n_source))
        return solution

    def held_out_accuracy(self, seed: int) -> float:
        """Return the cross-validated accuracy on the source."""
        return held_out_accuracy(self.machine, *self._with_idle_target(), self.C, seed)

    def _with_idle_target(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        return with_idle_target(self.labels, self.weights, self.n_target)


def with_idle_target(
    labels: NDArray[np.intp], weights: NDArray[np.float64], n_target: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return labels and weights of all rows, with weight zero for those of the target."""
    idle = np.zeros(n_target)
    return np.concatenate([labels, idle.astype(np.intp)]), np.concatenate([weights, idle])


@dataclass(frozen=True)
class LinearClassifier:
    """A trained one-vs-rest classifier.

    `coef` (problems x features) are weights of the features; with a `kernel` they are multiples of the `rows` of the
    fit. `rounding` is the largest error of the scores that comes from limited precision.
    """

    coef: FloatArray
    intercept: FloatArray
    C: float
    rounding: float = 0.0
    n_failed: int = 0
    kernel: Kernel | None = None
    rows: Matrix | None = None

    def scores(self, rows: Matrix) -> FloatArray:
        """Return the scores (rows x problems; one problem for two classes)."""
        coefs, intercepts = self.coef[None], self.intercept[None]
        return next(member_scores(rows, coefs, intercepts, self.kernel, self.rows))

    def label(self, rows: Matrix) -> NDArray[np.intp]:
        """Return positions of classes."""
        return decide(self.scores(rows))


class Forecast(NamedTuple):
    """Bytes that a machine takes at most beside its table, bytes of the table, and whether it is on a GPU."""

    machine: int
    table: int
    on_gpu: bool


@dataclass(frozen=True)
class LinearHead:
    """How the linear classifier is trained. The fields are the parameters of `AdREM` of the same names."""

    n_folds: ClassVar[int] = N_FOLDS

    loss: str = "hinge"
    C: Any = "cv"
    fit_intercept: bool = False
    tol: float = 0.1
    kernel: Any = "linear"
    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 0.0
    machine: str = "auto"
    memory_limit: int = MEMORY_LIMIT
    device: str = "cpu"

    @property
    def has_kernel(self) -> bool:
        """Whether a kernel takes the place of the inner product."""
        return not isinstance(self.kernel, str) or self.kernel != "linear"

    def check_device(self) -> None:
        """Raise an error if the device is missing."""
        check_device(self.device)

    @property
    def chooses_c(self) -> bool:
        """Whether there are several candidates for C."""
        return np.size(self._wanted_c()) > 1

    def begin(self, domains: Domains, seed: int, work: Work | None = None) -> TrainingSet:
        """Put the rows of both domains into a machine, and choose C on the source; the seed makes the folds."""
        candidates = read_candidates(self._wanted_c(), domains, N_FOLDS)
        table = stack([domains.X_source, domains.X_target])
        work = Work(len(domains.classes)) if work is None else work
        machine = choose_machine(Outline.of(table), work, self._settings(self._make_kernel(table))).make(table)
        n_target = domains.X_target.shape[0]
        C = candidates[0]
        if len(candidates) > 1:
            labels, weights = with_idle_target(domains.labels, domains.weights, n_target)
            with machine.guard():
                C = select_c(machine, labels, weights, candidates, seed)
        return TrainingSet(machine, domains.labels, domains.weights, n_target, C)

    def fit(self, domains: Domains, seed: int) -> LinearClassifier:
        """Train on the source alone, and warn if training did not converge or is imprecise."""
        training = self.begin(without_target(domains), seed, self._work_of_one(domains))
        with training.machine.guard():
            classifier = classifier_of(training, training.train_source())
        n_problems = len(classifier.intercept)
        warn_given_up(classifier.n_failed, n_problems, self.tol, classifier.C)
        warn_imprecise(classifier.rounding, self.tol, classifier.C, classifier.intercept.dtype)
        return classifier

    def held_out_accuracy(self, domains: Domains, seed: int) -> float:
        """Return the cross-validated accuracy on the source; NaN where a class has fewer rows than there are folds."""
        counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
        if counts.min() < N_FOLDS:
            return float("nan")
        training = self.begin(without_target(domains), seed, self._work_of_one(domains))
        return training.held_out_accuracy(seed)

    def forecast(self, domains: Domains, work: Work) -> Forecast:
        """Return about how many bytes the work takes at most."""
        table = Outline.of(domains.X_source, domains.X_target)
        kernel = Kernel(self.kernel) if self.has_kernel else None
        choice = choose_machine(table, work, self._settings(kernel))
        return Forecast(choice.memory, table.n_bytes, on_gpu=choice.device != "cpu")

    def _wanted_c(self) -> Any:
        return GRID if isinstance(self.C, str) else np.atleast_1d(self.C)

    def _work_of_one(self, domains: Domains) -> Work:
        return Work(len(domains.classes), n_folds=N_FOLDS if self.chooses_c else 1)

    def _settings(self, kernel: Kernel | None) -> MachineSettings:
        return MachineSettings(
            self.loss, self.machine, self.memory_limit, self.fit_intercept, self.tol, kernel, self.device
        )

    def _make_kernel(self, table: Matrix) -> Kernel | None:
        if not self.has_kernel:
            return None
        if self.machine == "rows":
            raise ParameterError("A kernel needs the similarities of all rows: set machine='auto'.", "machine")
        return Kernel(self.kernel, scale_of(self.gamma, table), self.degree, self.coef0)


def classifier_of(training: TrainingSet, solution: Solution) -> LinearClassifier:
    """Return the classifier of a solution that has one member."""
    machine = training.machine
    coef, intercept = machine.weights(solution)
    rounding = machine.rounding(solution, machine.scores(solution))
    rows = None if machine.kernel is None else machine.table
    return LinearClassifier(
        coef[0], intercept[0], training.C, float(rounding[0]), int(solution.n_failed[0]), machine.kernel, rows
    )


def without_target(domains: Domains) -> Domains:
    """Return the source alone."""
    return domains._replace(X_target=domains.X_target[:0])


def warn_given_up(n_failed: int, n_trained: int, tol: float, C: float) -> None:
    """Warn of trainings that did not converge."""
    if n_failed:
        warn_user(
            NamingText(
                "{n_failed} of {n_trained} trainings of a binary classifier stopped before they reached tol={limit:g}. "
                "Scale the features, or give a smaller {C} (it was {chosen:g}) or a larger {tol}.",
                n_failed=n_failed,
                n_trained=n_trained,
                limit=tol,
                chosen=C,
            ),
            ConvergenceWarning,
        )


def warn_imprecise(rounding: float, tol: float, C: float, dtype: np.dtype[Any]) -> None:
    """Warn where rounding errors are larger than the tolerance."""
    if rounding > tol:
        longer = " give float64 instead of float32," if dtype == np.float32 else ""
        warn_user(
            NamingText(
                "Rounding errors of the scores reach {rounding:.2g}, more than tol={limit:g}: labels near the decision "
                "boundary are not reliable. Scale the features,{longer} or give a smaller {C} (it was {chosen:g}).",
                rounding=rounding,
                limit=tol,
                longer=longer,
                chosen=C,
            ),
            PrecisionWarning,
        )
