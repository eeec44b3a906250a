"""What explains a model explains a committee too."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import fitted, make_blobs_shift

import adrem
from adrem import Committee
from adrem.committee.kinds import adapting_families
from adrem.datasets import DomainPair
from adrem.diagnostics import diagnose, estimate_accuracy
from adrem.diagnostics.diagnosis import examine
from adrem.plotting import plot_class_shares, plot_history, plot_votes

KINDS = ("margin", "rbf", "discriminant")


def small(**params: Any) -> Any:
    return Committee(**{"kinds": KINDS, "n_estimators": 1, "n_iter": 2, "random_state": 0, **params})


@pytest.mark.thorough
@pytest.mark.parametrize("params", [{}, {"distill": True}, {"kinds": ("log loss", "rare words")}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_report_on_a_committee(params: dict[str, Any], n_classes: int) -> None:
    data = make_blobs_shift(n_classes)
    if "rare words" in params.get("kinds", ()):
        data = data._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_array(data.X_target))
    model = fitted(small(**params), data)
    found = diagnose(model, data.X_source, data.y_source, data.X_target)
    assert json.dumps(found.to_dict())
    assert found.n_target == 45
    assert len(found.members) == (0 if model.distill else len(model.kinds_))
    assert "Committee" in adrem.report(model, data.X_source, data.y_source, data.X_target).html


@pytest.mark.parametrize("params", [{}, {"kinds": ("discriminant",)}, {"distill": True}])
def test_accuracy_of_a_committee_is_estimated(blobs: DomainPair, params: dict[str, Any]) -> None:
    model = fitted(small(**params), blobs)
    found = estimate_accuracy(model, blobs.X_source, blobs.y_source, blobs.X_target)
    assert found.low <= found.accuracy <= found.high
    assert found.accuracy > 0.8
    assert model.n_estimators == 1


def test_kinds_that_adapt_have_families() -> None:
    names = ["margin", "log loss", "rbf, unit rows", "source", "boosting", "of the caller"]
    assert adapting_families(names) == ["linear", "linear", "rbf", None, None, None]


@pytest.mark.parametrize(("spoilt", "opposed"), [("rbf", 0.5), ("discriminant", 0.5), ("source", 0.0)])
def test_diagnosis_tells_which_part_of_the_families_opposes(
    two_blobs: DomainPair, spoilt: str, opposed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that votes against the labels of the others where they changed opposes them, if it adapts."""
    model = fitted(small(kinds=("rbf", "discriminant", "source")), two_blobs)
    before = np.arange(len(model.transduction_)) % 2
    after = 1 - before
    shares = {name: np.eye(2)[before if name == spoilt else after] for name in model.kinds_}
    monkeypatch.setattr(model, "member_scores", lambda *_: iter(own[:, 1:] - own[:, :1] for own in shares.values()))
    examined = examine(model, two_blobs.X_source, two_blobs.y_source, two_blobs.X_target)
    examined.before, examined.after = before, after
    assert examined.evidence.opposed == opposed


@pytest.mark.usefixtures("clean_desk")
def test_plots_of_a_committee(blobs: DomainPair) -> None:
    model = fitted(small(), blobs)
    ax: Any = plot_votes(model, y_true=blobs.y_target)
    agreed = round(100 * np.mean(model.row_agreement_ == 1))
    assert ax.get_title(loc="left").startswith(f"All 3 kinds agree on {agreed} % of the labels")
    plot_history(model)
    plot_class_shares(model, y_source=blobs.y_source)
    with pytest.raises(ValueError, match="a Committee of several kinds"):
        plot_votes(fitted(small(kinds=("margin",)), blobs))
