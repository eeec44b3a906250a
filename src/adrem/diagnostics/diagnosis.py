"""The diagnosis of an adapted model, without labels of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import get_tags

from adrem.base.classifier import check_model
from adrem.base.known import classes_of_source, finds_unknown, known_labels
from adrem.base.pipelines import unwrap
from adrem.base.reading import UNKNOWN
from adrem.base.scoring import by_class
from adrem.base.validation import Domains, read_domains
from adrem.diagnostics.baseline import fit_baseline
from adrem.diagnostics.contributions import ClassFeatures, class_features
from adrem.diagnostics.course import course_of
from adrem.diagnostics.evidence import (
    Evidence,
    compare_neighbours,
    distance,
    largest_shares,
    nearly_all_of,
    one_sided_part,
    opposed_part,
    skill_of,
    unsupported_class,
)
from adrem.diagnostics.gap import measure_gap
from adrem.diagnostics.map import draw_map
from adrem.diagnostics.results import Bin, ClassExamples, ClassShare, Diagnosis, Move, UncertainRow, bins_of
from adrem.diagnostics.scores import Scores, score_labels
from adrem.diagnostics.unknown import assumed_prior, doubt_of_classes, with_unknown
from adrem.diagnostics.verdict import Verdict, judge
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.runtime.seeds import spawn_seeds

N_UNCERTAIN = 20
# A class is recovered if it had less than this part of an equal share of the labels, and now has this many times more.
RARE_PART, RECOVERED_FACTOR = 0.25, 2


def diagnose(
    model: Any,
    X_source: Any,
    y_source: Any,
    X_target: Any,
    *,
    feature_names: Sequence[str] | None = None,
    random_state: int = 0,
) -> Diagnosis:
    """Diagnose how far to trust a model in the target, without target labels.

    Parameters
    ----------
    model : Committee, AdREM, a baseline, or a pipeline that ends with one
        A fitted model. The steps of a pipeline before it transform the rows.
    X_source : {array-like, sparse matrix, frame} of shape (n_source, n_features)
        Source rows of the fit.
    y_source : array-like of shape (n_source,)
        Labels of the source.
    X_target : {array-like, sparse matrix, frame} of shape (n_target, n_features)
        Target rows of the fit.
    feature_names : sequence of str, default=None
        Names of the features; by default those of the fit, else their numbers.
    random_state : int, default=0
        Seed of the random rows used if there are many.

    Returns
    -------
    Diagnosis
        All results; the ``verdict`` says which labels to use.

    Raises
    ------
    InvalidDataError
        If the rows are not those that the model was fitted to.

    See Also
    --------
    adrem.report : The same as an HTML page.
    estimate_accuracy : Estimate the accuracy without target labels.

    Examples
    --------
    >>> from adrem import AdREM
    >>> from adrem.datasets import load_digits_shift
    >>> from adrem.diagnostics import diagnose
    >>> X_source, y_source, X_target, _ = (part[::3] for part in load_digits_shift())
    >>> model = AdREM(C=0.1, n_estimators=3, random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> diagnosis = diagnose(model, X_source, y_source, X_target)
    >>> diagnosis.n_changed > 100, diagnosis.verdict.choice
    (True, 'adapted')
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
    """Return an examination, which computes a diagnosis or single parts of it."""
    model, X_source, X_target, names = unwrap(model, X_source, X_target)
    feature_names = names if feature_names is None else feature_names
    check_model(model)
    if get_tags(model).input_tags.pairwise:
        raise InvalidDataError(
            "A model with kernel='precomputed' can't be diagnosed without the rows: name the kernel."
        )
    domains = _read(model, X_source, y_source, X_target)
    return Examination(model, domains, feature_names, random_state)


def _read(model: Any, X_source: Any, y_source: Any, X_target: Any) -> Domains:
    from sklearn.base import clone

    if X_target is None:
        raise ParameterError("A diagnosis needs the rows of the target: pass X_target.", "X_target")
    # A clone, because reading sets attributes of the estimator.
    domains = read_domains(clone(model), X_source, y_source, X_target=X_target)
    if domains.X_source.shape[1] != model.n_features_in_:
        raise InvalidDataError(
            f"The model was fitted to {model.n_features_in_} features, these rows have {domains.X_source.shape[1]}."
        )
    n_target, n_fitted = domains.X_target.shape[0], len(model.transduction_)
    if n_target != n_fitted:
        raise InvalidDataError(
            f"The model was fitted to {n_fitted} target rows, X_target has {n_target}: pass the rows that it was "
            "fitted to."
        )
    if not np.array_equal(domains.classes, classes_of_source(model)):
        raise InvalidDataError(
            f"The model knows the classes {model.classes_.tolist()}, y_source has {domains.classes.tolist()}: pass the "
            "labels that it was fitted to."
        )
    return domains._replace(known=known_labels(model))


class Examination:
    """A model, its two domains, and the classifier of the source alone to compare it with.

    `before` are the labels of that classifier, `after` those of the model. Where labels of the target were known in the
    fit, that classifier learns from them too, and both have these labels.
    """

    def __init__(self, model: Any, domains: Domains, feature_names: Sequence[str] | None, random_state: int) -> None:
        self.model = model
        self.domains = domains
        # One seed per part: the result does not depend on which parts are computed, nor how often.
        self._seeds = dict(zip(("neighbours", "gap", "map"), spawn_seeds(random_state, 3), strict=True))
        self.names = self._names(feature_names)
        self.labels: list[Any] = model.classes_.tolist()
        self.baseline = fit_baseline(domains)
        self.before, self.after = (
            labels if domains.known is None else np.where(domains.known == UNKNOWN, labels, domains.known)
            for labels in (own.label_rows(domains.X_target) for own in (self.baseline, model))
        )
        self.prior = assumed_prior(model)
        self.kinds: list[str] = getattr(model, "kinds_", [])
        self.members = self._members()

    def _names(self, given: Sequence[str] | None) -> Sequence[str]:
        n_features = self.model.n_features_in_
        if given is None:
            given = getattr(self.model, "feature_names_in_", None)
        if given is None:
            return [f"feature {k}" for k in range(n_features)]
        if len(given) != n_features:
            raise ParameterError(f"There are {len(given)} feature_names for {n_features} features.", "feature_names")
        return [str(name) for name in given]

    def diagnosis(self) -> Diagnosis:
        """Return the whole diagnosis."""
        domains, model = self.domains, self.model
        return Diagnosis(
            method=type(model).__name__,
            n_source=domains.X_source.shape[0],
            n_target=domains.X_target.shape[0],
            n_features=model.n_features_in_,
            classes=self._classes(),
            n_changed=self.n_changed,
            moves=self._moves(),
            lost_classes=self.lost,
            gap=measure_gap(domains.X_source, domains.X_target, self.names, self._rng("gap")),
            map=draw_map(domains.X_source, domains.X_target, self._rng("map")),
            course=course_of(getattr(model, "history_", [])),
            agreement=self.evidence.agreement,
            members=self.members,
            kinds=self.kinds,
            findings=model.findings(),
            bins=self._bins(),
            uncertain=self._uncertain(),
            class_features=self._class_features(),
            evidence=self.evidence,
            verdict=self.verdict,
        )

    def _rng(self, part: str) -> np.random.Generator:
        return np.random.default_rng(self._seeds[part])

    @cached_property
    def evidence(self) -> Evidence:
        """The tests of the labels before and after adapting."""
        neighbours, z = compare_neighbours(self.domains.X_target, self.before, self.after, self._rng("neighbours"))
        skill, least_skill = skill_of(self.source_accuracy, self.domains.labels)
        return Evidence(
            neighbours=neighbours,
            neighbours_z=z,
            one_sided=one_sided_part(self.before, self.after, self.domains.labels, self._assumed_shares()),
            largest_share=largest_shares(self.before, self.after),
            skill=skill,
            least_skill=least_skill,
            agreement=float(np.mean(self.members)) if self.members else None,
            nearly_all=nearly_all_of(self.domains.labels),
            opposed=self._opposed_part(),
        )

    def _opposed_part(self) -> float:
        if len(self.kinds) != len(self._votes):  # no committee, or one that was distilled to a single classifier
            return 0.0
        from adrem.committee.kinds import adapting_families

        return opposed_part(self._votes, adapting_families(self.kinds), self.before, self.after)

    def _assumed_shares(self) -> NDArray[np.float64]:
        return np.full(len(self.labels), 1.0 / len(self.labels)) if self.prior is None else self.prior

    @property
    def distance_before(self) -> float:
        """The distance of the class shares before adapting from those that are assumed, as a total variation."""
        return distance(self._shares_of(self.before), self._assumed_shares())

    def _shares_of(self, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(labels, minlength=len(self.labels)) / len(labels))

    @property
    def source_accuracy(self) -> float:
        """The accuracy of the source's classifier on held-out source rows, NaN if a class has too few."""
        accuracies: dict[str, float] = self.baseline.cv_accuracy_
        return accuracies.get(self.baseline.chosen_, float("nan"))

    @cached_property
    def verdict(self) -> Verdict:
        """Which labels to use."""
        found = judge(self.evidence, self.vanished, self.n_changed, self.recovered, self.missing)
        doubts = doubt_of_classes(self.model, self.domains, self._rng("gap"))
        return replace(found, reasons=[*found.reasons, *doubts, *self._unsupported_shares(found.choice)])

    @property
    def is_unknown(self) -> NDArray[np.bool_]:
        """Which rows of the target had no known label in the fit."""
        known = self.domains.known
        return np.ones(self.domains.X_target.shape[0], dtype=bool) if known is None else known == UNKNOWN

    @property
    def missing(self) -> list[Any]:
        """The classes that the model found to be missing from the target."""
        return list(getattr(self.model, "missing_classes_", ()))

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The labels that the verdict prefers, the adapted ones if it is unsure."""
        return self._labels_of(self.verdict.choice)

    def _labels_of(self, choice: str) -> NDArray[np.intp]:
        return self.before if choice == "source" else self.after

    def _unsupported_shares(self, choice: str) -> list[str]:
        """Return what is strange about the class shares of the labels that are chosen, if something is."""
        shares, source = map(self._shares_of, (self._labels_of(choice), self.domains.labels))
        k = unsupported_class(shares, source, self._assumed_shares())
        if k is None or shares.max() > self.evidence.nearly_all:
            return []
        here, there = (f"{100 * own[k]:.1f} %" for own in (shares, source))
        means_same = "if that can't be, check whether the columns mean the same in the target."
        return [f"{here} of these labels are {self.labels[k]!r}, in the source {there}: {means_same}"]

    def score(self, truth: Any) -> Scores | None:
        """Score the labels that were not known by the true ones; None without any."""
        if truth is None:
            return None
        before, after = (self.model.classes_[labels][self.is_unknown] for labels in (self.before, self.after))
        truth = np.asarray(with_unknown(self.model, truth), dtype=object)[self.is_unknown]
        return score_labels(before, after, truth, self.labels)

    @property
    def n_changed(self) -> int:
        return int(np.count_nonzero(self.before != self.after))

    @property
    def recovered(self) -> list[Any]:
        """Classes with very few labels before adapting, and more after it."""
        n_classes = len(self.labels)
        before, after = (np.bincount(own, minlength=n_classes) for own in (self.before, self.after))
        found = (before * n_classes < RARE_PART * len(self.before)) & (
            after >= np.maximum(1, RECOVERED_FACTOR * before)
        )
        return [label for label, is_recovered in zip(self.labels, found, strict=True) if is_recovered]

    @property
    def vanished(self) -> list[Any]:
        """Classes without a label that were not rare before adapting, and that the model did not leave out."""
        before = np.bincount(self.before, minlength=len(self.labels))
        counts = dict(zip(self.labels, before.tolist(), strict=True))
        lost = [label for label in self.lost if label not in self.missing]
        return [label for label in lost if counts[label] * len(self.labels) >= RARE_PART * len(self.before)]

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

    @cached_property
    def _votes(self) -> list[NDArray[np.intp]]:
        """The labels of each member."""
        return [by_class(own).argmax(axis=1) for own in self.model.member_scores(self.domains.X_target)]

    def _members(self) -> list[float]:
        agreement = [float(np.mean(own == self.after)) for own in self._votes]
        return agreement if len(agreement) > 1 else []

    def _bins(self) -> list[Bin]:
        n_members = 0 if self.kinds else len(self.members)  # the confidence of a committee is no share of votes
        n_bins, places = bins_of(self.model.confidence_rows(self.domains.X_target), n_members)
        edges = np.arange(n_bins + 1) / n_bins
        changed = self.before != self.after
        kept, moved = (np.bincount(places[part], minlength=n_bins).tolist() for part in (~changed, changed))
        return [Bin(*row) for row in zip(edges[:-1].tolist(), edges[1:].tolist(), kept, moved, strict=True)]

    def _uncertain(self) -> list[UncertainRow]:
        shares = self.model.share_rows(self.domains.X_target)
        order = np.argsort(shares, axis=1, kind="stable")
        margin = np.take_along_axis(shares, order[:, -1:], 1) - np.take_along_axis(shares, order[:, -2:-1], 1)
        rows = np.argsort(margin[:, 0], kind="stable")
        rows = rows[self.is_unknown[rows]][:N_UNCERTAIN]
        confidence = self.model.confidence_rows(self.domains.X_target[rows])
        # Not always the last but one: among equal shares, the label is that of predict.
        second = [next(c for c in order[row, ::-1] if c != self.after[row]) for row in rows]
        return [
            UncertainRow(int(row), self.labels[self.after[row]], float(share), self.labels[c], self.labels[own])
            for row, share, c, own in zip(rows, confidence, second, self.before[rows], strict=True)
        ]

    def examples(self, n: int) -> list[ClassExamples]:
        """Return n rows of each kind for each label, the surest ones first, but the least sure from the least."""
        confidence = self.model.confidence_rows(self.domains.X_target)
        order = np.argsort(-confidence, kind="stable")
        found = []
        for k, label in enumerate(self.labels):
            own = order[self.after[order] == k]
            changed = own[self.before[own] != k]
            found.append(ClassExamples(label, own[:n].tolist(), own[n:][::-1][:n].tolist(), changed[:n].tolist()))
        return found

    def _class_features(self) -> list[ClassFeatures]:
        if not hasattr(self.model, "coef_"):
            return []
        n_rows = _rows_with(self.domains) if sp.issparse(self.domains.X_source) else None
        before = self.baseline.coef_[0]
        if finds_unknown(self.model):  # a class that the classifier of the source does not know
            before = np.concatenate([by_class(before.T).T, np.zeros((1, before.shape[1]))])
        return class_features(self.labels, self.names, before, self.model.coef_, n_rows=n_rows)


def _rows_with(domains: Domains) -> NDArray[np.intp]:
    """Return how many rows of both domains have each feature."""
    from adrem.machines.tables import n_rows_with

    return n_rows_with(domains.X_source) + n_rows_with(domains.X_target)
