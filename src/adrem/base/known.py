"""Target rows whose labels are known: they stand beside the source in a fit, and are then put back among the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.base.reading import UNKNOWN
from adrem.base.validation import Domains
from adrem.runtime.memory import bytes_of, check_room
from adrem.types import Matrix

# How many source rows a row with a known label counts. docs/few-labels.md tells how it was chosen.
USUAL_WEIGHT = 5.0
# Attributes of a fit with known labels.
KNOWN_ATTRIBUTES = ("known_rows_", "known_weight_")


def beside_source(domains: Domains) -> Domains:
    """Return domains in which the target rows with known labels stand beside the source, with the usual weight."""
    if domains.known is None:
        return domains
    return weigh_known(move_beside(domains, domains.known)._replace(known=None), USUAL_WEIGHT)


def move_beside(domains: Domains, labels: NDArray[np.intp]) -> Domains:
    """Return domains in which the target rows with a label stand beside the source, with weight 1."""
    moves, n_source = labels != UNKNOWN, len(domains.labels)
    n_moved = int(np.count_nonzero(moves))
    order = np.arange(n_source + len(moves)) if domains.positions is None else domains.positions
    of_target = order[n_source:]
    return domains._replace(
        X_source=join_rows([domains.X_source, domains.X_target[moves]]),
        labels=np.concatenate([domains.labels, labels[moves]]),
        weights=np.concatenate([domains.weights, np.ones(n_moved)]),
        X_target=domains.X_target[~moves],
        positions=np.concatenate([order[:n_source], of_target[moves], of_target[~moves]]),
        n_known=domains.n_known + n_moved,
    )


def weigh_known(domains: Domains, weight: float) -> Domains:
    """Let each known row count so many source rows, of their mean weight."""
    own = domains.weights[: domains.n_own]
    return domains._replace(weights=np.concatenate([own, np.full(domains.n_known, weight * mean_weight(domains))]))


def mean_weight(domains: Domains) -> float:
    """Return the mean weight of the source rows that have one."""
    own = domains.weights[: domains.n_own]
    return float(own.sum() / np.count_nonzero(own))


def by_origin(domains: Domains) -> Domains:
    """Return domains in which the rows beside the source are back in the target, before its other rows."""
    if not domains.n_known:
        return domains
    n_own = domains.n_own
    return domains._replace(
        X_source=domains.X_source[:n_own],
        labels=domains.labels[:n_own],
        weights=domains.weights[:n_own],
        X_target=join_rows([domains.X_source[n_own:], domains.X_target]),
        n_known=0,
    )


def join_rows(tables: list[Matrix]) -> Matrix:
    """Return the rows of several tables in one, which is CSR if one of them is sparse."""
    check_room(sum(bytes_of(table) for table in tables), "A copy of the rows", "give fewer rows")
    if any(sp.issparse(table) for table in tables):
        return sp.csr_array(sp.vstack(tables, format="csr"))
    return np.concatenate(tables, axis=0)


def among_known(known: NDArray[np.intp], of_unknown: NDArray[Any], of_known: Any, axis: int = 0) -> NDArray[Any]:
    """Return values of all target rows, from those of the rows with unknown and with known labels."""
    shape = list(of_unknown.shape)
    shape[axis] = len(known)
    values = np.empty(shape, dtype=of_unknown.dtype)
    along = np.moveaxis(values, axis, 0)
    along[known == UNKNOWN] = np.moveaxis(of_unknown, axis, 0)
    along[known != UNKNOWN] = of_known
    return values


def fit_beside(model: Any, domains: Domains) -> None:
    """Fit a model; target rows with known labels stand beside the source, and keep these labels."""
    for name in KNOWN_ATTRIBUTES:
        vars(model).pop(name, None)  # of an earlier fit
    if domains.known is None:
        model.fit_domains(domains)
        return
    beside = beside_source(domains)
    weight = model.choose_known_weight(beside)
    model.fit_domains(weigh_known(beside, weight))
    model.keep_known(domains.X_target, domains.known)
    model.known_rows_, model.known_weight_ = np.flatnonzero(domains.known != UNKNOWN), weight


def positions_of(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the positions of labels among the classes, of which the last may be out of order."""
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, labels, sorter=order)])


def classes_of_source(model: Any) -> NDArray[Any]:
    """Return the classes of a fitted model without the label of unknown rows, which is the last if there is one."""
    classes: NDArray[Any] = model.classes_
    return classes[:-1] if finds_unknown(model) else classes


def finds_unknown(model: Any) -> bool:
    """Return whether a fitted model has found rows of no class of the source, and has a label for them."""
    return bool(getattr(model, "unknown_share_", 0.0) > 0.0)


def known_labels(model: Any) -> NDArray[np.intp] | None:
    """Return the labels that were known in the fit of a model, as `read_known` does; None without any."""
    if not hasattr(model, "known_rows_"):
        return None
    known = np.full(len(model.transduction_), UNKNOWN, dtype=np.intp)
    known[model.known_rows_] = positions_of(model.transduction_[model.known_rows_], model.classes_)
    return known
