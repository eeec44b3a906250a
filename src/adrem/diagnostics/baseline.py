"""The classifier of the source that a model is compared with."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from sklearn.exceptions import ConvergenceWarning

from adrem.base.known import fit_beside
from adrem.base.validation import Domains
from adrem.runtime.threads import one_blas_thread

if TYPE_CHECKING:
    from adrem.baselines.source_cv import SourceOnlyCV


def fit_baseline(domains: Domains) -> SourceOnlyCV:
    """Return the classifier that one would train on the source alone, to compare the model with."""
    from adrem.baselines.source_cv import SourceOnlyCV

    baseline = SourceOnlyCV(random_state=0)
    baseline.n_features_in_ = domains.X_source.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a candidate that does not converge is seldom chosen
        with one_blas_thread():
            fit_beside(baseline, domains)
    return baseline
