"""The head: the classifier that labels the target on the network's features, as they are at that time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline

from adrem.algorithm.estimator import AdREM
from adrem.base.classifier import DomainClassifier
from adrem.committee import Committee
from adrem.exceptions import InvalidTypeError
from adrem.preprocessing import JointStdScaler

NETWORK = "network"  # in place of a head: the network labels the target itself
HEADS = ("committee", "adrem", NETWORK)


def make_head(head: Any, device: Any, seed: int, class_prior: list[float] | None = None) -> Any:
    """Return an unfitted head, or None if the network is its own.

    With class shares, which an earlier head assumed or estimated, it assumes the same.
    """
    own = _unfitted(head, device, seed)
    if class_prior is not None and "class_prior" in _last_of(own).get_params(deep=False):
        _last_of(own).set_params(class_prior=class_prior)
    return own


def class_prior_of(head: Any) -> list[float] | None:
    """Return the class shares that a fitted head assumed."""
    shares = getattr(_last_of(head), "class_prior_", None)
    return None if shares is None else np.asarray(shares).tolist()


def _last_of(head: Any) -> Any:
    return head.steps[-1][1] if isinstance(head, Pipeline) else head


def _unfitted(head: Any, device: Any, seed: int) -> Any:
    if head == NETWORK:
        return None
    if head == "committee":
        return Committee(device=device, random_state=seed)
    if head == "adrem":
        return make_pipeline(JointStdScaler(), AdREM(device=device, random_state=seed))
    if not isinstance(_last_of(head), DomainClassifier):
        raise InvalidTypeError(
            f"head must be one of {', '.join(HEADS)}, or a Committee, an AdREM, a baseline, or a pipeline that ends "
            f"with one; got {head!r}."
        )
    own = clone(head)
    seeds = [name for name in own.get_params() if name == "random_state" or name.endswith("__random_state")]
    return own.set_params(**dict.fromkeys(seeds, seed))


def fit_head(head: Any, source: Any, labels: Any, target: Any) -> Any:
    """Fit a head to the features of both domains; labels are positions of classes."""
    rows = np.concatenate([source, target])
    domain = np.repeat([0, -1], [len(source), len(target)])
    answers = np.concatenate([labels, np.zeros(len(target), labels.dtype)])  # those of the target are not read
    name = f"{head.steps[-1][0]}__sample_domain" if isinstance(head, Pipeline) else "sample_domain"
    return head.fit(rows, answers, **{name: domain})


def shares_of(head: Any, features: Any) -> NDArray[np.float64]:
    """Return the shares of the classes that a fitted head gives to rows."""
    return np.asarray(head.predict_proba(features), dtype=np.float64)
