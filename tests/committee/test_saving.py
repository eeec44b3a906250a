"""Tests of model files of committees: what is loaded predicts the same bits, and damaged files are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.random import RandomState
from problems import fitted, make_blobs_shift, without_negative_values

from adrem import Committee, load, save
from adrem.committee.kinds import KINDS
from adrem.exceptions import UnreadableModelError
from adrem.persistence.models import HEADER

NAMES = np.array(["ant", "bee", "cow"])
FORMS = {
    "linear": "margin",
    "rbf": "rbf",
    "discriminant": "discriminant, centered",
    "logistic": "source",
    "trees": "boosting",
}


def small(kinds: Any, **params: Any) -> Any:
    return Committee(**{"kinds": kinds, "n_estimators": 2, "n_iter": 2, "class_prior": "uniform", **params})


def assert_same(copy: Any, model: Any, rows: Any) -> None:
    names = {name for name in vars(model) if name.endswith("_")}
    assert names == {name for name in vars(copy) if name.endswith("_")}
    for name in names - {"seats_"}:
        np.testing.assert_array_equal(getattr(copy, name), getattr(model, name), err_msg=name)
    assert {k: v if k != "kinds" else list(v) for k, v in model.get_params().items()} == copy.get_params()
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(copy, method)(rows), getattr(model, method)(rows))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_kind_predicts_the_same_after_loading(kind: str, n_classes: int, tmp_path: Path) -> None:
    data = make_blobs_shift(n_classes)
    data = data._replace(y_source=NAMES[data.y_source])
    if "rare words" in kind:
        data = data._replace(X_source=sp.csr_array(data.X_source), X_target=sp.csr_array(data.X_target))
    if "active" in kind:
        data = without_negative_values(data)
    model = fitted(small([kind], random_state=0), data)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model")
    assert_same(copy, model, data.X_target)
    assert_same(copy, model, RandomState(1).normal(0, 4, (50, 5)))
    save(copy, tmp_path / "again")
    assert_same(load(tmp_path / "again"), model, data.X_target)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("distill", [False, True])
@pytest.mark.parametrize("adapts", [False, True])
def test_several_kinds_predict_the_same_after_loading(
    tmp_path: Path, precision: Any, distill: bool, adapts: bool
) -> None:
    data = make_blobs_shift()
    X, X_target = data.X_source.astype(precision), data.X_target.astype(precision)
    labels = NAMES.astype(object)[data.y_source]
    model = small(("margin", "rbf", "discriminant", "source"), distill=distill, random_state=None)
    model.fit(X, labels, X_target=X_target if adapts else None)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model")
    assert copy.classes_.dtype == copy.transduction_.dtype == object
    assert hasattr(copy, "seats_")
    if distill:
        model.seats_ = []  # the file does not hold them
    assert_same(copy, model, X_target)
    assert_same(copy, model, data.X_target)
    copy.fit(X, labels, X_target=X_target)


def test_committee_without_optional_attributes_is_saved(tmp_path: Path) -> None:
    data = make_blobs_shift()
    model = fitted(small(["margin", "source"]), data._replace(X_source=data.X_source[:3], y_source=data.y_source[:3]))
    assert not hasattr(model, "home_accuracy_")
    save(model, tmp_path / "model")
    assert_same(load(tmp_path / "model"), model, data.X_target)


@pytest.fixture(scope="module")
def files() -> Callable[[str], dict[str, Any]]:
    """The contents of files, one for each form of a seat."""
    data = make_blobs_shift()
    known: dict[str, dict[str, Any]] = {}

    def of_form(form: str, folder: Path | None = None) -> dict[str, Any]:
        if form not in known:
            assert folder is not None
            save(fitted(small([FORMS[form]], random_state=0), data), folder / "good")
            with np.load(folder / "good") as archive:
                known[form] = dict(archive)
        return dict(known[form])

    return of_form


def read(contents: dict[str, Any], folder: Path) -> Any:
    with (folder / "bad").open("wb") as file:
        np.savez(file, **contents)
    return load(folder / "bad")


def is_refused(contents: dict[str, Any], folder: Path) -> bool:
    try:
        read(contents, folder)
    except UnreadableModelError:
        return True
    return False


def with_header(contents: dict[str, Any], change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    header = json.loads(contents[HEADER].tobytes())
    change(header)
    return {**contents, HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8)}


def set_first(value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array = array.copy()
        array.flat[0] = value
        return array

    return change


DAMAGE: dict[str, Callable[[Any], Any]] = {
    "cut": lambda array: array[:-1],
    "longer": lambda array: np.concatenate([array, array[-1:]]),
    "empty": lambda array: array[:0],
    "narrower": lambda array: array[..., :-1] if array.ndim > 1 else array[:0],
    "one dimension more": lambda array: array[None],
    "one number": lambda array: array.flat[0],
    "words": lambda array: array.astype(str),
    "complex": lambda array: array.astype(complex),
    "booleans": lambda array: array.astype(bool),
    "unsigned": lambda array: np.abs(array).astype(np.uint32),
    "another kind of number": lambda array: array.astype(np.int64 if array.dtype.kind == "f" else float),
}
NOT_FINITE = {str(value): set_first(value) for value in (np.nan, np.inf, -np.inf)}


@pytest.mark.parametrize("form", FORMS)
def test_damaged_array_is_refused(files: Any, form: str, tmp_path: Path) -> None:
    good = files(form, tmp_path)
    names = [name for name in good if name.startswith("parts_")]
    assert names
    assert read(good, tmp_path).kinds_ == [FORMS[form]]
    for name in names:
        more = NOT_FINITE if good[name].dtype.kind == "f" else {}
        for what, damage in {**DAMAGE, **more}.items():
            assert is_refused({**good, name: damage(good[name])}, tmp_path), f"{name}, {what}"
        assert is_refused({other: array for other, array in good.items() if other != name}, tmp_path), name
    for extra in ("parts_0_more", "parts_1_coef", "parts_coef", "parts_"):
        assert is_refused({**good, extra: np.zeros(3)}, tmp_path)


def _cycle(trees: dict[str, Any]) -> None:
    trees["left"][1] = trees["right"][1] = 0


def _two_leaves(trees: dict[str, Any]) -> None:
    leaf = np.flatnonzero(trees["left"] == np.arange(len(trees["left"])))[0]
    trees["left"][leaf], trees["right"][leaf] = leaf, leaf - 1


TREES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a cycle": _cycle,
    "half a leaf": _two_leaves,
    "a child that is its parent": lambda trees: trees["left"].__setitem__(0, 0),
    "a child outside": lambda trees: trees["right"].__setitem__(0, len(trees["right"])),
    "a child far outside": lambda trees: trees["right"].__setitem__(0, 2**31 - 1),
    "a negative child": lambda trees: trees["left"].__setitem__(0, -1),
    "a root outside": lambda trees: trees["roots"].__setitem__(0, len(trees["left"])),
    "a negative root": lambda trees: trees["roots"].__setitem__(-1, -1),
    "a column outside": lambda trees: trees["feature"].__setitem__(0, 5),
    "a negative column": lambda trees: trees["feature"].__setitem__(0, -1),
}


@pytest.mark.parametrize("name", TREES)
def test_damaged_tree_is_refused(files: Any, name: str, tmp_path: Path) -> None:
    good = files("trees", tmp_path)
    trees = {key.removeprefix("parts_0_"): array.copy() for key, array in good.items() if key.startswith("parts_0_")}
    TREES[name](trees)
    with pytest.raises(UnreadableModelError):
        read({**good, **{f"parts_0_{key}": array for key, array in trees.items()}}, tmp_path)


HEADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no parts": lambda h: h.pop("parts"),
    "parts that are null": lambda h: h.update(parts=None),
    "parts that are a number": lambda h: h.update(parts=1),
    "parts that are words": lambda h: h.update(parts="margin"),
    "parts that are a mapping": lambda h: h.update(parts={"0": h["parts"][0]}),
    "no seats": lambda h: h.update(parts=[]),
    "a seat twice": lambda h: h.update(parts=h["parts"] * 2),
    "a seat that is null": lambda h: h.update(parts=[None]),
    "another form": lambda h: h["parts"][0].update(form="logistic" if h["parts"][0]["form"] == "linear" else "linear"),
    "an unknown form": lambda h: h["parts"][0].update(form="pickle"),
    "a form that is a list": lambda h: h["parts"][0].update(form=["linear"]),
    "another name": lambda h: h["parts"][0].update(name="svm"),
    "no name": lambda h: h["parts"][0].pop("name"),
    "no weight": lambda h: h["parts"][0].pop("weight"),
    "weight 0": lambda h: h["parts"][0].update(weight=0),
    "weight -1": lambda h: h["parts"][0].update(weight=-1),
    "weight 1e300": lambda h: h["parts"][0].update(weight=1e300),
    "weight null": lambda h: h["parts"][0].update(weight=None),
    "weight in words": lambda h: h["parts"][0].update(weight="nan"),
    "weights that do not sum to one": lambda h: h["parts"][0].update(weight=0.5),
    "no root": lambda h: h["parts"][0].pop("root"),
    "no view": lambda h: h["parts"][0].pop("view"),
    "another view": lambda h: h["parts"][0].update(view=["view_center"]),
    "a view that is null": lambda h: h["parts"][0].update(view=None),
    "no unit": lambda h: h["parts"][0].pop("unit"),
    "other kinds": lambda h: h.update(kinds_=["log loss"]),
    "more kinds": lambda h: h.update(kinds_=[*h["kinds_"], "log loss"]),
    "no kinds": lambda h: h.update(kinds_=[]),
    "kinds that are null": lambda h: h.update(kinds_=None),
    "kinds that are a number": lambda h: h.update(kinds_=1),
    "temperature 0": lambda h: h.update(temperature_=0),
    "temperature -1": lambda h: h.update(temperature_=-1.0),
    "temperature in words": lambda h: h.update(temperature_="nan"),
    "an infinite temperature": lambda h: h.update(temperature_="inf"),
    "temperature null": lambda h: h.update(temperature_=None),
    "left_out_ that is a list": lambda h: h.update(left_out_=["margin"]),
    "left_out_ that is null": lambda h: h.update(left_out_=None),
    "history that is a number": lambda h: h.update(history_=1),
    "distilled, with seats": lambda h: h["params"].update(distill=True),
    "a parameter that is none": lambda h: h["params"].update(neighbors=3),
    "unknown kinds as parameter": lambda h: h["params"].update(kinds=3),
    "a model that has no seats": lambda h: h.update(model="AdREM"),
    "more columns": lambda h: h.update(n_features_in_=6),
}


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("form", ["linear", "trees"])
def test_damaged_header_is_refused(files: Any, form: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableModelError):
        read(with_header(files(form, tmp_path), HEADERS[name]), tmp_path)


def test_seats_of_a_distilled_committee_are_refused(files: Any, tmp_path: Path) -> None:
    good = files("linear", tmp_path)
    header = with_header(good, lambda h: (h["params"].update(distill=True), h.update(parts=[])))
    with pytest.raises(UnreadableModelError):  # arrays of no seat
        read(header, tmp_path)
    alone = {name: array for name, array in header.items() if not name.startswith("parts_")}
    assert read(alone, tmp_path).distill


@pytest.mark.parametrize("form", FORMS)
def test_altered_numbers_are_refused_or_predict(files: Any, form: str, tmp_path: Path) -> None:
    """Whatever numbers an array holds, a model that loads gives an answer."""
    good, rng = files(form, tmp_path), RandomState(0)
    rows = make_blobs_shift().X_target[:5]
    names = [name for name in good if name.startswith("parts_")]
    for _ in range(15):
        name = names[rng.randint(len(names))]
        changed = good[name].copy()
        place = rng.randint(changed.size)
        large = {4: 1e38, 8: 1e300}[changed.dtype.itemsize]
        values = [0, 1, -1, 7, 10**6] if changed.dtype.kind == "i" else [0.0, -1.0, large, -1.0 / large]
        changed.flat[place] = values[rng.randint(len(values))]
        try:
            model = read({**good, name: changed}, tmp_path)
        except UnreadableModelError:
            continue
        with np.errstate(all="ignore"):
            assert model.predict(rows).shape == (5,)
