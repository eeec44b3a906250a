from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adrem import AdREM
from adrem.baselines import DASVM
from adrem.baselines.dasvm import _Problem
from adrem.datasets import DomainPair, make_rotated_arcs


def test_dasvm_improves_on_rotated_target() -> None:
    data = make_rotated_arcs(random_state=0)
    model = DASVM(C=0.1).fit(data.X_source, data.y_source, X_target=data.X_target)
    source = AdREM(C=0.1).fit(data.X_source, data.y_source)
    assert np.mean(model.transduction_ == data.y_target) > source.score(data.X_target, data.y_target)


def test_dasvm_ends_with_mostly_target_rows(two_blobs: DomainPair) -> None:
    model = DASVM(C=0.1, tol=1e-6).fit(two_blobs.X_source, two_blobs.y_source, X_target=two_blobs.X_target)
    assert model.termination_condition_ == "the target has taken the place of the source"
    last = model.history_[-1]
    assert last["n_source"] < len(two_blobs.X_source) / 4
    assert 0 < last["n_target"] <= len(two_blobs.X_target)
    assert [entry["iteration"] for entry in model.history_] == list(range(model.n_iter_))
    sizes = [entry["n_source"] for entry in model.history_]
    assert sizes == sorted(sizes, reverse=True)


def test_dasvm_warns_when_max_iter_is_reached(two_blobs: DomainPair) -> None:
    with pytest.warns(ConvergenceWarning, match="DASVM did not converge: max_iter=1 was reached"):
        DASVM(C=0.1, max_iter=1).fit(two_blobs.X_source, two_blobs.y_source, X_target=two_blobs.X_target)


def test_multiclass_equals_separate_binary_problems(blobs: DomainPair) -> None:
    model = DASVM(C=0.1, tol=1e-8).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    for k, name in enumerate(model.classes_):
        alone = DASVM(C=0.1, tol=1e-8).fit(blobs.X_source, blobs.y_source == name, X_target=blobs.X_target)
        np.testing.assert_allclose(model.coef_[0, k], alone.coef_[0, 0], atol=1e-5)


def test_exchange_moves_the_expected_rows() -> None:
    """One exchange step by hand: five source rows, five target rows and made-up scores."""
    problem = _Problem(np.array([True, True, True, False, False]), 5, 5)
    source = [2.0, 0.5, 0.1, -3.0, -1.0]
    # Target rows 0 and 1 lie in the upper margin, 2 in the lower, 3 and 4 outside. The furthest joins on each side.
    assert problem.exchange(np.array([*source, 0.2, 0.9, -0.5, 1.5, -2.0]), step=1, few=1) == 0
    assert problem.used.tolist() == [False, True, True, False, True, False, True, True, False, False]
    assert problem.labels[5:].tolist() == [True, True, False, True, False]
    # Row 1 has changed sides and leaves; row 0 joins; one source row leaves on the upper side, none on the lower.
    assert problem.exchange(np.array([*source, 0.2, -1.2, -0.5, 1.5, -2.0]), step=1, few=1) == 1
    assert problem.used.tolist() == [False, False, True, False, True, True, False, True, False, False]
    # No row lies in the margin: one source row leaves on each side, until none is left.
    for _ in range(2):
        assert not problem.stopped
        problem.exchange(np.array([*source, 1.2, -1.2, -0.5, 1.5, -2.0]), step=1, few=1)
    assert problem.used.tolist() == [False] * 5 + [True, False, True, False, False]
    assert problem.stopped


@pytest.mark.parametrize("seed", range(10))
def test_target_outside_margin_keeps_correct_labels(seed: int) -> None:
    rng = np.random.RandomState(seed)
    y_source, y_target = np.arange(60) % 2, np.arange(40) % 2
    X_source = rng.normal(3.0 * (2 * y_source[:, None] - 1), 0.5, (60, 2))
    X_target = rng.normal(4.0 * (2 * y_target[:, None] - 1), 0.3, (40, 2))
    model = DASVM(C=0.1).fit(X_source, y_source, X_target=X_target)
    np.testing.assert_array_equal(model.transduction_, y_target)
    assert all(entry["n_source"] + entry["n_target"] >= 2 for entry in model.history_)
