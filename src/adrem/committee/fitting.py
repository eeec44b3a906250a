"""The fit of a committee: the choice of the kinds and the class shares, the fit of each kind, the fitted attributes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from adrem.algorithm.unknown import apart_for, without_unknown
from adrem.base.classifier import BYTES_PER_SCORE
from adrem.base.known import positions_of
from adrem.base.parameters import read_prior, read_protected
from adrem.base.validation import Domains
from adrem.committee import views
from adrem.committee.assumptions import Assumptions, assume, by_domain, is_auto
from adrem.committee.effort import Size, affordable
from adrem.committee.given import Given, GivenVoter, fit_given, read_kinds
from adrem.committee.kinds import KINDS, Kind, usual_kinds
from adrem.committee.seats import Seat, Settings, fit_seat, weighted
from adrem.committee.shares import Basis, may_lack_classes, view_of_unknown
from adrem.exceptions import ParameterError
from adrem.machines.linear import LinearHead, without_target
from adrem.machines.tables import mean_squared_norm, stack
from adrem.runtime.memory import blocks_of
from adrem.runtime.seeds import as_integer

Array = NDArray[np.float64]
# A kind is left out if its held-out accuracy on the source is below that of the best kind by more than this gap and
# this number of standard errors. Chosen on the simulated shifts of SKADA-Bench, digits and the heart data.
LARGEST_GAP = 0.03
STANDARD_ERRORS = 4.0
# Shares that differ by no more than this part of the largest count as equal.
EQUAL_WITHIN = 0.5
OPTIONAL = ("class_prior_check_", "home_accuracy_")
TINY = 1e-12


def fit_committee(model: Any, domains: Domains, seeds: list[np.random.SeedSequence]) -> None:
    """Fit the kinds to two domains, and set the fitted attributes of the model."""
    kind_seed, prior_seed, linear_seed, unknown_seed = seeds
    kinds, left_out = _choose_kinds(model, domains)
    head = {"tol": model.tol, "memory_limit": model.memory_limit, "device": model.device}
    whole, domains = apart_for(model, domains, lambda given: view_of_unknown(given, head), unknown_seed)
    known = without_unknown(domains)
    protected = read_protected(model.protected_classes, known)
    settings = Settings(model.n_estimators, model.n_iter, model.n_jobs, head)
    own_seeds = dict(zip((kind.name for kind in kinds), kind_seed.spawn(len(kinds)), strict=True))

    def fit(kind: Kind, assumed: Assumptions, among: Domains, least: float = 0.0) -> Seat:
        own = replace(settings, absent=tuple(assumed.missing))
        return _fit(kind, among, assumed.prior, own, own_seeds[kind.name], least)

    def of_source(among: Domains) -> dict[str, Seat]:
        equal = Assumptions(read_prior("uniform", among))
        return {kind.name: fit(kind, equal, among) for kind in kinds if not kind.adapts}

    seats = of_source(domains)
    own_seats = of_source(known) if domains.has_unknown else seats
    basis = Basis(known, list(own_seats.values()), head, prior_seed, protected)
    searches = is_auto(model.class_prior) and may_lack_classes(basis)
    if searches:
        kinds, dear = _affordable(model, domains, kinds, searches=True)
        left_out = {**left_out, **dear}
    assumed = assume(model.class_prior, basis, searches=searches)
    if domains.has_unknown:
        assumed = assumed.with_unknown()
    if assumed.by_domain:
        kinds, alike = by_domain(kinds)
        left_out, seats = {**left_out, **alike}, _of_rows_as_given(seats)
    kinds, unfit = _fit_for_shares(kinds, assumed.prior)
    for kind in kinds:
        if kind.name not in seats:
            seats[kind.name] = fit(kind, assumed, domains, _least_accuracy(seats.values(), domains))
    competent, incompetent = _competent([seats[kind.name] for kind in kinds], domains)
    model.seats_ = [weighted(seat, 1.0 / len(competent), assumed.missing) for seat in competent]
    model.left_out_ = {**left_out, **unfit, **incompetent}
    _keep_assumptions(model, assumed)
    _keep(model, domains, whole)
    _keep_linear(model, whole, linear_seed)
    if model.distill:
        model.transduction_ = model.classes_[model.label_blocks(whole.X_target)]
        model.temperature_ = 1.0


def _fit(
    kind: Kind, domains: Domains, prior: Array, settings: Settings, seed: np.random.SeedSequence, least: float
) -> Seat:
    if isinstance(kind, Given):
        return fit_given(kind, domains, seed)
    return fit_seat(kind, domains, prior, settings, seed, least)


def _of_rows_as_given(seats: dict[str, Seat]) -> dict[str, Seat]:
    """Return the seats that do not depend on how the rows are scaled."""
    return {name: seat for name, seat in seats.items() if isinstance(seat.voter, GivenVoter)}


def _choose_kinds(model: Any, domains: Domains) -> tuple[list[Kind], dict[str, str]]:
    """Return the kinds that were asked for, or those that suit the rows with the reasons for the others."""
    if isinstance(model.kinds, str):
        names, left_out = usual_kinds(domains.X_source, domains.X_target, len(domains.classes), model.memory_limit)
        suited, dear = _affordable(model, domains, [KINDS[name] for name in names])
        return suited, {**left_out, **dear}
    kinds = read_kinds(model.kinds)
    for kind in kinds:
        needed = _missing(kind, domains)
        if needed:
            raise ParameterError(f"The kind {kind.name!r} needs {needed}.", "kinds")
    return kinds, {}


def _affordable(
    model: Any, domains: Domains, kinds: list[Kind], *, searches: bool = False
) -> tuple[list[Kind], dict[str, str]]:
    """Return the kinds within the budget, and why the others are left out; all that were asked for."""
    if not isinstance(model.kinds, str):
        return kinds, {}
    size = Size.of(domains, model.n_estimators, model.n_iter)
    names, dear = affordable([kind.name for kind in kinds], size, model.effort, searches=searches)
    return [kind for kind in kinds if kind.name in names], dear


def _missing(kind: Kind, domains: Domains) -> str:
    """Return what the rows would have to be for a kind; nothing if it can be fitted to them."""
    if sp.issparse(domains.X_source):
        needs_dense = kind.classifier in ("rbf", "discriminant", "boosting")
        return "dense rows: leave it out, or give dense rows" if needs_dense else ""
    if kind.view is views.rare_words:
        return "sparse rows: leave it out, or give CSR rows"
    needs_active = kind.view in (views.active_unit, views.active_centered)
    if needs_active and not views.is_nonnegative(domains.X_source, domains.X_target):
        return "rows without negative values: leave it out, or do not center the columns"
    return ""


def _fit_for_shares(kinds: list[Kind], prior: Array) -> tuple[list[Kind], dict[str, str]]:
    """Leave out discriminants if the class shares are not equal: cosines do not depend on class shares."""
    prior = prior[prior > 0]
    others = [kind for kind in kinds if kind.classifier != "discriminant"]
    if np.ptp(prior) <= EQUAL_WITHIN * prior.max() or not others:
        return kinds, {}
    return others, {kind.name: "the class shares are not equal" for kind in kinds if kind not in others}


def _competent(seats: list[Seat], domains: Domains) -> tuple[list[Seat], dict[str, str]]:
    """Return the fitted kinds that are accurate enough, and why the others are left out."""
    least, best = _least_accuracy(seats, domains), _best_accuracy(seats)
    reason = "held-out accuracy {:.2f}, the best kind {:.2f}"
    lost = {seat.name: reason.format(seat.home_accuracy, best) for seat in seats if seat.home_accuracy < least}
    return [seat for seat in seats if seat.name not in lost], lost


def _least_accuracy(seats: Iterable[Seat], domains: Domains) -> float:
    """Return the least accuracy of a kind that votes, given that of the best of these kinds."""
    best = _best_accuracy(seats)
    if not best > 0.0:  # there is none yet, or a class has fewer rows than folds
        return 0.0
    n_classes = domains.n_of_source
    rarest = np.bincount(domains.labels[domains.weights > 0])[:n_classes].min()
    error = np.sqrt((best * (1.0 - best) + 0.25 / rarest) / (n_classes * rarest))
    return best - max(LARGEST_GAP, STANDARD_ERRORS * float(error))


def _best_accuracy(seats: Iterable[Seat]) -> float:
    """Return the accuracy of the best kind, zero without kinds, NaN if a class has fewer rows than folds."""
    return float(np.max([0.0, *(seat.home_accuracy for seat in seats)]))


def _keep_assumptions(model: Any, assumed: Assumptions) -> None:
    for name in OPTIONAL:
        if hasattr(model, name):  # of an earlier fit
            delattr(model, name)
    model.class_prior_ = assumed.prior
    model.missing_reasons_ = dict(assumed.missing)
    model.by_domain_ = assumed.by_domain
    if assumed.estimate is not None:
        model.class_prior_check_ = assumed.estimate


def _keep(model: Any, domains: Domains, whole: Domains) -> None:
    """Set the fitted attributes; those with an entry for each target row from the whole target."""
    model.classes_ = domains.classes
    seats: list[Seat] = model.seats_
    model.kinds_ = [seat.name for seat in seats]
    accuracies = np.array([seat.home_accuracy for seat in seats])
    if not np.isnan(accuracies).any():
        model.home_accuracy_ = accuracies
    model.history_ = [entry for seat in seats for entry in seat.history]
    model.temperature_ = _temperature(np.mean([seat.held_out for seat in seats], axis=0), domains)
    own, model.member_agreement_ = _count(seats, whole)
    model.vote_share_ = np.asarray(sum(seat.weight * part for seat, part in zip(seats, own, strict=True)))
    labels, winners = model.vote_share_.argmax(axis=1), own.argmax(axis=2)
    model.transduction_ = domains.classes[labels]
    model.row_agreement_ = np.mean(winners == labels, axis=0)
    model.agreement_ = (
        np.mean(winners[:, None] == winners[None], axis=2) if domains.adapts else np.ones((len(seats), len(seats)))
    )


def _count(seats: list[Seat], domains: Domains) -> tuple[Array, Array]:
    """Return the vote shares of each kind for the target, and the share of its members that agree with its label."""
    n_classes = len(domains.classes)
    if not domains.adapts:
        return np.zeros((len(seats), 0, n_classes)), np.zeros((len(seats), 0))
    blocks = blocks_of(domains.X_target, BYTES_PER_SCORE * n_classes)  # as in predict, so that ties break alike
    counted = [[seat.votes(rows) for seat in seats] for rows in blocks]
    shares = np.concatenate([np.stack([votes.shares for votes in block]) for block in counted], axis=1)
    return shares, np.concatenate([np.stack([votes.agreement for votes in block]) for block in counted], axis=1)


def _temperature(held_out: Array, domains: Domains) -> float:
    """Return the power of the shares that makes the labels of held-out source rows most likely."""
    logs = np.log(np.maximum(held_out, TINY))
    own = np.arange(len(logs))

    def loss(log_power: float) -> float:
        scores = np.exp(log_power) * logs
        scores -= scores.max(axis=1, keepdims=True)
        likely = scores[own, domains.labels] - np.log(np.exp(scores).sum(axis=1))
        return -float(np.average(likely, weights=domains.weights))

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))


def _keep_linear(model: Any, domains: Domains, seed: np.random.SeedSequence) -> None:
    """Train the linear classifier of both domains by the labels of the committee."""
    view = views.by_domain if model.by_domain_ else views.scaled
    viewed = views.seen_by(view, domains)
    labels = np.concatenate([domains.labels, positions_of(model.transduction_, domains.classes)])
    weights = np.concatenate([domains.weights, np.ones(domains.X_target.shape[0])])
    rows = stack([viewed.source, viewed.target])
    both = without_target(domains._replace(X_source=rows, labels=labels, weights=weights))
    head = LinearHead("hinge", 1.0 / mean_squared_norm(rows), fit_intercept=True, tol=model.tol, device=model.device)
    found = head.fit(both._replace(X_target=rows[:0]), as_integer(seed))
    factor = viewed.view.factor
    given = found.coef.astype(domains.X_source.dtype)  # of the rows as they are given, which may have a large mean
    coef = given if factor is None else given * factor.astype(given.dtype)
    shift = 0.0 if viewed.view.shift is None else coef @ viewed.view.shift.astype(given.dtype)
    model.C_ = found.C
    model.coef_, model.intercept_ = coef[None], (found.intercept - shift)[None]
