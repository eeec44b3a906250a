from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adrem import AdREM
from adrem.datasets import DomainPair
from adrem.machines import Kernel, Work, make_machine
from adrem.machines.cost_model import choose_path
from adrem.machines.losses import LOSSES
from adrem.machines.plan import MachineChoice, choose_machine
from adrem.machines.settings import MachineSettings
from adrem.machines.tables import Outline


def outline(n_rows: int, n_features: int) -> Outline:
    return Outline.of(table(n_rows, n_features))


def table(n_rows: int, n_features: int, dtype: type = np.float32) -> Any:
    """A table that allocates no memory."""
    return np.broadcast_to(np.zeros((1, 1), dtype), (n_rows, n_features))


def test_machine_parameter_selects_the_path(blobs: DomainPair) -> None:
    models = {
        machine: AdREM(C=0.1, random_state=0, tol=1e-6, machine=machine).fit(
            blobs.X_source, blobs.y_source, X_target=blobs.X_target
        )
        for machine in ("auto", "gram", "rows")
    }
    assert models["auto"].machine_ == "gram: 105 rows of 5 entries, Gram matrix 88 kB; it pays up to 2460 rows"
    assert models["gram"].machine_ == "gram: asked for; 105 rows of 5 entries, Gram matrix 88 kB"
    assert models["rows"].machine_ == "rows: asked for; 105 rows of 5 entries"
    np.testing.assert_allclose(models["gram"].coef_, models["rows"].coef_, atol=1e-3)
    np.testing.assert_array_equal(models["gram"].transduction_, models["rows"].transduction_)


def test_gram_matrix_above_memory_limit_is_rejected(blobs: DomainPair) -> None:
    model = AdREM(machine="gram", memory_limit=1000)
    with pytest.raises(ValueError, match=r"takes 88 kB, more than memory_limit \(1 kB\). Raise memory_limit, or"):
        model.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    model.set_params(machine="auto").fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    assert model.machine_.startswith("rows: ")


def test_free_memory_does_not_change_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    before = choose_path(outline(3000, 500), 2, LOSSES["hinge"].costs)
    monkeypatch.setattr("adrem.runtime.memory.available_memory", lambda: 1e6)
    assert choose_path(outline(3000, 500), 2, LOSSES["hinge"].costs) == before
    with pytest.raises(
        MemoryError, match=r"takes about \d+ MB besides the data, and 1 MB are free: set machine='rows'"
    ):
        make_machine(table(3000, 500), 2, "hinge")


def chosen(shape: tuple[int, int], work: Work, **settings: Any) -> MachineChoice:
    return choose_machine(outline(*shape), work, MachineSettings("hinge", **settings))


def test_memory_forecast_grows_with_work() -> None:
    for works in (
        [Work(3), Work(3, 11), Work(3, 11, n_jobs=2), Work(3, 11, n_jobs=2, n_kept=200)],
        [Work(2), Work(20), Work(20, n_folds=3)],
    ):
        forecasts = [chosen((200_000, 500), work).memory for work in works]
        assert forecasts == sorted(set(forecasts))
    plain = chosen((3000, 500), Work(2))
    with_constant = chosen((3000, 500), Work(2), fit_intercept=True)
    assert with_constant.memory - plain.memory >= outline(3000, 500).n_bytes
    similarities = chosen((3000, 500), Work(2), kernel=Kernel("rbf"))
    assert plain.path.name == similarities.path.name == "gram"
    assert similarities.memory > plain.memory > 3000**2 * 4


def test_device_depends_on_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adrem.machines.devices._has_gpu", lambda: True)
    assert chosen((300, 5), Work(2), device="auto").device == "cpu"
    assert chosen((300, 5), Work(20, 11), device="auto", kernel=Kernel("rbf")).device == "cpu"
    pytest.importorskip("torch")
    similarities = chosen((3000, 5), Work(20, 11), device="auto", kernel=Kernel("rbf"))
    assert similarities.device == "cuda"
    assert similarities.memory > chosen((3000, 5), Work(20, 11), device="cuda", path="gram").memory > 3000**2 * 4
    with pytest.raises(ValueError, match="Raise memory_limit"):
        chosen((3000, 5), Work(20, 11), device="cuda", kernel=Kernel("rbf"), memory_limit=1000)
    large = chosen((200_000, 500), Work(20, 11), device="auto")
    assert large.device == "cuda"
    assert large.path.name == "rows"
    assert large.memory > 200_000 * 500 * 4


def test_machine_has_the_chosen_settings() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    choice = choose_machine(Outline.of(rows), Work(3), MachineSettings("log_loss", path="rows", tol=0.01))
    machine = choice.make(rows)
    assert type(machine) is choice.machine_class
    assert (machine.path, machine.n_classes, machine.loss.name, machine.tol) == (str(choice.path), 3, "log_loss", 0.01)


def test_an_unknown_loss_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="loss='squared' is none of hinge, log_loss"):
        make_machine(np.eye(3), 2, "squared")
