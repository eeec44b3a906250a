"""Tests of the discriminant: its directions are those of a generalized eigenproblem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from problems import make_blobs_shift
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from adrem.base.validation import Domains
from adrem.machines import discriminant
from adrem.machines.discriminant import DiscriminantMachine, cosines, discriminate, unit_rows
from adrem.machines.discriminant_head import DiscriminantHead


def scatters(rows: Any, labels: Any, weights: Any, n_classes: int) -> tuple[Any, Any]:
    """The scatter within the classes, and that of the class sums as `discriminate` has it."""
    within, between = np.zeros((2, rows.shape[1], rows.shape[1]))
    for c in range(n_classes):
        own, weight = rows[labels == c], weights[labels == c]
        if weight.sum() > 0:
            mean = weight @ own / weight.sum()
            within += ((own - mean) * weight[:, None]).T @ (own - mean)
            between += weight.sum() * np.outer(mean, mean)
    return within, between


@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 5), n_features=st.integers(2, 12), weighted=st.booleans())
def test_directions_solve_the_generalized_eigenproblem(
    seed: int, n_classes: int, n_features: int, weighted: bool
) -> None:
    rng = RandomState(seed)
    labels = np.arange(40) % n_classes
    rows = rng.normal(size=(40, n_features)) + 2 * rng.normal(size=(n_classes, n_features))[labels]
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], 40) if weighted else np.ones(40)
    weights[:n_classes] = 1.0
    directions, _, _ = discriminate(rows, labels, weights, n_classes)
    within, between = scatters(rows, labels, weights, n_classes)
    ridged = within + discriminant.RIDGE * np.eye(n_features)
    n = min(n_classes, n_features)
    values, vectors = scipy.linalg.eigh(between, ridged)
    vectors = vectors[:, ::-1][:, :n]
    assert directions.shape == (n_features, n)
    np.testing.assert_allclose(directions.T @ ridged @ directions, np.eye(n), atol=1e-7)
    np.testing.assert_allclose(np.diag(directions.T @ between @ directions), values[::-1][:n], rtol=1e-6, atol=1e-8)
    # Both are orthonormal for the same inner product, so the singular values are cosines of the angles between spans.
    np.testing.assert_allclose(np.linalg.svd(vectors.T @ ridged @ directions)[1], 1.0, atol=1e-6)


def test_two_classes_have_the_direction_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a ridge, the classes differ along the direction of linear discriminant analysis."""
    monkeypatch.setattr(discriminant, "RIDGE", 1e-9)
    rng = RandomState(0)
    labels = np.arange(80) % 2
    rows = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5)) + labels[:, None] * rng.normal(size=5)
    directions, _, _ = discriminate(rows, labels, np.ones(80), 2)
    reference = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, labels).coef_[0]
    difference = directions @ directions.T @ (rows[labels == 1].mean(axis=0) - rows[labels == 0].mean(axis=0))
    cosine = reference @ difference / np.linalg.norm(reference) / np.linalg.norm(difference)
    assert cosine == pytest.approx(1.0, abs=1e-6)


def test_weights_are_counts() -> None:
    rng = RandomState(0)
    labels, rows, counts = np.arange(30) % 3, rng.normal(size=(30, 4)), rng.randint(0, 4, 30)
    counts[:3] = 1
    repeated = np.repeat(np.arange(30), counts)
    one = discriminate(rows, labels, counts.astype(float), 3)
    other = discriminate(rows[repeated], labels[repeated], np.ones(len(repeated)), 3)
    np.testing.assert_allclose(one[0] @ one[0].T, other[0] @ other[0].T, atol=1e-10)
    # The center is the mean of all rows, whatever their weights.
    np.testing.assert_allclose(one[1], (rows @ one[0]).mean(axis=0))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_cosines_with_the_class_means(n_classes: int) -> None:
    data = make_blobs_shift(n_classes)
    directions, center, means = discriminate(data.X_source, data.y_source, np.ones(60), n_classes)
    mapped = data.X_source @ directions - center
    mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
    own = np.stack([mapped[data.y_source == c].mean(axis=0) for c in range(n_classes)])
    np.testing.assert_allclose(means, own / np.linalg.norm(own, axis=1, keepdims=True))
    scores = cosines(data.X_source, directions, center, means)
    expected = mapped @ means.T
    np.testing.assert_allclose(scores, expected[:, 1:] - expected[:, :1] if n_classes == 2 else expected)
    winners = scores.argmax(axis=1) if n_classes > 2 else (scores[:, 0] > 0).astype(int)
    assert np.mean(winners == data.y_source) > 0.9


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_odd_rows_give_finite_scores(precision: Any) -> None:
    rng = RandomState(0)
    labels = np.arange(20) % 3
    for table in (np.zeros((20, 3)), np.ones((20, 3)), rng.normal(size=(20, 1)), rng.normal(size=(20, 50))):
        rows = unit_rows(table).astype(precision)
        for weights in (np.ones(20), np.where(labels == 2, 0.0, 1.0)):  # also without any row of a class
            found = discriminate(rows, labels, weights, 3)
            assert {array.dtype for array in found} == {np.dtype(precision)}
            assert np.isfinite(cosines(rows, *found)).all()


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_dependent_class_means_have_fewer_directions(precision: Any) -> None:
    """Class means that sum to zero differ in one direction less than there are classes."""
    rng = RandomState(0)
    labels = np.arange(60) % 4
    rows = rng.normal(size=(60, 8)) + 3 * rng.normal(size=(4, 8))[labels]
    centered = (rows - rows.mean(axis=0)).astype(precision)
    found = discriminate(centered, labels, np.ones(60), 4)
    assert found[0].shape == (8, 4)
    np.testing.assert_array_equal(found[0][:, 3], 0.0)
    assert (np.linalg.norm(found[0][:, :3], axis=0) > 0).all()
    assert np.isfinite(cosines(centered, *found)).all()


def test_unit_rows_of_zeros_stay() -> None:
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0]])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_machine_trains_every_member_alone(n_classes: int) -> None:
    data = make_blobs_shift(n_classes)
    rng = RandomState(0)
    machine = DiscriminantMachine(data.X_source, n_classes)
    labels, weights = np.stack([data.y_source, data.y_source[::-1]]), rng.randint(0, 3, (2, 60)).astype(float)
    beats: list[int] = []
    solution = machine.solve(labels, weights, heartbeat=lambda: beats.append(1))
    scores = machine.scores(solution)
    assert scores.shape == (2, 60, machine.n_problems)
    assert len(beats) == 2
    for m in range(2):
        alone = machine.scores(machine.solve(labels[m], weights[m]))
        np.testing.assert_array_equal(scores[m], alone[0])
        np.testing.assert_array_equal(scores[m], cosines(data.X_source, *(own[m] for own in machine.weights(solution))))
    winners = machine.relabel(machine.on_host(scores))
    assert winners.shape == (2, 60)
    losses = machine.row_losses(scores, labels)
    assert losses.shape == (2, 60)
    if n_classes > 2:
        right = np.take_along_axis(scores, labels[..., None], axis=2)[..., 0]
        np.testing.assert_allclose(losses, 1.0 - right)
    for zeros in (machine.squared_norms(solution, scores), machine.rounding(solution, scores)):
        np.testing.assert_array_equal(zeros, [0.0, 0.0])
    copies = machine.copies(machine.solve(labels[0], weights[0]), 3)
    assert len(copies.directions) == len(copies.n_failed) == 3
    np.testing.assert_array_equal(machine.scores(copies)[2], scores[0])


def test_head_puts_both_domains_into_the_machine() -> None:
    data = make_blobs_shift()
    domains = Domains(data.X_source, data.y_source, np.ones(60), data.X_target, np.arange(3))
    training = DiscriminantHead().begin(domains, 0)
    assert training.machine.n_rows == 105
    assert training.n_target == 45
    assert not DiscriminantHead.chooses_c
    source = training.train_source()
    assert np.mean(training.machine.scores(source)[0][:60].argmax(axis=1) == data.y_source) > 0.9
