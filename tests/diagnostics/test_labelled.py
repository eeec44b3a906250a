"""Tests of the estimate of an accuracy from a few labels: its interval holds the truth, whatever the model says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from problems import make_blobs_shift
from scipy.stats import binomtest

from adrem import AdREM
from adrem.baselines import SourceOnly
from adrem.diagnostics import estimate_accuracy, labels_needed
from adrem.diagnostics.labelled import (
    LabelledEstimate,
    LabelledRows,
    estimate_from_labels,
    exact_interval,
    read_labelled,
)
from adrem.exceptions import InvalidDataError, ParameterError

N_ROWS, N_LABELS, N_DRAWS = 1000, 50, 300
CLASSES = np.array(["a", "b"])
BLOBS = make_blobs_shift()


def population(accuracy: float, kind: str) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which rows are right, and chances that are calibrated, say nothing, or say the opposite."""
    rng = np.random.default_rng(0)
    chances = rng.beta(4 * accuracy, 4 * (1 - accuracy), size=N_ROWS)
    is_right = rng.random(N_ROWS) < chances
    return is_right, {"calibrated": chances, "noise": rng.random(N_ROWS), "opposite": 1 - chances}[kind]


def estimates(accuracy: float, kind: str) -> tuple[float, list[LabelledEstimate]]:
    is_right, chances = population(accuracy, kind)
    rng = np.random.default_rng(1)
    draws = [rng.permutation(N_ROWS)[:N_LABELS] for _ in range(N_DRAWS)]
    found = [estimate_from_labels(LabelledRows.at_random(rows, is_right[rows], N_ROWS), chances) for rows in draws]
    return float(is_right.mean()), found


@pytest.mark.parametrize("kind", ["calibrated", "noise", "opposite"])
@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.97])
def test_the_interval_holds_the_truth_in_nine_of_ten_samples(accuracy: float, kind: str) -> None:
    truth, found = estimates(accuracy, kind)
    assert np.mean([own.low <= truth <= own.high for own in found]) >= 0.88
    assert abs(np.mean([own.accuracy for own in found]) - truth) < 0.015


def test_calibrated_chances_make_the_interval_narrower_and_others_hardly_wider() -> None:
    is_right, _ = population(0.7, "calibrated")
    rows = np.random.default_rng(1).permutation(N_ROWS)[:N_LABELS]
    labelled = LabelledRows.at_random(rows, is_right[rows], N_ROWS)
    widths = {
        name: own.high - own.low
        for name, own in (
            ("alone", estimate_from_labels(labelled, np.zeros(N_ROWS))),
            ("sure", estimate_from_labels(labelled, np.where(is_right, 0.9, 0.0))),
            ("opposite", estimate_from_labels(labelled, np.where(is_right, 0.0, 0.9))),
        )
    }
    assert widths["sure"] < 0.2 * widths["alone"]
    assert widths["opposite"] == pytest.approx(widths["alone"])


def test_without_an_error_the_interval_has_a_width() -> None:
    labelled = LabelledRows.at_random(np.arange(N_LABELS), np.ones(N_LABELS, dtype=bool), N_ROWS)
    found = estimate_from_labels(labelled, np.full(N_ROWS, 0.9))
    assert found.accuracy == found.high == 1.0
    assert 0.9 < found.low < 0.96


@pytest.mark.parametrize("is_right", [True, False])
@pytest.mark.parametrize("chance", [1.0, 0.7])
def test_labels_that_are_all_right_or_all_wrong_leave_finite_bounds(is_right: bool, chance: float) -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 200):  # ten weights of 0.1 do not sum to 1, and others neither
        chances = np.where(rng.random(N_ROWS) < 0.5, chance, 1.0)
        found = estimate_from_labels(LabelledRows.at_random(np.arange(n), np.full(n, is_right), N_ROWS), chances)
        assert 0.0 <= found.low <= found.accuracy <= found.high <= 1.0
        assert found.high - found.low > 0.002


@pytest.mark.parametrize("n_labels", [12, 20, 30, 60])
def test_the_interval_holds_where_the_chances_tell_which_rows_have_the_few_errors(n_labels: int) -> None:
    rng, held = np.random.default_rng(0), []
    chances = np.where(np.arange(2000) < 600, 0.1, 0.98)
    for _ in range(2500):  # the standard error is 0.6 points
        is_right, rows = rng.random(2000) < chances, rng.permutation(2000)[:n_labels]
        found = estimate_from_labels(LabelledRows.at_random(rows, is_right[rows], 2000), chances)
        held.append(found.low <= is_right.mean() <= found.high)
    assert np.mean(held) >= 0.89


@given(n=st.integers(1, 200), part=st.floats(0, 1))
def test_exact_interval_is_that_of_clopper_and_pearson(n: int, part: float) -> None:
    right = round(part * n)
    expected = binomtest(right, n).proportion_ci(0.9, method="exact")
    assert exact_interval(right / n, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_rows_chosen_for_certain_count_once_and_the_drawn_ones_for_the_rest() -> None:
    is_right = np.ones(100, dtype=bool)
    is_right[:40] = False  # the doubtful rows, which were all labelled
    rows = np.arange(60)
    probability = np.repeat([1.0, 20 / 60], [40, 20])
    found = estimate_from_labels(LabelledRows(rows, is_right[rows], probability), np.full(100, 0.5))
    assert found.accuracy == pytest.approx(0.6)
    assert found.high == pytest.approx(0.6)
    assert found.n_labels == 60


def test_all_rows_labelled_leave_no_doubt() -> None:
    is_right = np.arange(40) % 4 > 0
    for probability in (np.ones(40), np.full(40, 1.0)):
        found = estimate_from_labels(LabelledRows(np.arange(40), is_right, probability), np.full(40, 0.1))
        assert (found.accuracy, found.low, found.high) == (0.75, 0.75, 0.75)


def test_known_labels_are_read_as_in_fit_and_new_ones_are_errors() -> None:
    predicted = np.array(["a", "a", "b", "b"])
    found = read_labelled(["a", None, "new", np.nan], None, predicted, CLASSES)
    assert found.rows.tolist() == [0, 2]
    assert found.is_right.tolist() == [True, False]
    assert found.probability.tolist() == [0.5, 0.5]
    chosen = read_labelled(["a", "b", "a", "b"], [1.0, np.nan, 0.25, None], predicted, CLASSES)
    assert chosen.rows.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("y_known", "probability", "message"),
    [
        ([None] * 4, None, "no label"),
        (["a", "b", None, None], [1.0, 1.0, 0, 0], "chosen for certain"),
        (["a"], None, "1 entries"),
        (["a", None, None, None], [0.5], "1 entries"),
        (["a", None, None, None], [2.0, 0, 0, 0], "between 0 and 1"),
    ],
)
def test_labels_that_say_nothing_are_refused(y_known: Any, probability: Any, message: str) -> None:
    with pytest.raises(InvalidDataError, match=message):
        read_labelled(y_known, probability, np.array(["a", "a", "b", "b"]), CLASSES)


def test_labels_needed_are_enough_and_one_less_is_not() -> None:
    n = labels_needed(0.05, accuracy=0.85)
    widths = [high - low for low, high in (exact_interval(0.85, own) for own in (n, n - 1))]
    assert widths[0] <= 0.1 < widths[1]
    assert labels_needed(0.05, accuracy=0.85, n_target=200) < n
    assert labels_needed(0.001, n_target=30) <= 30
    wrong: list[dict[str, Any]] = [{"half_width": 0.0}, {"accuracy": 1.0}, {"n_target": 0}]
    for params in wrong:
        with pytest.raises(ParameterError):
            labels_needed(**params)


def test_an_estimate_from_labels_is_for_the_labels_of_the_model() -> None:
    model = AdREM(C=0.1, n_estimators=2, n_iter=3, random_state=0)
    model.fit(BLOBS.X_source, BLOBS.y_source, X_target=BLOBS.X_target)
    known = np.where(np.arange(45) % 3 == 0, BLOBS.y_target.astype(float), np.nan)
    found = estimate_accuracy(model, BLOBS.X_source, BLOBS.y_source, BLOBS.X_target, y_known=known)
    truth = np.mean(model.transduction_ == BLOBS.y_target)
    assert found.n_labels == 15
    assert found.low <= truth <= found.high
    every = estimate_accuracy(model, BLOBS.X_source, BLOBS.y_source, BLOBS.X_target, y_known=BLOBS.y_target)
    assert every.low == every.high == pytest.approx(truth)


def test_labels_of_the_fit_are_judged_by_models_that_have_not_seen_them() -> None:
    """Labels that no model could guess are right in the fit, and wrong in the estimate."""
    known = np.full(45, np.nan)
    rows = np.arange(0, 45, 3)
    known[rows] = BLOBS.y_target[rows]
    known[rows[:6]] = (known[rows[:6]] + 1) % 3
    model = SourceOnly(C=0.1, random_state=0)
    model.fit(BLOBS.X_source, BLOBS.y_source, X_target=BLOBS.X_target, y_target=known)
    assert (model.transduction_[rows] == known[rows]).all()
    found = estimate_accuracy(model, BLOBS.X_source, BLOBS.y_source, BLOBS.X_target, y_known=known)
    assert found.accuracy < 0.75
