"""Tests of `diagnose`: its figures are correct, deterministic and JSON-serializable."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from problems import make_blobs_shift
from sklearn.svm import LinearSVC

from adrem import AdREM, baselines
from adrem.baselines import CORAL, HardEM, SourceOnly
from adrem.datasets import DomainPair, make_rotated_arcs
from adrem.diagnostics import diagnose

pytestmark = pytest.mark.thorough


def fitted(data: DomainPair, model: Any = None) -> Any:
    return (model or AdREM(random_state=0)).fit(data.X_source, data.y_source, X_target=data.X_target)


def test_diagnosis_counts_are_consistent(blobs: DomainPair) -> None:
    model = fitted(blobs)
    found = diagnose(model, blobs.X_source, blobs.y_source, blobs.X_target)
    before = SourceOnly(C=model.C_).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target).transduction_
    assert found.n_changed == np.count_nonzero(before != model.transduction_)
    assert found.n_changed == sum(move.count for move in found.moves)
    assert [c.label for c in found.classes] == model.classes_.tolist()
    assert [c.after for c in found.classes] == [int((model.transduction_ == c).sum()) for c in model.classes_]
    assert [c.before for c in found.classes] == [int((before == c).sum()) for c in model.classes_]
    assert sum(c.source for c in found.classes) == pytest.approx(1.0)
    assert sum(b.kept + b.changed for b in found.bins) == found.n_target
    assert sum(b.changed for b in found.bins) == found.n_changed
    assert len(found.bins) == len(found.members) == 11
    assert found.bins[-1].kept + found.bins[-1].changed == np.count_nonzero(model.vote_share_.max(axis=1) == 1.0)
    # The members' mean agreement with the vote equals the mean vote share of the winners.
    assert found.agreement == pytest.approx(model.vote_share_.max(axis=1).mean())
    assert [step.iteration for step in found.course] == list(range(21))
    assert found.course[0].changed.mean == 0.0
    assert all(step.loss.low <= step.loss.mean <= step.loss.high for step in found.course)


def test_uncertain_rows_have_smallest_margins_first(blobs: DomainPair) -> None:
    model = fitted(blobs)
    found = diagnose(model, blobs.X_source, blobs.y_source, blobs.X_target)
    rows = [row.row for row in found.uncertain]
    shares = np.sort(model.predict_proba(blobs.X_target), axis=1)
    margins = shares[:, -1] - shares[:, -2]
    assert len(rows) == 20
    assert margins[rows].max() <= np.delete(margins, rows).min()
    assert [row.label for row in found.uncertain] == model.transduction_[rows].tolist()
    assert all(row.second != row.label for row in found.uncertain)


def test_diagnosis_is_deterministic_and_json_serializable(blobs: DomainPair) -> None:
    model = fitted(blobs)
    once, again = (
        json.dumps(diagnose(model, blobs.X_source, blobs.y_source, blobs.X_target).to_dict()) for _ in range(2)
    )
    assert once == again
    read = json.loads(once)
    assert read["verdict"]["choice"] in ("adapted", "source", "unsure")
    assert read["verdict"]["reasons"]


def test_gap_auc_separates_shifted_domains() -> None:
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(300, 5))
    labels = (rows[:, 0] > 0).astype(int)
    alike = DomainPair(rows[:150], labels[:150], rows[150:], labels[150:])
    moved = alike._replace(X_target=alike.X_target + np.array([0.0, 0.0, 0.0, 3.0, 0.0]))
    gaps = [diagnose(fitted(data), *data[:3]).gap for data in (alike, moved)]
    assert gaps[0] is not None
    assert gaps[1] is not None
    assert 0.35 < gaps[0].auc < 0.65
    assert gaps[1].auc > 0.95
    telling = gaps[1].features[0]
    assert (telling.name, telling.side) == ("feature 3", "target")
    assert telling.target > 0.5 > -0.5 > telling.source
    assert telling.unit == "standard deviations"


def test_gap_names_domain_specific_word() -> None:
    rng = np.random.RandomState(0)
    counts = sp.csr_array((rng.uniform(size=(200, 6)) < 0.4).astype(float))
    own = np.zeros((200, 1))
    own[100:] = rng.uniform(size=(100, 1)) < 0.7
    rows = sp.csr_array(sp.hstack([counts, own], format="csr"))
    labels = np.asarray(counts[:, [0]].toarray()[:, 0] > 0).astype(int)
    model = AdREM(C=1.0, random_state=0).fit(rows[:100], labels[:100], X_target=rows[100:])
    found = diagnose(model, rows[:100], labels[:100], rows[100:], feature_names=[*"abcdef", "blender"])
    assert found.gap is not None
    assert found.gap.features[0].name == "blender"
    assert found.gap.features[0].source == 0.0
    assert found.gap.features[0].target == pytest.approx(own[100:].mean())
    assert found.gap.features[0].unit == "share of rows"


def test_dense_and_sparse_diagnoses_agree(blobs: DomainPair) -> None:
    model = fitted(blobs)
    dense = diagnose(model, blobs.X_source, blobs.y_source, blobs.X_target)
    sparse = diagnose(model, sp.csr_array(blobs.X_source), blobs.y_source, sp.csr_matrix(blobs.X_target))
    assert dense.classes == sparse.classes
    assert dense.verdict.choice == sparse.verdict.choice
    assert dense.evidence.neighbours == sparse.evidence.neighbours


def test_feature_names_come_from_frames(two_blobs: DomainPair) -> None:
    names = [f"column {k}" for k in range(two_blobs.X_source.shape[1])]
    source, target = (pd.DataFrame(X, columns=names) for X in (two_blobs.X_source, two_blobs.X_target))
    model = AdREM(random_state=0).fit(source, two_blobs.y_source, X_target=target)
    found = diagnose(model, source, two_blobs.y_source, target)
    assert {word for own in found.class_features for word in own.adapted} <= set(names)


@pytest.mark.parametrize("name", baselines.__all__)
def test_diagnose_supports_every_baseline(name: str) -> None:
    data = make_blobs_shift(n_classes=2)
    found = diagnose(fitted(data, getattr(baselines, name)()), *data[:3])
    assert found.method == name
    assert found.agreement is None or name == "HardEM"
    assert sum(c.after for c in found.classes) == found.n_target
    assert found.class_features or name == "SPL"  # which is not linear


def test_similarity_model_has_no_class_features() -> None:
    data = make_blobs_shift(n_classes=2)
    assert diagnose(fitted(data, CORAL(form="similarity")), *data[:3]).class_features == []


def test_hard_em_diagnosis_has_a_course() -> None:
    data = make_rotated_arcs(random_state=0)
    assert len(diagnose(fitted(data, HardEM()), *data[:3]).course) > 1


def test_diagnosis_names_lost_classes() -> None:
    y = np.arange(60) % 3
    X = 5.0 * np.eye(3)[y] + 0.1 * np.random.RandomState(0).normal(size=(60, 3))
    target = X[y != 2]
    model = AdREM(class_prior=[0.5, 0.5, 0.0], C=1.0, random_state=0).fit(X, y, X_target=target)
    found = diagnose(model, X, y, target)
    assert found.lost_classes == [2]
    assert found.verdict.choice == "adapted"  # no row was labelled 2 before, either


@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
def test_diagnose_supports_small_domains() -> None:
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(6, 2)), np.array([0, 1] * 3)
    for n_target in (1, 2, 3, 12):
        target = rng.normal(size=(n_target, 2))
        found = diagnose(AdREM(C=1.0, random_state=0).fit(X, y, X_target=target), X, y, target)
        assert found.n_target == n_target
        assert (found.gap is None) == (n_target < 2)


@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
def test_identical_rows_have_no_map() -> None:
    rows, y = np.ones((20, 3)), np.array([0, 1] * 10)
    model = AdREM(C=1.0, random_state=0).fit(rows, y, X_target=rows)
    assert diagnose(model, rows, y, rows).map is None


def test_diagnose_leaves_inputs_and_model_unchanged(blobs: DomainPair) -> None:
    model = fitted(blobs)
    copies = [array.copy() for array in blobs[:3]]
    state = np.random.get_state(legacy=False)["state"]["key"]  # noqa: NPY002 - must not change
    params, fields = model.get_params(), set(vars(model))
    diagnose(model, *blobs[:3])
    for array, copy in zip(blobs[:3], copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(state, np.random.get_state(legacy=False)["state"]["key"])  # noqa: NPY002 - as above
    assert model.get_params() == params
    assert set(vars(model)) == fields


def test_diagnose_rejects_mismatched_arguments(blobs: DomainPair) -> None:
    model = fitted(blobs)
    X, y, target = blobs[:3]
    with pytest.raises(ValueError, match="pass X_target"):
        diagnose(model, X, y, None)
    with pytest.raises(ValueError, match="fitted to"):
        diagnose(model, X[:, 1:], y, target[:, 1:])
    with pytest.raises(ValueError, match="labels that it was fitted to"):
        diagnose(model, X, y + 1, target)
    with pytest.raises(ValueError, match="fitted to 45 target rows, X_target has 40"):
        diagnose(model, X, y, target[:40])
    with pytest.raises(TypeError, match="LinearSVC is not a model of adrem"):
        diagnose(LinearSVC().fit(X, y), X, y, target)
    with pytest.raises(ValueError, match="2 feature_names for"):
        diagnose(model, X, y, target, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="not fitted"):
        diagnose(AdREM(), X, y, target)


@pytest.mark.parametrize(("share", "warns"), [(0.5, False), (0.9, True)])
def test_diagnosis_warns_of_class_shares_that_nothing_supports(share: float, warns: bool) -> None:
    rng = np.random.default_rng(0)
    labels = [np.arange(200) % 2, np.repeat([0, 1], [round(200 * (1 - share)), round(200 * share)])]
    rows = [rng.normal(size=(200, 3)) + 8.0 * own[:, None] - 4.0 for own in labels]
    model = SourceOnly(random_state=0).fit(rows[0], labels[0], X_target=rows[1])
    reasons = diagnose(model, rows[0], labels[0], rows[1]).verdict.reasons
    assert any("90.0 % of these labels are 1, in the source 50.0 %" in reason for reason in reasons) is warns
