"""Ad-REM as a scikit-learn classifier: Algorithm 2 of the paper around Algorithm 1 of `_em`.

One class, and half of the file is what its parameters and attributes are.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from adrem._classifier import BYTES_A_SCORE, DomainClassifier
from adrem._em import Member, Task
from adrem._ensemble import Ensemble, n_jobs_here
from adrem._memory import ON_THE_WAY, blocks_of, by_blocks, bytes_of, check_room
from adrem._progress import progress
from adrem._types import FloatArray, Matrix
from adrem._validation import (
    Domains,
    check_estimable,
    check_neighbors,
    read_candidates,
    read_domains,
    read_prior,
    read_source_weight,
)
from adrem._voting import Tally, tally
from adrem.exceptions import LostClassWarning, PrecisionWarning

if TYPE_CHECKING:  # numba, behind the machines, is loaded by the first fit
    from adrem._prior import PriorEstimate
    from adrem.machines import Kernel, Solution, Work
    from adrem.machines._tables import Outline

KERNELS = ("rbf", "poly", "sigmoid", "cosine", "laplacian", "precomputed")
FEWER = "give fewer rows"
# Attributes that only some fits have.
OPTIONAL = (
    "coef_", "coef_path_", "dual_coef_", "dual_coef_path_", "intercept_path_", "X_fit_", "class_prior_interval_",
    "class_prior_check_", "sources_",
)  # fmt: skip


class AdREM(DomainClassifier):
    """Domain adaptation with randomized expectation maximization.

    A linear classifier is trained on the labelled source and labels the target. Then, for a number of iterations, a
    random, class-balanced and growing subset of the target joins the source with its current labels, the classifier is
    trained on both, and labels all of the target anew. Several such runs, each with its own draws, take a majority
    vote [1].

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        Loss of the classifier: a linear support vector machine or logistic regression, one-vs-rest for more than two
        classes. Minimized is ``C * sum(losses)`` plus half the squared norm of the weights, as liblinear does.
    C : "cv", float or list of floats, default="cv"
        Weight of the losses. A list holds candidates, and the first of the best accuracy in a three-fold stratified
        cross-validation on the source is used in every training, where accuracies within one standard error of the
        highest count as equal to it; "cv" is the list 1e-3, 1e-2, ..., 1e4. Beyond the first value whose training is
        given up no larger one is tried.
    n_iter : int, default=20
        Number of iterations of each member.
    n_estimators : int, default=11
        Number of members: runs that differ in their draws, and vote.
    class_prior : {"uniform", "source", "estimate"}, array-like or mapping, default="uniform"
        Share of each class in the draws from the target: equal, as in the source, estimated from the rows, or given in
        the order of ``classes_`` or by class. "estimate" goes beyond the paper, and takes the time of nine more
        members: each is run without a fold of the rows, equal shares in the draws, and scores it; the scores are
        calibrated on held-out source rows, and the shares are those that make the held-out target rows most likely,
        moved a little towards equal ones.
    sampling : {"balanced", "random", "all"}, default="balanced"
        How the target is sampled: by class, whatever the labels, or every row in every iteration (plain self-training).
    fit_intercept : bool, default=False
        Whether to add a constant feature, regularized like the others.
    tol : float, default=0.1
        When a training stops, in the sense of liblinear.
    store_path : bool, default=False
        Whether to keep the classifier of every iteration in ``coef_path_`` and ``intercept_path_``.
    n_jobs : int, default=None
        Number of members trained side by side, in threads; or in processes or on the machines of a cluster, where
        ``joblib.parallel_config`` says so. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the folds that choose C.
    verbose : int, default=0
        Whether to show a progress bar on a terminal.
    machine : {"auto", "gram", "rows"}, default="auto"
        How the classifiers are trained: in the space of the Gram matrix of all rows, on the rows themselves, or
        whichever should be faster. All reach the same optimum within ``tol``.
    memory_limit : int, default=2**30
        Bytes that the Gram matrix may take. Free memory never changes the choice.
    kernel : {"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian", "precomputed"} or callable, default="linear"
        What takes the place of the inner product of two rows, as in scikit-learn's ``SVC``; anything but "linear" goes
        beyond the paper, and needs the matrix of similarities of all rows. A callable is given two tables of rows and
        gives a table of similarities. With "precomputed" ``X`` holds the similarities of its rows, a column for each
        row of the fit; with ``X_target`` the columns are those of the source and then those of the target.
    gamma : {"scale", "auto"} or float, default="scale"
        Parameter of the kernels that have it: "scale" is ``1 / (n_features * X.var())`` over both domains, "auto"
        ``1 / n_features``.
    degree : float, default=3
        Parameter of the kernel "poly".
    coef0 : float, default=0.0
        Parameter of the kernels "poly" and "sigmoid".
    source_weight : {"equal", "rows"} or mapping, default="equal"
        What each of several sources counts, which the values of ``sample_domain`` from 0 up name: the same in all,
        however many rows it has; as many as its rows; or what the mapping says. Beyond the paper, which has one source.
    refine : int, default=0
        Most steps after the last iteration, each with all of the target, its classes weighted as in the balanced loss,
        until no label changes or that loss would rise. Beyond the paper.
    neighbors : {"auto"}, int or None, default=None
        How many of the nearest target rows (by the cosine between rows, less their mean) a target row's scores lean on
        before each relabelling: they count 0.3, its own 0.7. "auto" takes 5, where the nearest row tells the label of a
        source row nearly as often as the classifier does, and none elsewhere, nor for more than 20 000 target rows: it
        takes time with the square of their number. The classifiers themselves, and so what
        ``predict`` and ``transduction_`` say in the end, look at no neighbour. Beyond the paper.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the classifiers are trained. "cuda" is a GPU, by PyTorch (``pip install "adrem[gpu]"``): the draws are
        those of the CPU, and the classifiers the same within ``tol``. "auto" takes a GPU where there is one and the
        work is large enough. Rows may be tensors; what is said of them are arrays. A kernel needs "cpu".

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
        How many neighbours were leant on.
    class_prior_ : ndarray of shape (n_classes,)
        The shares of the classes that were used.
    class_prior_interval_ : ndarray of shape (2, n_classes)
        Bounds of these shares, with ``class_prior="estimate"``: 90 % of the bootstrap's draws of target rows lie
        between them. How the domains differ is not in it.
    class_prior_check_ : ndarray of shape (n_classes,)
        A second opinion, with ``class_prior="estimate"``: the shares by the confusion matrix of held-out source rows.
    coef_ : ndarray of shape (n_members, n_classes, n_features)
        Weights of each member's last classifier; one row for two classes. One member after a fit on the source alone.
    dual_coef_ : ndarray of shape (n_members, n_classes, n_rows)
        With a kernel, in place of ``coef_``: multiples of the rows of the source and then of the target.
    X_fit_ : {array, sparse matrix} of shape (n_rows, n_features)
        With a kernel, these rows.
    intercept_ : ndarray of shape (n_members, n_classes)
        Intercepts, zero without ``fit_intercept``.
    history_ : list of dict
        One entry for each ``member`` and ``iteration``, 0 being the source classifier: ``n_drawn``,
        ``class_counts`` (target rows labelled with each class), ``n_changed`` (labels), ``loss`` and ``balanced_loss``
        (equations 3 and 4 of the paper with half the squared norm, summed over the one-vs-rest problems, for the labels
        after relabelling). ``pandas.DataFrame(model.history_)`` makes a table of it. Where there are several sources,
        ``source_losses`` has the mean loss of the rows of each, in the order of ``sources_``.
    coef_path_, intercept_path_ : ndarray
        As ``coef_`` and ``intercept_`` with a second axis for the iterations, from 0. Only with ``store_path=True``.
    sources_ : ndarray of shape (n_sources,)
        The values of ``sample_domain`` that name the sources, where there are several.
    termination_ : list of str
        For each member, why it ended where it did.
    machine_ : str
        How the classifiers were trained, and why that way.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where ``X`` had names that are all strings.

    See Also
    --------
    AdREMCV : Choose among several forms of it without labels of the target.
    adrem.diagnostics.diagnose : Say how far to trust a model.

    Notes
    -----
    ``decision_function`` gives the votes for every class, plus the members' mean confidence, squashed below half a
    vote, as a tie-break; ``predict_proba`` is the same made to sum to one.

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

    _kernel: Kernel | None = None  # a model that was loaded has none
    # Whether the iterations may end early: plain self-training does, the paper's algorithm does not.
    _until_stable: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"hinge", "log_loss"})],
        "C": [StrOptions({"cv"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "class_prior": [StrOptions({"uniform", "source", "estimate"}), Mapping, "array-like"],
        "sampling": [StrOptions({"balanced", "random", "all"})],
        "kernel": [StrOptions({"linear", *KERNELS}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "source_weight": [StrOptions({"equal", "rows"}), Mapping],
        "refine": [Interval(Integral, 0, None, closed="left")],
        "neighbors": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "store_path": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "machine": [StrOptions({"auto", "gram", "rows"})],
        "memory_limit": [Interval(Integral, 1, None, closed="left")],
        "device": [StrOptions({"cpu", "cuda", "auto"}), Hidden(StrOptions({"torch-cpu"}))],
    }

    def __init__(
        self,
        loss: Literal["hinge", "log_loss"] = "hinge",
        C: Literal["cv"] | float | ArrayLike = "cv",
        n_iter: int = 20,
        n_estimators: int = 11,
        class_prior: Literal["uniform", "source", "estimate"] | ArrayLike | Mapping[Any, float] = "uniform",
        sampling: Literal["balanced", "random", "all"] = "balanced",
        fit_intercept: bool = False,
        tol: float = 0.1,
        store_path: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        machine: Literal["auto", "gram", "rows"] = "auto",
        memory_limit: int = 2**30,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        source_weight: Literal["equal", "rows"] | Mapping[Any, float] = "equal",
        refine: int = 0,
        neighbors: Literal["auto"] | int | None = None,
        device: Literal["cpu", "cuda", "auto", "torch-cpu"] = "cpu",
    ) -> None:
        self.loss = loss
        self.C = C
        self.n_iter = n_iter
        self.n_estimators = n_estimators
        self.class_prior = class_prior
        self.sampling = sampling
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.store_path = store_path
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.machine = machine
        self.memory_limit = memory_limit
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.source_weight = source_weight
        self.refine = refine
        self.neighbors = neighbors
        self.device = device

    def _learn(self, domains: Domains) -> None:
        effective_n_jobs(self.n_jobs)  # refuses 0 now rather than after the work
        if self.device != "cpu":
            from adrem.machines._devices import check_device

            check_device(self.device, has_kernel=not self._is_linear)
        domains = self._with_similarities(domains)
        domains = domains._replace(weights=read_source_weight(self.source_weight, domains))
        fold_seed, *member_seeds, prior_seed = _spawn(self.random_state, 2 + self.n_estimators)
        check_neighbors(self.neighbors, domains)
        if self._estimates:
            from adrem.machines.selection import N_FOLDS

            check_estimable(domains, N_FOLDS)
        task = self._make_task(domains, fold_seed)
        self.neighbors_ = 0
        estimate = None
        with task.machine.guard():
            if domains.adapts and self.neighbors is not None:
                task = self._with_neighbors(task, domains, int(fold_seed.generate_state(1)[0]))
            if domains.adapts and self._estimates:
                estimate = self._estimate_prior(task, prior_seed)
                task = replace(task, prior=estimate.shares)
            source = task.train_source()
            if domains.adapts:
                members = self._run_members(task, source, member_seeds)
            else:
                coef, intercept = task.machine.weights(source)
                rounding = task.machine.rounding(source, task.machine.scores(source))
                members = [Member(path=[(coef[0], intercept[0])], rounding=float(rounding[0]))]
        self._keep(domains, task, estimate, members)
        self._warn(members, int(source.n_failed[0]))

    def _run_members(self, task: Task, source: Solution, seeds: list[np.random.SeedSequence]) -> list[Member]:
        """Algorithm 2, short of its vote. Where the memory of a device runs out, half as many members go at a time."""
        from adrem.machines._machine import DeviceMemoryError

        ensemble = Ensemble(
            task, source, self.n_iter, self.sampling, self.store_path, self._until_stable, n_refine=self.refine
        )
        n_steps = len(seeds) * self.n_iter
        while True:
            try:
                with task.machine.guard(), progress(n_steps, "Ad-REM", self.verbose) as ticker:
                    return ensemble.members(seeds, self.n_jobs, ticker)
            except DeviceMemoryError:
                if ensemble.group_size == 1:
                    raise
                ensemble = ensemble.in_halves()

    @property
    def _estimates(self) -> bool:
        return isinstance(self.class_prior, str) and self.class_prior == "estimate"

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _with_similarities(self, domains: Domains) -> Domains:
        """Similarities that were given, with their columns in the order of the source's rows and then the target's."""
        if not isinstance(self.kernel, str) or self.kernel != "precomputed":
            return domains
        n_rows = domains.X_source.shape[0] + domains.X_target.shape[0]
        if domains.X_source.shape[1] != n_rows:
            raise ValueError(
                f"kernel='precomputed' needs a column for each of the {n_rows} rows, X has {domains.X_source.shape[1]}."
            )
        order = np.arange(n_rows) if domains.positions is None else domains.positions
        check_room(bytes_of(domains.X_source) + bytes_of(domains.X_target), "A copy of the similarities", FEWER)
        return domains._replace(
            X_source=domains.X_source[:, order], X_target=domains.X_target[:, order], positions=order
        )

    def _with_neighbors(self, task: Task, domains: Domains, seed: int) -> Task:
        """A task whose target rows lean on their neighbours, if these are to be trusted."""
        from adrem._neighbors import MANY, USUAL, Mixing, nearest, neighbours_tell

        n_source = len(task.labels)
        precomputed = not self._is_linear and self.kernel == "precomputed"
        source, target = domains.X_source, domains.X_target
        if precomputed:
            source, target = source[:, :n_source], target[:, n_source:]
        k = USUAL
        if not isinstance(self.neighbors, str) and self.neighbors is not None:
            k = self.neighbors
        elif not k < task.n_target <= MANY or not neighbours_tell(task, source, seed, similarities=precomputed):
            return task
        self.neighbors_ = k
        return replace(task, mixing=Mixing(nearest(target, k, similarities=precomputed)))

    def _estimate_prior(self, task: Task, seed: np.random.SeedSequence) -> PriorEstimate:
        """The shares of the classes that the rows of a task speak for."""
        from adrem._prior import N_RUNS, estimate_prior

        with progress(N_RUNS * self.n_iter, "class shares", self.verbose) as ticker:
            return estimate_prior(task, self.n_iter, self.sampling, np.random.default_rng(seed), ticker)

    def _make_task(self, domains: Domains, fold_seed: np.random.SeedSequence) -> Task:
        from adrem.machines import make_machine
        from adrem.machines._tables import Outline, stack
        from adrem.machines.selection import N_FOLDS, select_c

        prior = read_prior(self.class_prior, domains)
        candidates = read_candidates(self._wanted_c(), domains, N_FOLDS)
        table = stack([domains.X_source, domains.X_target])
        machine = make_machine(
            table,
            len(domains.classes),
            self.loss,
            path=self.machine,
            memory_limit=self.memory_limit,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            kernel=self._make_kernel(table),
            work=self._work(domains),
            device=self._device(Outline.of(table), domains),
        )
        n_target = domains.X_target.shape[0]
        C = candidates[0]
        if len(candidates) > 1:
            labels = np.concatenate([domains.labels, np.zeros(n_target, dtype=np.intp)])
            weights = np.concatenate([domains.weights, np.zeros(n_target)])
            with machine.guard():
                C = select_c(machine, labels, weights, candidates, int(fold_seed.generate_state(1)[0]))
        sources = None if domains.sources is None else np.unique(domains.sources, return_inverse=True)[1]
        return Task(machine, domains.labels, domains.weights, n_target, prior, C, sources)

    def _device(self, table: Outline, domains: Domains) -> str:
        """Where the classifiers of these domains are trained."""
        if self.device == "cpu" or not self._is_linear:
            return "cpu"
        from adrem.machines._devices import choose_device

        return choose_device(self.device, table, self._work(domains))

    def _wanted_c(self) -> Any:
        """The values of C that are tried, as they were given."""
        from adrem.machines.selection import GRID

        return GRID if isinstance(self.C, str) else np.atleast_1d(self.C)

    def _work(self, domains: Domains) -> Work:
        """All that a fit will ask of its machine."""
        from adrem.machines import Work
        from adrem.machines.selection import N_FOLDS

        n_members = self.n_estimators if domains.adapts else 1
        folds = N_FOLDS if self._estimates or np.size(self._wanted_c()) > 1 else 1
        n_kept = n_members * (self.n_iter + self.refine + 1 if self.store_path else 1)
        n_jobs = min(n_jobs_here(self.n_jobs), n_members)  # a job has one member at least
        return Work(len(domains.classes), n_members, n_jobs, folds, n_kept)

    def fit_memory(self, X: Any, y: Any, *, sample_domain: ArrayLike | None = None, X_target: Any = None) -> int:
        """Tell at most about how many bytes ``fit`` would take for these rows, besides the rows themselves.

        Nothing is trained. ``fit`` itself refuses, before its work, what would not fit into the memory that is free.
        What neighbours take is not in it. With a ``device`` that is not the CPU it is the memory of the device, for all
        members at a time.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_rows, n_features)
            The rows of the source, or of both domains, as for ``fit``.
        y : array-like of shape (n_rows,)
            Their labels, as for ``fit``.
        sample_domain : array-like of shape (n_rows,), default=None
            Domains of the rows, as for ``fit``.
        X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features), default=None
            The rows of the target, as for ``fit``.

        Returns
        -------
        int
            A number of bytes.

        Examples
        --------
        >>> from adrem import AdREM
        >>> from adrem.datasets import make_rotated_arcs
        >>> X_source, y_source, X_target, _ = make_rotated_arcs(random_state=0)
        >>> AdREM().fit_memory(X_source, y_source, X_target=X_target) < 10**7
        True
        """
        from adrem.machines._choice import plan_machine
        from adrem.machines._tables import Outline

        self._validate_params()
        domains = read_domains(clone(self), X, y, sample_domain=sample_domain, X_target=X_target)
        table = Outline.of(domains.X_source, domains.X_target)
        if self._device(table, domains) != "cpu":
            from adrem.machines._devices import choose_device_path, machine_class

            path = choose_device_path(table, self.machine, self.memory_limit)
            return int(machine_class(path, table).memory(table, self._work(domains)))
        plan = plan_machine(
            table,
            self._work(domains),
            self.loss,
            path=self.machine,
            memory_limit=self.memory_limit,
            fit_intercept=self.fit_intercept,
            has_kernel=not self._is_linear,
        )
        apart = table.n_bytes if X_target is None else 0
        n_said = domains.X_target.shape[0] * len(domains.classes)
        said = min(ON_THE_WAY, BYTES_A_SCORE * n_said) + 24 * n_said
        return int(apart + table.n_bytes + plan.memory + said)

    def _make_kernel(self, table: Matrix) -> Kernel | None:
        if self._is_linear:
            return None
        from adrem.machines._kernel import Kernel, scale_of

        if self.machine == "rows":
            raise ValueError("A kernel needs the similarities of all rows: set machine='auto'.")
        return Kernel(self.kernel, scale_of(self.gamma, table), self.degree, self.coef0)

    def _keep(self, domains: Domains, task: Task, estimate: PriorEstimate | None, members: list[Member]) -> None:
        for name in OPTIONAL:
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        self._kernel, self._columns = getattr(task.machine, "kernel", None), domains.positions
        if self._kernel is not None:
            self.X_fit_ = task.machine.table
        self.class_prior_ = task.prior
        if estimate is not None:
            self.class_prior_interval_ = np.stack([estimate.low, estimate.high])
            self.class_prior_check_ = estimate.by_confusion
        if domains.sources is not None:
            self.sources_ = np.unique(domains.sources)
        self.machine_ = task.machine.path
        self.classes_ = domains.classes
        self.C_ = task.C
        self.termination_ = [member.termination or "all iterations were run" for member in members]
        weights = "coef_" if self._kernel is None else "dual_coef_"
        setattr(self, weights, np.stack([member.path[-1][0] for member in members]))
        self.intercept_ = np.stack([member.path[-1][1] for member in members])
        self.history_ = [{"member": j, **entry} for j, member in enumerate(members) for entry in member.history]
        if self.store_path:
            longest = max(len(member.path) for member in members)  # some were refined for longer than others
            paths = [member.path + [member.path[-1]] * (longest - len(member.path)) for member in members]
            setattr(self, f"{weights}path_", np.stack([[coef for coef, _ in path] for path in paths]))
            self.intercept_path_ = np.stack([[bias for _, bias in path] for path in paths])
        votes = np.zeros((0, len(self.classes_)))
        labels = np.zeros(0, dtype=np.intp)
        if domains.adapts:
            # By the very arithmetic of predict, so that the two agree to the last tie.
            parts = blocks_of(domains.X_target, BYTES_A_SCORE * len(domains.classes))
            said = [(own.votes, own.winners) for own in (tally(self._scores_of(part)) for part in parts)]
            votes, labels = np.concatenate([own for own, _ in said]), np.concatenate([own for _, own in said])
        self.vote_share_ = votes / len(members)
        self.transduction_ = self.classes_[labels]

    def _warn(self, members: list[Member], n_failed: int) -> None:
        n_problems = self.intercept_.shape[1]
        n_failed += sum(member.n_failed for member in members)
        n_trained = n_problems * (1 + sum(max(0, len(member.history) - 1) for member in members))
        warn_given_up(n_failed, n_trained, self.tol, self.C_)
        rounding = max(member.rounding for member in members)
        if rounding > self.tol:
            coarse = " give float64 in place of float32," if self.intercept_.dtype == np.float32 else ""
            warnings.warn(
                f"Rounding errors of the scores reach {rounding:.2g}, more than tol={self.tol:g}: labels near the "
                f"border are chance. Scale the features,{coarse} or give a smaller C (it was {self.C_:g}).",
                PrecisionWarning,
                stacklevel=4,
            )
        lost = Counter(c for member in members for c in member.lost)
        if lost:
            names = self.classes_.tolist()
            losses = ", ".join(f"{names[c]!r} (in {n} of {len(members)} members)" for c, n in sorted(lost.items()))
            balanced = self.sampling == "balanced"
            advice = (
                "If the target has no such rows, or few, say so by class_prior; otherwise look" if balanced else "Look"
            )
            warnings.warn(
                f"At some iteration no target row was labelled with class {losses}. {advice} at the labels with care.",
                LostClassWarning,
                stacklevel=4,
            )

    def _member_scores(self, rows: Matrix) -> Iterator[FloatArray]:
        """Scores of rows as they come; similarities with the rows of the fit come in the order of these."""
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return self._scores_of(rows[:, self._columns] if precomputed else rows)

    def _scores_of(self, rows: Matrix) -> Iterator[FloatArray]:
        if self._kernel is not None:
            scores = by_blocks(self._kernel_scores, rows, 24 * self.X_fit_.shape[0])
            yield from (scores[:, m] for m in range(scores.shape[1]))
            return
        for own, intercept in zip(self.coef_, self.intercept_, strict=True):
            yield rows @ own.T + intercept

    def _kernel_scores(self, rows: Matrix) -> NDArray[Any]:
        """Scores (rows x members x problems) by the similarities with all rows of the fit."""
        features = self._kernel(rows, self.X_fit_)  # type: ignore[misc]  # who asks has seen that there is one
        return np.stack([features @ own.T + b for own, b in zip(self.dual_coef_, self.intercept_, strict=True)], axis=1)

    def _tally(self, rows: Matrix) -> Tally:
        return tally(self._member_scores(rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _decide(self, rows: Matrix) -> NDArray[np.float64]:
        ballots = self._tally(rows).ballots
        return ballots[:, 1] - ballots[:, 0] if len(self.classes_) == 2 else ballots

    def _label(self, rows: Matrix) -> NDArray[np.intp]:
        return self._tally(rows).winners

    def _share(self, rows: Matrix) -> NDArray[np.float64]:
        ballots = self._tally(rows).ballots
        shares: NDArray[np.float64] = ballots / ballots.sum(axis=1, keepdims=True)
        return shares


def adapt(X_source: Any, y_source: Any, X_target: Any, **params: Any) -> NDArray[Any]:
    """Label the target: the paper's function, in one line.

    Parameters
    ----------
    X_source : {array-like, sparse matrix, frame} of shape (n_source, n_features)
        Rows of the source.
    y_source : array-like of shape (n_source,)
        Labels of the source.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Rows of the target.
    **params : dict
        Parameters of `AdREM`.

    Returns
    -------
    ndarray of shape (n_target,)
        A label for every row of the target.

    See Also
    --------
    AdREM : The same as a classifier, which goes on labelling new rows and tells of the votes.

    Examples
    --------
    >>> from adrem import adapt
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> labels = adapt(X_source, y_source, X_target, random_state=0)
    >>> float((labels == y_target).mean())
    1.0
    """
    if X_target is None:
        raise ValueError("adapt needs the rows of the target: pass X_target.")
    labels: NDArray[Any] = AdREM(**params).fit(X_source, y_source, X_target=X_target).transduction_
    return labels


def warn_given_up(n_failed: int, n_trained: int, tol: float, C: float) -> None:
    """Tell of trainings that were given up, if any were."""
    if n_failed:
        warnings.warn(
            f"{n_failed} of {n_trained} trainings of a binary classifier were given up before they reached "
            f"tol={tol:g}. Scale the features, give a smaller C (it was {C:g}) or a larger tol.",
            ConvergenceWarning,
            stacklevel=5,
        )


def _spawn(random_state: int | np.random.RandomState | None, n: int) -> list[np.random.SeedSequence]:
    """Independent child seeds. Without a seed they come from the system, and numpy's global state is not advanced."""
    entropy = None if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
    return np.random.SeedSequence(entropy).spawn(n)
