"""Target rows whose labels are known: every method learns from them, keeps their labels, and never reads others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from problems import make_blobs_shift
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adrem import AdREM, Committee, load, save
from adrem.base.known import beside_source, by_origin
from adrem.base.validation import read_domains
from adrem.baselines import CORAL, DASVM, FLDA, ImportanceWeighting, SourceOnly
from adrem.committee.views import by_domain, seen_by
from adrem.datasets import DomainPair
from adrem.diagnostics import estimate_accuracy
from adrem.diagnostics.accuracy import held_out_chances
from adrem.diagnostics.diagnosis import examine
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.registry import ESTIMATORS

BLOBS = make_blobs_shift()
N_TARGET = len(BLOBS.y_target)
ROWS = np.array([3, 4, 11, 20, 33, 44])
REST = np.setdiff1d(np.arange(N_TARGET), ROWS)
KNOWN = np.full(N_TARGET, np.nan)
KNOWN[ROWS] = BLOBS.y_target[ROWS]
SMALL: dict[str, Any] = {"C": 0.1, "n_estimators": 2, "n_iter": 3, "random_state": 0}
METHODS = [estimator.load() for estimator in ESTIMATORS.values()]


def small(method: type[Any], **params: Any) -> Any:
    """An estimator with those parameters that it has."""
    model = method()
    if method is Committee:
        params = {"kinds": ["margin", "discriminant", "source"], **params}
    return model.set_params(
        **{name: value for name, value in {**SMALL, **params}.items() if name in model.get_params()}
    )


def fitted(model: Any, y_target: Any = KNOWN, data: DomainPair = BLOBS) -> Any:
    return model.fit(data.X_source, data.y_source, X_target=data.X_target, y_target=y_target)


def one_table(y_target: Any = KNOWN) -> dict[str, Any]:
    """The same rows in one table, those of the domains mixed, with labels of the target in y."""
    mixed = np.argsort(np.concatenate([np.arange(60) * 1.0, np.arange(45) * 1.3 + 0.5]), kind="stable")
    y = np.concatenate([BLOBS.y_source, y_target])[mixed]
    X = np.concatenate([BLOBS.X_source, BLOBS.X_target])[mixed]
    return {"X": X, "y": y, "sample_domain": np.repeat([1, -2], [60, 45])[mixed]}


def attributes(model: Any) -> dict[str, Any]:
    return {
        name: value for name, value in vars(model).items() if isinstance(value, np.ndarray) and not name.startswith("_")
    }


@pytest.mark.parametrize("method", METHODS)
def test_known_rows_keep_their_labels_and_the_others_are_predicted(method: type[Any]) -> None:
    wrong = KNOWN.copy()
    wrong[ROWS[0]] = (KNOWN[ROWS[0]] + 1) % 3  # no method would give it this label
    model = fitted(small(method), wrong)
    np.testing.assert_array_equal(model.transduction_[ROWS], wrong[ROWS])
    np.testing.assert_array_equal(model.transduction_[REST], model.predict(BLOBS.X_target)[REST])
    np.testing.assert_array_equal(model.known_rows_, ROWS)
    assert model.transduction_.dtype == BLOBS.y_source.dtype
    if hasattr(model, "vote_share_"):
        assert model.vote_share_.shape == (N_TARGET, 3)
        np.testing.assert_array_equal(model.vote_share_[ROWS], np.eye(3)[wrong[ROWS].astype(int)])
    if hasattr(model, "row_agreement_"):
        assert model.member_agreement_.shape == (len(model.kinds_), N_TARGET)
        assert (model.row_agreement_[ROWS] == 1).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_table_gives_the_same_model_bit_for_bit(method: type[Any]) -> None:
    two = fitted(small(method))
    one = small(method, target_labels="use").fit(**one_table())
    for name, value in attributes(two).items():
        np.testing.assert_array_equal(getattr(one, name), value, err_msg=name)
    np.testing.assert_array_equal(one.predict_proba(BLOBS.X_target), two.predict_proba(BLOBS.X_target))


@pytest.mark.parametrize("method", METHODS)
def test_labels_of_the_target_are_never_read_by_default(method: type[Any]) -> None:
    clean = small(method).fit(**one_table(np.full(N_TARGET, np.nan)))
    for poison in (KNOWN, BLOBS.y_target, np.full(N_TARGET, 77.5)):
        model = small(method).fit(**one_table(poison))
        assert not hasattr(model, "known_rows_")
        for name, value in attributes(clean).items():
            np.testing.assert_array_equal(getattr(model, name), value, err_msg=name)


@pytest.mark.parametrize("method", METHODS)
def test_labels_change_the_model_and_no_labels_do_not(method: type[Any]) -> None:
    without = fitted(small(method), None)
    scores = without.predict_proba(BLOBS.X_target)
    for nothing in (np.full(N_TARGET, np.nan), np.full(N_TARGET, -1), [None] * N_TARGET):
        same = fitted(small(method), nothing)
        np.testing.assert_array_equal(same.predict_proba(BLOBS.X_target), scores)
        assert not hasattr(same, "known_rows_")
    assert np.any(fitted(small(method)).predict_proba(BLOBS.X_target) != scores)


@pytest.mark.parametrize("method", METHODS)
def test_every_row_may_be_known(method: type[Any]) -> None:
    model = fitted(small(method), BLOBS.y_target)
    np.testing.assert_array_equal(model.transduction_, BLOBS.y_target)
    assert model.score(BLOBS.X_target, BLOBS.y_target) > 0.8
    assert len(getattr(model, "vote_share_", model.transduction_)) == N_TARGET


@pytest.mark.parametrize("method", METHODS)
def test_known_rows_are_saved_and_a_new_fit_forgets_them(method: type[Any], tmp_path: Path) -> None:
    model = fitted(small(method))
    save(model, tmp_path / "known.adrem")
    again = load(tmp_path / "known.adrem")
    np.testing.assert_array_equal(again.known_rows_, ROWS)
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    np.testing.assert_array_equal(again.predict(BLOBS.X_target), model.predict(BLOBS.X_target))
    assert again.known_weight_ == model.known_weight_
    assert again.get_params() == model.get_params()
    assert not {"known_rows_", "known_weight_"} & {*vars(fitted(model, None))}


@pytest.mark.parametrize(
    "given",
    [
        [None if np.isnan(label) else int(label) for label in KNOWN],
        [-1 if np.isnan(label) else int(label) for label in KNOWN],
        np.where(np.isnan(KNOWN), -1, KNOWN).astype(np.int8),
        pd.Series(KNOWN).astype("Int64"),
        pl.Series(KNOWN).fill_nan(None).cast(pl.Int32),
        KNOWN[:, None].astype(np.float32)[:, 0],
    ],
    ids=["None", "-1", "int8", "pandas NA", "polars null", "float32"],
)
def test_unknown_labels_are_marked_in_many_ways(given: Any) -> None:
    model, expected = fitted(SourceOnly(C=0.1), given), fitted(SourceOnly(C=0.1))
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)


def test_string_labels_and_their_masks() -> None:
    names = np.array(["a", "b", "c"], dtype=object)
    data = BLOBS._replace(y_source=names[BLOBS.y_source])
    expected = fitted(SourceOnly(C=0.1)).coef_
    for mask in (None, np.nan, -1, pd.NA):
        given = [mask if np.isnan(label) else names[int(label)] for label in KNOWN]
        for labels in (given, np.array(given, dtype=object)):
            model = fitted(SourceOnly(C=0.1), labels, data)
            np.testing.assert_array_equal(model.coef_, expected)
            assert model.transduction_[ROWS].tolist() == names[KNOWN[ROWS].astype(int)].tolist()


def test_minus_one_as_a_class_needs_another_mark() -> None:
    data = BLOBS._replace(y_source=BLOBS.y_source - 1)
    with pytest.raises(InvalidDataError, match=r"y_target has -1, which is a class .*: mark these by NaN or None"):
        fitted(SourceOnly(C=0.1), [0, -1] + [-1] * (N_TARGET - 2), data)
    model = fitted(SourceOnly(C=0.1), KNOWN - 1, data)  # NaN is the mark, so -1 is the class
    np.testing.assert_array_equal(model.transduction_[ROWS], KNOWN[ROWS] - 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_target": [0] * 3}, "y_target has 3 entries and X_target has 45 rows: give one label per row"),
        ({"y_target": [7] + [None] * 44}, r"no source row has: 7. The source has \[0, 1, 2\]. Mark .* by None or NaN"),
        ({"y_target": ["a"] + [None] * 44}, "no source row has: 'a'"),
        ({"y_target": [0.5] + [np.nan] * 44}, "no source row has: 0.5"),
        ({"y_target": KNOWN, "X_target": None}, "y_target has the labels of X_target, which was not given"),
    ],
)
def test_bad_labels_are_refused_before_any_work(arguments: dict[str, Any], message: str) -> None:
    model = AdREM()
    given = {"X": BLOBS.X_source, "y": BLOBS.y_source, "X_target": BLOBS.X_target, **arguments}
    with pytest.raises(InvalidDataError, match=message):
        model.fit(**given)
    assert not hasattr(model, "classes_")


def test_unknown_class_in_one_table_is_named() -> None:
    with pytest.raises(InvalidDataError, match="y, of the target, has labels that no source row has: 9"):
        SourceOnly(target_labels="use").fit(**one_table(np.full(N_TARGET, 9.0)))
    with pytest.raises(ParameterError, match="target_labels"):
        SourceOnly().set_params(target_labels="maybe").fit(**one_table())


def test_known_rows_stand_beside_the_source() -> None:
    weights = np.linspace(0.5, 2.0, 60)
    domains = read_domains(
        AdREM(), BLOBS.X_source, BLOBS.y_source, X_target=BLOBS.X_target, y_target=KNOWN, sample_weight=weights
    )
    beside = beside_source(domains)
    assert (beside.n_known, beside.n_own, beside.known) == (6, 60, None)
    np.testing.assert_allclose(beside.weights[60:], 5 * weights.mean())
    np.testing.assert_array_equal(beside.X_source[60:], BLOBS.X_target[ROWS])
    np.testing.assert_array_equal(beside.X_target, BLOBS.X_target[REST])
    back = by_origin(beside)
    np.testing.assert_array_equal(back.X_source, BLOBS.X_source)
    np.testing.assert_array_equal(back.X_target, BLOBS.X_target[np.append(ROWS, REST)])


@pytest.mark.parametrize("source_weight", ["equal", "rows", {0: 3.0, 1: 1.0}])
def test_known_rows_beside_several_sources(source_weight: Any) -> None:
    X, domain = np.concatenate([BLOBS.X_source, BLOBS.X_target]), np.repeat([0, 1, -1], [40, 20, 45])
    y = np.concatenate([BLOBS.y_source, KNOWN])
    model = AdREM(**SMALL, source_weight=source_weight, target_labels="use").fit(X, y, sample_domain=domain)
    np.testing.assert_array_equal(model.sources_, [0, 1])
    assert all(len(entry["source_losses"]) == 2 for entry in model.history_)
    np.testing.assert_array_equal(model.transduction_[ROWS], KNOWN[ROWS])


def test_sparse_rows_stay_sparse() -> None:
    sparse = BLOBS._replace(X_source=sp.csr_array(BLOBS.X_source), X_target=sp.csr_array(BLOBS.X_target))
    model, dense = fitted(AdREM(**SMALL), data=sparse), fitted(AdREM(**SMALL))
    assert np.mean(model.transduction_ == dense.transduction_) > 0.9
    assert sp.issparse(beside_source(read_domains(AdREM(), *sparse[:2], X_target=sparse[2], y_target=KNOWN)).X_source)


def test_precomputed_kernel_is_the_linear_one() -> None:
    X = np.concatenate([BLOBS.X_source, BLOBS.X_target])
    similar = X @ X.T
    data = BLOBS._replace(X_source=similar[:60], X_target=similar[60:])
    model = fitted(AdREM(**SMALL, kernel="precomputed"), data=data)
    linear = fitted(AdREM(**SMALL, machine="gram"))
    np.testing.assert_array_equal(model.transduction_, linear.transduction_)
    np.testing.assert_array_equal(model.predict(similar[60:])[REST], model.transduction_[REST])
    table = one_table()
    one = AdREM(**SMALL, kernel="precomputed", target_labels="use")
    one.fit(**{**table, "X": table["X"] @ table["X"].T})
    np.testing.assert_array_equal(one.transduction_, model.transduction_)


def test_class_shares_as_in_the_source_do_not_count_known_rows() -> None:
    y_source = np.where(np.arange(60) < 40, 0, 1)
    data = BLOBS._replace(y_source=y_source)
    known = [1] * 10 + [None] * (N_TARGET - 10)
    model = fitted(AdREM(**SMALL, class_prior="source"), known, data)
    np.testing.assert_allclose(model.class_prior_, [2 / 3, 1 / 3])


def test_pipeline_and_metadata_routing() -> None:
    expected = fitted(make_pipeline(StandardScaler(), SourceOnly(C=0.1))[-1])
    pipeline = make_pipeline(StandardScaler(), SourceOnly(C=0.1))
    scaler = StandardScaler().fit(BLOBS.X_source)
    pipeline.fit(
        BLOBS.X_source,
        BLOBS.y_source,
        sourceonly__X_target=scaler.transform(BLOBS.X_target),
        sourceonly__y_target=KNOWN,
    )
    np.testing.assert_array_equal(pipeline[-1].transduction_[ROWS], expected.transduction_[ROWS])
    with sklearn.config_context(enable_metadata_routing=True):
        model = SourceOnly(C=0.1).set_fit_request(X_target=True, y_target=True)
        routed = make_pipeline(StandardScaler(), model)
        routed.fit(BLOBS.X_source, BLOBS.y_source, X_target=scaler.transform(BLOBS.X_target), y_target=KNOWN)
    np.testing.assert_array_equal(routed[-1].coef_, pipeline[-1].coef_)


def test_clone_keeps_the_permission() -> None:
    assert clone(CORAL(target_labels="use")).target_labels == "use"
    assert all(method().get_params()["target_labels"] == "ignore" for method in METHODS)


@pytest.mark.parametrize(("n_known", "moves", "expected"), [(9, True, 5), (60, True, 2000 / 60), (60, False, 5)])
def test_rows_count_more_where_the_source_misleads(n_known: int, moves: bool, expected: float) -> None:
    rng = np.random.default_rng(0)
    X, n_source = rng.normal(size=(2300, 3)), 2000
    y = (X[:, 0] > 0).astype(int)
    if moves:
        y[n_source:] = X[n_source:, 0] < 0
    known = np.where(np.arange(300) < n_known, y[n_source:].astype(float), np.nan)
    model = SourceOnly(random_state=0).fit(X[:n_source], y[:n_source], X_target=X[n_source:], y_target=known)
    assert model.known_weight_ == pytest.approx(expected)


@pytest.mark.thorough
@pytest.mark.parametrize("method", [AdREM, Committee])
def test_known_rows_on_a_device(method: type[Any]) -> None:
    pytest.importorskip("torch")
    expected = fitted(small(method))
    model = fitted(small(method, device="torch-cpu"))
    assert np.mean(model.transduction_ == expected.transduction_) > 0.9
    np.testing.assert_array_equal(model.transduction_[ROWS], KNOWN[ROWS])


def test_diagnosis_and_estimate_use_the_known_labels_and_leave_their_rows_out() -> None:
    data = make_blobs_shift(n_source=120, n_target=90)
    wrong = (data.y_target + 1) % 3
    known = np.where(np.arange(90) < 30, wrong.astype(float), np.nan)  # no model would give these labels
    model = fitted(AdREM(**SMALL), known, data)
    examined = examine(model, data.X_source, data.y_source, data.X_target)
    for labels in (examined.before, examined.after):
        np.testing.assert_array_equal(labels[:30], wrong[:30])
    assert examined.baseline.known_rows_.tolist() == list(range(30))
    assert all(row.row >= 30 for row in examined.diagnosis().uncertain)
    scores = examined.score(np.where(np.arange(90) < 30, wrong, data.y_target))
    assert scores is not None
    assert scores.rows == 60
    found = estimate_accuracy(model, data.X_source, data.y_source, data.X_target)
    without = estimate_accuracy(fitted(AdREM(**SMALL), None, data), data.X_source, data.y_source, data.X_target)
    assert found.accuracy != without.accuracy  # the refits know the labels
    assert 0 < found.accuracy < 1
    every = fitted(AdREM(**SMALL), data.y_target, data)
    with pytest.raises(InvalidDataError, match="Every label of the target was known"):
        estimate_accuracy(every, data.X_source, data.y_source, data.X_target)


def test_labels_of_left_out_rows_do_not_reach_their_own_estimate() -> None:
    seen: list[tuple[set[Any], set[Any]]] = []

    class Watched(SourceOnly):
        def fit_domains(self, domains: Any) -> None:
            self.taught = {tuple(row) for row in domains.X_source}
            super().fit_domains(domains)

        def member_scores(self, rows: Any) -> Any:
            seen.append((self.taught, {tuple(row) for row in rows}))
            return super().member_scores(rows)

    model = fitted(Watched(C=0.1), BLOBS.y_target * np.where(np.arange(N_TARGET) < 20, 1.0, np.nan))
    seen.clear()
    held_out_chances(examine(model, BLOBS.X_source, BLOBS.y_source, BLOBS.X_target))
    assert seen
    assert not any(taught & scored for taught, scored in seen[-6:])


def test_known_rows_do_not_leave_the_training_set_with_the_source() -> None:
    """DASVM replaces the rows of the source by those of the target."""
    data = make_blobs_shift(n_source=40, n_target=200)
    rows = np.arange(200) < 20
    model = DASVM(C=0.1).fit(
        data.X_source, data.y_source, X_target=data.X_target, y_target=np.where(rows, data.y_target, np.nan)
    )
    assert all(entry["n_source"] >= 3 * 20 for entry in model.history_)
    assert model.history_[-1]["n_source"] < model.history_[0]["n_source"]


def test_known_rows_belong_to_the_target_where_domains_are_compared() -> None:
    np.testing.assert_array_equal(fitted(small(FLDA)).dropout_, fitted(small(FLDA), None).dropout_)
    assert fitted(small(ImportanceWeighting)).source_weight_.shape == BLOBS.y_source.shape
    every = read_domains(AdREM(), BLOBS.X_source, BLOBS.y_source, X_target=BLOBS.X_target, y_target=KNOWN)
    viewed, alone = seen_by(by_domain, beside_source(every)), by_domain(BLOBS.X_source, BLOBS.X_target)
    np.testing.assert_allclose(viewed.source[:60], alone.source)
    np.testing.assert_allclose(viewed.source[60:], alone.target[ROWS])
    np.testing.assert_allclose(viewed.target, alone.target[REST])
