"""Tables on which rounding decides: sparse and dense rows may get different labels, and both fits say so."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from adrem.exceptions import PrecisionWarning
from torture.inputs import estimator_of, ingredients, table_case

pytestmark = pytest.mark.thorough

CASES = [
    ("AdREM", "a column far from zero"),
    ("AdREM, shares estimated", "a column far from zero"),
    ("AdREM, neighbours", "a column of 1e9"),
]


def labels_and_warning(way: str, given: dict[str, Any]) -> tuple[Any, bool]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = estimator_of(way).fit(given["X"], given["y"], X_target=given["X_target"])
    return model.transduction_, any(issubclass(own.category, PrecisionWarning) for own in said)


@pytest.mark.parametrize(("way", "content"), CASES)
@pytest.mark.parametrize("form", ["CSR", "BSR"])
def test_labels_that_rounding_decides_are_warned_of_in_every_form(way: str, content: str, form: str) -> None:
    dense, dense_warned = labels_and_warning(way, table_case("float64", content))
    sparse, sparse_warned = labels_and_warning(way, table_case(form, content))
    assert np.array_equal(dense, sparse) or (dense_warned and sparse_warned)
    assert dense_warned
    assert sparse_warned


@pytest.mark.parametrize("way", dict(CASES))
def test_labels_that_the_numbers_decide_agree_without_a_warning(way: str) -> None:
    given = ingredients()
    dense, warned = labels_and_warning(way, given)
    assert not warned
    for form in ("CSR", "BSR"):
        assert np.array_equal(labels_and_warning(way, table_case(form, "as it is"))[0], dense)
