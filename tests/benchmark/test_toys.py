from __future__ import annotations

import numpy as np
import pytest

from adrem.benchmark.toys import CURVES, Toy, balance, rotated


@pytest.fixture(scope="module")
def turned() -> Toy:
    return rotated()


@pytest.fixture(scope="module")
def imbalanced() -> Toy:
    return balance()


def test_rotated_toy_raises_accuracy_and_lowers_loss(turned: Toy) -> None:
    accuracy, loss = turned.curve("balanced", "accuracy"), turned.curve("balanced", "loss")
    assert len(accuracy) == len(loss) == 21
    assert accuracy[0] < 70.0
    assert accuracy[-1] == 100.0
    assert loss[-1] < 0.9 * loss[0]
    assert turned.curves == CURVES


def test_random_draws_lower_loss_and_accuracy(imbalanced: Toy) -> None:
    balanced, random = (
        {key: imbalanced.curve(name, key) for key in imbalanced.curves} for name in ("balanced", "random")
    )
    assert balanced["accuracy"][0] == random["accuracy"][0]  # both start with the source classifier
    assert balanced["loss"][0] == random["loss"][0]
    assert random["loss"][-1] < balanced["loss"][-1]
    assert random["accuracy"][-1] < balanced["accuracy"][-1] - 5.0
    assert balanced["accuracy"][-1] > balanced["accuracy"][0] + 5.0
    # Balanced draws lower the balanced loss.
    assert balanced["balanced_loss"][-1] < balanced["balanced_loss"][0]
    assert balanced["balanced_loss"][-1] < random["balanced_loss"][-1]


@pytest.mark.parametrize("sampling", ["balanced", "random"])
def test_curve_points_equal_the_models_path(imbalanced: Toy, sampling: str) -> None:
    model, data = imbalanced.models[sampling], imbalanced.data
    accuracy = imbalanced.curve(sampling, "accuracy")
    assert accuracy[-1] == pytest.approx(100 * np.mean(model.transduction_ == data.y_target))
    labels = (data.X_target @ model.coef_path_[0, 5, 0] > 0).astype(int)
    assert accuracy[5] == pytest.approx(100 * np.mean(labels == data.y_target))
    assert imbalanced.curve(sampling, "loss") == [entry["loss"] for entry in model.history_]
    assert model.sampling == sampling
