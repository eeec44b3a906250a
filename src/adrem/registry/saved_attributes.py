"""Fitted attributes that model files can hold, with shapes and types; `methods.py` names those of each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

LINEAR = ("classes_", "coef_", "intercept_", "transduction_")
KNOWN_ARRAYS, KNOWN_VALUES = ("known_rows_",), ("known_weight_",)
ITERATIVE = ("C_", "history_", "n_iter_", "termination_condition_")


class Array(NamedTuple):
    """A fitted attribute that is an array: its lengths by name (None is any), and what it holds.

    Numbers are finite floats, labels are classes of the model, positions are those of features, rows those of the
    target.
    """

    shape: tuple[str | int | None, ...]
    holds: Literal["numbers", "labels", "positions", "rows"] = "numbers"


# Every fitted attribute of the package that a model file may hold; a `Saved` names those of a method.
ARRAYS: Mapping[str, Array] = {
    "classes_": Array(("classes",), "labels"),
    "transduction_": Array(("target",), "labels"),
    "coef_": Array(("members", "problems", "features")),
    "intercept_": Array(("members", "problems")),
    "coef_path_": Array(("members", "steps", "problems", "features")),
    "intercept_path_": Array(("members", "steps", "problems")),
    "vote_share_": Array(("target", "classes")),
    "class_prior_": Array(("classes",)),
    "class_prior_check_": Array(("classes",)),
    "class_prior_interval_": Array((2, "classes")),
    "unknown_interval_": Array((2,)),
    "sources_": Array((None,)),
    "source_weight_": Array((None,)),
    "dropout_": Array(("features",)),
    "pivots_": Array((None,), "positions"),
    "principal_axes_": Array(("principal", "features")),
    "principal_offset_": Array(("principal",)),
    "preserving_axes_": Array(("principal", "projected")),
    "projected_mean_": Array(("projected",)),
    "class_prototypes_": Array(("classes", "projected")),
    "class_clusters_": Array(("classes", "projected")),
    "home_accuracy_": Array(("kinds",)),
    "agreement_": Array(("kinds", "kinds")),
    "row_agreement_": Array(("target",)),
    "member_agreement_": Array(("kinds", "target")),
    "idf_": Array(("features",)),
    "known_rows_": Array((None,), "rows"),
}
# How a value is made from what JSON has of it.
VALUES: Mapping[str, Callable[[Any], Any]] = {
    "C_": float,
    "domain_C_": float,
    "neighbors_": int,
    "n_components_": int,
    "n_iter_": int,
    "machine_": str,
    "history_": lambda entries: [dict(entry) for entry in entries],
    "termination_": lambda reasons: [str(reason) for reason in reasons],
    "termination_condition_": str,
    "kinds_": lambda names: [str(name) for name in names],
    "left_out_": lambda reasons: {str(name): str(reason) for name, reason in reasons.items()},
    # By positions of classes, which are strings in JSON.
    "missing_reasons_": lambda reasons: {int(c): str(reason) for c, reason in reasons.items()},
    "unknown_share_": float,
    "temperature_": float,
    "by_domain_": bool,
    "chosen_": str,
    "known_weight_": float,
    "cv_accuracy_": lambda accuracies: {str(name): float(accuracy) for name, accuracy in accuracies.items()},
}


class Saved(NamedTuple):
    """The fitted attributes that a model file holds: those of `ARRAYS`, and those of `VALUES` in its header.

    `added` values are missing from files of earlier versions.
    """

    arrays: tuple[str, ...] = LINEAR
    optional: tuple[str, ...] = ()
    values: tuple[str, ...] = ("C_",)
    added: tuple[str, ...] = ()

    def with_known(self) -> Saved:
        """Add what a fit of any method leaves if labels of the target were known."""
        return self._replace(optional=(*self.optional, *KNOWN_ARRAYS), added=(*self.added, *KNOWN_VALUES))

    @property
    def header(self) -> tuple[str, ...]:
        return (*self.values, *self.added)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.arrays, *self.optional, *self.header)
