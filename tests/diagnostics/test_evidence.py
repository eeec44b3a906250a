"""Tests of the evidence behind the verdict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adrem.diagnostics.evidence import (
    largest_shares,
    nearly_all_of,
    one_sided_part,
    opposed_part,
    skill_of,
    unsupported_class,
)

EQUAL = np.array([0.5, 0.5])


def labels(n_first: int, n_rows: int = 100) -> np.ndarray:
    return (np.arange(n_rows) >= n_first).astype(np.intp)


def test_changes_in_one_direction_are_one_sided() -> None:
    assert one_sided_part(labels(80), labels(50), labels(50), EQUAL) == pytest.approx(1.0)
    assert one_sided_part(labels(80), labels(40), labels(50), EQUAL) == pytest.approx(1.0)  # past equal shares


def test_exchanged_labels_are_not_one_sided() -> None:
    before = labels(60)
    after = before.copy()
    after[:20], after[80:] = 1, 0
    assert one_sided_part(before, after, labels(50), EQUAL) == 0.0
    after[80:90] = 1
    assert one_sided_part(before, after, labels(50), EQUAL) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("before", "after", "source", "prior"),
    [
        (labels(60), labels(80), labels(50), EQUAL),  # away from equal shares
        (labels(80), labels(50), labels(95), EQUAL),  # the labels have the shares of the source
        (labels(80), labels(50), labels(50), np.array([0.4, 0.6])),  # the model assumes other shares
        (labels(52), labels(50), labels(50), EQUAL),  # hardly a change
        (labels(80), labels(50), labels(50), np.full(3, 1 / 3)),
    ],
)
def test_other_changes_are_not_one_sided(
    before: np.ndarray, after: np.ndarray, source: np.ndarray, prior: np.ndarray
) -> None:
    assert one_sided_part(before, after, source, prior) == 0.0


@given(st.integers(1, 99), st.integers(1, 99), st.integers(1, 99))
def test_one_sided_part_is_a_share(before: int, after: int, source: int) -> None:
    assert 0.0 <= one_sided_part(labels(before), labels(after), labels(source), EQUAL) <= 1.0 + 1e-12


def test_skill_is_the_part_of_the_errors_that_are_avoided() -> None:
    skill, least = skill_of(0.95, labels(900, 1000))
    assert skill == pytest.approx(0.5)
    assert least == pytest.approx(2 * np.sqrt(0.09 / 1000) / 0.1)
    assert skill_of(0.9, labels(900, 1000))[0] == pytest.approx(0.0)
    assert skill_of(0.9, labels(50000, 100000))[1] == 0.15
    assert np.isnan(skill_of(float("nan"), labels(50))[0])


def test_share_of_nearly_all_rows_is_higher_if_a_class_is_that_common_in_the_source() -> None:
    assert nearly_all_of(labels(50)) == nearly_all_of(labels(90)) == 0.95
    assert nearly_all_of(labels(97)) == pytest.approx(0.985)


@pytest.mark.parametrize(
    ("shares", "source", "assumed", "found"),
    [
        ((0.1, 0.9), (0.5, 0.5), (0.5, 0.5), 1),
        ((0.1, 0.9), (0.2, 0.8), (0.5, 0.5), None),
        ((0.1, 0.9), (0.5, 0.5), (0.2, 0.8), None),
        ((0.3, 0.7), (0.5, 0.5), (0.5, 0.5), None),
        ((0.1, 0.45, 0.45), (0.6, 0.1, 0.3), (0.5, 0.3, 0.2), 1),
    ],
)
def test_class_shares_far_from_the_source_and_from_the_assumed_ones_are_unsupported(
    shares: tuple[float, ...], source: tuple[float, ...], assumed: tuple[float, ...], found: int | None
) -> None:
    assert unsupported_class(*map(np.array, (shares, source, assumed))) == found


def test_largest_shares_before_and_after() -> None:
    found = largest_shares(labels(80), labels(45))
    assert (found.source, found.adapted) == (0.8, 0.55)


FAMILIES = ["rbf", "rbf", "discriminant", None]


def test_family_that_prefers_the_labels_before_is_opposed() -> None:
    before, after = labels(80), labels(40)
    assert opposed_part([before, before, after, before], FAMILIES, before, after) == 0.5
    assert opposed_part([after, after, after, before], FAMILIES, before, after) == 0.0
    assert opposed_part([before, before, before, after], FAMILIES, before, after) == 1.0


def test_family_counts_once_and_has_to_be_clear() -> None:
    before, after = labels(80), labels(40)
    assert opposed_part([before, after, after, after], FAMILIES, before, after) == 0.0  # as many for as against
    assert opposed_part([labels(62), labels(62), after, after], FAMILIES, before, after) == 0.0  # 22 to 18 of 40


def test_unchanged_rows_and_a_single_family_are_no_evidence() -> None:
    before, after = labels(80), labels(40)
    assert opposed_part([before, before], ["rbf", "rbf"], before, after) == 0.0
    assert opposed_part([before, before], ["rbf", None], before, after) == 0.0
    assert opposed_part([after, after], ["rbf", "discriminant"], before, before) == 0.0
