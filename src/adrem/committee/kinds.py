"""The kinds of a committee, each declared once: its view of the rows, its classifier, and the tables that it suits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from adrem.committee import views
from adrem.committee.views import Viewed
from adrem.machines.discriminant_head import DiscriminantHead
from adrem.machines.linear import LinearHead
from adrem.machines.tables import mean_squared_norm
from adrem.machines.trees import MAX_BOOSTED
from adrem.types import Matrix

Classifier = Literal["hinge", "log_loss", "rbf", "discriminant", "logistic", "boosting", "given"]

# Dense tables with at most this many columns have the kinds of small tables.
FEW_COLUMNS = 256
# Iterations of a discriminant, which has no warm start; a linear classifier has 20.
DISCRIMINANT_ITERATIONS = 10
# C of the kinds with an RBF kernel, the strengths that cross-validation chooses from, and the one without a choice.
RADIAL_C = 3.0
STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)
MIDDLING = 1.0


@dataclass(frozen=True)
class Kind:
    """A kind of member.

    `strength` is C times the mean squared norm of the rows; None leaves the choice to cross-validation on the source.
    The kinds "logistic" and "boosting" are classifiers of the source, which do not adapt.
    """

    name: str
    view: Callable[[Matrix, Matrix], Viewed] = field(repr=False)
    classifier: Classifier
    strength: float | None = None
    with_neighbors: bool = False

    @property
    def adapts(self) -> bool:
        """Whether it is an Ad-REM, and not a classifier of the source."""
        return self.classifier not in ("logistic", "boosting")

    @property
    def family(self) -> str:
        """What it shares with kinds that err alike: the form of the border between classes."""
        return "linear" if self.classifier in ("hinge", "log_loss") else self.classifier


KINDS = {
    kind.name: kind
    for kind in (
        Kind("margin", views.scaled, "hinge", 0.1),
        Kind("log loss", views.scaled, "log_loss", 1.0),
        Kind("hinge, chosen C", views.scaled, "hinge"),
        Kind("log loss, chosen C", views.scaled, "log_loss"),
        Kind("rare words", views.rare_words, "hinge"),
        Kind("rbf", views.scaled, "rbf", with_neighbors=True),
        Kind("rbf, unit rows", views.unit, "rbf", with_neighbors=True),
        Kind("rbf, by domain", views.by_domain_unit, "rbf", with_neighbors=True),
        Kind("discriminant", views.scaled_unit, "discriminant", with_neighbors=True),
        Kind("discriminant, centered", views.centered_unit, "discriminant", with_neighbors=True),
        Kind("discriminant, active", views.active_unit, "discriminant", with_neighbors=True),
        Kind("discriminant, active, centered", views.active_centered, "discriminant", with_neighbors=True),
        Kind("source", views.scaled, "logistic"),
        Kind("source, rare words", views.rare_words, "logistic"),
        Kind("boosting", views.as_given, "boosting"),
    )
}
FEW = ("margin", "log loss", "rbf", "rbf, unit rows", "discriminant", "discriminant, centered", "source", "boosting")
RADIAL = ("rbf", "rbf, unit rows", "rbf, by domain")
MANY = ("log loss", *RADIAL, "discriminant", "discriminant, centered", "source")
# Rows without negative values, such as those of the last layer of a network.
ACTIVATIONS = (
    *RADIAL, "discriminant, active", "discriminant, active, centered", "discriminant, centered", "source",
)  # fmt: skip
SPARSE = ("hinge, chosen C", "log loss, chosen C", "rare words", "source, rare words")


def adapting_families(names: Sequence[str]) -> list[str | None]:
    """Return the family of each kind; None if it does not adapt, or is an estimator of the caller."""
    own = [KINDS.get(name) for name in names]
    return [kind.family if kind is not None and kind.adapts else None for kind in own]


def usual_kinds(source: Matrix, target: Matrix, n_classes: int, memory_limit: int) -> tuple[list[str], dict[str, str]]:
    """Return the names of the kinds for such rows, and those left out with the reason."""
    names = list(_suited(source, target))
    n_rows = source.shape[0] + target.shape[0]
    left_out = {}
    if source.shape[1] * n_classes > MAX_BOOSTED and "boosting" in names:
        left_out["boosting"] = f"columns times classes are more than {MAX_BOOSTED}"
    if n_rows**2 * np.dtype(np.float32).itemsize > memory_limit:
        for name in (name for name in names if KINDS[name].classifier == "rbf"):
            left_out[name] = "the matrix of similarities would take more than memory_limit"
    return [name for name in names if name not in left_out], left_out


def _suited(source: Matrix, target: Matrix) -> tuple[str, ...]:
    """Return the names of the kinds that suit such rows."""
    if sp.issparse(source):
        return SPARSE
    if source.shape[1] <= FEW_COLUMNS:
        return FEW
    return ACTIVATIONS if views.is_nonnegative(source, target) else MANY


def radial_gamma(source: Matrix, target: Matrix) -> float:
    """Return the parameter of the RBF kernel: half of one over the mean squared distance of two rows."""
    rows = np.concatenate([source, target])
    variance = float(rows.var(axis=0, dtype=np.float64).sum())
    return 0.25 / variance if variance > 0 else 1.0


def head_of(kind: Kind, viewed: Viewed, *, can_choose: bool = True, **common: Any) -> LinearHead | DiscriminantHead:
    """Return the settings of the classifier of a kind for its rows; `common` are parameters of `LinearHead`.

    Where a class is too rare for cross-validation, C can't be chosen, and has a middling strength. Norms of sparse rows
    tell little, since a few rare words can make up most of them: C comes from the grid of the paper.
    """
    if kind.classifier == "discriminant":
        return DiscriminantHead(common["device"])
    if kind.classifier == "rbf":
        gamma = radial_gamma(viewed.source, viewed.target)
        return LinearHead("hinge", RADIAL_C, kernel="rbf", gamma=gamma, **common)
    loss = "hinge" if kind.classifier == "hinge" else "log_loss"
    norm = mean_squared_norm(viewed.source)
    if kind.strength is None and can_choose and sp.issparse(viewed.source):
        return LinearHead(loss, "cv", **common)
    strengths = STRENGTHS if can_choose else (MIDDLING,)
    strengths = strengths if kind.strength is None else (kind.strength,)
    return LinearHead(loss, [strength / norm for strength in strengths], fit_intercept=True, **common)
