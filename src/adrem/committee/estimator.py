"""The committee as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions

from adrem.algorithm.outcome import MissingClasses, shares_of_source
from adrem.base.classifier import BYTES_PER_SCORE, DomainClassifier
from adrem.base.constraints import TargetLabels, Unknowns, common
from adrem.base.hooks import Agreement
from adrem.base.known import among_known
from adrem.base.parameters import read_source_weight
from adrem.base.reading import UNKNOWN
from adrem.base.scoring import normalized_shares
from adrem.base.validation import Domains
from adrem.exceptions import InvalidDataError
from adrem.runtime.memory import by_blocks
from adrem.runtime.seeds import RandomState, spawn_seeds
from adrem.types import FloatArray, Matrix

# Members of each kind in a fit without a fold, to estimate the accuracy.
N_REFIT_MEMBERS = 1
# Shares that differ by no more than this part of the largest are the same number.
BELOW_ONE = 1.0 - 1e-12
Shares = NDArray[np.float64]


class Committee(MissingClasses, DomainClassifier):
    """Several kinds of Ad-REM, and classifiers of the source, that vote: the recommended estimator.

    Each kind is an Ad-REM of its own, with a few members: support vector machines and logistic regression on scaled
    rows, with an intercept and strong regularization; support vector machines with an RBF kernel; discriminants. Other
    kinds are classifiers of the source that do not adapt: logistic regression and boosted trees. The rows decide which
    kinds are tried: small tables, wide tables and sparse text have their own. A kind is left out if its classifier is
    clearly worse than the best one on held-out rows of the source. The votes of the others are added.

    Parameters
    ----------
    kinds : "auto" or sequence of str, classifiers and (str, classifier) tuples, default="auto"
        The kinds: by default those that suit the rows. Names are "margin", "log loss", "hinge, chosen C", "log loss,
        chosen C", "rare words", "rbf", "rbf, unit rows", "rbf, by domain", "discriminant", "discriminant, centered",
        "discriminant, active", "discriminant, active, centered", "source", "source, rare words" and "boosting".

        A classifier is a kind of its own, with the name in its tuple or that of its class. It sees the rows as they are
        given. `AdREM`, the baselines and other subclasses of `DomainClassifier`, or a pipeline that ends with one, are
        fitted to both domains, and others to the source alone. It votes by ``predict_proba``, else by
        ``decision_function``, else by its labels, and gets the weights of the rows if its ``fit`` has a
        ``sample_weight``, and a seed for each ``random_state`` that is None. Classes are numbered from 0.
    effort : {"low", "auto", "high"}, default="auto"
        How long a fit may take. "high" tries all kinds that suit the rows. "auto" leaves out the slowest of them if a
        fit would take more than six times as long as one of ``AdREM()`` on these rows, and more than 10 s on one core;
        "low" if it would take more than a third of that. The time is forecast from the shape of the rows, for one core,
        so that it does not depend on the machine nor on its load. Kinds that are named or given are always tried.
    n_estimators : int, default=5
        Number of members of each kind.
    n_iter : int, default=20
        Number of iterations of each member; a discriminant has at most 10.
    class_prior : {"auto", "uniform", "source"}, array-like or mapping, default="auto"
        Share of each class in the draws from the target, as for `AdREM`. "auto" estimates the shares by the classifiers
        of the source, and uses the estimate if it explains how the domains differ: then source rows that are weighted
        by class are distributed like target rows. Otherwise, and for wide or sparse tables, shares are equal. Classes
        that are clearly missing from the target get no share and no label, where tables are wide or sparse.
    protected_classes : sequence of labels, default=()
        Classes that are known to be in the target, so that "auto" never takes them for missing.
    unknown : {"ignore", "reject"}, default="ignore"
        "reject" looks for target rows that belong to no class of the source, keeps them out of the draws, and labels
        them, and new rows like them, with ``unknown_label``, which is then the last of ``classes_``. If none are found,
        the fit is that of "ignore".
    unknown_label : str or number, default="unknown"
        The label of such rows. Where labels are numbers it must be a number.
    distill : bool, default=False
        Whether to label rows by the one linear classifier that is trained on both domains with the labels of the
        committee, instead of by the committee. It is fast, small and can be explained, and a little less accurate where
        the classes are separated by lines, or much less where they are not.
    tol : float, default=0.1
        Tolerance of the trainings, as for `AdREM`.
    memory_limit : int, default=2**30
        Bytes that a matrix of all rows may take. Kinds with a kernel are left out if theirs would take more.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where all kinds but boosted trees are trained, as for `AdREM`. "auto" decides for each kind. New rows are
        labelled on the CPU.
    n_jobs : int, default=None
        Number of members trained in parallel, as for `AdREM`.
    random_state : int, RandomState instance or None, default=None
        Seed of draws and folds.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    kinds_ : list of str
        The kinds that vote.
    left_out_ : dict of str to str
        The kinds that do not vote, and why.
    home_accuracy_ : ndarray of shape (n_kinds,)
        Mean accuracy over the classes of the source of each kind's classifier on held-out source rows. Absent
        if a class has fewer than three.
    agreement_ : ndarray of shape (n_kinds, n_kinds)
        Share of the target rows on which two kinds agree.
    row_agreement_ : ndarray of shape (n_target,)
        Share of the kinds that agree with the label, for each target row.
    member_agreement_ : ndarray of shape (n_kinds, n_target)
        Share of the members of a kind that agree with the kind's label, for each target row; 1 for the classifiers of
        the source, which have no members.
    vote_share_ : ndarray of shape (n_target, n_classes)
        Share of the votes for each class. It is that of the committee with ``distill=True`` too, and so are the
        agreements above.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares that were used.
    class_prior_check_ : ndarray of shape (n_classes,)
        The estimated shares, if they were estimated, used or not.
    missing_classes_ : dict
        The classes that seem to be missing from the target, and why.
    unknown_share_, unknown_interval_ : float, ndarray of shape (2,)
        With ``unknown="reject"``: as for `AdREM`.
    by_domain_ : bool
        Whether each domain is scaled by itself for every kind: where the domains differ by the means and scales of
        their columns alone.
    temperature_ : float
        Power of the vote shares in ``predict_proba``, for which they fit held-out source rows best.
    coef_, intercept_ : ndarray of shape (1, n_classes, n_features), ndarray of shape (1, n_classes)
        The linear classifier of both domains by the labels of the committee: what explanations show.
    history_ : list of dict
        As for `AdREM`, with the ``kind`` of each member.
    classes_, transduction_, known_rows_, known_weight_, C_, n_features_in_, feature_names_in_
        As for `AdREM`; ``C_`` is that of the linear classifier above.

    See Also
    --------
    AdREM : The paper's algorithm.

    Notes
    -----
    ``predict_proba`` is calibrated on held-out rows of the source, without a target. It can't know how much less
    accurate the committee is in the target, nor how much adapting helps.

    Examples
    --------
    >>> from adrem import Committee
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> model = Committee(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> float((model.transduction_ == y_target).mean()) > 0.9
    True
    """

    vote_share_: NDArray[np.float64]
    row_agreement_: NDArray[np.float64]
    member_agreement_: NDArray[np.float64]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **common("n_estimators", "n_iter", "tol", "memory_limit", "device", "n_jobs", "random_state", "target_labels"),
        **common("unknown", "unknown_label"),
        "kinds": [StrOptions({"auto"}), list, tuple],
        "effort": [StrOptions({"low", "auto", "high"})],
        "class_prior": [StrOptions({"auto", "uniform", "source"}), Mapping, "array-like"],
        "protected_classes": ["array-like"],
        "distill": ["boolean"],
    }

    def __init__(
        self,
        kinds: Literal["auto"] | Sequence[Any] = "auto",
        *,
        effort: Literal["low", "auto", "high"] = "auto",
        n_estimators: int = 5,
        n_iter: int = 20,
        class_prior: Literal["auto", "uniform", "source"] | ArrayLike | Mapping[Any, float] = "auto",
        protected_classes: Sequence[Any] = (),
        unknown: Unknowns = "ignore",
        unknown_label: Any = "unknown",
        distill: bool = False,
        tol: float = 0.1,
        memory_limit: int = 2**30,
        device: Literal["cpu", "cuda", "auto", "torch-cpu"] = "cpu",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.kinds = kinds
        self.effort = effort
        self.n_estimators = n_estimators
        self.n_iter = n_iter
        self.class_prior = class_prior
        self.protected_classes = protected_classes
        self.unknown = unknown
        self.unknown_label = unknown_label
        self.distill = distill
        self.tol = tol
        self.memory_limit = memory_limit
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.target_labels = target_labels

    def choose_known_weight(self, domains: Domains) -> float:
        from adrem.machines.known_weight import choose_known_weight

        return choose_known_weight(domains, self.device)

    def keep_known(self, X_target: Matrix, known: NDArray[np.intp]) -> None:
        super().keep_known(X_target, known)
        given = np.eye(len(self.classes_))[known[known != UNKNOWN]]
        self.vote_share_ = among_known(known, self.vote_share_, given)
        self.row_agreement_ = among_known(known, self.row_agreement_, 1.0)
        self.member_agreement_ = among_known(known, self.member_agreement_, 1.0, axis=1)

    def fit_domains(self, domains: Domains) -> None:
        effective_n_jobs(self.n_jobs)  # refuses 0 before any work
        from adrem.committee.fitting import fit_committee
        from adrem.machines.devices import check_device

        check_device(self.device)
        domains = domains._replace(weights=read_source_weight("equal", domains))
        fit_committee(self, domains, spawn_seeds(self.random_state, 4))

    def _votes(self, rows: Matrix) -> Shares:
        """Return the shares of the votes of all seats, or those of the distilled classifier."""
        if self.distill:
            shares = normalized_shares(np.asarray(rows @ self.coef_[0].T + self.intercept_[0]))
            from adrem.committee.voters import among_others

            return among_others(shares, getattr(self, "missing_reasons_", ()))
        return np.asarray(sum(seat.weight * seat.shares(rows) for seat in self.seats_))

    def decide_rows(self, rows: Matrix) -> NDArray[np.float64]:
        votes = self._votes(rows)
        return votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes

    def share_rows(self, rows: Matrix) -> NDArray[np.float64]:
        votes = self._votes(rows)
        largest = votes.max(axis=1, keepdims=True)
        powers = np.minimum((votes / largest) ** self.temperature_, BELOW_ONE)
        powers[np.arange(len(votes)), votes.argmax(axis=1)] = 1.0  # rounding makes no tie that is not one in `predict`
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def member_scores(self, rows: Matrix) -> Iterator[FloatArray]:
        for shares in [self._votes(rows)] if self.distill else (seat.shares(rows) for seat in self.seats_):
            yield shares if shares.shape[1] > 2 else shares[:, 1:] - shares[:, :1]

    def agreement(self) -> Agreement:
        return Agreement(len(self.kinds_), "kinds", self.row_agreement_)

    def findings(self) -> list[str]:
        lines = [f"kinds that vote: {'; '.join(self.kinds_)}"]
        lines += [f"left out: {name} ({reason})" for name, reason in self.left_out_.items()]
        if self.by_domain_:
            lines.append("domains: they differ by the means and scales of the columns; each is scaled by itself")
        return [*lines, *super().findings(), f"class shares: {self._shares_text()}"]

    def _shares_text(self) -> str:
        shares = shares_of_source(self)
        listed = ", ".join(f"{label} {share:.2f}" for label, share in zip(self.classes_.tolist(), shares, strict=False))
        if not isinstance(self.class_prior, str):
            return f"as given, {listed}"
        if self.class_prior == "source":
            return f"as in the source, {listed}"
        is_estimate = np.array_equal(shares, getattr(self, "class_prior_check_", np.zeros(0))[: len(shares)])
        return f"estimated, {listed}" if is_estimate else "assumed equal"

    def label_blocks(self, rows: Matrix) -> NDArray[np.intp]:
        """Return positions of classes as `predict` computes them."""
        return by_blocks(self.label_rows, rows, BYTES_PER_SCORE * len(self.classes_))

    def saved_params(self) -> dict[str, Any]:
        from adrem.committee.saving import check_voters, names_in

        if not self.distill:
            check_voters(self.seats_)
        return {**super().saved_params(), "kinds": names_in(self.kinds)}

    def refit_params(self, n_target: int) -> dict[str, Any]:
        del n_target
        from adrem.committee.given import find_kinds

        return {
            "random_state": 0,
            "n_estimators": min(N_REFIT_MEMBERS, self.n_estimators),
            "class_prior": shares_of_source(self),
            "kinds": find_kinds(self.kinds_, self.kinds),
        }

    def pack_parts(self) -> tuple[Any, dict[str, NDArray[Any]]]:
        from adrem.committee.saving import pack_seats

        return pack_seats([] if self.distill else self.seats_)

    def restore_parts(self, values: Any, arrays: dict[str, NDArray[Any]]) -> None:
        from adrem.committee.saving import restore_seats
        from adrem.committee.seats import weighted

        if not (hasattr(self, "history_") and hasattr(self, "left_out_")):
            raise InvalidDataError("Fitted attributes are missing.")
        if not 0 < getattr(self, "temperature_", 0.0) < np.inf:
            raise InvalidDataError("The temperature is not a positive number.")
        seats = restore_seats(values, arrays, len(self.classes_), self.n_features_in_)
        self.seats_ = [weighted(seat, seat.weight, getattr(self, "missing_reasons_", ())) for seat in seats]
        if [seat.name for seat in self.seats_] != ([] if self.distill else self.kinds_):
            raise InvalidDataError("The seats are not those of the kinds.")
