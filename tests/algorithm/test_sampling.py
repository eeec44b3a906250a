from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from adrem.algorithm.sampling import draw, draw_balanced, draw_random

labels_of_rows = st.lists(st.integers(0, 3), min_size=1, max_size=60).map(lambda v: np.array(v, dtype=np.intp))
priors = st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any).map(lambda v: np.array(v) / sum(v))
seeds = st.integers(0, 2**32 - 1)


@given(labels_of_rows, st.integers(1, 20), priors, seeds)
def test_balanced_draw_has_class_shares_and_even_counts(
    labels: NDArray[np.intp], k: int, prior: NDArray[np.float64], seed: int
) -> None:
    size = k / 20 * len(labels)
    counts = draw_balanced(labels, size, prior, np.random.default_rng(seed))
    for c in range(4):
        of_class = counts[labels == c]
        if len(of_class):
            assert of_class.sum() == ceil(round(size * prior[c], 9))
            assert of_class.max() - of_class.min() <= 1
    assert np.all(counts >= 0)


@given(st.integers(1, 100), st.integers(1, 20), seeds)
def test_random_draw_has_no_duplicates(n_rows: int, k: int, seed: int) -> None:
    counts = draw_random(n_rows, k / 20 * n_rows, np.random.default_rng(seed))
    assert counts.sum() == ceil(round(k / 20 * n_rows, 9))
    assert set(counts.tolist()) <= {0.0, 1.0}


def test_balanced_draw_repeats_small_classes_evenly() -> None:
    labels = np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1], dtype=np.intp)
    counts = draw_balanced(labels, 10, np.array([0.5, 0.5]), np.random.default_rng(0))
    assert sorted(counts[:2]) == [2, 3]
    assert counts[2:].sum() == 5


def test_draw_size_ignores_rounding_error() -> None:
    assert 100 * 0.07 > 7
    labels = np.repeat([0, 1], 50).astype(np.intp)
    counts = draw_balanced(labels, 100, np.array([0.07, 0.93]), np.random.default_rng(0))
    assert counts[:50].sum() == 7


def test_balanced_draw_is_uniform_within_a_class() -> None:
    labels = np.zeros(10, dtype=np.intp)
    rng = np.random.default_rng(0)
    total = sum(draw_balanced(labels, 3, np.array([1.0]), rng) for _ in range(4000))
    np.testing.assert_allclose(np.asarray(total) / 4000, 0.3, atol=0.04)


@pytest.mark.parametrize(("sampling", "expected"), [("balanced", 5), ("random", 4), ("all", 8)])
def test_draw_selects_the_sampling_scheme(sampling: str, expected: int) -> None:
    labels = np.array([0, 0, 0, 0, 0, 0, 1, 1], dtype=np.intp)
    prior = np.array([0.55, 0.45])
    counts = draw(labels, 0.5, prior, sampling, np.random.default_rng(0))
    assert counts.sum() == expected
