"""Tests of the example method in CONTRIBUTING: saving, loading, searching and benchmarking."""

from __future__ import annotations

import csv
import importlib
import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Command
from pages import ROOT, blocks_of
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from small_data import accept_any_content, make_home

from adrem import load, save
from adrem.benchmark import Draw, cells, find_methods, protocols
from adrem.datasets import DomainPair
from adrem.exceptions import ParameterError, UnreadableModelError
from adrem.model_selection import ImportanceWeightedScorer


@pytest.fixture
def mean_shift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The example of CONTRIBUTING as an importable module of another package."""
    [block] = [block for block in blocks_of(ROOT / "CONTRIBUTING.md") if block.title == "mean_shift.py"]
    (tmp_path / "mean_shift.py").write_text(block.text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("mean_shift")
    sys.modules.pop("mean_shift", None)


@pytest.mark.parametrize("adapts", [True, False])
def test_example_method_is_saved_and_loaded_if_trusted(
    mean_shift: Any, blobs: DomainPair, tmp_path: Path, adapts: bool
) -> None:
    X_target = blobs.X_target if adapts else None
    model = mean_shift.MeanShift(C=0.1, random_state=0).fit(blobs.X_source, blobs.y_source, X_target=X_target)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model", trusted_modules=("mean_shift",))
    assert type(copy) is mean_shift.MeanShift
    assert copy.get_params() == model.get_params()
    names = {name for name in vars(model) if name.endswith("_")}
    assert "shift_" in names
    assert names == {name for name in vars(copy) if name.endswith("_")}
    for name in names:
        np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))
    np.testing.assert_array_equal(copy.predict_proba(blobs.X_target), model.predict_proba(blobs.X_target))


@pytest.mark.parametrize("trusted", [(), ("mean",), ("mean_shift.sub",), ("adrem",)])
def test_untrusted_module_is_not_imported(
    mean_shift: Any, blobs: DomainPair, tmp_path: Path, trusted: tuple[str, ...]
) -> None:
    save(mean_shift.MeanShift(C=0.1).fit(blobs.X_source, blobs.y_source), tmp_path / "model")
    sys.modules.pop("mean_shift")
    with pytest.raises(UnreadableModelError, match=r"load\(path, trusted_modules=\['mean_shift'\]\)"):
        load(tmp_path / "model", trusted_modules=trusted)
    assert "mean_shift" not in sys.modules
    with pytest.raises(TypeError, match=r"must be a list of names: \['mean_shift'\]"):
        load(tmp_path / "model", trusted_modules="mean_shift")


def test_example_method_is_searched(mean_shift: Any, blobs: DomainPair) -> None:
    X = np.concatenate([blobs.X_source, blobs.X_target])
    y = np.concatenate([blobs.y_source, np.full(len(blobs.X_target), -1)])
    model = mean_shift.MeanShift(random_state=0)
    search = GridSearchCV(model, {"C": [0.0001, 0.1]}, scoring=ImportanceWeightedScorer(), cv=StratifiedKFold(3))
    search.fit(X, y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    assert len(search.best_estimator_.transduction_) == len(blobs.X_target)


@pytest.mark.usefixtures("mean_shift")
def test_example_method_is_benchmarked(blobs: DomainPair, tmp_path: Path) -> None:
    [method] = find_methods("mean_shift:MeanShift")
    labels, model = method.label(blobs, 3)
    assert model.random_state == 3
    assert np.mean(labels == blobs.y_target) > 0.5
    before = method.parameters()
    assert (before["loss"], "random_state" in before) == ("hinge", False)
    path = tmp_path / "mean_shift.py"
    path.write_text(path.read_text("utf-8").replace("tol=0.1", "tol=0.01"), "utf-8")
    sys.modules.pop("mean_shift")
    importlib.invalidate_caches()
    [method] = find_methods("mean_shift:MeanShift")
    assert method.parameters()["code"] != before["code"]  # changed code invalidates stored results


@pytest.mark.parametrize("name", ["nowhere.at_all:MeanShift", "mean_shift:MedianShift", "mean_shift:LinearBaseline.x"])
@pytest.mark.usefixtures("mean_shift")
def test_unimportable_method_is_named(name: str) -> None:
    [method] = find_methods(name)
    with pytest.raises(ParameterError, match=rf"The method {name} can't be imported: "):
        method.parameters()


@pytest.mark.thorough
@pytest.mark.usefixtures("mean_shift")
def test_example_method_is_benchmarked_on_command_line(
    adrem: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_any_content(monkeypatch, "amazon-400")
    small = tuple(
        replace(p, draw=Draw(n_source=20, n_target=10)) if p.draw.n_source else p for p in protocols.PROTOCOLS
    )
    monkeypatch.setattr(protocols, "PROTOCOLS", small)
    cells.load_cached.cache_clear()
    home = make_home(tmp_path / "data", ("amazon-400",))
    words = ["bench", "run", "amazon-standard", "--features", "400", "--pairs", "K-D", "--repeats", "2", "--jobs", "1"]
    words += ["--format", "csv", "--data-home", str(home), "--cache", str(tmp_path / "results"), "--methods"]
    code, out, err = adrem(*words, "source-svm,mean_shift:MeanShift")
    assert code == 0, err
    rows = {row["method"]: row for row in csv.DictReader(io.StringIO(out))}
    assert rows["mean_shift:MeanShift"]["repeats"] == "2"
    code, _, err = adrem(*words, "mean_shift:MedianShift")
    assert (code, "mean_shift has no class MedianShift" in " ".join(err.split())) == (2, True)
