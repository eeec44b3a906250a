"""Tests that every baseline follows the estimator contract of the package."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from adrem import AdREM, baselines
from adrem.baselines import CORAL, FLDA, GFK, KMM, SPL, TCA, HardEM, SoftEM, SourceOnly, SubspaceAlignment
from adrem.datasets import DomainPair
from adrem.registry import ESTIMATORS

ALIGNMENTS = [CORAL, SubspaceAlignment, GFK, TCA]
METHODS = [estimator.load() for name, estimator in ESTIMATORS.items() if name in baselines.__all__]
EVERY_FORM = [
    *(method() for method in METHODS),
    SourceOnly(loss="log_loss"),
    HardEM(loss="log_loss"),
    SoftEM(temperature=0.1),
    FLDA(loss="squared"),
    KMM(kernel="linear"),
    *(method(form=form) for method in ALIGNMENTS for form in ("similarity", "nearest")),
]
# The forms of an alignment method differ only in the classifier after it, which the methods share.
CHECKED = [*(method() for method in METHODS), CORAL(form="similarity"), CORAL(form="nearest"), FLDA(loss="squared")]
# As in LinearSVC of scikit-learn.
EXPECTED_FAILURES = {
    f"check_sample_weight_equivalence_on_{kind}_data": "weights are not copies: folds and iterations differ"
    for kind in ("dense", "sparse")
}


def expected_failures(model: Any) -> dict[str, str]:
    """In SPL, and with the nearest row, a weight is a copy."""
    return {} if isinstance(model, SPL) or getattr(model, "form", None) == "nearest" else EXPECTED_FAILURES


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::adrem.exceptions.AmbiguousLabelsWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_methods_cover_all_exported_baselines() -> None:
    assert {method.__name__ for method in METHODS} == set(baselines.__all__)


def fixed(model: Any) -> Any:
    """The estimator with a seed and, if it has one, a fixed C: there are too few rows for cross-validation."""
    return set_known(model, C=0.1, random_state=0)


def set_known(model: Any, **params: Any) -> Any:
    """A clone with those parameters that the estimator has."""
    return sklearn.clone(model).set_params(**{name: params[name] for name in params if name in model.get_params()})


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_input_forms_agree_and_keep_row_order(model: Any, make: Any, blobs: DomainPair) -> None:
    X, y = np.concatenate([blobs.X_source, blobs.X_target]), np.concatenate([blobs.y_source, np.full(45, -1)])
    order = np.random.default_rng(0).permutation(105)
    X, y, domain = X[order], y[order], np.repeat([1, -2], [60, 45])[order]
    source, target = domain > 0, domain < 0
    two = fixed(model).fit(make(X[source]), y[source], X_target=make(X[target]))
    for other in (fixed(model).fit(make(X), y, sample_domain=domain), fixed(model).fit(make(X), y)):
        np.testing.assert_array_equal(other.transduction_, two.transduction_)
        np.testing.assert_array_equal(other.decision_function(make(X[target])), two.decision_function(make(X[target])))
    np.testing.assert_array_equal(two.predict(make(X[target])), two.transduction_)
    truth = np.concatenate([blobs.y_source, blobs.y_target])[order][target]
    assert np.mean(two.transduction_ == truth) > 0.5


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_target_labels_are_ignored(model: Any, blobs: DomainPair) -> None:
    X = np.concatenate([blobs.X_source, blobs.X_target])
    domain = np.repeat([1, -2], [60, 45])
    models = []
    for labels in (blobs.y_target, blobs.y_target[::-1], np.full(45, 99)):
        y = np.concatenate([blobs.y_source, labels])
        kept = y.copy()
        models.append(fixed(model).fit(X, y, sample_domain=domain))
        np.testing.assert_array_equal(y, kept)
    for other in models[1:]:
        np.testing.assert_array_equal(other.transduction_, models[0].transduction_)
        np.testing.assert_array_equal(
            other.decision_function(blobs.X_target), models[0].decision_function(blobs.X_target)
        )


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_fit_without_target_gives_source_classifier(model: Any, two_blobs: DomainPair) -> None:
    fitted = fixed(model).fit(two_blobs.X_source, two_blobs.y_source)
    assert len(fitted.transduction_) == 0
    assert fitted.score(two_blobs.X_source, two_blobs.y_source) > 0.8
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict(two_blobs.X_target), fitted.predict(two_blobs.X_target))


def test_source_only_equals_adrem_without_target(blobs: DomainPair) -> None:
    for loss in ("hinge", "log_loss"):
        model = SourceOnly(loss=loss, random_state=3).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
        plain = AdREM(loss=loss, random_state=3).fit(blobs.X_source, blobs.y_source)
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        np.testing.assert_array_equal(model.transduction_, plain.predict(blobs.X_target))
        assert model.C_ == plain.C_


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_predict_proba_sums_to_one_and_matches_predict(model: Any, two_blobs: DomainPair, blobs: DomainPair) -> None:
    for data in (two_blobs, blobs):
        fitted = fixed(model).fit(data.X_source, data.y_source, X_target=data.X_target)
        shares = fitted.predict_proba(data.X_target)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        if getattr(model, "form", None) != "similarity":  # one-vs-one votes may tie where probabilities do not
            np.testing.assert_array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.transduction_)


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_predict_rejects_source_rows_unless_allowed(model: Any, blobs: DomainPair) -> None:
    fitted = fixed(model).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    with pytest.raises(ValueError, match="belong to a source domain"):
        fitted.predict(blobs.X_target, sample_domain=np.ones(45))
    fitted.predict(blobs.X_target, sample_domain=np.ones(45), allow_source=True)


@pytest.mark.filterwarnings("ignore::adrem.exceptions.LostClassWarning")
@pytest.mark.parametrize("names", [(-1, 0, 1), (-1, 3, 7), (0, 1, 2)])
@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_minus_one_is_a_class_with_x_target(model: Any, names: Any, blobs: DomainPair) -> None:
    y = np.array(names)[blobs.y_source]
    fitted = fixed(model).fit(blobs.X_source, y, X_target=blobs.X_target)
    plain = fixed(model).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    np.testing.assert_array_equal(fitted.transduction_, np.array(names)[plain.transduction_])
    two = fixed(model).fit(blobs.X_source, 2 * (blobs.y_source > 0) - 1, X_target=blobs.X_target)
    assert set(two.transduction_) <= {-1, 1}


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_rows_of_weight_zero_are_ignored(model: Any, blobs: DomainPair) -> None:
    weights = np.where(np.arange(60) % 4 == 1, 0.0, 1.0)
    kept = weights > 0
    fitted = fixed(model).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target, sample_weight=weights)
    without = fixed(model).fit(blobs.X_source[kept], blobs.y_source[kept], X_target=blobs.X_target)
    np.testing.assert_allclose(
        fitted.decision_function(blobs.X_target), without.decision_function(blobs.X_target), atol=1e-8
    )
    if hasattr(fitted, "source_weight_"):
        np.testing.assert_array_equal(fitted.source_weight_ > 0, kept)


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_predict_proba_is_normalized_for_distant_rows(model: Any, blobs: DomainPair) -> None:
    fitted = fixed(model).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    far = 1e6 * blobs.X_target
    shares = fitted.predict_proba(far)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_fit_rejects_overflowing_values(model: Any, blobs: DomainPair) -> None:
    with pytest.raises(ValueError, match="Scale the features"):
        fixed(model).fit(1e160 * blobs.X_source, blobs.y_source, X_target=blobs.X_target)


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_failed_refit_leaves_model_unfitted(model: Any, blobs: DomainPair) -> None:
    fitted = fixed(model).fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    with pytest.raises(ValueError, match="Scale the features"):
        fitted.fit(1e100 * blobs.X_source, blobs.y_source, X_target=blobs.X_target)
    with pytest.raises(NotFittedError):
        fitted.predict(blobs.X_target)


@pytest.mark.parametrize("model", EVERY_FORM, ids=str)
def test_metadata_routing_keeps_the_result(model: Any, blobs: DomainPair) -> None:
    """Importing skada enables metadata routing for the whole process."""
    models = []
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            chosen = set_known(model, C=[0.01, 0.1], random_state=0)
            models.append(chosen.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target))
    np.testing.assert_array_equal(models[0].transduction_, models[1].transduction_)
