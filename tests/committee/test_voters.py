"""Tests of voters: their shares equal those of the classifiers that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import RandomState
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics.pairwise import rbf_kernel

from adrem.committee import voters
from adrem.committee.voters import LinearMembers, LinearProbabilities, RadialMembers, TreeProbabilities

RNG = RandomState(0)
ROWS = RNG.normal(size=(20, 4))


@settings(max_examples=12)
@given(
    seed=st.integers(0, 1000),
    n_classes=st.integers(2, 4),
    n_rows=st.integers(4, 80),
    n_leaves=st.integers(2, 31),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
    weighted=st.booleans(),
)
def test_trees_equal_those_of_scikit_learn(
    seed: int, n_classes: int, n_rows: int, n_leaves: int, scale: float, weighted: bool
) -> None:
    rng = RandomState(seed)
    X = scale * rng.normal(size=(n_rows, 3)).round(rng.randint(1, 4))
    y = np.arange(n_rows) % n_classes
    model = HistGradientBoostingClassifier(
        max_iter=4, max_leaf_nodes=n_leaves, min_samples_leaf=rng.randint(1, 20), early_stopping=False, random_state=0
    )
    model.fit(X, y, sample_weight=rng.uniform(0, 2, n_rows) if weighted else None)
    new = scale * rng.normal(0, 2, (50, 3)).round(1)
    rows = np.concatenate([X, new])
    shares = voters.TreeProbabilities.of(model).shares(rows)
    np.testing.assert_allclose(shares, model.predict_proba(rows), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict_proba(rows).argmax(axis=1))


def test_trees_without_a_split_give_the_shares_of_the_classes() -> None:
    model = HistGradientBoostingClassifier(max_iter=2).fit(np.ones((6, 1)), [0, 1, 1, 1, 1, 1])
    trees = voters.TreeProbabilities.of(model)
    assert (trees.left == np.arange(len(trees.left))).all()
    np.testing.assert_allclose(trees.shares(np.ones((2, 1))), model.predict_proba(np.ones((2, 1))))


def test_trees_label_rows_one_by_one_as_together() -> None:
    y = (ROWS[:, 0] > 0).astype(int)
    trees = voters.TreeProbabilities.of(HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2).fit(ROWS, y))
    one_by_one = np.concatenate([trees.shares(ROWS[k : k + 1]) for k in range(20)])
    np.testing.assert_array_equal(trees.shares(ROWS), one_by_one)
    assert trees.shares(ROWS[:0]).shape == (0, 2)


@pytest.mark.parametrize("problems", [1, 3])
def test_members_have_a_vote_each(problems: int) -> None:
    coef, intercept = RNG.normal(size=(5, problems, 4)), RNG.normal(size=(5, problems))
    shares = LinearMembers(coef, intercept).shares(ROWS)
    n_classes = max(problems, 2)
    assert shares.shape == (20, n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    scores = np.einsum("nf,mpf->mnp", ROWS, coef) + intercept[:, None]
    winners = scores.argmax(axis=2) if problems > 1 else (scores[..., 0] > 0).astype(int)
    votes = np.stack([(winners == c).mean(axis=0) for c in range(n_classes)], axis=1)
    assert np.abs(shares - votes).max() < 0.15  # the tie-break is half a vote at most
    clear = np.sort(votes, axis=1)[:, -1] - np.sort(votes, axis=1)[:, -2] > 0.01
    np.testing.assert_array_equal(shares[clear].argmax(axis=1), votes[clear].argmax(axis=1))


def test_radial_members_equal_a_kernel_of_scikit_learn() -> None:
    coef, intercept, vectors = RNG.normal(size=(1, 1, 6)), RNG.normal(size=(1, 1)), RNG.normal(size=(6, 4))
    voter = RadialMembers(coef, intercept, vectors, np.array([0.3]))
    [scores] = voter.scores(ROWS)
    np.testing.assert_allclose(scores, rbf_kernel(ROWS, vectors, gamma=0.3) @ coef[0].T + intercept[0])


@pytest.mark.parametrize("problems", [1, 3])
def test_logistic_shares_are_its_probabilities(problems: int) -> None:
    coef, intercept = RNG.normal(size=(problems, 4)), RNG.normal(size=problems)
    shares = LinearProbabilities(coef, intercept).shares(ROWS)
    scores = ROWS @ coef.T + intercept
    expected = expit(np.concatenate([-scores, scores], axis=1)) if problems == 1 else softmax(scores, axis=1)
    np.testing.assert_allclose(shares, expected)


def test_large_scores_of_all_classes_keep_their_order() -> None:
    """Rows of another domain may be far on the positive side of every one-vs-rest classifier."""
    shares = LinearProbabilities(np.zeros((3, 4)), np.array([52.0, 40.0, 60.0])).shares(ROWS)
    assert (shares.argmax(axis=1) == 2).all()
    assert shares.max() > 0.99


@pytest.mark.parametrize("problems", [1, 3])
def test_extreme_scores_give_finite_shares(problems: int) -> None:
    for value in (-1e4, 0.0, 1e4):
        voter = LinearProbabilities(np.zeros((problems, 4)), np.full(problems, value))
        shares = voter.shares(ROWS)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        np.testing.assert_allclose(shares, 1 / 3 if problems == 3 else expit([[-value, value]] * 20))


def test_arrays_are_contiguous() -> None:
    voter = LinearMembers(np.asfortranarray(RNG.normal(size=(2, 3, 4))), RNG.normal(size=(3, 2)).T)
    assert all(array.flags.c_contiguous for array in voter.arrays().values())
    assert set(voters.VOTERS) == {"linear", "rbf", "discriminant", "logistic", "trees"}
    assert voters.VOTERS["trees"] is TreeProbabilities
