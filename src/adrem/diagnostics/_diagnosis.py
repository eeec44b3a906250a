"""Everything that can be said of an adapted model without a label of the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem._adrem import AdREM
from adrem._classifier import check_model
from adrem._types import Matrix
from adrem._validation import Domains, read_domains
from adrem._voting import by_class
from adrem.diagnostics._evidence import Evidence, gather
from adrem.diagnostics._findings import Bin, ClassShare, Diagnosis, Move, Spread, Step, UncertainRow
from adrem.diagnostics._gap import measure_gap
from adrem.diagnostics._map import draw_map
from adrem.diagnostics._verdict import Verdict, judge
from adrem.diagnostics._voices import Voice, voices
from adrem.preprocessing import transform_pair

UNCERTAIN = 20  # rows that are named
# A class has come back if it had less than this part of an equal share, and now has so many times more rows.
HARDLY, MORE = 0.25, 2
# Parameters that the classifier of the source alone shares with a model.
ALIKE = ("fit_intercept", "kernel", "gamma", "degree", "coef0")
BINS = 10
MANY_MEMBERS = 20


def diagnose(
    model: Any,
    X_source: Any,
    y_source: Any,
    X_target: Any,
    *,
    feature_names: Sequence[str] | None = None,
    random_state: int = 0,
) -> Diagnosis:
    """Say how far to trust a model in its new domain, without a label of that domain.

    Parameters
    ----------
    model : AdREM, AdREMCV or a baseline
        A fitted model; of an `AdREMCV` it is the one that was taken.
    X_source : {array-like, sparse matrix, frame} of shape (n_source, n_features)
        Rows of the source that it was fitted to.
    y_source : array-like of shape (n_source,)
        Their labels.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Rows of the target that it was fitted to.
    feature_names : sequence of str, default=None
        Names of the features; by default those that the model has seen, else their numbers.
    random_state : int, default=0
        Seed of the rows that are taken where all would be too many.

    Returns
    -------
    Diagnosis
        All that was found, the ``verdict`` first of all.

    Raises
    ------
    ValueError
        If the rows are not those that the model was fitted to.

    See Also
    --------
    adrem.report : The same as a page.
    estimate_accuracy : How many of the labels seem to be right.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import make_rotated_arcs
    >>> from adrem.diagnostics import diagnose
    >>> X_source, y_source, X_target, _ = make_rotated_arcs(20, 20, rotation=60, random_state=0)
    >>> model = AdREM(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> diagnosis = diagnose(model, X_source, y_source, X_target)
    >>> diagnosis.n_changed, diagnosis.verdict.choice
    (1, 'adapted')
    """
    return examine(model, X_source, y_source, X_target, feature_names, random_state).diagnosis()


def examine(
    model: Any,
    X_source: Any,
    y_source: Any,
    X_target: Any,
    feature_names: Sequence[str] | None = None,
    random_state: int = 0,
) -> Examination:
    """A model beside the classifier of the source alone, for whoever does not want all of a diagnosis."""
    check_model(model)
    if hasattr(model, "best_estimator_"):  # it chose, and this is about what it took
        if model.preprocessing_ is not None:
            X_source, X_target = transform_pair(model.preprocessing_, X_source, X_target)
        model = model.best_estimator_
    if isinstance(model, AdREM) and model.kernel == "precomputed":
        raise ValueError("A model of similarities can't be diagnosed without the rows: fit it with a kernel by name.")
    domains = _read(model, X_source, y_source, X_target)
    return Examination(model, domains, feature_names, np.random.default_rng(random_state))


def _read(model: Any, X_source: Any, y_source: Any, X_target: Any) -> Domains:
    from sklearn.base import clone

    if X_target is None:
        raise ValueError("A diagnosis needs the rows of the target: pass X_target.")
    # A clone, because reading notes the features in the estimator.
    domains = read_domains(clone(model), X_source, y_source, X_target=X_target)
    if domains.X_source.shape[1] != model.n_features_in_:
        raise ValueError(
            f"The model was fitted to {model.n_features_in_} features, these rows have {domains.X_source.shape[1]}."
        )
    n_target, n_fitted = domains.X_target.shape[0], len(model.transduction_)
    if n_target != n_fitted:
        raise ValueError(
            f"The model was fitted to {n_fitted} target rows, X_target has {n_target}: give the rows that it was "
            "fitted to."
        )
    if not np.array_equal(domains.classes, model.classes_):
        raise ValueError(
            f"The model knows the classes {model.classes_.tolist()}, y_source has {domains.classes.tolist()}: give the "
            "labels that it was fitted to."
        )
    return domains


class Examination:
    """A model with its two domains, and with the classifier of the source alone beside it."""

    def __init__(
        self, model: Any, domains: Domains, feature_names: Sequence[str] | None, rng: np.random.Generator
    ) -> None:
        self.model = model
        self.domains = domains
        self.rng = rng
        self.names = self._names(feature_names)
        self.labels: list[Any] = model.classes_.tolist()
        self.plain = source_alone(model, domains)
        self.before = self.plain._label(domains.X_target)
        self.after = model._label(domains.X_target)
        self.prior: NDArray[np.float64] | None = getattr(model, "class_prior_", None)
        self.members = self._members()

    def _names(self, given: Sequence[str] | None) -> Sequence[str]:
        n_features = self.model.n_features_in_
        if given is None:
            given = getattr(self.model, "feature_names_in_", None)
        if given is None:
            return [f"feature {k}" for k in range(n_features)]
        if len(given) != n_features:
            raise ValueError(f"There are {len(given)} feature_names for {n_features} features.")
        return [str(name) for name in given]

    def diagnosis(self) -> Diagnosis:
        domains, model = self.domains, self.model
        evidence, verdict = self.judgement()
        return Diagnosis(
            method=type(model).__name__,
            n_source=domains.X_source.shape[0],
            n_target=domains.X_target.shape[0],
            n_features=model.n_features_in_,
            classes=self._classes(),
            n_changed=self.n_changed,
            moves=self._moves(),
            lost_classes=self.lost,
            gap=measure_gap(domains.X_source, domains.X_target, self.names, self.rng),
            map=draw_map(domains.X_source, domains.X_target, self.rng),
            course=_course(getattr(model, "history_", [])),
            agreement=evidence.agreement,
            members=self.members,
            bins=self._bins(),
            uncertain=self._uncertain(),
            voices=self._voices(),
            evidence=evidence,
            verdict=verdict,
        )

    def judgement(self) -> tuple[Evidence, Verdict]:
        """The evidence for the labels before and after adapting, and the verdict."""
        evidence = gather(
            self.plain,
            self.domains,
            self.before,
            self.after,
            agreement=float(np.mean(self.members)) if self.members else None,
            prior=self.prior,
            rng=self.rng,
        )
        return evidence, judge(evidence, self.lost, self.n_changed, self.revived)

    @property
    def n_changed(self) -> int:
        return int(np.count_nonzero(self.before != self.after))

    @property
    def revived(self) -> list[Any]:
        """Classes that hardly any row was labelled with before adapting, and more are now."""
        n_classes = len(self.labels)
        before, after = (np.bincount(own, minlength=n_classes) for own in (self.before, self.after))
        found = (before * n_classes < HARDLY * len(self.before)) & (after >= np.maximum(1, MORE * before))
        return [label for label, is_revived in zip(self.labels, found, strict=True) if is_revived]

    @property
    def lost(self) -> list[Any]:
        counts = np.bincount(self.after, minlength=len(self.labels))
        return [label for label, count in zip(self.labels, counts, strict=True) if count == 0]

    def _classes(self) -> list[ClassShare]:
        n = len(self.labels)
        source = np.bincount(self.domains.labels, minlength=n) / len(self.domains.labels)
        before, after = (np.bincount(labels, minlength=n).tolist() for labels in (self.before, self.after))
        prior: list[float | None] = [None] * n if self.prior is None else self.prior.tolist()
        return [ClassShare(*row) for row in zip(self.labels, source.tolist(), before, after, prior, strict=True)]

    def _moves(self) -> list[Move]:
        n = len(self.labels)
        counts = np.bincount(self.before * n + self.after, minlength=n * n).reshape(n, n)
        np.fill_diagonal(counts, 0)
        order = np.argsort(-counts, axis=None, kind="stable")[: np.count_nonzero(counts)]
        return [Move(self.labels[k // n], self.labels[k % n], int(counts.flat[k])) for k in order.tolist()]

    def _members(self) -> list[float]:
        if not isinstance(self.model, AdREM) or len(self.model.intercept_) < 2:
            return []
        scores = self.model._member_scores(self.domains.X_target)
        return [float(np.mean(by_class(own).argmax(axis=1) == self.after)) for own in scores]

    def _bins(self) -> list[Bin]:
        n_bins, places = bins_of(confidence_of(self.model, self.domains.X_target), len(self.members))
        edges = np.arange(n_bins + 1) / n_bins
        changed = self.before != self.after
        kept, moved = (np.bincount(places[part], minlength=n_bins).tolist() for part in (~changed, changed))
        return [Bin(*row) for row in zip(edges[:-1].tolist(), edges[1:].tolist(), kept, moved, strict=True)]

    def _uncertain(self) -> list[UncertainRow]:
        shares = self.model._share(self.domains.X_target)
        order = np.argsort(shares, axis=1, kind="stable")
        margin = np.take_along_axis(shares, order[:, -1:], 1) - np.take_along_axis(shares, order[:, -2:-1], 1)
        rows = np.argsort(margin[:, 0], kind="stable")[:UNCERTAIN]
        confidence = confidence_of(self.model, self.domains.X_target[rows])
        # Not always the last: predict has the last word among equals.
        second = [next(c for c in order[row, ::-1] if c != self.after[row]) for row in rows]
        return [
            UncertainRow(int(row), self.labels[self.after[row]], float(share), self.labels[c], self.labels[own])
            for row, share, c, own in zip(rows, confidence, second, self.before[rows], strict=True)
        ]

    def _voices(self) -> list[Voice]:
        if not hasattr(self.model, "coef_"):
            return []
        return voices(self.labels, self.names, self.plain.coef_[0], self.model.coef_)


def source_alone(model: Any, domains: Domains) -> AdREM:
    """The classifier of the source alone, with the loss, the C, the intercept and the kernel of a model."""
    plain = plain_of(model)
    plain._learn(domains._replace(X_target=domains.X_target[:0]))
    plain.n_features_in_ = domains.X_source.shape[1]
    return plain


def plain_of(model: Any) -> AdREM:
    """What is trained on the source alone to have something to compare a model with."""
    loss = getattr(model, "loss", "hinge")
    same = {name: getattr(model, name) for name in ALIKE} if isinstance(model, AdREM) else {}
    return AdREM(
        loss="log_loss" if loss == "log_loss" else "hinge", C=getattr(model, "C_", 1.0), random_state=0, **same
    )


def source_accuracy(plain: AdREM, domains: Domains, seed: int) -> float:
    """Accuracy of a classifier of the source on rows that it was not trained on; NaN where a class has too few."""
    from adrem.machines.selection import N_FOLDS, held_out_accuracy

    counts = np.bincount(domains.labels[domains.weights > 0], minlength=len(domains.classes))
    if counts.min() < N_FOLDS:
        return float("nan")
    task = plain._make_task(domains._replace(X_target=domains.X_target[:0]), np.random.SeedSequence(seed))
    return held_out_accuracy(task.machine, task.labels, task.weights, task.C, seed)


def confidence_of(model: Any, rows: Matrix) -> NDArray[np.float64]:
    """Share of the members that voted for a row's label, or the share that a model without members gives it."""
    if isinstance(model, AdREM):
        counted = model._tally(rows)
        return np.asarray(counted.votes[np.arange(rows.shape[0]), counted.winners] / len(model.intercept_))
    return np.asarray(model._share(rows).max(axis=1))


def bins_of(confidence: NDArray[np.float64], n_members: int) -> tuple[int, NDArray[np.intp]]:
    """How many bins there are, one for each number of votes where the members are few, else ten; and each row's."""
    n_bins = n_members if 0 < n_members <= MANY_MEMBERS else BINS
    places = np.ceil(confidence * n_bins - 1e-9).astype(np.intp) - 1
    return n_bins, np.clip(places, 0, n_bins - 1)


def _course(history: list[dict[str, Any]]) -> list[Step]:
    """The history of all members, iteration by iteration; nothing of methods whose iterations are others."""
    if not history or "balanced_loss" not in history[0]:
        return []
    last = max(entry["iteration"] for entry in history)
    entries = [[entry for entry in history if entry["iteration"] == k] for k in range(last + 1)]
    names = ("n_drawn", "n_changed", "loss", "balanced_loss")
    return [Step(k, *(_spread([entry[name] for entry in own]) for name in names)) for k, own in enumerate(entries)]


def _spread(values: list[float]) -> Spread:
    low, high = float(min(values)), float(max(values))
    return Spread(min(max(float(np.mean(values)), low), high), low, high)
