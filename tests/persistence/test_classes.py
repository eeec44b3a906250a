"""Tests of saving and loading models that other packages define."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adrem import AdREM, Committee, load, save
from adrem.base.classifier import DomainClassifier
from adrem.base.validation import Domains
from adrem.baselines import CORAL
from adrem.datasets import DomainPair
from adrem.exceptions import UnreadableModelError
from adrem.persistence.models import HEADER
from adrem.registry import ESTIMATORS, find_estimator

HERE = [__name__]
Borrowed = CORAL  # an alias of a class that another module defines


class Noting(CORAL):
    """A subclass that adds fitted attributes of every kind that can be saved."""

    saved_attributes = ("notes_", "names_", "best_", "mask_")

    def fit(self, X: Any, y: Any, **more: Any) -> Any:
        super().fit(X, y, **more)
        self.notes_ = [{"step": 1, "loss": 0.5}, {"step": 2, "loss": None}]
        self.names_ = np.array(["a", "b"])
        self.best_ = np.float64(0.25)
        self.mask_ = np.array([True, False])
        return self


class Silent(CORAL):
    """A subclass that does not declare its added attributes."""

    def fit(self, X: Any, y: Any, **more: Any) -> Any:
        super().fit(X, y, **more)
        self.extra_ = 1.0
        return self


class Derived(AdREM):
    """A subclass that adds nothing."""


class Shaped(DomainClassifier):
    """A model whose own parameters have names that are also those of the package's models."""

    saved_attributes = ("vote_share_",)

    def __init__(self, form: str = "round", kernel: str = "flat") -> None:
        self.form = form
        self.kernel = kernel

    def fit_domains(self, domains: Domains) -> None:
        self.classes_ = domains.classes
        self.transduction_ = self.classes_[np.zeros(domains.X_target.shape[0], np.intp)]
        self.vote_share_ = np.eye(len(self.classes_))[np.zeros(domains.X_target.shape[0], np.intp)]

    def decide_rows(self, rows: Any) -> Any:
        return np.tile(-np.arange(float(len(self.classes_))), (rows.shape[0], 1))


class Elected(Committee):
    """A subclass whose base packs its parts."""


class Packed(Shaped):
    """A model that packs a part of its own."""

    def fit_domains(self, domains: Domains) -> None:
        super().fit_domains(domains)
        self.part_ = np.arange(3)

    def pack_parts(self) -> tuple[Any, dict[str, Any]]:
        return {"plus": 1}, {"part": self.part_}

    def restore_parts(self, values: Any, arrays: dict[str, Any]) -> None:
        self.part_ = arrays["part"] + values["plus"]


class Other:
    """Not a model."""


def fitted(model: Any, data: DomainPair) -> Any:
    return model.fit(data.X_source, data.y_source, X_target=data.X_target)


def rewrite(path: Path, change: Any) -> None:
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(bytes(arrays[HEADER]))
    change(header, arrays)
    arrays[HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_saved_attributes_of_subclasses_round_trip(blobs: DomainPair, tmp_path: Path) -> None:
    for model in (Noting(C=0.1), Derived(C=0.1, n_estimators=2, n_iter=2, random_state=0)):
        save(fitted(model, blobs), tmp_path / "model")
        copy = load(tmp_path / "model", trusted_modules=HERE)
        assert type(copy) is type(model)
        names = {name for name in vars(model) if name.endswith("_")}
        assert names == {name for name in vars(copy) if name.endswith("_")}
        for name in names:
            np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))
        np.testing.assert_array_equal(copy.predict_proba(blobs.X_target), model.predict_proba(blobs.X_target))


def test_parts_of_subclasses_are_saved(blobs: DomainPair, tmp_path: Path) -> None:
    elected = fitted(Elected(["log loss"], n_estimators=1, random_state=0), blobs)
    save(elected, tmp_path / "model")
    copy = load(tmp_path / "model", trusted_modules=HERE)
    assert isinstance(copy, Elected)
    np.testing.assert_array_equal(copy.predict_proba(blobs.X_target), elected.predict_proba(blobs.X_target))
    save(fitted(Packed(), blobs), tmp_path / "model")
    assert load(tmp_path / "model", trusted_modules=HERE).part_.tolist() == [1, 2, 3]


def test_undeclared_attributes_are_named(blobs: DomainPair, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"would not be saved: .* saved_attributes = \('extra_',\)"):
        save(fitted(Silent(C=0.1), blobs), tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("best_", object(), "best_ can't be saved: it is a object"),
        ("best_", (1, 2), "best_ can't be saved: it is a tuple"),
        ("best_", {1: "a"}, "best_ can't be saved: it is a dict"),
        ("best_", float("nan"), "best_ can't be saved: it is a float"),
        ("names_", np.array(["a", None], dtype=object), "names_ can't be saved: it is a ndarray"),
        ("coef_", np.zeros((1, 2)), "don't have the shapes"),
        ("coef_", [[[0.0]]], "don't have the shapes"),
    ],
)
def test_only_plain_values_can_be_saved(blobs: DomainPair, tmp_path: Path, name: str, value: Any, message: str) -> None:
    model = fitted(Noting(C=0.1), blobs)
    setattr(model, name, value)
    with pytest.raises(TypeError, match=message):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_local_class_can_not_be_saved(blobs: DomainPair, tmp_path: Path) -> None:
    class Local(CORAL):
        pass

    with pytest.raises(TypeError, match="Define the class at the top level of a module"):
        save(fitted(Local(C=0.1), blobs), tmp_path / "model")


def test_subclass_keeping_rows_can_not_be_saved(blobs: DomainPair, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"Noting\(form='similarity'\) keeps the rows"):
        save(fitted(Noting(C=0.1, form="similarity"), blobs), tmp_path / "model")


def test_parameters_mean_what_their_class_says(blobs: DomainPair, tmp_path: Path) -> None:
    model = fitted(Shaped(), blobs)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model", trusted_modules=HERE)
    assert (copy.form, copy.kernel) == ("round", "flat")
    np.testing.assert_array_equal(copy.predict(blobs.X_target), model.transduction_)


@pytest.mark.parametrize("model", [CORAL(C=0.1), AdREM(C=0.1, n_estimators=1, n_iter=1)], ids=["CORAL", "AdREM"])
@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
def test_a_changed_parameter_makes_no_file_that_can_not_be_loaded(
    blobs: DomainPair, tmp_path: Path, model: Any
) -> None:
    name, with_rows = ("form", "similarity") if isinstance(model, CORAL) else ("kernel", "rbf")
    fitted(model, blobs).set_params(**{name: with_rows})
    with pytest.raises(TypeError, match=f"{name}='{with_rows}'.* keeps the rows"):
        save(model, tmp_path / "model")
    instead = model.without_rows()
    fitted(model, blobs).set_params(**instead)
    assert not model.without_rows()
    with pytest.raises(TypeError, match=r"can't be saved without coef_.*: fit it again"):
        save(model, tmp_path / "model")
    save(fitted(model, blobs), tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, _: h.update(module="os"), r"'Noting' of the module 'os', .* trusted_modules=\['os'\]"),
        (lambda h, _: h.update(module="not_there_at_all"), r"of the module 'not_there_at_all'"),
        (lambda h, _: h.update(module="adrem_nowhere"), "needs the module 'adrem_nowhere'"),
        (lambda h, _: h.update(model="Other"), "has no model 'Other'"),
        (lambda h, _: h.update(model="Borrowed"), "has no model 'Borrowed'"),
        (lambda h, _: h.update(model="__doc__"), "has no model '__doc__'"),
        (lambda h, _: h.update(model="Nothing"), "has no model 'Nothing'"),
        (lambda h, _: h.update(module=None), "of the module 'None'"),
        (lambda h, _: h["attributes"].update(predict="boom"), "header has the keys"),
        (lambda h, _: h["attributes"].update(coef_=1.0), "header has the keys"),
        (lambda h, _: h.update(attributes=["notes_"]), "damaged"),
        (lambda h, _: h.pop("attributes"), "header has the keys"),
        (lambda h, _: h.pop("module"), "holds a 'Noting', unknown"),
        (lambda _, a: a.update(predict=np.zeros(1)), "holds the arrays"),
        (lambda _, a: a.update(coef_=a["coef_"][:, :, :2]), "do not fit together"),
        (lambda _, a: a.pop("coef_"), "holds the arrays"),
    ],
)
def test_file_with_other_class_is_rejected(blobs: DomainPair, tmp_path: Path, change: Any, message: str) -> None:
    save(fitted(Noting(C=0.1), blobs), tmp_path / "model")
    rewrite(tmp_path / "model", change)
    with pytest.raises(UnreadableModelError, match=message):
        load(tmp_path / "model", trusted_modules=[*HERE, "adrem_nowhere"])


def test_find_estimator_compares_class_not_name() -> None:
    namesake = type("CORAL", (DomainClassifier,), {})
    assert find_estimator(Borrowed) is ESTIMATORS["CORAL"]
    assert find_estimator(namesake) is None
