"""Tests of classes that are missing from the target: found with the estimated shares, and warned of without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from adrem import AdREM, Committee, load, save
from adrem.algorithm.doubts import are_unequal, few_labels
from adrem.base.validation import Domains
from adrem.committee import effort
from adrem.committee.effort import Size, seconds_of
from adrem.committee.kinds import KINDS, MANY
from adrem.datasets import DomainPair
from adrem.diagnostics import diagnose
from adrem.exceptions import LostClassWarning, MissingClassWarning, ParameterError, UnequalSharesWarning

pytestmark = pytest.mark.thorough

CLASSES = np.array(["ant", "bee", "cat", "dog", "elk", "fox"])


def lacking(
    present: list[int], *, n: int = 60, spread: float = 1.0, names: Any = CLASSES, n_columns: int = 10
) -> DomainPair:
    """Six classes, or as many as there are names, and a shifted target with some of them."""
    rng = np.random.RandomState(0)
    y = np.arange(n * len(names)) % len(names)
    centres = 3.0 * np.sqrt(n_columns / 10) * np.eye(len(names), n_columns)
    source, target = (centres[y] + spread * rng.normal(size=(len(y), n_columns)) for _ in range(2))
    kept = np.isin(y, present)
    return DomainPair(source, names[y], (target + 0.6)[kept], names[y][kept])


def estimating(**params: Any) -> AdREM:
    return AdREM(**{"C": 0.1, "n_estimators": 3, "class_prior": "estimate", "random_state": 0, **params})


def fitted(model: Any, data: DomainPair) -> Any:
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


@pytest.fixture(scope="module")
def partial() -> tuple[Any, DomainPair]:
    data = lacking([0, 1, 3])
    return fitted(estimating(), data), data


def test_missing_classes_are_found(partial: tuple[Any, DomainPair]) -> None:
    model, data = partial
    assert set(model.missing_classes_) == {"cat", "elk", "fox"}
    assert "an equal share would be 16.7%" in model.missing_classes_["fox"]
    np.testing.assert_array_equal(model.class_prior_ == 0, np.isin(CLASSES, ["cat", "elk", "fox"]))
    assert model.class_prior_.sum() == pytest.approx(1.0)
    equal = AdREM(C=0.1, n_estimators=3, random_state=0)
    with pytest.warns((LostClassWarning, MissingClassWarning)):
        fitted(equal, data)
    ours, theirs = (np.mean(own.transduction_ == data.y_target) for own in (model, equal))
    assert ours > max(theirs, 0.95)


def test_no_row_has_the_label_of_a_missing_class(partial: tuple[Any, DomainPair], tmp_path: Path) -> None:
    model, data = partial
    save(model, tmp_path / "model.adrem")
    # rows of the source, also of classes that are missing
    rows: NDArray[Any] = np.concatenate([data.X_target, data.X_source])
    for own in (model, load(tmp_path / "model.adrem")):
        assert own.missing_classes_ == model.missing_classes_
        assert not set(own.predict(rows)) & set(own.missing_classes_)
        np.testing.assert_array_equal(own.predict(data.X_target), model.transduction_)
        shares, scores = own.predict_proba(rows), own.decision_function(rows)
        assert np.all(shares[:, model.class_prior_ == 0] == 0)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        for values in (shares, scores):
            np.testing.assert_array_equal(CLASSES[values.argmax(axis=1)], own.predict(rows))
    np.testing.assert_allclose(model.vote_share_.sum(axis=1), 1.0)


def test_diagnosis_tells_of_missing_classes(partial: tuple[Any, DomainPair]) -> None:
    model, data = partial
    found = diagnose(model, data.X_source, data.y_source, data.X_target)
    assert "'cat', 'elk', 'fox'" in found.verdict.reasons[-1]
    assert found.verdict.choice == "adapted"
    assert found.findings == ["missing from the target, so that no row has the label: 'cat', 'elk', 'fox'"]


def test_protected_classes_are_never_missing() -> None:
    data = lacking([0, 1, 3])
    model = fitted(estimating(protected_classes=["fox"]), data)
    assert set(model.missing_classes_) == {"cat", "elk"}
    assert model.class_prior_[5] > 0


@pytest.mark.parametrize("protected", [["wolf"], "wolf"])
@pytest.mark.parametrize("model", [estimating(), Committee(random_state=0)])
def test_unknown_protected_class_is_an_error(model: Any, protected: Any) -> None:
    model.set_params(protected_classes=protected)
    with pytest.raises((ParameterError, ValueError), match="protected_classes"):
        fitted(model, lacking([0, 1]))


def test_no_class_is_missing_from_a_full_target() -> None:
    model = fitted(estimating(), lacking(list(range(6))))
    assert model.missing_classes_ == {}
    assert model.findings() == []


def test_overlapping_classes_are_kept() -> None:
    """Where classes can't be told apart, few labels are no evidence."""
    assert fitted(estimating(), lacking([0, 1, 3], spread=6.0)).missing_classes_ == {}


def test_target_of_one_class_of_two() -> None:
    data = lacking([1], n=150, names=np.array([4, 7]))
    model = fitted(estimating(), data)
    assert list(model.missing_classes_) == [4]
    np.testing.assert_array_equal(model.transduction_, 7)
    np.testing.assert_array_equal(model.predict(data.X_source), 7)
    assert np.all(model.decision_function(data.X_source) > 0)


def test_committee_finds_missing_classes(tmp_path: Path) -> None:
    data = lacking([0, 1, 3], n_columns=300)
    model = fitted(Committee(["rbf", "source"], n_estimators=2, random_state=0), data)
    assert set(model.missing_classes_) == {"cat", "elk", "fox"}
    assert np.mean(model.transduction_ == data.y_target) > 0.95
    save(model, tmp_path / "model.adrem")
    rows = np.concatenate([data.X_target, data.X_source])
    read = load(tmp_path / "model.adrem")
    np.testing.assert_array_equal(read.predict_proba(rows), model.predict_proba(rows))
    assert not set(read.predict(rows)) & set(read.missing_classes_)
    np.testing.assert_array_equal(model.predict(data.X_target), model.transduction_)
    assert model.findings()[-2:] == [
        "missing from the target, so that no row has the label: 'cat', 'elk', 'fox'",
        "class shares: assumed equal",
    ]


@pytest.mark.parametrize(("present", "missing"), [([0, 1, 3], {"cat", "elk", "fox"}), ([0, 1, 2, 3, 4, 5], set())])
def test_search_of_a_committee_takes_the_time_of_kinds(
    present: list[int], missing: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = lacking(present, n_columns=300)
    labels = np.searchsorted(CLASSES, data.y_source)
    size = Size.of(Domains(data.X_source, labels, np.ones(len(labels)), data.X_target, CLASSES), 2, 3)
    monkeypatch.setattr(effort, "MULTIPLE", 0.0)
    monkeypatch.setattr(effort, "SECONDS", 1.01 * sum(seconds_of(KINDS[name], size) for name in MANY))
    model = fitted(Committee(n_estimators=2, n_iter=3, random_state=0), data)
    assert set(model.missing_classes_) == missing
    assert any("allowed time" in reason for reason in model.left_out_.values()) == bool(missing)


def test_equal_draws_warn_of_unequal_shares() -> None:
    rng = np.random.RandomState(0)
    data = lacking([0, 1], n=300, names=np.array(["no", "yes"]), spread=1.5)
    kept = (data.y_target == "no") | (rng.uniform(size=len(data.y_target)) < 0.3)
    with pytest.warns(UnequalSharesWarning, match=r"7\d% of the labels are 'no'"):
        AdREM(C=0.1, n_estimators=3, random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target[kept])


def test_shares_of_labels() -> None:
    assert few_labels(np.array([40, 40, 1])) == [2]
    assert few_labels(np.array([2, 2, 0])) == []  # too few rows to tell
    assert are_unequal(np.array([600, 400]))
    assert not are_unequal(np.array([540, 460]))
    assert not are_unequal(np.array([12, 8]))
