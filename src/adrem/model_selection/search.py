"""The choice among variants of Ad-REM without labels of the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from adrem.algorithm.em import EMOptions
from adrem.algorithm.fitting import FitSettings
from adrem.base.classifier import DomainClassifier
from adrem.base.parameters import check_estimable, read_prior, read_source_weight
from adrem.base.validation import Domains
from adrem.exceptions import ParameterError
from adrem.model_selection.candidates import (
    Candidate,
    Pair,
    default_pair,
    fit_candidate,
    near_the_best,
    read_models,
    score_by,
    unless_worse_than_source,
)
from adrem.model_selection.scorers import CircularScorer, NeighbourScorer
from adrem.runtime.notices import warn_user
from adrem.runtime.seeds import integer_seed, spawn_seeds
from adrem.types import FloatArray, Matrix

if TYPE_CHECKING:
    from adrem.algorithm.prior import PriorEstimate

# With class_prior="auto" the shares are estimated if there are this many target rows per class.
MIN_ROWS_PER_CLASS = 10
PRIOR_ATTRIBUTES = ("class_prior_", "class_prior_interval_", "class_prior_check_")


class AdREMCV(DomainClassifier):
    """Several variants of Ad-REM, from which the best is chosen without labels of the target.

    First the class shares of the target are estimated, and used if they are clearly not equal. Then every candidate is
    fitted: by default Ad-REM with each loss, with an intercept, with neighbours, with an RBF kernel, and on unit rows;
    and the classifier of the source alone. Candidates that are clearly worse on held-out source rows are left out. The
    score of the others is the sum of two tests with opposite biases: circular validation, which favours few changes,
    and the agreement of neighbouring target rows, which favours many. The source alone is chosen if neighbours agree
    clearly more often by its labels than by those of the best candidate. A fit on the source alone takes the candidate
    with the highest accuracy on held-out rows.

    Parameters
    ----------
    candidates : "auto", sequence of str or mapping, default="auto"
        The default candidates ("hinge", "log_loss", "intercept", "neighbors", "rbf", "unit rows", "source alone"), some
        of them by name, or others: a mapping from names to estimators (`AdREM`, a baseline, or any subclass of
        `adrem.base.DomainClassifier`), or to pairs of a transformer and an estimator. A `SourceOnly` among them stands
        for no adaptation.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`, in the default candidates.
    class_prior : {"auto", "uniform", "source", "estimate"}, array-like or mapping, default="auto"
        As for `AdREM`, in the default candidates; "auto" is the estimate if the classes are clearly not equally common,
        and equal shares otherwise.
    n_iter : int, default=20
        Number of iterations of each member, in the default candidates.
    n_estimators : int, default=11
        Number of members, in the default candidates.
    scoring : callable, default=None
        Another score: a scorer of `adrem.model_selection`, or any function of a fitted estimator, rows, labels (-1 for
        the target) and ``sample_domain``. It alone decides among the eligible candidates.
    tol : float, default=0.1
        Tolerance of the trainings, as for `AdREM`, in the default candidates.
    n_jobs : int, default=None
        Number of members trained in parallel, in threads, in the default candidates.
    random_state : int, RandomState instance or None, default=None
        Seed of all candidates that have no seed.
    verbose : int, default=0
        Whether to show a progress bar on a terminal.
    memory_limit : int, default=2**30
        Bytes that a matrix of all rows may take. The kernel is not tried if its matrix would take more.

    Attributes
    ----------
    best_name_ : str
        The name of the chosen candidate.
    best_estimator_ : estimator
        The chosen candidate, fitted.
    preprocessing_ : transformer or None
        Its transformer.
    cv_results_ : dict
        For every candidate: ``candidate`` (its name), ``source_accuracy`` (on held-out rows of the source),
        ``eligible`` (whether that is close enough to the best), ``circular`` and ``neighbours`` (the two tests),
        ``score``, ``fit_time``. ``pandas.DataFrame(model.cv_results_)`` makes a table of it.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares of the default candidates.
    class_prior_interval_, class_prior_check_ : ndarray
        As for `AdREM`, if the shares were estimated.
    vote_share_ : ndarray of shape (n_target, n_classes)
        As for `AdREM`; for a model with one classifier, its vote.
    classes_, transduction_, C_, n_features_in_, feature_names_in_
        As for `AdREM`.

    See Also
    --------
    AdREM : The paper's algorithm alone, in a tenth of the time.

    Examples
    --------
    >>> from adrem import AdREMCV
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(rotation=60, random_state=0)
    >>> model = AdREMCV(["hinge", "source alone"], n_estimators=3, random_state=0)
    >>> model.fit(X_source, y_source, X_target=X_target).best_name_
    'hinge'
    >>> model.cv_results_["neighbours"].round(2).tolist()
    [1.0, 0.97]
    >>> float((model.transduction_ == y_target).mean())
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "candidates": [StrOptions({"auto"}), list, tuple, Mapping],
        "C": [StrOptions({"cv"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "class_prior": [StrOptions({"auto", "uniform", "source", "estimate"}), Mapping, "array-like"],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "scoring": [callable, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "memory_limit": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        candidates: Literal["auto"] | Sequence[str] | Mapping[str, Any] = "auto",
        C: Literal["cv"] | float | ArrayLike = "cv",
        class_prior: Literal["auto", "uniform", "source", "estimate"] | ArrayLike | Mapping[Any, float] = "auto",
        n_iter: int = 20,
        n_estimators: int = 11,
        scoring: Callable[..., float] | None = None,
        tol: float = 0.1,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        memory_limit: int = 2**30,
    ) -> None:
        self.candidates = candidates
        self.C = C
        self.class_prior = class_prior
        self.n_iter = n_iter
        self.n_estimators = n_estimators
        self.scoring = scoring
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.memory_limit = memory_limit

    def fit_domains(self, domains: Domains) -> None:
        effective_n_jobs(self.n_jobs)  # refuses 0 before any work
        names, tried = read_models(self.candidates)
        seed = integer_seed(self.random_state)
        for name in PRIOR_ATTRIBUTES:
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        if names:
            prior = self._choose_prior(domains, self._estimate_prior(domains, seed))
            tried = self._default_candidates(names, domains, prior, seed)
            self.class_prior_ = prior
        fitted = [fit_candidate(name, pair, domains, seed) for name, pair in tried.items()]
        best = self._choose(fitted, domains)
        for message in best.warnings:
            warn_user(message.message, message.category)
        self._keep(best, domains)

    def _estimate_prior(self, domains: Domains, seed: int) -> PriorEstimate | None:
        """Estimate the class shares of the target, if asked for and there are enough rows."""
        from adrem.machines.linear import LinearHead

        if not (domains.adapts and isinstance(self.class_prior, str) and self.class_prior in ("auto", "estimate")):
            return None
        counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
        n_target, n_folds = domains.X_target.shape[0], LinearHead.n_folds
        if self.class_prior == "auto" and (counts.min() < n_folds or n_target < MIN_ROWS_PER_CLASS * len(counts)):
            return None
        check_estimable(domains, n_folds)
        fold_seed, prior_seed = spawn_seeds(seed, 2)
        domains = domains._replace(weights=read_source_weight("equal", domains))
        head = LinearHead(C=self.C, tol=self.tol, memory_limit=self.memory_limit)
        options = EMOptions(self.n_iter)
        settings = FitSettings(head, options, self.n_estimators, "estimate", n_jobs=self.n_jobs, verbose=self.verbose)
        return settings.estimate_prior(settings.begin(domains, fold_seed), prior_seed)

    def _choose_prior(self, domains: Domains, estimate: PriorEstimate | None) -> NDArray[np.float64]:
        if estimate is not None:
            self.class_prior_interval_ = np.stack([estimate.low, estimate.high])
            self.class_prior_check_ = estimate.by_confusion
            if estimate.is_clear or self.class_prior == "estimate":
                return estimate.shares
        is_auto = isinstance(self.class_prior, str) and self.class_prior == "auto"
        return read_prior("uniform" if is_auto else self.class_prior, domains)

    def _default_candidates(
        self, names: Sequence[str], domains: Domains, prior: NDArray[np.float64], seed: int
    ) -> dict[str, Pair]:
        n_rows = domains.X_source.shape[0] + domains.X_target.shape[0]
        kernel_fits = n_rows**2 * domains.X_source.dtype.itemsize <= self.memory_limit  # regardless of free memory
        common = {
            name: getattr(self, name)
            for name in ("C", "n_iter", "n_estimators", "tol", "n_jobs", "verbose", "memory_limit")
        }
        common["random_state"] = seed
        chosen = {name: default_pair(name, common, prior) for name in names if name != "rbf" or kernel_fits}
        if not chosen:
            raise ParameterError(
                "The kernel matrix of all rows takes more than memory_limit: raise it, or give other candidates.",
                "memory_limit",
            )
        return chosen

    def _choose(self, fitted: list[Candidate], domains: Domains) -> Candidate:
        """Score the candidates, set ``cv_results_``, and return the best."""
        accuracies = np.array([candidate.source_accuracy for candidate in fitted])
        eligible = near_the_best(accuracies, int(np.count_nonzero(domains.weights > 0)))
        tests: dict[str, Any] = {}
        if not domains.adapts:
            scores = accuracies
        elif self.scoring is None:
            tests = {
                "circular": np.array([CircularScorer(self.C).score_parts(own.model, own.parts) for own in fitted]),
                "neighbours": np.array([NeighbourScorer().score_parts(own.model, own.parts) for own in fitted]),
            }
            scores = tests["circular"] + tests["neighbours"]
        else:
            scores = self._own_scores(self.scoring, fitted)
        self.cv_results_ = {
            "candidate": [candidate.name for candidate in fitted],
            "source_accuracy": accuracies,
            "eligible": eligible,
            **tests,
            "score": scores,
            "fit_time": np.array([candidate.seconds for candidate in fitted]),
        }
        best = fitted[int(np.argmax(np.where(eligible & self._competes(fitted, domains), scores, -np.inf)))]
        return unless_worse_than_source(best, fitted, domains) if tests else best

    def _own_scores(self, scoring: Callable[..., float], fitted: list[Candidate]) -> NDArray[np.float64]:
        scores = np.array([score_by(scoring, candidate) for candidate in fitted])
        if not np.isfinite(scores).all():
            names = [candidate.name for candidate in fitted]
            raise ParameterError(
                f"scoring must return finite numbers; for {names} it returned {scores.tolist()}.", "scoring"
            )
        return scores

    def _competes(self, fitted: list[Candidate], domains: Domains) -> NDArray[np.bool_]:
        """Return which candidates are compared by their score: not the source alone, if there are others."""
        alone = np.array([candidate.is_source_alone for candidate in fitted])
        return alone | ~alone if self.scoring is not None or not domains.adapts or alone.all() else ~alone

    def _keep(self, best: Candidate, domains: Domains) -> None:
        self.best_name_, self.best_estimator_, self.preprocessing_ = best.name, best.model, best.step
        self.transduction_ = best.model.transduction_
        labels = np.searchsorted(domains.classes, self.transduction_)
        self.vote_share_ = getattr(best.model, "vote_share_", np.eye(len(domains.classes))[labels])
        self.C_ = getattr(best.model, "C_", None)
        self.classes_ = domains.classes

    def _prepared(self, rows: Matrix) -> Matrix:
        return rows if self.preprocessing_ is None else self.preprocessing_.transform(rows)

    def decide_rows(self, rows: Matrix) -> NDArray[np.float64]:
        return np.asarray(self.best_estimator_.decide_rows(self._prepared(rows)))

    def label_rows(self, rows: Matrix) -> NDArray[np.intp]:
        return np.asarray(self.best_estimator_.label_rows(self._prepared(rows)))

    def share_rows(self, rows: Matrix) -> NDArray[np.float64]:
        return np.asarray(self.best_estimator_.share_rows(self._prepared(rows)))

    def member_scores(self, rows: Matrix) -> Iterator[FloatArray]:
        yield from self.best_estimator_.member_scores(self._prepared(rows))

    def confidence_rows(self, rows: Matrix) -> NDArray[np.float64]:
        return np.asarray(self.best_estimator_.confidence_rows(self._prepared(rows)))

    def source_params(self) -> dict[str, Any]:
        return dict(self.best_estimator_.source_params())
