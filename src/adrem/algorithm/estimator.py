"""Ad-REM as a scikit-learn classifier: Algorithm 2 of the paper around Algorithm 1 of `adrem.algorithm.em`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from adrem.algorithm.em import EMOptions
from adrem.algorithm.fitting import (
    Fit,
    FitSettings,
    fit_members,
    order_similarities,
    warn_about,
)
from adrem.algorithm.forecast import ForecastsMemory
from adrem.algorithm.outcome import MissingClasses, clear_optional, keep_classifiers, keep_facts, shares_of_source
from adrem.algorithm.unknown import apart_for, rejects
from adrem.algorithm.voting import Tally, tally
from adrem.base.classifier import BYTES_PER_SCORE
from adrem.base.constraints import AT_LEAST_ONE, COMMON, POSITIVE, LossName, TargetLabels, Unknowns, common
from adrem.base.hooks import Agreement
from adrem.base.known import among_known, positions_of
from adrem.base.parameters import check_estimable, check_neighbors, read_source_weight
from adrem.base.reading import UNKNOWN
from adrem.base.scoring import member_scores
from adrem.base.validation import Domains
from adrem.runtime.memory import blocks_of
from adrem.runtime.seeds import spawn_seeds
from adrem.types import FloatArray, Matrix

if TYPE_CHECKING:  # numba, which the machines need, is imported by the first fit
    from adrem.machines import Kernel

KERNELS = ("rbf", "poly", "sigmoid", "cosine", "laplacian", "precomputed")
# The parameters that the settings of a fit have as they are.
OF_A_FIT = ("n_estimators", "class_prior", "neighbors", "protected_classes", "n_jobs", "verbose")
# Members of an ensemble that is fitted again without a fold, to estimate its accuracy.
N_REFIT_MEMBERS = 3


class AdREM(MissingClasses, ForecastsMemory):
    """Domain adaptation with randomized expectation maximization.

    A linear classifier is trained on the labelled source and labels the target. Then, for a number of iterations, a
    random, class-balanced and growing subset of the target joins the source with its current labels, the classifier is
    trained on both, and relabels the whole target. Several such runs with different draws take a majority vote [1].

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        Loss of the classifier: a linear support vector machine or logistic regression, one-vs-rest for more than two
        classes. The objective is ``C * sum(losses)`` plus half the squared norm of the weights, as in liblinear.
    C : "cv", float or list of floats, default="cv"
        Weight of the losses. A list holds candidates: three-fold stratified cross-validation on the source takes the
        first whose accuracy is within one standard error of the highest. "cv" is the list 1e-3, 1e-2, ..., 1e4. After
        the first value for which a training does not converge, no larger one is tried.
    n_iter : int, default=20
        Number of iterations of each member.
    n_estimators : int, default=11
        Number of members: runs with different draws, which vote.
    class_prior : {"uniform", "source", "estimate"}, array-like or mapping, default="uniform"
        Share of each class in the draws from the target: equal, as in the source, estimated from the rows, or given in
        the order of ``classes_`` or by class. "estimate" goes beyond the paper, and takes the time of nine more
        members, each of which is trained without a fold of the rows and scores it. The scores are calibrated on
        held-out source rows. The shares are those that make the held-out target rows most likely, moved a little
        towards equal shares. Classes that are clearly missing from the target get no share and no label.
    protected_classes : sequence of labels, default=()
        Classes that are known to be in the target, so that "estimate" never takes them for missing.
    unknown : {"ignore", "reject"}, default="ignore"
        "reject" looks for target rows that belong to no class of the source, keeps them out of the draws, and learns to
        label them, and new rows like them, with ``unknown_label``. That label is then the last of ``classes_``. If none
        are found, the fit is that of "ignore". Beyond the paper.
    unknown_label : str or number, default="unknown"
        The label of such rows. Where labels are numbers it must be a number.
    sampling : {"balanced", "random", "all"}, default="balanced"
        How the target is sampled: by class, regardless of the labels, or all rows in every iteration (self-training).
    fit_intercept : bool, default=False
        Whether to add a constant feature, regularized like the others.
    tol : float, default=0.1
        Tolerance of the trainings, as in liblinear.
    kernel : {"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian", "precomputed"} or callable, default="linear"
        Kernel, as in scikit-learn's ``SVC``. A kernel other than "linear" goes beyond the paper, and needs the kernel
        matrix of all rows. A callable takes two tables of rows and returns their kernel matrix. With "precomputed"
        ``X`` is the kernel matrix, with a column for each row of the fit; with ``X_target`` the columns of the source
        come first.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient: "scale" is ``1 / (n_features * X.var())`` over both domains, "auto" is ``1 / n_features``.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    source_weight : {"equal", "rows"} or mapping, default="equal"
        Total weight of each source, if ``sample_domain`` names several by values from 0 up: equal, by the number of
        rows, or as in the mapping. Beyond the paper, which has one source.
    refine : int, default=0
        Maximum number of steps after the last iteration. Each trains on the whole target, with the class weights of the
        balanced loss, until no label changes or that loss would rise. Beyond the paper.
    neighbors : {"auto"}, int or None, default=None
        Number of nearest target rows (by the cosine between centred rows) whose scores are mixed into those of a target
        row before each relabelling, with weight 0.3. "auto" takes 5 if the nearest row predicts the labels of the
        source nearly as well as the classifier, and none otherwise or for more than 20 000 target rows: the time grows
        with the square of their number. ``predict`` and ``transduction_`` use the classifiers alone. Beyond the paper.
    store_path : bool, default=False
        Whether to keep the classifier of every iteration in ``coef_path_`` and ``intercept_path_``.
    machine : {"auto", "gram", "rows"}, default="auto"
        How the classifiers are trained: in the space of the Gram matrix of all rows, on the rows themselves, or
        whichever should be faster. All reach the same optimum within ``tol``.
    memory_limit : int, default=2**30
        Bytes that the Gram matrix may take. The choice does not depend on free memory.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the classifiers are trained. "cuda" is a GPU, by PyTorch (``pip install "adrem[gpu]"``), with the same
        draws as on the CPU, and the same classifiers within ``tol``. "auto" takes a GPU if there is one and the problem
        is large enough. Tensors are accepted; results are arrays.
    n_jobs : int, default=None
        Number of members trained in parallel, in threads; or in processes or on a cluster, if set by
        ``joblib.parallel_config``. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the folds that choose C.
    verbose : int, default=0
        Whether to show a progress bar on a terminal.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of the source.
    transduction_ : ndarray of shape (n_target,)
        A label for every target row given to ``fit``, in the order given. Empty after a fit on the source alone.
    vote_share_ : ndarray of shape (n_target, n_classes)
        Share of the members that voted for each class.
    C_ : float
        The C that was used.
    neighbors_ : int
        The number of neighbours that were used.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares that were used.
    class_prior_interval_ : ndarray of shape (2, n_classes)
        With ``class_prior="estimate"``: bounds that hold 90 % of the bootstrap estimates from resampled target rows.
        They do not cover the difference between the domains.
    missing_classes_ : dict
        With ``class_prior="estimate"``: the classes that seem to be missing from the target, and why.
    class_prior_check_ : ndarray of shape (n_classes,)
        With ``class_prior="estimate"``: a second estimate, by the confusion matrix of held-out source rows.
    coef_ : ndarray of shape (n_members, n_classes, n_features)
        Weights of each member's last classifier; one row for two classes. One member after a fit on the source alone.
    dual_coef_ : ndarray of shape (n_members, n_classes, n_rows)
        With a kernel, instead of ``coef_``: multiples of the rows of the source and then of the target.
    X_fit_ : {array, sparse matrix} of shape (n_rows, n_features)
        With a kernel, these rows.
    intercept_ : ndarray of shape (n_members, n_classes)
        Intercepts, zero without ``fit_intercept``.
    history_ : list of dict
        One entry for each ``member`` and ``iteration``, where 0 is the source classifier: ``n_drawn``, ``class_counts``
        (target rows labelled with each class), ``n_changed`` (labels), ``loss`` and ``balanced_loss`` (equations 3 and
        4 of the paper with half the squared norm, summed over the one-vs-rest problems, for the labels after
        relabelling). With several sources, ``source_losses`` has the mean loss of the rows of each, in the order of
        ``sources_``. ``pandas.DataFrame(model.history_)`` makes a table of it.
    coef_path_, intercept_path_ : ndarray
        As ``coef_`` and ``intercept_`` with a second axis for the iterations, from 0. Only with ``store_path=True``.
    sources_ : ndarray of shape (n_sources,)
        The values of ``sample_domain`` that name the sources, if there are several.
    termination_ : list of str
        For each member, why it stopped.
    machine_ : str
        How the classifiers were trained, and why.
    unknown_share_ : float
        With ``unknown="reject"``: the estimated share of target rows that belong to no class of the source.
    unknown_interval_ : ndarray of shape (2,)
        With ``unknown="reject"``: bounds of this share, by fits that favour the classes and the unknown rows. If none
        are found, 0 and 1.
    known_rows_, known_weight_ : ndarray of shape (n_known,), float
        With known labels: the positions of these rows in the target, and how many source rows each counted.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if ``X`` has names that are all strings.

    See Also
    --------
    adrem.Committee : Several kinds of Ad-REM that vote: the recommended estimator.
    adrem.diagnostics.diagnose : Assess how far to trust a model.

    Notes
    -----
    ``decision_function`` is the number of votes for every class, plus the members' mean score mapped into [0, 1/2] to
    break ties; ``predict_proba`` is the same, normalized to sum to one.

    References
    ----------
    - [1] Twan van Laarhoven and Elena Marchiori, "Domain Adaptation with Randomized Expectation Maximization", 2018.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> float((model.transduction_ == y_target).mean())
    1.0
    """

    vote_share_: NDArray[np.float64]
    _kernel: Kernel | None = None  # a model that was loaded has none
    _columns: NDArray[np.intp] | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COMMON,
        "class_prior": [StrOptions({"uniform", "source", "estimate"}), Mapping, "array-like"],
        "protected_classes": ["array-like"],
        **common("unknown", "unknown_label"),
        "sampling": [StrOptions({"balanced", "random", "all"})],
        "fit_intercept": ["boolean"],
        "kernel": [StrOptions({"linear", *KERNELS}), callable],
        "gamma": [StrOptions({"scale", "auto"}), POSITIVE],
        "degree": [POSITIVE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "source_weight": [StrOptions({"equal", "rows"}), Mapping],
        "refine": [Interval(Integral, 0, None, closed="left")],
        "neighbors": [StrOptions({"auto"}), AT_LEAST_ONE, None],
        "store_path": ["boolean"],
        "machine": [StrOptions({"auto", "gram", "rows"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        loss: LossName = "hinge",
        *,
        C: Literal["cv"] | float | ArrayLike = "cv",
        n_iter: int = 20,
        n_estimators: int = 11,
        class_prior: Literal["uniform", "source", "estimate"] | ArrayLike | Mapping[Any, float] = "uniform",
        protected_classes: Sequence[Any] = (),
        unknown: Unknowns = "ignore",
        unknown_label: Any = "unknown",
        sampling: Literal["balanced", "random", "all"] = "balanced",
        fit_intercept: bool = False,
        tol: float = 0.1,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        source_weight: Literal["equal", "rows"] | Mapping[Any, float] = "equal",
        refine: int = 0,
        neighbors: Literal["auto"] | int | None = None,
        store_path: bool = False,
        machine: Literal["auto", "gram", "rows"] = "auto",
        memory_limit: int = 2**30,
        device: Literal["cpu", "cuda", "auto", "torch-cpu"] = "cpu",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.loss = loss
        self.C = C
        self.n_iter = n_iter
        self.n_estimators = n_estimators
        self.class_prior = class_prior
        self.protected_classes = protected_classes
        self.unknown = unknown
        self.unknown_label = unknown_label
        self.sampling = sampling
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.source_weight = source_weight
        self.refine = refine
        self.neighbors = neighbors
        self.store_path = store_path
        self.machine = machine
        self.memory_limit = memory_limit
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.target_labels = target_labels

    def choose_known_weight(self, domains: Domains) -> float:
        from adrem.machines.known_weight import choose_known_weight

        return (
            super().choose_known_weight(domains) if self._is_precomputed else choose_known_weight(domains, self.device)
        )

    def keep_known(self, X_target: Matrix, known: NDArray[np.intp]) -> None:
        super().keep_known(X_target, known)
        given = np.eye(len(self.classes_))[known[known != UNKNOWN]]
        self.vote_share_ = among_known(known, self.vote_share_, given)

    def fit_domains(self, domains: Domains) -> None:
        effective_n_jobs(self.n_jobs)  # refuses 0 before any work
        settings = self._settings()
        settings.head.check_device()
        if self._is_precomputed:
            domains = order_similarities(domains)
        domains = domains._replace(weights=read_source_weight(self.source_weight, domains))
        check_neighbors(self.neighbors, domains)
        if settings.estimates_prior:
            check_estimable(domains, settings.head.n_folds)
        n_classes = len(domains.classes)
        seed = self._unknown_seed()
        domains, apart = apart_for(self, domains, lambda given: (settings.head, given), seed)
        fit = fit_members(settings, apart, self.random_state)
        self._keep(domains, fit)
        labels = positions_of(self.transduction_, self.classes_)
        warn_about(fit, settings, self.classes_.tolist()[:n_classes], labels[labels < n_classes].tolist())

    def _unknown_seed(self) -> np.random.SeedSequence:
        """Return a seed that no other part of a fit has; a fit that rejects nothing asks for none."""
        return spawn_seeds(self.random_state if rejects(self) else 0, 1)[0].spawn(1)[0]

    def _settings(self) -> FitSettings:
        from adrem.machines.linear import LinearHead

        head = LinearHead(**{field.name: getattr(self, field.name) for field in fields(LinearHead)})
        options = EMOptions(self.n_iter, self.sampling, self.store_path, n_refine=self.refine)
        return FitSettings(head, options, **{name: getattr(self, name) for name in OF_A_FIT})

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _keep(self, domains: Domains, fit: Fit) -> None:
        clear_optional(self)
        self.classes_ = domains.classes
        self._columns, self._kernel = domains.positions, fit.task.machine.kernel
        keep_classifiers(self, fit, store_path=self.store_path)
        keep_facts(self, fit, domains)
        votes, labels = np.zeros((0, len(self.classes_))), np.zeros(0, dtype=np.intp)
        if domains.adapts:  # by the arithmetic of predict, so that the two agree in every tie
            parts = blocks_of(domains.X_target, BYTES_PER_SCORE * len(self.classes_))
            tallies = [tally(self._ordered_scores(part), fit.missing) for part in parts]
            votes, labels = (np.concatenate(own) for own in zip(*((t.votes, t.winners) for t in tallies), strict=True))
        self.vote_share_ = votes / len(fit.members)
        self.transduction_ = self.classes_[labels]

    def member_scores(self, rows: Matrix) -> Iterator[FloatArray]:
        return self._ordered_scores(rows[:, self._columns] if self._is_precomputed else rows)

    def _ordered_scores(self, rows: Matrix) -> Iterator[FloatArray]:
        """Scores of rows; precomputed similarities have their columns in the order of the fit."""
        if self._kernel is None:
            return member_scores(rows, self.coef_, self.intercept_)
        return member_scores(rows, self.dual_coef_, self.intercept_, self._kernel, self.X_fit_)

    def _tally(self, rows: Matrix) -> Tally:
        return tally(self.member_scores(rows), getattr(self, "missing_reasons_", ()))

    def decide_rows(self, rows: Matrix) -> NDArray[np.float64]:
        ballots = self._tally(rows).ballots
        return ballots[:, 1] - ballots[:, 0] if len(self.classes_) == 2 else ballots

    def label_rows(self, rows: Matrix) -> NDArray[np.intp]:
        return self._tally(rows).winners

    def share_rows(self, rows: Matrix) -> NDArray[np.float64]:
        ballots = self._tally(rows).ballots
        return np.asarray(ballots / ballots.sum(axis=1, keepdims=True))

    def confidence_rows(self, rows: Matrix) -> NDArray[np.float64]:
        counted = self._tally(rows)
        return np.asarray(counted.votes[np.arange(rows.shape[0]), counted.winners] / len(self.intercept_))

    def agreement(self) -> Agreement:
        return Agreement(len(self.intercept_), "members", self.vote_share_.max(axis=1))

    def refit_params(self, n_target: int) -> dict[str, Any]:
        return {
            **super().refit_params(n_target),
            "n_estimators": min(N_REFIT_MEMBERS, self.n_estimators),
            "class_prior": shares_of_source(self),
            "neighbors": min(self.neighbors_, n_target - 1) or None,
            "verbose": 0,
        }

    def without_rows(self) -> dict[str, Any]:
        is_linear = isinstance(self.kernel, str) and self.kernel == "linear"
        return {} if is_linear else {"kernel": "linear"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags
