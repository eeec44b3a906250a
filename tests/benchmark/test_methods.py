from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from adrem import AdREM
from adrem.baselines import SourceOnly
from adrem.benchmark.methods import METHODS, Method, find_methods
from adrem.benchmark.protocols import DEFAULT_METHODS as OURS
from adrem.datasets import DomainPair

pytestmark = pytest.mark.thorough


class Untouchable:
    """An object that fails the test on any attribute access."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the target's labels were asked for {name}")


def test_paper_methods_use_expected_estimators() -> None:
    made = {name: (METHODS[name].make(3).loss, type(METHODS[name].make(3))) for name in OURS}
    assert made == {
        "source-svm": ("hinge", SourceOnly),
        "source-lr": ("log_loss", SourceOnly),
        "adrem-svm": ("hinge", AdREM),
        "adrem-lr": ("log_loss", AdREM),
    }
    assert all(method.name == name for name, method in METHODS.items())
    assert all(method.make(3).random_state == 3 for method in METHODS.values())


def test_published_names_belong_to_one_method() -> None:
    owners: dict[str, set[str]] = {}
    for name, method in METHODS.items():
        for published in method.published:
            owners.setdefault(published, set()).add(name.removesuffix("-similarity"))
    assert owners == {
        "NA": {"source-svm"},
        "Source": {"source-svm"},
        "Ad-REM": {"adrem-svm"},
        "CORAL": {"coral"},
        "SA": {"sa"},
        "GFK": {"gfk"},
        "TCA": {"tca"},
        "FLDA-L": {"flda-l"},
        "FLDA-Q": {"flda-q"},
        "DASVM": {"dasvm"},
        "SCL": {"scl"},
        "KMM": {"kmm"},
    }


@pytest.mark.parametrize("name", METHODS)
def test_method_name_suffix_matches_form(name: str) -> None:
    form = METHODS[name].parameters().get("form", "mapping")
    assert form == ("similarity" if name.endswith("-similarity") else "mapping")


@pytest.mark.filterwarnings("ignore:.*the rows span only")
@pytest.mark.parametrize("name", METHODS)
def test_label_ignores_target_labels(blobs: DomainPair, name: str) -> None:
    method = METHODS[name]
    expected, model = method.label(blobs, 1)
    for nothing in (None, "garbage", Untouchable()):
        labels, other = method.label(blobs._replace(y_target=nothing), 1)
        assert_array_equal(labels, expected)
        assert getattr(other, "C_", None) == getattr(model, "C_", None)


@pytest.mark.parametrize("name", OURS)
def test_label_equals_direct_fit(blobs: DomainPair, name: str) -> None:
    labels, model = METHODS[name].label(blobs, 2)
    by_hand = AdREM(loss="log_loss" if name.endswith("lr") else "hinge", random_state=2)
    if name.startswith("adrem"):
        by_hand.fit(blobs.X_source, blobs.y_source, X_target=blobs.X_target)
        assert model.coef_.shape == (11, 3, 5)
        assert_array_equal(labels, by_hand.transduction_)
    else:
        by_hand.fit(blobs.X_source, blobs.y_source)
        assert model.coef_.shape == (1, 3, 5)
        assert_array_equal(labels, by_hand.predict(blobs.X_target))
    assert_array_equal(model.coef_, by_hand.coef_)


@pytest.mark.parametrize("name", OURS)
def test_only_adapting_methods_depend_on_target(blobs: DomainPair, name: str) -> None:
    method = METHODS[name]
    _, model = method.label(blobs, 0)
    _, other = method.label(blobs._replace(X_target=blobs.X_target[:20] + 1.0, y_target=None), 0)
    assert bool(np.any(model.coef_ != other.coef_)) == name.startswith("adrem")


@pytest.mark.parametrize("name", OURS)
def test_parameters_omit_seed_jobs_and_verbosity(name: str) -> None:
    parameters = METHODS[name].parameters()
    left_out = METHODS[name].make(0).get_params().keys() - parameters.keys()
    assert left_out == ({"random_state", "n_jobs", "verbose"} if name.startswith("adrem") else {"random_state"})
    assert parameters == json.loads(json.dumps(parameters, default=str))
    assert parameters["loss"] == ("log_loss" if name.endswith("lr") else "hinge")


def test_parameters_reflect_the_method_settings() -> None:
    method = Method("other", "Other", lambda seed: AdREM(n_iter=7, n_jobs=2, random_state=seed))
    assert method.parameters()["n_iter"] == 7
    assert method.version == 1


def test_methods_are_found_by_name() -> None:
    assert find_methods() == list(METHODS.values())
    found = find_methods(["adrem-svm", " source-svm", "adrem-svm"])
    assert [method.name for method in found] == ["adrem-svm", "source-svm"]
    with pytest.raises(
        ValueError, match=r"no method magic, luck; known are committee, committee-distilled, source-cv, source-svm"
    ):
        find_methods(["magic", "adrem-svm", "luck"])


def test_find_methods_accepts_comma_separated_names() -> None:
    assert find_methods("adrem-svm, gfk") == find_methods(["adrem-svm", "gfk"])
    assert find_methods("all") == find_methods()
