"""Tests of explanations of saved models."""

from __future__ import annotations

import numpy as np
import polars as pl

from adrem import AdREM
from adrem.columns import FileTable, make_pair
from adrem.columns.explanation import explain
from adrem.columns.labelling import adapt_pair
from adrem.diagnostics.contributions import class_features

RNG = np.random.RandomState(0)


def test_columns_have_direction_and_size_in_their_own_units() -> None:
    y = np.arange(200) % 2
    age, salary = 40 + 10 * RNG.normal(size=200) + 12 * y, 50_000 + 9_000 * RNG.normal(size=200) - 9_000 * y
    frame = pl.DataFrame({"age": age, "salary": salary, "ill": np.where(y, "yes", "no").tolist()})
    pair = make_pair(FileTable("a", "", frame[:100]), FileTable("b", "", frame[100:].drop("ill")), label="ill")
    bundle, _ = adapt_pair(pair, AdREM(C=0.1, n_estimators=3, random_state=0), {})
    no, yes = explain(bundle)
    effects = {effect.column: effect for effect in yes.columns}
    assert effects["age"].per_unit > 0 > effects["salary"].per_unit
    np.testing.assert_allclose(effects["age"].deviation, age.std(), rtol=1e-6)
    np.testing.assert_allclose(effects["age"].per_unit * effects["age"].deviation, effects["age"].per_deviation)
    assert [effect.per_unit for effect in no.columns] == [-effect.per_unit for effect in yes.columns]
    assert "(constant)" not in [*no.adapted, *yes.adapted, *no.gained, *yes.gained]


def test_no_feature_is_of_one_class_and_gained_by_another() -> None:
    before, after = RNG.normal(size=(3, 50)), RNG.normal(size=(2, 3, 50))
    names = [f"w{k}" for k in range(50)]
    found = class_features(["a", "b", "c"], names, before, after, n=50)
    gained = [set(own.gained) for own in found]
    assert not gained[0] & gained[1] | gained[1] & gained[2] | gained[0] & gained[2]
    assert all(set(own.gained) <= set(own.adapted) for own in found)


def test_weights_of_rare_words_are_damped() -> None:
    weights = np.array([[1.0, 1.2, 0.9]])
    [_, found] = class_features(["a", "b"], ["x", "rare", "z"], weights, weights[None], n_rows=np.array([500, 1, 400]))
    assert found.adapted == ["x", "z", "rare"]
