"""What a committee assumes of the target: its class shares, and whether each domain is scaled by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.algorithm.known_shares import with_known
from adrem.base.parameters import read_prior
from adrem.committee import views
from adrem.committee.given import Given
from adrem.committee.kinds import Kind
from adrem.committee.shares import (
    Basis,
    estimate_shares,
    find_absent,
    find_present,
    has_rows,
    is_clear,
    is_estimable,
)
from adrem.committee.shift import compare_domains

Array = NDArray[np.float64]


class Assumptions(NamedTuple):
    """What is assumed of the target.

    `prior` are the class shares of the draws, and `estimate` those that were estimated, used or not. `by_domain` tells
    that the domains differ by the means and scales of their columns alone. `missing` tells by positions why classes are
    missing.
    """

    prior: Array
    estimate: Array | None = None
    by_domain: bool = False
    missing: Mapping[int, str] = MappingProxyType({})

    def with_unknown(self) -> Assumptions:
        """Return the same with a class of unknown rows, which are not drawn."""
        estimate = None if self.estimate is None else np.append(self.estimate, 0.0)
        return self._replace(prior=np.append(self.prior, 0.0), estimate=estimate)


def assume(wanted: Any, basis: Basis, *, searches: bool) -> Assumptions:
    """Find out what explains how the domains differ: by Ad-REM for text, else by the classifiers of the source.

    With `searches` missing classes of dense rows are looked for.
    """
    domains, is_free = basis.domains, is_auto(wanted)
    assumed = Assumptions(read_prior("uniform" if is_free else wanted, domains))
    if is_free and sp.issparse(domains.X_source) and has_rows(domains):
        return _assume_of_text(assumed.prior, basis)
    if searches:
        return _without_missing(assumed, basis)
    if basis.has_votes and is_estimable(domains):
        return _assume_by_source(is_free, assumed.prior, basis)
    return assumed


def is_auto(wanted: Any) -> bool:
    """Whether the class shares are not given."""
    return isinstance(wanted, str) and wanted == "auto"


def _assume_of_text(equal: Array, basis: Basis) -> Assumptions:
    """Return estimated shares if they are clear, or if classes are missing, and else equal ones."""
    estimate, missing = find_present(basis)
    shares = estimate.shares if missing or is_clear(estimate) else equal
    return Assumptions(shares, estimate.shares, missing=missing)


def _without_missing(assumed: Assumptions, basis: Basis) -> Assumptions:
    """Return equal shares of the classes that are not missing."""
    missing = find_absent(basis)
    is_present = ~np.isin(np.arange(len(assumed.prior)), list(missing))
    return Assumptions(is_present / np.count_nonzero(is_present), missing=missing) if missing else assumed


def _assume_by_source(is_free: bool, prior: Array, basis: Basis) -> Assumptions:
    domains = basis.domains
    held_out = np.mean([seat.held_out for seat in basis.seats], axis=0)
    estimate = with_known(estimate_shares(held_out, basis.votes, domains), domains)
    difference = compare_domains(domains, estimate, basis.seed)
    if not is_free:
        return Assumptions(prior, None, difference.is_of_scales)
    return Assumptions(estimate if difference.is_of_shares else prior, estimate, difference.is_of_scales)


def by_domain(kinds: list[Kind]) -> tuple[list[Kind], dict[str, str]]:
    """Change the views of all kinds to scale each domain by itself; of kinds that become equal, keep the first.

    Estimators of the caller see the rows as they are given.
    """
    seen: dict[tuple[Any, ...], Kind] = {}
    found: list[Kind] = []
    alike = {}
    for kind in kinds:
        if isinstance(kind, Given):
            found.append(kind)
            continue
        own = replace(kind, view=views.BY_DOMAIN.get(kind.view, kind.view))
        first = seen.setdefault((own.view, own.classifier, own.strength), own)
        if first is own:
            found.append(own)
        else:
            alike[kind.name] = f"the same as {first.name!r} where each domain is scaled by itself"
    return found, alike
