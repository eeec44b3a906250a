"""What a diagnosis makes of models that reject rows of no class of the source."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adrem.base.known import classes_of_source
from adrem.diagnostics.scores import BLANK, as_text

NO_ESTIMATE = (
    "The model looks for rows of no class of the source. No row of the source tells how many of these it finds, so the "
    "accuracy is not estimated."
)


def assumed_prior(model: Any) -> NDArray[np.float64] | None:
    """Return the class shares that a model assumes in the target, also of unknown rows; None if it assumes none."""
    prior: NDArray[np.float64] | None = getattr(model, "class_prior_", None)
    share = getattr(model, "unknown_share_", None)
    if prior is None or share is None:
        return prior
    return np.append((1.0 - share) * prior[:-1], share)


def with_unknown(model: Any, truth: Any) -> NDArray[Any]:
    """Return true labels, those of no class of the source as the label of unknown rows if the model has one."""
    labels = np.asarray(truth, dtype=object)
    if not hasattr(model, "unknown_share_"):
        return labels
    named = {as_text(label) for label in classes_of_source(model).tolist()}
    is_known = [as_text(label) in named or as_text(label) in BLANK for label in labels.tolist()]
    found = labels.copy()
    found[~np.array(is_known, dtype=bool)] = model.classes_.tolist()[-1]
    return found
