"""Tests of methods beyond the paper, on the paper's data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from label_shift import with_share

from adrem import AdREM
from adrem.benchmark.protocols import PROTOCOLS
from adrem.datasets import DomainPair, load
from adrem.diagnostics import estimate_accuracy

pytestmark = [
    pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning"),
    pytest.mark.filterwarnings("ignore::adrem.exceptions.UnequalSharesWarning"),
]


def pair_of(protocol: str, pair: str) -> DomainPair:
    [found] = [own for own in PROTOCOLS if own.name == protocol]
    return found.make_pair(load(found.data), pair, 0)


def accuracy(data: DomainPair, model: Any) -> float:
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    return 100 * float(np.mean(model.transduction_ == data.y_target))


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_estimated_prior_gains_15_points_under_label_shift(share: float) -> None:
    data = with_share(pair_of("amazon-full/all", "D-B"), share)
    params: dict[str, Any] = {"n_estimators": 3, "C": 1e-3, "random_state": 0}
    uniform, estimated, true = (
        accuracy(data, AdREM(class_prior=prior, **params)) for prior in ("uniform", "estimate", [1 - share, share])
    )
    assert estimated > uniform + 15
    assert estimated > true - 2


def test_auto_neighbors_are_used_for_images_only() -> None:
    for protocol, pair, asked in (
        ("office-caltech-standard/resnet50", "A-C", 5),
        ("office-caltech-standard/surf", "A-C", 5),
        ("amazon-standard/all", "K-D", 0),
        ("amazon-standard/400", "K-D", 0),
    ):
        data = pair_of(protocol, pair)
        model = AdREM(neighbors="auto", n_estimators=1, n_iter=2, random_state=0)
        accuracy(data, model)
        assert model.neighbors_ == asked


@pytest.mark.parametrize(
    ("protocol", "pair"),
    [("amazon-standard/400", "K-D"), ("amazon-standard/all", "E-K"), ("office-caltech-standard/resnet50", "A-C")],
)
def test_estimate_interval_contains_the_accuracy(protocol: str, pair: str) -> None:
    data = pair_of(protocol, pair)
    model = AdREM(random_state=0)
    truth = accuracy(data, model) / 100
    found = estimate_accuracy(model, data.X_source, data.y_source, data.X_target)
    assert found.low <= truth <= found.high
    assert abs(found.accuracy - truth) < 0.1
