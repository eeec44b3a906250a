"""Ad-REM with what goes beyond the paper, chosen without labels of the target."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.preprocessing import Normalizer
from sklearn.utils._param_validation import Interval, StrOptions

from adrem._adrem import AdREM, _spawn
from adrem._classifier import DomainClassifier
from adrem._types import Matrix
from adrem._validation import Domains, check_estimable, read_prior, read_source_weight
from adrem.baselines import SourceOnly
from adrem.baselines._base import whole_seed
from adrem.diagnostics._evidence import compare_neighbours
from adrem.diagnostics._verdict import CHANCE
from adrem.model_selection._scorers import CircularScorer, NeighbourScorer, _Parts
from adrem.preprocessing import fit_transform_pair

if TYPE_CHECKING:
    from adrem._prior import PriorEstimate

# How far below the best the accuracy on held-out rows of the source may lie, in standard errors, for a candidate to be
# looked at further: what is bad at home will not be good abroad. Chosen on the Amazon reviews, SURF and digits.
WITHIN = 2.0
# Target rows for each class that it takes to estimate how common the classes are, unasked.
ROWS_A_CLASS = 10
USUAL = ("hinge", "log_loss", "intercept", "neighbors", "rbf", "unit rows", "source alone")


class _Candidate(NamedTuple):
    """A model that was fitted, with what its rows went through before, and what it said of the course of the fit."""

    name: str
    model: Any
    step: Any
    warnings: list[warnings.WarningMessage]
    seconds: float
    source_accuracy: float
    parts: _Parts


class AdREMCV(DomainClassifier):
    """Ad-REM in several ways, of which the one is taken that seems best without labels of the target.

    First the shares of the classes in the target are estimated, and used if they are clearly not equal. Then every
    candidate is fitted: by default Ad-REM with either loss, with an intercept, leaning on neighbours, with an RBF
    kernel, and on rows of unit length; and the classifier of the source alone. Those whose classifier is clearly worse
    than others on held-out rows of the source are left out. Among the others two tests decide whose leanings are
    opposite: circular validation, for which changing little is best, and how often target rows that are alike have the
    same label, for which it is worst; their sum is the score. In the end no adaptation is done at all if by the
    candidate of the highest score target rows that are alike have the same label clearly less often than by the source
    alone. A fit on the source alone takes what is most accurate on its held-out rows.

    Parameters
    ----------
    candidates : "auto", sequence of str or mapping, default="auto"
        What is tried: the usual candidates ("hinge", "log_loss", "intercept", "neighbors", "rbf", "unit rows",
        "source alone"), some of them by name, or others. A mapping has an estimator of this package for every name,
        `AdREM` or one of the baselines, or a pair of a transformer and an estimator; a `SourceOnly` among them stands
        for no adaptation.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`, in the usual candidates.
    class_prior : {"auto", "uniform", "source", "estimate"}, array-like or mapping, default="auto"
        As for `AdREM`, in the usual candidates; "auto" is the estimate where it is clear that the classes are not
        equally common, and equal shares elsewhere.
    n_iter : int, default=20
        Number of iterations of each member, in the usual candidates.
    n_estimators : int, default=11
        Number of members, in the usual candidates.
    scoring : callable, default=None
        Another score: a scorer of `adrem.model_selection`, or any function of a fitted estimator, rows, labels (-1 for
        the target) and ``sample_domain``. Then it alone decides among those that were not left out.
    tol : float, default=0.1
        When a training stops, as for `AdREM`, in the usual candidates.
    n_jobs : int, default=None
        Number of members trained side by side, in threads, in the usual candidates.
    random_state : int, RandomState instance or None, default=None
        Seed of all candidates that have none of their own.
    verbose : int, default=0
        Whether to show a progress bar on a terminal.
    memory_limit : int, default=2**30
        Bytes that a matrix of all rows may take. The kernel is not tried where its matrix would take more.

    Attributes
    ----------
    best_name_ : str
        The name of the candidate that was taken.
    best_estimator_ : estimator
        It, fitted.
    preprocessing_ : transformer or None
        What rows go through before it.
    cv_results_ : dict
        For every candidate: ``candidate`` (its name), ``source_accuracy`` (on held-out rows of the source),
        ``eligible`` (whether that is near enough to the best), ``circular`` and ``neighbours`` (the two tests),
        ``score``, ``fit_time``. ``pandas.DataFrame(model.cv_results_)`` makes a table of it.
    class_prior_ : ndarray of shape (n_classes,)
        The shares of the classes that the usual candidates were told.
    class_prior_interval_, class_prior_check_ : ndarray
        As for `AdREM`, of the estimate, where one was made.
    vote_share_ : ndarray of shape (n_target, n_classes)
        As for `AdREM`; of a model of one classifier, its one vote.
    classes_, transduction_, C_, n_features_in_, feature_names_in_
        As for `AdREM`.

    See Also
    --------
    AdREM : The paper's algorithm by itself, in a tenth of the time.

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

    def _learn(self, domains: Domains) -> None:
        effective_n_jobs(self.n_jobs)  # refuses 0 now rather than after the work
        seed = whole_seed(self.random_state)
        tried = self._read_candidates()
        estimate = None
        if tried is None:
            estimate = self._estimate_prior(domains, seed)
            prior = self._choose_prior(domains, estimate)
            tried = self._usual(domains, prior, seed)
            self.class_prior_ = prior
        fitted = [_fit(name, *pair, domains, seed) for name, pair in tried.items()]
        self._choose(fitted, domains)
        for name in ("class_prior_interval_", "class_prior_check_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        if estimate is not None:
            self.class_prior_interval_ = np.stack([estimate.low, estimate.high])
            self.class_prior_check_ = estimate.by_confusion
        self.classes_ = domains.classes

    def _read_candidates(self) -> dict[str, tuple[Any, Any]] | None:
        """The candidates that were given, each with a transformer or None."""
        if isinstance(self.candidates, str):
            return None
        if not isinstance(self.candidates, Mapping):
            unknown = [name for name in self.candidates if name not in USUAL]
            if unknown or not self.candidates:
                raise ValueError(f"candidates are some of {', '.join(map(repr, USUAL))}; got {self.candidates!r}.")
            return None
        pairs = {name: own if isinstance(own, tuple) else (None, own) for name, own in self.candidates.items()}
        wrong = [name for name, pair in pairs.items() if len(pair) != 2 or not isinstance(pair[1], DomainClassifier)]
        if wrong or not pairs:
            raise ValueError(
                "candidates has to hold estimators of adrem, or pairs of a transformer and such an estimator, by name; "
                + (f"look at {', '.join(map(repr, wrong))}." if wrong else "it is empty.")
            )
        return pairs

    def _estimate_prior(self, domains: Domains, seed: int) -> PriorEstimate | None:
        """How common the classes are in the target, where it is asked for and there are rows enough to tell."""
        from adrem.machines.selection import N_FOLDS

        if not (domains.adapts and isinstance(self.class_prior, str) and self.class_prior in ("auto", "estimate")):
            return None
        counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
        too_few = counts.min() < N_FOLDS or domains.X_target.shape[0] < ROWS_A_CLASS * len(counts)
        if self.class_prior == "auto" and too_few:
            return None
        check_estimable(domains, N_FOLDS)
        fold_seed, prior_seed = _spawn(seed, 2)
        model = self._adrem(seed, class_prior="estimate")
        domains = domains._replace(weights=read_source_weight(model.source_weight, domains))
        return model._estimate_prior(model._make_task(domains, fold_seed), prior_seed)

    def _choose_prior(self, domains: Domains, estimate: PriorEstimate | None) -> NDArray[np.float64]:
        if estimate is not None and (estimate.is_clear or self.class_prior == "estimate"):
            return estimate.shares
        if isinstance(self.class_prior, str) and self.class_prior == "auto":
            return read_prior("uniform", domains)
        return read_prior(self.class_prior, domains)

    def _adrem(self, seed: int, **params: Any) -> AdREM:
        common = {
            name: getattr(self, name)
            for name in ("C", "n_iter", "n_estimators", "tol", "n_jobs", "verbose", "memory_limit")
        }
        return AdREM(**{**common, "random_state": seed, **params})

    def _usual(self, domains: Domains, prior: NDArray[np.float64], seed: int) -> dict[str, tuple[Any, Any]]:
        """The candidates that are tried unless others are given, the paper's first."""

        def adrem(**params: Any) -> AdREM:
            return self._adrem(seed, class_prior=prior, **params)

        usual: dict[str, tuple[Any, Any]] = {
            "hinge": (None, adrem()),
            "log_loss": (None, adrem(loss="log_loss")),
            "intercept": (None, adrem(fit_intercept=True)),
            "neighbors": (None, adrem(neighbors="auto")),
            "rbf": (None, adrem(kernel="rbf")),
            "unit rows": (Normalizer(), adrem()),
            "source alone": (None, SourceOnly(C=self.C, tol=self.tol, random_state=seed)),
        }
        names = USUAL if isinstance(self.candidates, str) else self.candidates
        chosen = {name: usual[name] for name in names if name != "rbf" or self._fits_memory(domains)}
        if not chosen:
            raise ValueError(
                "The similarities of all rows take more than memory_limit: raise it, or try more than rbf."
            )
        return chosen

    def _fits_memory(self, domains: Domains) -> bool:
        """Whether the matrix of a kernel may be made; free memory is never looked at."""
        n_rows = domains.X_source.shape[0] + domains.X_target.shape[0]
        return bool(n_rows**2 * domains.X_source.dtype.itemsize <= self.memory_limit)

    def _choose(self, fitted: list[_Candidate], domains: Domains) -> None:
        accuracies = np.array([candidate.source_accuracy for candidate in fitted])
        eligible = near_the_best(accuracies, int(np.count_nonzero(domains.weights > 0)))
        results: dict[str, Any] = {
            "candidate": [candidate.name for candidate in fitted],
            "source_accuracy": accuracies,
            "eligible": eligible,
        }
        if not domains.adapts:
            scores = accuracies
        elif self.scoring is None:
            tests = {"circular": CircularScorer(self.C), "neighbours": NeighbourScorer()}
            for name, scorer in tests.items():
                results[name] = np.array([scorer._score(own.model, own.parts) for own in fitted])
            scores = results["circular"] + results["neighbours"]
        else:
            scores = np.array([_score(self.scoring, own) for own in fitted])
            if not np.isfinite(scores).all():
                raise ValueError(f"scoring has to give numbers; for {results['candidate']} it gave {scores.tolist()}.")
        results |= {"score": scores, "fit_time": np.array([candidate.seconds for candidate in fitted])}
        best = fitted[int(np.argmax(np.where(eligible & self._competes(fitted, domains), scores, -np.inf)))]
        if domains.adapts and self.scoring is None:
            best = _unless_harmful(best, fitted, domains)
        for message in best.warnings:
            warnings.warn(message.message, message.category, stacklevel=4)
        self.cv_results_ = results
        self.best_name_, self.best_estimator_, self.preprocessing_ = best.name, best.model, best.step
        self.transduction_ = best.model.transduction_
        labels = np.searchsorted(domains.classes, self.transduction_)
        self.vote_share_ = getattr(best.model, "vote_share_", np.eye(len(domains.classes))[labels])
        self.C_ = getattr(best.model, "C_", None)

    def _competes(self, fitted: list[_Candidate], domains: Domains) -> NDArray[np.bool_]:
        """All but the source alone, whose case is another, if there are others."""
        alone = np.array([isinstance(candidate.model, SourceOnly) for candidate in fitted])
        return alone | ~alone if self.scoring is not None or not domains.adapts or alone.all() else ~alone

    def _prepared(self, rows: Matrix) -> Matrix:
        return rows if self.preprocessing_ is None else self.preprocessing_.transform(rows)

    def _decide(self, rows: Matrix) -> NDArray[np.float64]:
        return np.asarray(self.best_estimator_._decide(self._prepared(rows)))

    def _label(self, rows: Matrix) -> NDArray[np.intp]:
        return np.asarray(self.best_estimator_._label(self._prepared(rows)))

    def _share(self, rows: Matrix) -> NDArray[np.float64]:
        return np.asarray(self.best_estimator_._share(self._prepared(rows)))


def _unless_harmful(best: _Candidate, fitted: list[_Candidate], domains: Domains) -> _Candidate:
    """The best candidate, or the source alone where that makes rows that are alike clearly more often the same."""
    rng = np.random.default_rng(0)
    for candidate in fitted:
        if isinstance(candidate.model, SourceOnly):
            before, after = (own.model.transduction_ for own in (candidate, best))
            if compare_neighbours(domains.X_target, before, after, rng)[1] < -CHANCE:
                return candidate
    return best


def _fit(name: str, step: Any, estimator: Any, domains: Domains, seed: int) -> _Candidate:
    """Fit a candidate, and keep what it has to say for the one that is taken."""
    from adrem.diagnostics._diagnosis import plain_of, source_accuracy

    started = time.perf_counter()
    model, step = clone(estimator), None if step is None else clone(step)
    if model.get_params(deep=False).get("random_state", seed) is None:
        model.set_params(random_state=seed)
    if step is not None:
        labels = np.concatenate([domains.labels, np.full(domains.X_target.shape[0], -1)])
        source, target = fit_transform_pair(step, domains.X_source, domains.X_target, labels)
        domains = domains._replace(X_source=source, X_target=target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model._learn(domains)
        except ValueError as error:
            raise ValueError(f"The candidate {name!r} can't be fitted: {error}") from error
    model.n_features_in_ = domains.X_source.shape[1]
    accuracy = source_accuracy(plain_of(model), domains, seed)
    parts = _Parts(domains.X_source, domains.classes[domains.labels], domains.X_target)
    return _Candidate(name, model, step, caught, time.perf_counter() - started, accuracy, parts)


def near_the_best(accuracies: NDArray[np.float64], n_rows: int) -> NDArray[np.bool_]:
    """Which accuracies on so many rows are not clearly below the highest; all, where they are not known."""
    if np.isnan(accuracies).any():
        return np.ones(len(accuracies), dtype=bool)
    best = min(float(accuracies.max()), 1.0)
    return np.asarray(accuracies >= best - WITHIN * np.sqrt(best * (1.0 - best) / n_rows))


def _score(scoring: Callable[..., float], candidate: _Candidate) -> float:
    from adrem.machines._tables import stack

    parts = candidate.parts
    n_source, n_target = parts.X_source.shape[0], parts.X_target.shape[0]
    labels = np.concatenate([parts.y_source.astype(object), np.full(n_target, -1, dtype=object)])
    if parts.y_source.dtype.kind in "iu":
        labels = labels.astype(parts.y_source.dtype)
    domain = np.repeat([1.0, -2.0], [n_source, n_target])
    return float(scoring(candidate.model, stack([parts.X_source, parts.X_target]), labels, sample_domain=domain))
