"""Tests of `class_prior="estimate"`: target class shares are estimated without target labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from problems import make_blobs_shift

from adrem import AdREM, load, save
from adrem.algorithm.calibration import calibrate
from adrem.algorithm.em import EMOptions, HeldOutRows, randomized_em
from adrem.algorithm.prior import SMALLEST_PART, _by_confusion, most_likely, shrink_to_equal, with_floor
from adrem.algorithm.task import Task
from adrem.datasets import DomainPair
from adrem.machines import make_machine
from adrem.machines.linear import TrainingSet

pytestmark = pytest.mark.thorough

Array = NDArray[np.float64]
shares_of_classes = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6).filter(lambda parts: sum(parts) > 0.1)


def skewed(n_classes: int, kept: float, seed: int = 0) -> DomainPair:
    """Overlapping classes; only a fraction of the first class is kept in the target."""
    rng = np.random.RandomState(seed)
    y = np.arange(300 * n_classes) % n_classes
    centres = 2.2 * np.eye(n_classes, 8)
    source, target = (centres[y] + rng.normal(size=(len(y), 8)) for _ in range(2))
    target += 0.4
    stays = (y > 0) | (rng.uniform(size=len(y)) < kept)
    return DomainPair(source, y, target[stays], y[stays])


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_prior_estimate_detects_a_rare_class(n_classes: int, loss: Any) -> None:
    data = skewed(n_classes, 0.15)
    true = np.bincount(data.y_target) / len(data.y_target)
    model = AdREM(loss, C=0.1, class_prior="estimate", random_state=0, n_estimators=3)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    assert np.abs(model.class_prior_ - true).max() < 0.12
    assert model.class_prior_[0] < 0.7 / n_classes
    low, high = model.class_prior_interval_
    assert np.all((low <= model.class_prior_ + 1e-9) & (model.class_prior_ <= high + 1e-9))
    assert np.abs(model.class_prior_check_ - true).max() < 0.15
    plain = AdREM(loss, C=0.1, random_state=0, n_estimators=3, class_prior=[1 / n_classes] * n_classes)
    plain.fit(data.X_source, data.y_source, X_target=data.X_target)
    accuracies = [np.mean(m.transduction_ == data.y_target) for m in (model, plain)]
    assert accuracies[0] > accuracies[1]


def test_prior_estimate_keeps_uniform_shares() -> None:
    data = skewed(3, 1.0)
    model = AdREM(C=0.1, class_prior="estimate", random_state=0, n_estimators=2)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    np.testing.assert_allclose(model.class_prior_, 1 / 3)
    plain = AdREM(C=0.1, random_state=0, n_estimators=2)
    plain.fit(data.X_source, data.y_source, X_target=data.X_target)
    np.testing.assert_array_equal(plain.coef_, model.coef_)
    np.testing.assert_array_equal(plain.class_prior_, np.full(3, 1 / 3))
    assert not hasattr(plain, "class_prior_interval_")


@given(shares_of_classes)
def test_smoothed_shares_are_positive_distributions(parts: list[float]) -> None:
    shares = np.array(parts) / sum(parts)
    for made in (shrink_to_equal(shares, 0.05), with_floor(shares)):
        assert made.sum() == pytest.approx(1.0)
        assert made.min() >= SMALLEST_PART / len(shares) / (1 + SMALLEST_PART) - 1e-12
    equal = 1 / len(shares)
    assert np.all((shrink_to_equal(shares, 0.05) - equal) * (shares - equal) >= -1e-12)


@given(st.floats(0.05, 0.95), st.floats(0.3, 0.7))
def testmost_likely_shares_recover_the_true_share(share: float, base: float) -> None:
    """Rows of two normal distributions, with posteriors computed for different class shares."""
    rng = np.random.RandomState(0)
    n = 4000
    x = np.where(np.arange(n) < share * n, 1.5, -1.5) + rng.normal(size=n)
    odds = base / (1 - base) * np.exp(3.0 * x)
    found = most_likely(np.column_stack([1 / (1 + odds), odds / (1 + odds)]), np.array([1 - base, base]))
    assert found[1] == pytest.approx(share, abs=0.04)


def test_calibrate_recovers_scale_and_offsets() -> None:
    rng = np.random.RandomState(0)
    scores: Array = rng.normal(size=(5000, 3))
    logits = 2.0 * scores + np.array([0.5, 0.0, -0.5])
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(3, p=row) for row in chances])
    found = calibrate(scores, labels, np.ones(5000))
    assert found.factor == pytest.approx(2.0, abs=0.15)
    np.testing.assert_allclose(found.constants - found.constants.mean(), [0.5, 0.0, -0.5], atol=0.12)


def test_confusion_inversion_recovers_the_shares() -> None:
    rng = np.random.RandomState(0)
    confusion = np.array([[0.8, 0.1], [0.2, 0.9]])
    labels = np.arange(6000) % 2
    known = np.eye(2)[[rng.choice(2, p=confusion[:, c]) for c in labels]]
    hidden = (rng.uniform(size=6000) < 0.8).astype(int)
    unknown = np.eye(2)[[rng.choice(2, p=confusion[:, c]) for c in hidden]]
    np.testing.assert_allclose(_by_confusion(known, unknown, labels, np.ones(6000)), [0.2, 0.8], atol=0.03)


def test_held_out_rows_do_not_affect_scores() -> None:
    data = make_blobs_shift()
    n_source, n_target = len(data.y_source), len(data.X_target)
    held_out = np.zeros((1, n_source + n_target), dtype=bool)
    held_out[0, ::3] = True

    def scores(labels: NDArray[np.intp], target: Array) -> Array:
        machine = make_machine(np.concatenate([data.X_source, target]), 3, "hinge")
        task = Task(TrainingSet(machine, labels, np.ones(n_source), n_target, 0.1), np.full(3, 1 / 3))
        everywhere = np.concatenate([labels, np.zeros(n_target, dtype=np.intp)])
        weights = np.where(held_out[0], 0.0, np.repeat([1.0, 0.0], [n_source, n_target]))
        source = machine.solve(everywhere, weights, 0.1)
        rngs = [np.random.default_rng(0)]
        [member] = randomized_em(task, source, rngs, EMOptions(5), participants=HeldOutRows(task, held_out))
        return member.scores

    labels = data.y_source.astype(np.intp)
    before = scores(labels, data.X_target)
    scrambled = np.where(held_out[0, :n_source], (labels + 1) % 3, labels)
    np.testing.assert_array_equal(scores(scrambled, data.X_target), before)
    moved = data.X_target + 5.0 * held_out[0, n_source:, None]
    np.testing.assert_allclose(scores(labels, moved)[~held_out[0]], before[~held_out[0]], rtol=1e-9, atol=1e-9)


def test_prior_estimate_is_independent_of_n_jobs() -> None:
    data = skewed(2, 0.2)
    models = [
        AdREM(C=0.1, class_prior="estimate", random_state=3, n_jobs=n).fit(
            data.X_source, data.y_source, X_target=data.X_target
        )
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(models[0].class_prior_, models[1].class_prior_)
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_estimated_prior_is_saved_with_the_model(tmp_path: Path) -> None:
    data = skewed(2, 0.2)
    model = AdREM(C=0.1, class_prior="estimate", random_state=3, n_estimators=2)
    model.fit(data.X_source, data.y_source, X_target=data.X_target)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    for name in ("class_prior_", "class_prior_interval_", "class_prior_check_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(again, name))
    # A fit without estimation removes the interval of an earlier fit.
    model.set_params(class_prior=[0.5, 0.5]).fit(data.X_source, data.y_source, X_target=data.X_target)
    assert not hasattr(model, "class_prior_interval_")


def test_prior_is_uniform_without_target() -> None:
    data = skewed(2, 0.2)
    model = AdREM(C=0.1, class_prior="estimate", random_state=0).fit(data.X_source, data.y_source)
    np.testing.assert_array_equal(model.class_prior_, [0.5, 0.5])


def test_prior_estimate_rejects_small_classes() -> None:
    X, y = np.eye(6), np.array([0, 0, 0, 1, 1, 0])
    with pytest.raises(ValueError, match="has only 2 row"):
        AdREM(C=1.0, class_prior="estimate").fit(X, y, X_target=X)
