"""What a diagnosis makes of models that reject rows of no class of the source."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.known import classes_of_source, finds_unknown
from adrem.base.validation import Domains
from adrem.diagnostics.map import some_rows
from adrem.diagnostics.scores import BLANK, as_text
from adrem.runtime.notices import NamingText

NO_ESTIMATE = (
    "The model looks for rows of no class of the source. No row of the source tells how many of these it finds, so the "
    "accuracy is not estimated."
)

# Rows of each domain in which unknown ones are looked for.
MOST_SEARCHED = 2000
UNKNOWN_ROWS = (
    "About {share} of the target rows ({low} to {high}) seem to be of no class of the source. If that is so, use "
    "{unknown='reject'}."
)


def doubt_of_classes(model: Any, domains: Domains, rng: np.random.Generator) -> list[str]:
    """Return that rows seem to be of no class of the source, if the model gives them the label of some class."""
    from adrem.algorithm.unknown import LEAST_TARGET, find_unknown
    from adrem.machines.linear import LinearHead

    if getattr(model, "unknown", None) != "ignore" or domains.X_target.shape[0] < LEAST_TARGET:
        return []

    source, target = (some_rows(table.shape[0], MOST_SEARCHED, rng) for table in (domains.X_source, domains.X_target))
    part = Domains(
        domains.X_source[source],
        domains.labels[source],
        np.ones(len(source)),
        domains.X_target[target],
        domains.classes,
    )
    found = find_unknown(LinearHead(), part, np.random.SeedSequence(0))
    if not found.is_found:
        return []
    share, low, high = (f"{100 * own:.0f} %" for own in (found.share, found.low, found.high))
    return [NamingText(UNKNOWN_ROWS, share=share, low=low, high=high)]


def assumed_prior(model: Any) -> NDArray[np.float64] | None:
    """Return the class shares that a model assumes in the target, also of unknown rows; None if it assumes none."""
    prior: NDArray[np.float64] | None = getattr(model, "class_prior_", None)
    if prior is None or not finds_unknown(model):
        return prior
    share = model.unknown_share_
    return np.append((1.0 - share) * prior[:-1], share)


def with_unknown(model: Any, truth: Any) -> Any:
    """Return true labels, those of no class of the source as the label of unknown rows if the model has one."""
    if truth is None or not finds_unknown(model):
        return truth
    labels = np.asarray(truth, dtype=object)
    named = {as_text(label) for label in classes_of_source(model).tolist()}
    is_known = [as_text(label) in named or as_text(label) in BLANK for label in labels.tolist()]
    found = labels.copy()
    found[~np.array(is_known, dtype=bool)] = model.classes_.tolist()[-1]
    return found
