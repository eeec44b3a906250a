from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from adrem.columns import Recipe
from adrem.columns.kinds import Wishes, infer_kinds
from adrem.columns.learning import make_recipe
from adrem.columns.recipe import ABSENT, CONSTANT, OTHER, WEIGHT_BESIDE_TEXT
from adrem.columns.terms import WORD
from adrem.preprocessing import JointStdScaler

TEXTS = ["A fine, fine book I read", "not a fine book at all", "It's a bad 2 pan for eggs", "this pan is very good"]


def test_text_becomes_scaled_word_and_bigram_counts() -> None:
    source, target = pl.DataFrame({"review": TEXTS[:2]}), pl.DataFrame({"review": TEXTS[2:]})
    recipe, X_source, X_target, _ = make_recipe(infer_kinds(source, target), source, target)
    vectorizer = CountVectorizer(ngram_range=(1, 2), token_pattern=WORD)
    counts = vectorizer.fit_transform(TEXTS).astype(float)
    expected = JointStdScaler().fit_transform(sp.csr_array(counts)).toarray()
    assert sp.issparse(X_source)
    np.testing.assert_allclose(sp.vstack([X_source, X_target]).toarray(), expected)
    assert recipe.feature_names == vectorizer.get_feature_names_out().tolist()
    assert {"fine book", "s", "2"} <= set(recipe.feature_names)


def test_numbers_are_standardized_over_both_domains() -> None:
    rng = np.random.RandomState(0)
    values = rng.standard_normal((40, 3)) * [1.0, 10.0, 100.0] + 5.0
    frame = pl.DataFrame(values, schema=["a", "b", "c"])
    recipe, X_source, X_target, report = make_recipe(infer_kinds(frame[:25], frame[25:]), frame[:25], frame[25:])
    expected = np.hstack([StandardScaler().fit_transform(values), np.ones((40, 1))])
    np.testing.assert_allclose(np.concatenate([X_source, X_target]), expected)
    assert recipe.feature_names == ["a", "b", "c", CONSTANT]
    assert report.filled == {}
    again, _ = recipe.apply(frame[25:])
    np.testing.assert_array_equal(again, X_target)


def test_missing_numbers_get_median_and_indicator() -> None:
    source, target = pl.DataFrame({"a": [1.0, 2.0, None, 9.0]}), pl.DataFrame({"a": [float("nan"), 3.0]})
    recipe, X_source, _, report = make_recipe(infer_kinds(source, target), source, target)
    assert recipe.numbers == {"a": 2.5}
    assert report.filled == {"a": 2}
    assert recipe.feature_names == ["a", "a is missing", CONSTANT]
    assert X_source[2, 1] > 0 > X_source[0, 1]
    rows, later = recipe.apply(pl.DataFrame({"a": [None, 1.0]}, schema={"a": pl.Float64}))
    np.testing.assert_allclose(rows[:, 0], (np.array([2.5, 1.0]) - recipe.centres[0]) / recipe.scales[0])
    assert later.filled == {"a": 1}


def test_categories_are_one_hot_encoded_over_both_domains() -> None:
    source = pl.DataFrame({"city": ["Rome", "Bath", None, "Rome"]})
    target = pl.DataFrame({"city": ["Ghent", "Rome", "Ghent", "Ghent"]})
    recipe, X_source, _, _ = make_recipe(infer_kinds(source, target), source, target)
    assert recipe.categories == {"city": [ABSENT, "Bath", "Ghent", "Rome"]}
    np.testing.assert_array_equal(X_source > 0, np.eye(4, dtype=bool)[[3, 1, 0, 3]])
    rows, report = recipe.apply(pl.DataFrame({"city": ["Oslo", "Bath"], "more": [1, 2]}))
    assert report.unknown_values == {"city": 1}
    assert report.new_columns == ["more"]
    assert rows[0].tolist() == [0.0] * 4


def test_recipe_accepts_reordered_and_missing_columns() -> None:
    source = pl.DataFrame({"n": [1.0, 2.0], "text": TEXTS[:2], "kind": ["x", "y"]})
    target = pl.DataFrame({"kind": ["y", "x"], "text": TEXTS[2:], "n": [3.0, 5.0]})
    recipe, _, X_target, _ = make_recipe(infer_kinds(source, target), source, target)
    assert recipe.feature_names[:6] == ["n < 1.5", "n 1.5 to 2.5", "n 2.5 to 4", "n >= 4", "kind = x", "kind = y"]
    assert "text: fine book" in recipe.feature_names
    again, report = recipe.apply(target.select("text", "n", "kind"))
    np.testing.assert_array_equal(again.toarray(), X_target.toarray())
    without, report = recipe.apply(target.drop("n"))
    assert report.missing_columns == ["n"]
    np.testing.assert_array_equal(without.toarray()[:, :4], 0.0)
    np.testing.assert_array_equal(without.toarray()[:, 4:], X_target.toarray()[:, 4:])
    with pytest.raises(ValueError, match=r"none of the columns of the model, 'n', 'kind', 'text'\. Its columns: 'q'"):
        recipe.apply(pl.DataFrame({"q": [1]}))


def test_text_without_words_gives_empty_row() -> None:
    source, target = pl.DataFrame({"t": ["...", "!!"]}), pl.DataFrame({"t": ["?", None]})
    with pytest.raises(ValueError, match="Neither file has a word to learn from in 't'"):
        make_recipe(infer_kinds(source, target, Wishes(text=["t"])), source, target)
    words = pl.DataFrame({"t": ["some words", None]})
    _, _, X_target, _ = make_recipe(infer_kinds(source, words, Wishes(text=["t"])), source, words)
    np.testing.assert_array_equal(X_target.toarray() > 0, [[True] * 3, [False] * 3])


def test_recipe_round_trips_through_json() -> None:
    source = pl.DataFrame({"n": [1.0, None], "text": TEXTS[:2], "kind": ["x", "y"]})
    target = pl.DataFrame({"kind": ["y", "x"], "text": TEXTS[2:], "n": [3.0, 5.0]})
    recipe, _, X_target, _ = make_recipe(infer_kinds(source, target), source, target)
    again = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())), recipe.scales, recipe.centres)
    np.testing.assert_array_equal(again.apply(target)[0].toarray(), X_target.toarray())
    assert again.feature_names == recipe.feature_names


def test_missing_values_that_tell_the_domains_apart_are_not_marked() -> None:
    values = np.arange(100) * 1.5
    source = pl.DataFrame({"a": values, "kind": ["x", "y"] * 50})
    holes = np.arange(100) % 2 == 0
    target = pl.DataFrame({"a": np.where(holes, np.nan, values), "kind": [None if hole else "x" for hole in holes]})
    recipe, _, _, findings = make_recipe(infer_kinds(source, target), source, target)
    assert recipe.feature_names == ["a", CONSTANT, "kind = x", "kind = y"]
    assert findings.unmarked == {"a": (0.0, 0.5), "kind": (0.0, 0.5)}


def test_rare_categories_count_as_one() -> None:
    values = ["Rome", "Bath"] * 40 + [f"village {k}" for k in range(60)]
    source = pl.DataFrame({"town": values})
    recipe, rows, _, _ = make_recipe(infer_kinds(source, source), source, source)
    assert recipe.categories == {"town": [OTHER, "Bath", "Rome"]}
    assert (np.asarray(rows)[:, 0] > 0).sum() == 60
    again, report = recipe.apply(pl.DataFrame({"town": ["Oslo", "Rome"]}))
    assert (np.asarray(again) > 0).tolist() == [[True, False, False], [False, False, True]]
    assert report.unknown_values == {"town": 1}


def test_numbers_beside_text_become_intervals() -> None:
    rng = np.random.RandomState(0)
    numbers = [None if k % 10 == 0 else float(value) for k, value in enumerate(rng.normal(size=80))]
    source = pl.DataFrame({"n": numbers, "text": ["some words in a row"] * 80})
    recipe, rows, _, _ = make_recipe(infer_kinds(source, source, Wishes(text=["text"])), source, source)
    own = [name for name in recipe.feature_names if name.startswith("n ")]
    assert len(own) == 11
    assert own[-1] == "n is missing"
    counts = (rows.toarray()[:, :11] > 0).sum(axis=0)
    assert counts.tolist()[-1] == 8
    assert set(counts.tolist()[:-1]) <= {7, 8}
    deviations = rows.toarray()[:, :11].std(axis=0)
    np.testing.assert_allclose(deviations, WEIGHT_BESIDE_TEXT)  # single numbers would drown among the words
    again = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())), recipe.scales, recipe.centres)
    assert again.is_for(rows.shape[1])
    np.testing.assert_array_equal(again.apply(source)[0].toarray(), rows.toarray())


def test_codes_and_dates_are_applied_to_new_tables() -> None:
    days = [f"2021-03-{k:02d}" for k in range(1, 29)]
    source = pl.DataFrame({"when": days, "n": [float(k % 7) for k in range(28)]})
    wishes = Wishes(numeric=["when"])
    recipe, X_source, _, _ = make_recipe(infer_kinds(source, source, wishes), source, source, {"n": ["-9"]})
    again = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())), recipe.scales, recipe.centres)
    np.testing.assert_array_equal(again.apply(source)[0], X_source)
    rows, report = again.apply(pl.DataFrame({"when": ["2021-03-05"], "n": ["-9.0"]}))
    assert report.filled == {"n": 1}
    assert rows[0, 0] == np.asarray(X_source)[4, 0]
