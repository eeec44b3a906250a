"""Tests of the classifier that is chosen on the source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfTransformer

from adrem import load, save
from adrem.baselines import SourceOnlyCV
from adrem.exceptions import UnreadableModelError

RNG = np.random.RandomState(0)


def squares(n: int = 200, n_classes: int = 2) -> tuple[Any, Any, Any]:
    """Classes that no line separates."""
    X = RNG.uniform(-1, 1, size=(2 * n, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (0 if n_classes == 2 else (X[:, 2] > 0.5).astype(int))
    return X[:n], y[:n], X[n:]


def words(n: int = 120) -> tuple[Any, Any, Any]:
    y = RNG.randint(0, 2, 2 * n)
    rows = RNG.poisson(0.3, size=(2 * n, 60)).astype(float)
    rows[np.arange(2 * n), y] += 1.0
    rows *= RNG.choice([1.0, 30.0], size=(2 * n, 1))  # long reviews
    return sp.csr_array(rows[:n]), y[:n], sp.csr_array(rows[n:])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosting_is_chosen_where_lines_fail_and_equals_scikit_learn(n_classes: int) -> None:
    X, y, X_target = squares(n_classes=n_classes)
    model = SourceOnlyCV(random_state=0).fit(X, y, X_target=X_target)
    assert model.chosen_.startswith("gradient boosting")
    assert model.cv_accuracy_[model.chosen_] > model.cv_accuracy_["logistic regression"] + 0.1
    params = {} if model.chosen_ == "gradient boosting" else {"max_leaf_nodes": 4, "min_samples_leaf": 5}
    reference: Any = HistGradientBoostingClassifier(early_stopping=False, **params)
    reference.fit(X, y)
    np.testing.assert_array_equal(model.transduction_, reference.predict(X_target))
    np.testing.assert_allclose(model.predict_proba(X_target), reference.predict_proba(X_target), atol=1e-6)


def test_logistic_regression_is_chosen_on_a_line() -> None:
    X = RNG.normal(size=(160, 5)) * [1, 10, 100, 1, 1] + 7
    y = (X[:, 0] + X[:, 1] / 10 + X[:, 2] / 100 + RNG.normal(size=160) / 5 > 8.4).astype(int)
    model = SourceOnlyCV(random_state=0).fit(X[:80], y[:80], X_target=X[80:])
    assert model.chosen_ == "logistic regression"
    assert (model.transduction_ == y[80:]).mean() > 0.85


def test_text_is_seen_as_tf_idf() -> None:
    X, y, X_target = words()
    model = SourceOnlyCV(random_state=0).fit(X, y, X_target=X_target)
    weights = TfidfTransformer(sublinear_tf=False).fit((X > 0).astype(float))
    np.testing.assert_allclose(model.idf_, weights.idf_)
    seen = weights.transform((X_target > 0).astype(float))
    scores = seen @ (model.coef_[0] / model.idf_).T + model.intercept_[0]
    assert model.chosen_ == "logistic regression on tf-idf"
    np.testing.assert_allclose(model.decision_function(X_target), scores[:, 0])
    scaled = SourceOnlyCV(random_state=0).fit(X * np.linspace(1, 9, 60)[None, :], y, X_target=X_target)
    np.testing.assert_allclose(scaled.idf_, model.idf_)


@pytest.mark.parametrize("data", [squares, words])
def test_saved_model_labels_alike(data: Any, tmp_path: Path) -> None:
    X, y, X_target = data()
    model = SourceOnlyCV(random_state=0).fit(X, y, X_target=X_target)
    save(model, tmp_path / "m.adrem")
    again = load(tmp_path / "m.adrem")
    np.testing.assert_array_equal(again.predict_proba(X_target), model.predict_proba(X_target))
    assert again.findings() == model.findings()


def test_rare_classes_leave_no_choice() -> None:
    X, y, X_target = squares()
    y = np.where(np.arange(len(y)) < 2, 5, 0)
    model = SourceOnlyCV(random_state=0).fit(X, y, X_target=X_target)
    assert (model.chosen_, model.cv_accuracy_) == ("logistic regression", {})


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.update(parts_left=arrays["parts_left"] * 0),
        lambda arrays: arrays.update(parts_feature=arrays["parts_feature"] + 99),
        lambda arrays: arrays.update(parts_value=arrays["parts_value"][:-1]),
        lambda arrays: arrays.update(parts_value=arrays["parts_value"] * np.nan),
        lambda arrays: arrays.pop("parts_roots"),
        lambda arrays: [arrays.pop(name) for name in list(arrays) if name.startswith("parts_")],
    ],
)
def test_damaged_trees_are_refused(change: Any, tmp_path: Path) -> None:
    X, y, X_target = squares()
    path = tmp_path / "m.adrem"
    save(SourceOnlyCV(random_state=0).fit(X, y, X_target=X_target), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    change(arrays)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(UnreadableModelError):
        load(path)
