"""The classifier without adaptation."""

from __future__ import annotations

from typing import Any

from adrem.base.constraints import LossName, TargetLabels
from adrem.base.validation import Domains
from adrem.baselines.base import LinearBaseline


class SourceOnly(LinearBaseline):
    """Linear classifier trained on the source, without adaptation.

    Each one-vs-rest problem minimizes ``C * sum(losses) + ||w||^2 / 2`` over the source rows, as in liblinear.

    Parameters
    ----------
    loss : {"hinge", "log_loss"}, default="hinge"
        Linear support vector machine or logistic regression.
    C : "cv", float or list of floats, default="cv"
        As for `AdREM`; "cv" is three-fold cross-validation on the source.
    tol : float, default=0.1
        Tolerance of the solver, as in liblinear.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds for C.
    target_labels : {"ignore", "use"}, default="ignore"
        Whether labels that rows of the target have in ``y`` may be read, where ``sample_domain`` marks these rows.

    Attributes
    ----------
    classes_, C_, transduction_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `AdREM`, with one member.

    Examples
    --------
    >>> from adrem.baselines import SourceOnly
    >>> from adrem.datasets import make_rotated_arcs
    >>> X_source, y_source, X_target, y_target = make_rotated_arcs(random_state=0)
    >>> model = SourceOnly(random_state=0).fit(X_source, y_source, X_target=X_target)
    >>> bool((model.transduction_ == y_target).mean() < 0.7)
    True
    """

    def __init__(
        self,
        loss: LossName = "hinge",
        C: Any = "cv",
        tol: float = 0.1,
        random_state: Any = None,
        target_labels: TargetLabels = "ignore",
    ) -> None:
        self.loss = loss
        self.C = C
        self.tol = tol
        self.random_state = random_state
        self.target_labels = target_labels

    def _adapt(self, domains: Domains) -> None:
        self._keep(self._train(domains.X_source, domains))
