"""The scores and the tables of the benchmark of files of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import own_tables
import pytest
import scipy.sparse as sp
from own_cases import Case, is_repeated
from own_scores import ESTIMATES, as_accuracies, matrix_norm, mixed_consistency

from adrem.columns import FileTable

# A logit beyond which a label is certain.
CERTAIN = 30.0


def make_row(group: str, estimate: float, truth: float, **others: Any) -> dict[str, Any]:
    same = {"kind": "table", "pair": f"{group}: a > b", "form": "as it is", "seed": 0.0, "rows": 400.0}
    numbers = dict.fromkeys(ESTIMATES, estimate) | {"adapted": truth, "handed_out": truth, "baseline": 0.5}
    return {
        "group": group,
        "unknown": 0.0,
        "opposed": 0.0,
        "distance": 0.1,
        "estimate": estimate,
        **same,
        **numbers,
        **others,
    }


def test_matrix_norm_follows_the_equation() -> None:
    """The fourth power of 1 + q + q^2 / 2, in parts of its sum over the classes."""
    series = np.array([[2.5, 0.5], [1.0, 1.0]])
    by_hand = np.mean(((series / series.sum(axis=1, keepdims=True)) ** 4).sum(axis=1)) ** 0.25
    assert matrix_norm(np.array([[1.0, -1.0], [0.0, 0.0]])) == pytest.approx(by_hand)


def test_matrix_norm_is_one_of_certain_labels_and_least_of_equal_ones() -> None:
    certain = CERTAIN * np.eye(5)
    assert matrix_norm(certain) == pytest.approx(1.0)
    assert matrix_norm(np.zeros((4, 5))) == pytest.approx(5 ** (-3 / 4))
    assert matrix_norm(certain + 7.0) == pytest.approx(1.0)  # a constant added to the logits changes no probability


def test_mixed_rows_keep_their_labels_if_the_border_is_between_the_classes() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(-4, 0.1, (50, 2)), rng.normal(4, 0.1, (50, 2))])

    def label(border: float, own: Any) -> Any:
        return (np.asarray(own.todense() if sp.issparse(own) else own)[:, 0] > border).astype(np.intp)

    def consistency(border: float, own: Any) -> float:
        return mixed_consistency(lambda mixed: label(border, mixed), own, label(border, own), seed=0)

    assert consistency(0.0, rows) == 1.0
    # The border lies beside the class at -4: rows that are mixed with those of the other class cross it.
    assert consistency(-3.0, rows) == pytest.approx(0.75, abs=0.1)
    assert consistency(-3.0, sp.csr_array(rows)) == consistency(-3.0, rows)


def test_mixed_rows_of_one_label_are_enough() -> None:
    rows = np.ones((10, 2))
    assert mixed_consistency(lambda own: np.zeros(len(own), np.intp), rows, np.zeros(10, np.intp), 0) == 1.0


def test_scores_become_accuracies_by_a_line() -> None:
    found = as_accuracies(np.array([0.2, 0.4]), np.array([0.5, 0.7]), np.array([0.3, 0.9]))
    np.testing.assert_allclose(found, [0.6, 1.0])


def test_interval_of_a_group_is_calibrated_on_the_others() -> None:
    near = [make_row("near", 0.8, 0.8 + 0.01 * k) for k in range(5)]
    far = [make_row("far", 0.8, 0.5 + 0.01 * k) for k in range(5)]
    checked = own_tables.check_estimate([*near, *far], "expected")
    narrow, wide = checked[5:], checked[:5]  # the first group has the width that the second needs
    assert not any(own.is_held for own in narrow)
    assert all(own.is_held for own in wide)
    assert max(own.high - own.low for own in narrow) < min(own.high - own.low for own in wide)


def test_score_is_turned_into_an_accuracy_by_the_other_groups() -> None:
    others = [make_row("one", 0.8, 0.7, norm=0.4), make_row("one", 0.8, 0.9, norm=0.6)]
    rows = [*others, make_row("two", 0.8, 0.2, norm=0.5), make_row("two", 0.8, 0.3, norm=0.6)]
    assert [own.error for own in own_tables.check_estimate(rows, "norm")[2:]] == pytest.approx([0.8 - 0.2, 0.9 - 0.3])


def test_hidden_and_unknown_pairs_are_not_checked() -> None:
    rows = [make_row(name, 0.8, 0.7) for name in ("one", "two")]
    left_out = [
        make_row("three", 0.8, 0.1, unknown=1.0),
        make_row("four", 0.8, 0.1, form="swapped classes"),
        make_row("five", 0.8, 0.1, opposed=float("nan")),  # of an earlier version
    ]
    assert len(own_tables.check_estimate([*rows, *left_out], "expected")) == 2


@pytest.mark.parametrize(
    ("name", "form", "expected"),
    [
        ("gas: 1 > 2", "as it is", True),
        ("gas: 1 > 9", "as it is", False),
        ("reviews: books > dvd", "as it is", True),
        ("reviews: dvd > books", "as it is", False),
        ("heart: va > cleveland", "as it is", True),
        ("heart: va > cleveland", "useless source", False),
    ],
)
def test_three_pairs_of_a_large_data_set_are_measured_with_every_seed(name: str, form: str, expected: bool) -> None:
    table = FileTable("table", "")
    assert is_repeated(Case("group", "table", name, table, table, form)) is expected
