from __future__ import annotations

import contextlib
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from adrem import AdREM, baselines, load, save
from adrem.datasets import DomainPair
from adrem.exceptions import UnreadableModelError
from adrem.persistence.models import HEADER

NAMES = np.array(["ant", "bee", "cow"])
DATA = Path(__file__).parents[1] / "data"


def fitted(blobs: DomainPair, **params: Any) -> AdREM:
    params = {"C": 0.1, "n_iter": 3, "n_estimators": 2, "random_state": 0, **params}
    return AdREM(**params).fit(blobs.X_source, NAMES[blobs.y_source], X_target=blobs.X_target)


def plain(value: Any) -> Any:
    """A parameter as it is after loading: arrays and tuples become lists, numpy numbers Python numbers."""
    return np.asarray(value).tolist() if isinstance(value, (np.ndarray, np.generic, tuple, list)) else value


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"store_path": True, "fit_intercept": True},
        {"C": [0.1, 1.0], "class_prior": "source", "random_state": None, "loss": "log_loss"},
        {"class_prior": np.array([0.2, 0.3, 0.5]), "C": np.float64(0.5)},
        {"class_prior": {"ant": 0.2, "bee": 0.3, "cow": 0.5}},
        {"C": (0.1, 1.0), "class_prior": [0.2, 0.3, 0.5]},
    ],
)
def test_model_round_trip_keeps_attributes_and_predictions(
    blobs: DomainPair, tmp_path: Path, params: dict[str, Any]
) -> None:
    model = fitted(blobs, **params)
    save(model, tmp_path / "model.adrem")
    copy = load(tmp_path / "model.adrem")
    assert [path.name for path in tmp_path.iterdir()] == ["model.adrem"]
    assert {k: plain(v) for k, v in copy.get_params().items()} == {k: plain(v) for k, v in model.get_params().items()}
    fitted_names = {name for name in vars(model) if name.endswith("_")}
    assert fitted_names == {name for name in vars(copy) if name.endswith("_")}
    for name in fitted_names:
        np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))
    np.testing.assert_array_equal(copy.predict_proba(blobs.X_target), model.predict_proba(blobs.X_target))
    copy.fit(blobs.X_source, NAMES[blobs.y_source], X_target=blobs.X_target)


BASELINES = [getattr(baselines, name)(random_state=0) for name in baselines.__all__]
for baseline in BASELINES:
    if hasattr(baseline, "C"):
        baseline.set_params(C=0.1)


@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
@pytest.mark.parametrize("adapts", [True, False])
@pytest.mark.parametrize("model", BASELINES, ids=lambda model: type(model).__name__)
def test_baselines_round_trip(blobs: DomainPair, tmp_path: Path, model: Any, adapts: bool) -> None:
    model.fit(blobs.X_source, NAMES[blobs.y_source], X_target=blobs.X_target if adapts else None)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model")
    assert copy.get_params() == model.get_params()
    names = {name for name in vars(model) if name.endswith("_")}
    assert names == {name for name in vars(copy) if name.endswith("_")}
    for name in names:
        np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))
    np.testing.assert_array_equal(copy.predict_proba(blobs.X_target), model.predict_proba(blobs.X_target))


def test_baseline_keeping_rows_can_not_be_saved(blobs: DomainPair, tmp_path: Path) -> None:
    model = baselines.CORAL(C=0.1).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    model.set_params(form="similarity").fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    with pytest.raises(TypeError, match=r"CORAL\(form='similarity'\) keeps the rows .* form='mapping' can"):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_format_1_file_still_loads(blobs: DomainPair) -> None:
    model = load(DATA / "model-format-1.adrem")
    expected = [[0.928202659, 0.020722383, 0.051074958], [0.030149799, 0.096484718, 0.873365483]]
    np.testing.assert_allclose(model.predict_proba(blobs.X_target[:2]), expected, atol=1e-8)
    assert model.classes_.tolist() == NAMES.tolist()
    assert model.machine_ == "not recorded by format 1"


def test_format_2_file_still_loads(blobs: DomainPair) -> None:
    model = load(DATA / "model-format-2.adrem")
    expected = [[0.929000548, 0.020754837, 0.050244614], [0.026883382, 0.097964168, 0.875152449]]
    np.testing.assert_allclose(model.predict_proba(blobs.X_target[:2]), expected, atol=1e-8)
    assert model.neighbors_ == 3
    assert model.class_prior_interval_.shape == (2, 3)
    assert model.coef_path_.shape[2:] == (3, 5)


def test_feature_names_and_object_labels_round_trip(blobs: DomainPair, tmp_path: Path) -> None:
    X, X_target = (pd.DataFrame(table, columns=list("abcde")) for table in (blobs.X_source, blobs.X_target))
    y = pd.Series(NAMES[blobs.y_source].astype(object))
    model = AdREM(C=0.1, random_state=0).fit(X, y, X_target=X_target)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model")
    assert copy.classes_.dtype == copy.feature_names_in_.dtype == object
    np.testing.assert_array_equal(copy.predict(X_target[list("edcba")]), model.transduction_)


def test_series_parameters_become_plain_values(blobs: DomainPair, tmp_path: Path) -> None:
    prior = pd.Series({"cow": 0.5, "ant": 0.2, "bee": 0.3})
    save(fitted(blobs, C=pd.Series([0.1, 1.0]), class_prior=prior), tmp_path / "model")
    params = load(tmp_path / "model").get_params()
    assert params["C"] == [0.1, 1.0]
    assert params["class_prior"] == {"cow": 0.5, "ant": 0.2, "bee": 0.3}


def test_model_file_contains_no_pickle(blobs: DomainPair, tmp_path: Path) -> None:
    save(fitted(blobs), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        for name in archive.namelist():
            assert archive.read(name).startswith(b"\x93NUMPY")


def test_save_rejects_unsupported_models(blobs: DomainPair, tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        save(AdREM(), tmp_path / "model")
    with pytest.raises(TypeError, match="LinearSVC can't be saved; these can: Committee, AdREM"):
        save(LinearSVC().fit(blobs.X_source, blobs.y_source), tmp_path / "model")
    with pytest.raises(TypeError, match="pass an integer, or None"):
        save(fitted(blobs, random_state=np.random.RandomState(0)), tmp_path / "model")
    with pytest.raises(ValueError, match="'class_prior' parameter"):
        save(fitted(blobs).set_params(class_prior="bogus"), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_save_rejects_values_load_would_reject(blobs: DomainPair, tmp_path: Path) -> None:
    dates = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")[blobs.y_source]
    ends = np.array(["a", "a\0", "b"], dtype=object)[blobs.y_source]
    for labels in (dates, ends):
        model = AdREM(C=0.1, n_iter=2, n_estimators=1, random_state=0).fit(blobs.X_source, labels)
        with pytest.raises(TypeError, match="Only labels that are numbers or strings can be saved"):
            save(model, tmp_path / "model")
    model = fitted(blobs)
    model.history_[0]["loss"] = float("inf")
    with pytest.raises(ValueError, match="was not written: the model holds numbers that are not finite"):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_failed_save_keeps_the_old_file(blobs: DomainPair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model"
    save(fitted(blobs), path)
    before = path.read_bytes()

    def full_disk(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save(fitted(blobs, C=1.0), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def rewrite(path: Path, change: Any, drop: str | None = None) -> None:
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name != drop}
    header = json.loads(bytes(arrays[HEADER]))
    change(header, arrays)
    arrays[HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    ("change", "drop", "message"),
    [
        (lambda h, _: h.update(format_version=3), None, "has format 3 .* install the version that wrote it"),
        (lambda h, _: h.update(format="other"), None, "not a model file"),
        (lambda h, _: h.update(model="Popen"), None, "holds a 'Popen', unknown"),
        (lambda h, _: h["params"].update(color="red"), None, "not a model file of adrem, or it is damaged"),
        (lambda h, _: h.pop("C_"), None, "header has the keys"),
        (lambda h, _: h.update(more=1), None, "header has the keys"),
        (lambda h, _: h.update(params=[]), None, "damaged"),
        (lambda h, _: h["params"].update(loss="boom"), None, "damaged"),
        (lambda h, _: h.update(feature_names_in_=["a"]), None, "do not fit together"),
        (lambda h, _: h.update(history_=[1]), None, "damaged"),
        (lambda h, _: h.update(dropout_=[1]), None, "header has the keys"),
        (lambda _, a: a.update(coef_=a["coef_"].astype(str)), None, "do not fit together"),
        (lambda _, a: a.update(coef_=a["coef_"][:0], intercept_=a["intercept_"][:0]), None, "do not fit together"),
        (lambda _, a: a.update(classes_=a["classes_"][[0, 0, 1]]), None, "do not fit together"),
        (lambda _, a: a.update(transduction_=np.full(45, "dog")), None, "do not fit together"),
        (lambda _, a: a.update(vote_share_=a["vote_share_"][:, :2]), None, "do not fit together"),
        (lambda _, a: a.update(coef_path_=np.zeros((2, 4, 3, 9))), None, "do not fit together"),
        (lambda _, a: a.update(extra=np.zeros(1)), None, "holds the arrays"),
        (lambda *_: None, "coef_", "holds the arrays"),
        (lambda _, a: a.update(coef_=a["coef_"][:, :, :2]), None, "do not fit together"),
        (lambda _, a: a.update(coef_=a["coef_"] * np.nan), None, "numbers that are not finite"),
        (lambda h, _: h["params"].update(kernel="precomputed"), None, "do not fit together"),
        (lambda h, _: h.update(C_=-5.0), None, "do not fit together"),
        (lambda h, _: h.update(format_version=True), None, "has format True"),
    ],
)
def test_load_rejects_unknown_contents(
    blobs: DomainPair, tmp_path: Path, change: Any, drop: str | None, message: str
) -> None:
    path = tmp_path / "model"
    save(fitted(blobs), path)
    rewrite(path, change, drop)
    with pytest.raises(UnreadableModelError, match=message):
        load(path)


class Bomb:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("the file ran code",))


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps(Bomb()), b"PK\x03\x04 cut off"])
def test_load_rejects_other_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(UnreadableModelError, match="not a model file of adrem, or it is damaged"):
        load(path)


def test_load_rejects_object_arrays(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with path.open("wb") as file:
        np.savez(file, header=np.array([Bomb()], dtype=object))
    with pytest.raises(UnreadableModelError):
        load(path)


def test_load_rejects_damaged_files(blobs: DomainPair, tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(fitted(blobs), path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(UnreadableModelError):
        load(path)
    for position in range(0, len(content), 97):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :])
        with contextlib.suppress(UnreadableModelError):
            load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(UnreadableModelError, match="not a model file"):
        load(tmp_path / "array.npy")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
def test_saved_file_respects_umask(blobs: DomainPair, tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        save(fitted(blobs), tmp_path / "model")
    finally:
        os.umask(old)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o640


def test_save_names_the_missing_folder(blobs: DomainPair, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Can't write .*deeper/model: there is no folder .*deeper"):
        save(fitted(blobs), tmp_path / "deeper" / "model")


@pytest.mark.parametrize("rows", [[0, 100], [-1], [0.5], [[0]]])
def test_known_rows_that_are_no_rows_of_the_target_are_refused(tmp_path: Path, rows: Any) -> None:
    X = np.arange(20.0).reshape(10, 2)
    y_target = [0, 1] + [None] * 8
    model = baselines.SourceOnly(C=1.0).fit(X, [0, 1] * 5, X_target=X, y_target=y_target)
    model.known_rows_ = np.array(rows)
    save(model, tmp_path / "known.adrem")
    with pytest.raises(UnreadableModelError, match="do not fit together"):
        load(tmp_path / "known.adrem")
