from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from adrem.datasets import DataSet, Domain, Provenance
from adrem.preprocessing import JointStdScaler

X = np.arange(12.0).reshape(4, 3)
Y = np.array(["a", "b", "a", "c"])


def make(X_second: Any = X, y_second: Any = Y, preprocessing: Any = None) -> DataSet:
    domains = {"A": Domain("apples", X, Y), "B": Domain("bananas", X_second, y_second)}
    return DataSet("fruit", "Fruit", domains, preprocessing, Provenance("nobody"))


def test_domains_are_found_by_letter_and_name() -> None:
    data = make()
    assert data["A"] is data["apples"]
    assert list(data) == ["A", "B"]
    assert len(data) == 2
    assert data.classes.tolist() == ["a", "b", "c"]
    with pytest.raises(KeyError, match=r"no domain 'C'; it has A \(apples\), B \(bananas\)"):
        data["C"]


def test_pair_accepts_several_spellings() -> None:
    data = make(X + 1)
    for pair in (data.pair("A-B"), data.pair("A>B"), data.pair("A", "bananas")):
        np.testing.assert_array_equal(pair.X_source, X)
        np.testing.assert_array_equal(pair.X_target, X + 1)
    with pytest.raises(KeyError, match=r"no pair 'A-A'; it has A-B, B-A"):
        data.pair("A-A")


def test_preprocessing_uses_both_domains_and_is_optional() -> None:
    data = make(10 * X, preprocessing=JointStdScaler())
    pair = data.pair("A-B")
    deviation = np.concatenate([X, 10 * X]).std(axis=0)
    np.testing.assert_allclose(pair.X_source, X / deviation)
    np.testing.assert_allclose(pair.X_target, 10 * X / deviation)
    np.testing.assert_array_equal(data.pair("A-B", preprocess=False).X_target, 10 * X)


def test_unlabelled_domain_can_only_be_target() -> None:
    data = make(y_second=None)
    assert data.pair("A-B").y_target is None
    with pytest.raises(ValueError, match="bananas has no labels: it can be a target"):
        data.pair("B-A")


def test_checksum_depends_on_content_only() -> None:
    whole = make(X)
    assert whole.checksum == make(X.astype(np.float32)).checksum
    assert make(sp.csr_array(X)).checksum == make(sp.csr_array(X.astype(np.float32))).checksum
    changed = X.copy()
    changed[0, 0] += 1
    others = [make(changed), make(y_second=Y[::-1]), make(y_second=None), make(X.reshape(3, 4)[:, :3], Y[:3])]
    assert len({data.checksum for data in (whole, *others)}) == 5
