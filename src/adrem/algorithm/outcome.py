"""The fitted attributes of `AdREM`, from what a fit has found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.algorithm.fitting import Fit
from adrem.algorithm.recorder import Member
from adrem.algorithm.unknown import tell_unknown
from adrem.base.known import classes_of_source
from adrem.base.validation import Domains
from adrem.runtime.text import some_names

# Attributes that only some fits have.
OPTIONAL = (
    "coef_", "coef_path_", "dual_coef_", "dual_coef_path_", "intercept_path_", "X_fit_", "class_prior_interval_",
    "class_prior_check_", "sources_",
)  # fmt: skip


class MissingClasses:
    """What an estimator tells of classes that seem to be missing from the target."""

    classes_: NDArray[Any]

    @property
    def missing_classes_(self) -> dict[Any, str]:
        """The classes that seem to be missing from the target, and why."""
        reasons = getattr(self, "missing_reasons_", {})  # a model of an earlier version has none
        labels = self.classes_.tolist()
        return {labels[c]: reason for c, reason in reasons.items()}

    def findings(self) -> list[str]:
        found = some_names([*self.missing_classes_])
        missing = [f"missing from the target, so that no row has the label: {found}"] if found else []
        return [*missing, *tell_unknown(self)]


def shares_of_source(model: Any) -> NDArray[np.float64]:
    """Return the class shares that a model has used, of the classes of the source."""
    shares: NDArray[np.float64] = model.class_prior_[: len(classes_of_source(model))]
    return shares


def clear_optional(model: Any) -> None:
    """Remove attributes of an earlier fit."""
    for name in OPTIONAL:
        if hasattr(model, name):
            delattr(model, name)


def keep_classifiers(model: Any, fit: Fit, *, store_path: bool) -> None:
    """Set the coefficients and intercepts of the members."""
    machine, name = fit.task.machine, "coef_"
    if machine.kernel is not None:
        model.X_fit_, name = machine.table, "dual_coef_"
    setattr(model, name, np.stack([member.path[-1][0] for member in fit.members]))
    model.intercept_ = np.stack([member.path[-1][1] for member in fit.members])
    if store_path:
        coefs, intercepts = _paths(fit.members)
        setattr(model, f"{name}path_", coefs)
        model.intercept_path_ = intercepts


def _paths(members: list[Member]) -> tuple[Any, Any]:
    """Stack the classifiers of all iterations; those of members that stopped earlier are repeated."""
    longest = max(len(member.path) for member in members)
    paths = [member.path + [member.path[-1]] * (longest - len(member.path)) for member in members]
    coefs = np.stack([[coef for coef, _ in path] for path in paths])
    return coefs, np.stack([[intercept for _, intercept in path] for path in paths])


def keep_facts(model: Any, fit: Fit, domains: Domains) -> None:
    """Set the chosen C, machine and class shares, and the history of the members."""
    model.C_ = fit.task.rows.C
    model.machine_ = fit.task.machine.path
    model.neighbors_ = fit.n_neighbors
    model.class_prior_ = fit.task.prior
    model.missing_reasons_ = fit.missing
    if fit.estimate is not None:
        model.class_prior_interval_ = np.stack([fit.estimate.low, fit.estimate.high])
        model.class_prior_check_ = fit.estimate.by_confusion
    if domains.sources is not None:
        model.sources_ = np.unique(domains.sources)
    model.termination_ = [member.termination or "all iterations were run" for member in fit.members]
    model.history_ = [{"member": j, **entry} for j, member in enumerate(fit.members) for entry in member.history]
