"""`DeepAdREM` end to end on the CPU: digits through a poor camera."""

from __future__ import annotations

import csv
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from adrem.datasets import DomainPair
from adrem.exceptions import DamagedDataError, InvalidDataError, InvalidTypeError, UnreadableModelError

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "adrem[deep]"')
pytest.importorskip("safetensors")
cameras = pytest.importorskip("cameras")
deep = pytest.importorskip("adrem.deep")
checkpoints = pytest.importorskip("adrem.deep.checkpoints")
pytestmark = pytest.mark.thorough


class Fitted(NamedTuple):
    data: DomainPair
    encoder: Any
    model: Any


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    data = cameras.digits()
    encoder = cameras.trained_encoder(data)
    return Fitted(data, encoder, fit(cameras.make(encoder), data))


def fit(model: Any, data: DomainPair) -> Any:
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


def accuracy(labels: Any, data: DomainPair) -> float:
    return float(np.mean(labels == data.y_target))


def test_a_network_that_learns_is_better_than_frozen_features(fitted: Fitted) -> None:
    """The first round is that of the encoder as it was given."""
    frozen = accuracy(fitted.model.head_labels_[0], fitted.data)
    assert accuracy(fitted.model.transduction_, fitted.data) > frozen + 0.05
    assert accuracy(fitted.model.head_labels_[-1], fitted.data) > frozen + 0.05


def test_labels_of_the_fit_are_those_of_predict(fitted: Fitted) -> None:
    np.testing.assert_array_equal(fitted.model.predict(fitted.data.X_target), fitted.model.transduction_)
    shares = fitted.model.predict_proba(fitted.data.X_target)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)
    assert fitted.model.score(fitted.data.X_target, fitted.data.y_target) == accuracy(
        fitted.model.transduction_, fitted.data
    )


def test_the_history_tells_each_round(fitted: Fitted) -> None:
    model = fitted.model
    assert [entry["round"] for entry in model.history_] == [0, 1, 2, 3]
    assert [entry["step"] for entry in model.history_] == [0, 100, 200, 300]
    for before, after, entry in zip(model.round_labels_, model.round_labels_[1:], model.history_[1:], strict=False):
        assert entry["changed"] == pytest.approx(np.mean(before != after))
    np.testing.assert_allclose(
        [entry["agreement"] for entry in model.history_[1:]],
        (model.head_labels_ == model.network_labels_)[1:].mean(axis=1),
    )
    rates = [entry["lr"] for entry in model.training_log_]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(0.02 * (1 + 10 * 299 / 300) ** -0.75)


def test_a_killed_fit_goes_on_to_the_same_labels(fitted: Fitted, tmp_path: Path) -> None:
    """The process is killed at batch 150 of 300, in the second round; checkpoints are written every 40 steps."""
    run = subprocess.run([sys.executable, cameras.__file__, tmp_path, "150"], check=False)
    assert run.returncode == -signal.SIGKILL
    counted = cameras.Moved()
    resumed = fit(cameras.make(fitted.encoder, checkpoint=tmp_path, augment=counted), fitted.data)
    assert counted.n_batches == 300 - 120
    with (tmp_path / "training.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows] == [entry["step"] for entry in resumed.training_log_]
    assert float(rows[-1]["source_loss"]) == resumed.training_log_[-1]["source_loss"]
    np.testing.assert_array_equal(resumed.round_labels_, fitted.model.round_labels_)
    np.testing.assert_array_equal(resumed.predict(fitted.data.X_target), fitted.model.transduction_)
    again = fit(cameras.make(fitted.encoder, checkpoint=tmp_path, augment=cameras.Moved(1)), fitted.data)
    np.testing.assert_array_equal(again.transduction_, fitted.model.transduction_)
    with pytest.raises(InvalidDataError, match="belongs to a fit with other rows or parameters"):
        fit(cameras.make(fitted.encoder, checkpoint=tmp_path, lr=0.01), fitted.data)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"nothing")
    with pytest.raises(DamagedDataError, match="is damaged"):
        fit(cameras.make(fitted.encoder, checkpoint=tmp_path), fitted.data)


def test_sample_domain_gives_the_same_labels(fitted: Fitted) -> None:
    data = fitted.data
    model = cameras.make(fitted.encoder, rounds=1, steps=5)
    apart = fit(model, data).transduction_
    X, y = np.concatenate([data.X_source, data.X_target]), np.concatenate([data.y_source, data.y_target])
    domain = np.repeat([2, -1], [len(data.y_source), len(data.y_target)])
    np.testing.assert_array_equal(model.fit(X, y, sample_domain=domain).transduction_, apart)


def test_rows_settings_and_the_encoder_stay_as_they_are(fitted: Fitted) -> None:
    torch.manual_seed(1)
    state, weights = torch.get_rng_state(), [own.clone() for own in fitted.encoder.state_dict().values()]
    rows = fitted.data.X_target.copy()
    fit(cameras.make(fitted.encoder, rounds=1, steps=2), fitted.data)
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(fitted.data.X_target, rows)
    assert all(torch.equal(a, b) for a, b in zip(weights, fitted.encoder.state_dict().values(), strict=True))


def test_rounds_end_when_labels_stop_changing(fitted: Fitted) -> None:
    model = fit(cameras.make(fitted.encoder, rounds=5, steps=2, tol=0.9), fitted.data)
    assert len(model.history_) == 2


def test_a_network_learns_in_16_bits_too(fitted: Fitted) -> None:
    """The 16-bit copies of the weights are made anew in each step: otherwise the loss would rise."""
    params: dict[str, Any] = {"rounds": 1, "steps": 100, "network_weight": 1.0}
    short, full = (
        fit(cameras.make(fitted.encoder, precision=p, **params), fitted.data) for p in ("bfloat16", "float32")
    )
    assert short.training_log_[-1]["source_loss"] < full.training_log_[-1]["source_loss"] + 0.1
    assert accuracy(short.network_labels_[-1], fitted.data) > accuracy(full.network_labels_[-1], fitted.data) - 0.05
    assert not np.array_equal(short.predict_proba(fitted.data.X_target), full.predict_proba(fitted.data.X_target))


def test_frozen_normalization_keeps_its_means(fitted: Fitted) -> None:
    model = fit(cameras.make(fitted.encoder, rounds=1, steps=5, frozen_norm=True), fitted.data)
    free = fit(cameras.make(fitted.encoder, rounds=1, steps=5), fitted.data)
    assert torch.equal(model.network_.encoder[1].running_mean, fitted.encoder[1].running_mean)
    assert not torch.equal(free.network_.encoder[1].running_mean, fitted.encoder[1].running_mean)


def test_a_network_may_label_for_itself(fitted: Fitted) -> None:
    """Then there is no head, and the first round learns from the source only."""
    params: dict[str, Any] = {"head": "network", "rounds": 2, "steps": 30, "draws": "plain", "growing": False}
    model = fit(cameras.make(fitted.encoder).set_params(**params), fitted.data)
    assert model.head_ is None
    np.testing.assert_array_equal(model.head_labels_, model.network_labels_)
    assert model.training_log_[0]["target_loss"] == 0.0
    assert model.training_log_[-1]["target_loss"] > 0.0
    np.testing.assert_array_equal(model.predict(fitted.data.X_target), model.transduction_)


def test_saved_networks_label_the_same(fitted: Fitted, tmp_path: Path) -> None:
    deep.save(fitted.model, tmp_path / "model")
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"head.adrem", "network.safetensors"}
    loaded = deep.load(tmp_path / "model", encoder=cameras.small_network())
    np.testing.assert_array_equal(loaded.predict(fitted.data.X_target), fitted.model.transduction_)
    np.testing.assert_array_equal(loaded.round_labels_, fitted.model.round_labels_)
    assert loaded.history_ == fitted.model.history_
    with pytest.raises(InvalidTypeError, match="pass it"):
        deep.load(tmp_path / "model")
    with pytest.raises(UnreadableModelError, match="another encoder"):
        deep.load(tmp_path / "model", encoder=torch.nn.Linear(2, 2))
    path = tmp_path / "model/network.safetensors"
    tensors, notes = checkpoints.read_tensors(path)
    for changed in ({"width": 10**9}, {"lr": -1.0}, {"unknown": 1}):
        checkpoints.write_tensors(path, tensors, {**notes, "params": {**notes["params"], **changed}})
        with pytest.raises(UnreadableModelError):
            deep.load(tmp_path / "model", encoder=cameras.small_network())
    shutil.copy(tmp_path / "model/head.adrem", tmp_path / "model/network.safetensors")
    with pytest.raises(DamagedDataError, match="damaged"):
        deep.load(tmp_path / "model", encoder=cameras.small_network())


@pytest.mark.parametrize("alignment", [None, *deep.ALIGNMENTS])
def test_peers_learn_the_target_too(fitted: Fitted, alignment: str | None, tmp_path: Path) -> None:
    model = deep.DeepPeer(fitted.encoder, alignment, steps=30, lr=0.02, device="cpu", random_state=0)
    labels = fit(model, fitted.data).transduction_
    assert accuracy(labels, fitted.data) > 0.4  # a guess: 0.1
    np.testing.assert_array_equal(model.predict(fitted.data.X_target), labels)
    deep.save(model, tmp_path)
    loaded = deep.load(tmp_path, encoder=cameras.small_network())
    np.testing.assert_array_equal(loaded.predict(fitted.data.X_target), labels)
