from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from adrem.algorithm.voting import tally

finite = st.floats(-1e12, 1e12)
many_class_scores = st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(3, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=finite)
)


@given(many_class_scores)
def test_tally_picks_the_majority(scores: NDArray[np.float64]) -> None:
    result = tally(scores)
    expected = np.stack([(scores.argmax(axis=2) == c).sum(axis=0) for c in range(scores.shape[2])], axis=1)
    np.testing.assert_array_equal(result.votes, expected)
    chosen = np.take_along_axis(result.votes, result.winners[:, None], axis=1)[:, 0]
    np.testing.assert_array_equal(chosen, result.votes.max(axis=1))
    assert np.all((result.confidence >= 0) & (result.confidence <= 0.5))


def test_tally_breaks_ties_by_mean_confidence() -> None:
    scores = np.array([[[0.3, 0.2, -1.0]], [[0.1, 0.9, -1.0]]])
    result = tally(scores)
    np.testing.assert_array_equal(result.votes, [[1, 1, 0]])
    assert result.winners.tolist() == [1]


def test_tally_reads_binary_scores_from_one_column() -> None:
    result = tally(np.array([[[0.5], [-2.0]], [[-3.0], [-1.0]]]))
    np.testing.assert_array_equal(result.votes, [[1, 1], [2, 0]])
    assert result.winners.tolist() == [0, 0]
